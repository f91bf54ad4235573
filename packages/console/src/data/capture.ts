import { signal } from '@preact/signals'
import type { Server } from './server.ts'
import type { CaptureState } from './types.ts'

const path = '/api/apps/causeway'

/** The capture of arguments and answers of one session. Methods throw `ServerError`. */
export class Capture {
  /** The state that `/health` reported last. */
  readonly state = signal<CaptureState | undefined>(undefined)
  readonly #server: Server

  constructor(server: Server) {
    this.#server = server
  }

  /** Ends the capture of another session. */
  async start(session: string): Promise<void> {
    const { capture } = await this.#server.send<{ capture: CaptureState }>(
      `${path}/sessions/${encodeURIComponent(session)}/capture`,
    )
    this.state.value = capture
  }

  async stop(): Promise<void> {
    await this.#server.delete(`${path}/capture`)
    this.state.value = undefined
  }
}
