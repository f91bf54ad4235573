import { readFileSync } from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'
import { join, resolve } from 'node:path'
import type { Logins, RemoteServer } from '@causeway/oauth'
import { asCausewayError, type CausewayError, findDataFolder, thisMachine } from '@causeway/protocol'
import type { Fields } from '../http/headers.ts'

interface UpstreamLoginOptions {
  readonly url: URL
  readonly clientId: string | undefined
  readonly scope: string | undefined
  /** Contains `auth.json`. */
  readonly folder: string
  /** For the HTTP requests of a login. */
  readonly fetch: typeof fetch | undefined
}

/** Returns the data folder of a server with the same environment: both share their logins. */
export const findLoginFolder = (env: NodeJS.ProcessEnv): string =>
  resolve(env.CAUSEWAY_DATA_DIR || findDataFolder(thisMachine(env)))

/** A response that may require a login. */
interface Challenge {
  readonly status: number
  readonly headers: IncomingHttpHeaders
}

/** This user's login at the server. Loads the OAuth code only for a login or if the server requires one. */
export class UpstreamLogin {
  readonly #server: RemoteServer
  readonly #folder: string
  #logins: Promise<Logins> | undefined

  constructor({ url, clientId, scope, folder, fetch }: UpstreamLoginOptions) {
    this.#server = { name: url.host, url: url.href, oauth: { clientId, scope }, fetch }
    this.#folder = folder
    if (this.#isStored()) this.#logins = loadLogins(folder)
  }

  /** Whether requests may need a token. */
  get isKnown(): boolean {
    return this.#logins !== undefined
  }

  /** Returns the header of a request. Throws `NEEDS_LOGIN`. */
  async authorize(): Promise<Fields> {
    const token = await (await this.#logins)?.getToken(this.#server)
    return token === undefined ? {} : { authorization: `Bearer ${token}` }
  }

  /** Returns the header for a second attempt, the error for the client, or `undefined` if a login does not help. */
  async answer({ status, headers }: Challenge, used: Fields): Promise<Fields | CausewayError | undefined> {
    const challenge = String(headers['www-authenticate'] ?? '')
    if (status === 403) {
      if (!/\berror="?insufficient_scope\b/.test(challenge)) return undefined
      const scope = /\bscope="([^"]*)"/.exec(challenge)?.[1]
      return (await this.#load()).requireScope(this.#server, scope)
    }
    const isOAuth = /\bresource_metadata=/.test(challenge)
    if (!this.isKnown && !isOAuth && !this.#isStored()) return undefined
    try {
      const logins = await this.#load()
      const rejected = used.authorization?.slice('Bearer '.length)
      return { authorization: `Bearer ${await logins.refresh(this.#server, rejected)}` }
    } catch (error) {
      return asCausewayError(error)
    }
  }

  #load(): Promise<Logins> {
    this.#logins ??= loadLogins(this.#folder)
    return this.#logins
  }

  /** Logins at other servers do not load the OAuth code. */
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
    command: ({ url }) => `causeway-bridge --login --url ${url.split('?')[0]}`,
  })
}
