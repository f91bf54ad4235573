import { CallbackListener, type Logins, type RemoteServer } from '@causeway/oauth'
import { findServer } from '../../process/server-file.ts'
import type { CommandCall } from '../command.ts'
import { ServerClient } from '../server-client.ts'
import { openLogins } from './logins.ts'

/** A login that a command runs: in the running server, whose port receives the response, or else in this process. */
export interface LoginSession {
  /** Returns the URL for the browser, and the state that names the login. */
  begin(): Promise<{ readonly url: URL; readonly state: string }>
  /** Resolves when the browser has returned. */
  wait(state: string, signal: AbortSignal): Promise<void>
  /** Completes a login with the URL or the code that a person copied. */
  finish(response: string): Promise<void>
  close(): Promise<void>
}

/** Opens a session for the server of the data folder if it runs. */
export async function openLoginSession(call: CommandCall, server: RemoteServer): Promise<LoginSession> {
  const { state } = findServer(call.config().dataDir)
  return state === 'running'
    ? new RunningServerSession(await ServerClient.find(call.config(), call.note), server.name)
    : LocalSession.open(openLogins(call), server)
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

class LocalSession implements LoginSession {
  readonly #logins: Logins
  readonly #server: RemoteServer
  readonly #listener: CallbackListener

  private constructor(logins: Logins, server: RemoteServer, listener: CallbackListener) {
    this.#logins = logins
    this.#server = server
    this.#listener = listener
  }

  static async open(logins: Logins, server: RemoteServer): Promise<LocalSession> {
    return new LocalSession(logins, server, await CallbackListener.open(logins))
  }

  async begin(): Promise<{ readonly url: URL; readonly state: string }> {
    const { authorizationUrl, state } = await this.#logins.begin(this.#server, this.#listener.redirectUrl)
    return { url: authorizationUrl, state }
  }

  wait(state: string, signal: AbortSignal): Promise<void> {
    return this.#logins.wait(state, signal)
  }

  async finish(response: string): Promise<void> {
    await this.#logins.finishManually(this.#server, response)
  }

  close(): Promise<void> {
    return this.#listener.close()
  }
}
