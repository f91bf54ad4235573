import type { CausewayError } from '@causeway/protocol'
import type { Logins } from './logins.ts'
import type { LoginRequest } from './pending-logins.ts'
import type { RemoteServer } from './remote-server.ts'

/** The interface that the MCP SDK's transports require. */
export interface TokenProvider {
  token(): Promise<string | undefined>
  /** Called after a response with 401, before the request is repeated. Throws `NEEDS_LOGIN`. */
  onUnauthorized(): Promise<void>
}

export interface ServerLoginOptions {
  readonly logins: Logins
  readonly server: RemoteServer
  /** Receives the response to a login that a call starts. */
  readonly redirectUrl?: string | undefined
}

export class ServerLogin {
  readonly #logins: Logins
  readonly #server: RemoteServer
  readonly #redirectUrl: string | undefined

  constructor({ logins, server, redirectUrl }: ServerLoginOptions) {
    this.#logins = logins
    this.#server = server
    this.#redirectUrl = redirectUrl
  }

  /** Returns a provider for one request, which stores the token that it used. */
  createProvider(): TokenProvider {
    let usedToken: string | undefined
    return {
      token: async () => {
        usedToken = await this.#logins.getToken(this.#server)
        return usedToken
      },
      onUnauthorized: async () => {
        await this.#logins.refresh(this.#server, usedToken)
      },
    }
  }

  /** Returns `undefined` if no URL receives the response. Throws discovery and registration errors. */
  async begin(): Promise<LoginRequest | undefined> {
    return this.#redirectUrl === undefined ? undefined : this.#logins.begin(this.#server, this.#redirectUrl)
  }

  /** Throws like `Logins.wait`. */
  wait(state: string, signal: AbortSignal): Promise<void> {
    return this.#logins.wait(state, signal)
  }

  /** Returns the error for a response with 401 after a refresh. */
  createNeedsLoginError(): CausewayError {
    return this.#logins.createNeedsLoginError(this.#server)
  }

  /** Returns the error for a response with 403 `insufficient_scope`. */
  requireScope(scope: string | undefined): Promise<CausewayError> {
    return this.#logins.requireScope(this.#server, scope)
  }
}
