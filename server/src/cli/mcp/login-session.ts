import { LocalLoginSession, type LoginSession, type RemoteServer } from '@causeway/oauth'
import { findServer } from '../../process/server-file.ts'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { openLogins } from './logins.ts'

/** Logs in through the running server, whose port receives the response, or else in this process. */
export async function openLoginSession(call: CommandCall, server: RemoteServer): Promise<LoginSession> {
  const { state } = findServer(call.config().dataDir)
  return state === 'running'
    ? new RunningServerSession(await ServerClient.find(call), server.name)
    : LocalLoginSession.open(openLogins(call), server)
}

class RunningServerSession implements LoginSession {
  readonly #client: ServerClient
  readonly #route: string

  constructor(client: ServerClient, name: string) {
    this.#client = client
    this.#route = `/api/hosted/${encodeURIComponent(name)}/login`
  }

  async begin(): Promise<{ readonly url: URL; readonly state: string }> {
    const { authorization_url, state } = (await this.#client.post(this.#route, {})) as {
      authorization_url: string
      state: string
    }
    return { url: new URL(authorization_url), state }
  }

  async wait(state: string, signal: AbortSignal): Promise<void> {
    const path = `${this.#route}?${new URLSearchParams({ state })}`
    for (let isComplete = false; !isComplete; ) {
      signal.throwIfAborted()
      isComplete = ((await this.#client.get(path, signal)) as { complete: boolean }).complete
    }
  }

  async finish(response: string): Promise<void> {
    await this.#client.post(this.#route, { response })
  }

  async close(): Promise<void> {}
}
