import { mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { isObject, isReadableByOthers, writePrivateFile } from '@causeway/protocol'
import { LoginError } from './errors.ts'

export interface StoredTokens {
  readonly access_token: string
  readonly refresh_token?: string
  readonly scope?: string
  /** Unix time; absent if the server sent no lifetime. */
  readonly expires_at_ms?: number
  /** Refresh time, a little before the expiry. */
  readonly refresh_at_ms?: number
}

export interface StoredClient {
  readonly client_id: string
  readonly client_secret?: string
  readonly token_endpoint_auth_method?: string
  readonly redirect_uri?: string
}

/** Metadata for refresh and revocation (RFC 8414). */
export interface StoredEndpoints {
  readonly token_endpoint: string
  readonly revocation_endpoint?: string
  readonly token_endpoint_auth_methods_supported?: readonly string[]
}

export interface StoredLogin {
  /** Server URL without query. */
  readonly resource: string
  readonly issuer: string
  /** Absent for a configured client. */
  readonly client?: StoredClient
  readonly endpoints: StoredEndpoints
  /** Resource indicator of the tokens (RFC 8707). */
  readonly indicator?: string
  /** Absent after the authorization server rejected a refresh. */
  readonly tokens?: StoredTokens
  /** Scope that the next login requests. */
  readonly required_scope?: string
}

const fileName = 'auth.json'
const maxBytes = 4 * 2 ** 20

/** Age from which a lock is considered abandoned. Longer than a refresh takes. */
const staleLockMs = 60_000
const lockRetryMs = 50

/** Several processes may use the file. Only its owner can read it. */
export class AuthFile {
  readonly path: string
  #version = ''
  #logins: readonly StoredLogin[] = []

  constructor(folder: string) {
    this.path = join(folder, fileName)
  }

  /** Throws `AUTH_FILE_INVALID`. */
  find(resource: string): StoredLogin | undefined {
    return this.#read().find((login) => login.resource === resource)
  }

  save(login: StoredLogin): void {
    this.#write([...this.#read().filter(({ resource }) => resource !== login.resource), login])
  }

  remove(resource: string): void {
    const logins = this.#read()
    const otherLogins = logins.filter((login) => login.resource !== resource)
    if (otherLogins.length < logins.length) this.#write(otherLogins)
  }

  async withLock<T>(run: () => Promise<T>): Promise<T> {
    const lockPath = `${this.path}.lock`
    mkdirSync(dirname(lockPath), { recursive: true, mode: 0o700 })
    while (!tryLock(lockPath)) await delay(lockRetryMs)
    try {
      return await run()
    } finally {
      rmSync(lockPath, { force: true })
    }
  }

  #read(): readonly StoredLogin[] {
    const stat = statSync(this.path, { throwIfNoEntry: false })
    if (stat === undefined) return []
    const version = [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, stat.mode].join(' ')
    if (version === this.#version) return this.#logins
    if (isReadableByOthers(stat.mode))
      throw this.#createInvalidError(
        'other users of this machine can read the file',
        `run chmod 600 ${this.path}`,
      )
    if (stat.size > maxBytes) throw this.#createInvalidError(`larger than ${maxBytes} bytes`)
    this.#logins = this.#parse(readFileSync(this.path, 'utf8'))
    this.#version = version
    return this.#logins
  }

  #parse(text: string): readonly StoredLogin[] {
    let value: unknown
    try {
      value = JSON.parse(text)
    } catch {
      // Without a cause, which would quote tokens.
      throw this.#createInvalidError('not JSON')
    }
    const logins = isObject(value) ? value.logins : undefined
    if (!Array.isArray(logins) || !logins.every(isStoredLogin))
      throw this.#createInvalidError('not a list of logins')
    return logins
  }

  #write(logins: readonly StoredLogin[]): void {
    writePrivateFile(this.path, `${JSON.stringify({ logins }, null, 2)}\n`)
  }

  #createInvalidError(problem: string, remedy?: string) {
    return new LoginError('AUTH_FILE_INVALID', `${problem}: ${this.path}`, {
      data: { path: this.path },
      ...(remedy !== undefined && { remedy }),
    })
  }
}

function isStoredLogin(value: unknown): value is StoredLogin {
  if (!isObject(value)) return false
  const { resource, issuer, endpoints, client, tokens } = value
  return (
    typeof resource === 'string' &&
    typeof issuer === 'string' &&
    isObject(endpoints) &&
    typeof endpoints.token_endpoint === 'string' &&
    (client === undefined || (isObject(client) && typeof client.client_id === 'string')) &&
    (tokens === undefined || (isObject(tokens) && typeof tokens.access_token === 'string'))
  )
}

function tryLock(lockPath: string): boolean {
  try {
    writeFileSync(lockPath, String(process.pid), { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    const mtimeMs = statSync(lockPath, { throwIfNoEntry: false })?.mtimeMs
    if (mtimeMs !== undefined && Date.now() - mtimeMs > staleLockMs) rmSync(lockPath, { force: true })
    return false
  }
}
