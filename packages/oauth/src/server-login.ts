import type { CausewayError } from '@causeway/protocol'
import type { Logins } from './logins.ts'
import type { RemoteServer } from './remote-server.ts'

/** The tokens of one connection, in the form that the transports of the MCP SDK use. */
export interface TokenProvider {
  token(): Promise<string | undefined>
  /** Called after a response with 401, before the request is repeated. Throws `NEEDS_LOGIN`. */
  onUnauthorized(): Promise<void>
}

/** The login at one remote server, for its connections. */
export class ServerLogin {
  readonly #logins: Logins
  readonly #server: RemoteServer

  constructor(logins: Logins, server: RemoteServer) {
    this.#logins = logins
    this.#server = server
  }

  /** Creates the provider of one request, which remembers the token that the request used. */
  createProvider(): TokenProvider {
    let used: string | undefined
    return {
      token: async () => {
        used = await this.#logins.getToken(this.#server)
        return used
      },
      onUnauthorized: async () => {
        await this.#logins.refresh(this.#server, used)
      },
    }
  }

  /** Returns the error for a response with 401 after a refresh. */
  needsLogin(): CausewayError {
    return this.#logins.needsLogin(this.#server)
  }

  /** Returns the error for a response with 403 `insufficient_scope`. */
  requireScope(scope: string | undefined): CausewayError {
    return this.#logins.requireScope(this.#server, scope)
  }
}
