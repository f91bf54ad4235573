import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import type { Logins, RemoteServer } from '@causeway/oauth'
import {
  asCausewayError,
  type CausewayError,
  findDataFolder,
  getMachine,
  isCausewayError,
} from '@causeway/protocol'
import { createErrorLine } from '../calls/answer.ts'
import { respond, sendWithFallback, startLater } from '../http/fallback.ts'
import type { Fields } from '../http/headers.ts'
import type { Reply } from '../http/reply.ts'
import type { Exchange, HttpRequest, Reader, Upstream } from '../http/upstream.ts'
import type { Settings } from '../settings/settings.ts'
import { createLoginFetch } from './login-fetch.ts'

export const toRemoteServer = (
  { url, oauth, connection }: Settings,
  env: NodeJS.ProcessEnv,
): RemoteServer => ({
  name: url.host,
  url: url.href,
  oauth,
  fetch: createLoginFetch(connection, env),
})

/** A server with the same environment uses the same data folder, and so shares the logins. */
export const findLoginFolder = (env: NodeJS.ProcessEnv): string =>
  resolve(env.CAUSEWAY_DATA_DIR || findDataFolder(getMachine(env)))

/** Imports the OAuth modules only if a login is stored or the server requires one. */
export class UpstreamLogin {
  readonly #server: RemoteServer
  readonly #folder: string
  #logins: Promise<Logins> | undefined

  constructor(settings: Settings, env: NodeJS.ProcessEnv) {
    this.#server = toRemoteServer(settings, env)
    this.#folder = findLoginFolder(env)
    if (this.#isStored()) this.#logins = loadLogins(this.#folder)
  }

  /** Returns an upstream that sends and refreshes the token of the login, or answers with `NEEDS_LOGIN`. */
  wrap(upstream: Upstream): Upstream {
    const send = (request: HttpRequest, token: Fields, reader: Reader): Exchange =>
      upstream.send({ ...request, fields: Object.assign({}, request.fields, token) }, reader)
    const sendWith = (token: Fields, request: HttpRequest, reader: Reader): Exchange =>
      sendWithFallback((gatedReader) => send(request, token, gatedReader), {
        reader,
        maxBytes: upstream.maxMessageBytes,
        shouldHold: (status) => status === 401 || status === 403,
        replace: async (reply) => {
          const next = await this.#handleRejection(reply, token)
          if (isCausewayError(next)) return respondWithError(reader, next)
          return next && send(request, next, reader)
        },
      })
    const sendLater = async (request: HttpRequest, reader: Reader): Promise<Exchange> => {
      const token = await this.#authorize().catch(asCausewayError)
      return isCausewayError(token) ? respondWithError(reader, token) : sendWith(token, request, reader)
    }
    return {
      ...upstream,
      send: (request, reader) =>
        // Without a login, the request is sent in this turn of the event loop.
        this.#logins === undefined ? sendWith({}, request, reader) : startLater(sendLater(request, reader)),
    }
  }

  /** Returns no header without a login. Throws `NEEDS_LOGIN` if the token cannot be refreshed. */
  async #authorize(): Promise<Fields> {
    const token = await (await this.#logins)?.getToken(this.#server)
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** Returns the header for a second attempt, the error for the client, or `undefined` if a login does not help. */
  async #handleRejection(
    { status, headers }: Reply,
    usedFields: Fields,
  ): Promise<Fields | CausewayError | undefined> {
    const challenge = String(headers['www-authenticate'] ?? '')
    if (status === 403) {
      if (!/\berror="?insufficient_scope\b/.test(challenge)) return undefined
      const scope = /\bscope="([^"]*)"/.exec(challenge)?.[1]
      return (await this.#load()).requireScope(this.#server, scope)
    }
    const isOAuth = /\bresource_metadata=/.test(challenge)
    if (this.#logins === undefined && !isOAuth && !this.#isStored()) return undefined
    try {
      const logins = await this.#load()
      const rejectedToken = usedFields.authorization?.slice('Bearer '.length)
      return { authorization: `Bearer ${await logins.refresh(this.#server, rejectedToken)}` }
    } catch (error) {
      return asCausewayError(error)
    }
  }

  #load(): Promise<Logins> {
    this.#logins ??= loadLogins(this.#folder)
    return this.#logins
  }

  /** Searches the text of the file, so that logins at other servers do not load the OAuth code. */
  #isStored(): boolean {
    const { origin, pathname } = new URL(this.#server.url)
    try {
      return readFileSync(join(this.#folder, 'auth.json'), 'utf8').includes(
        JSON.stringify(`${origin}${pathname}`),
      )
    } catch {
      return false
    }
  }
}

/** Errors name the command that logs in. */
export async function loadLogins(folder: string): Promise<Logins> {
  const { AuthFile, Logins } = await import('@causeway/oauth')
  return new Logins({
    file: new AuthFile(folder),
    now: Date.now,
    formatLoginCommand: ({ url }) => `causeway-bridge --login --url ${url.split('?')[0]}`,
  })
}

/** An error without an id answers every request of the POST. */
const respondWithError = (reader: Reader, error: CausewayError): Exchange =>
  respond(reader, {
    status: error.definition.status,
    headers: { 'content-type': 'application/json' },
    body: createErrorLine(null, error),
  })
