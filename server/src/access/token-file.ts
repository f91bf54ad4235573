import { createHash, timingSafeEqual } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { CausewayError, isCausewayError, isReadableByOthers } from '@causeway/protocol'
import type { Logger } from 'pino'
import { type Access, parseTokens, type TokenLine } from './access.ts'

const checkIntervalMs = 500

interface TokenEntry {
  readonly digest: Buffer
  readonly access: Access
}

export class TokenFile {
  readonly #file: string
  readonly #log: Pick<Logger, 'error' | 'info'>
  readonly #nowMs: () => number
  #entries: readonly TokenEntry[]
  #version: string | undefined
  #failure: string | undefined
  #checkedMs: number

  /** Throws `INVALID_SETTING` for a file that is missing, invalid, empty or readable by other users. */
  constructor(
    file: string,
    { log, nowMs = () => performance.now() }: { log: Pick<Logger, 'error' | 'info'>; nowMs?: () => number },
  ) {
    this.#file = file
    this.#log = log
    this.#nowMs = nowMs
    ;({ entries: this.#entries, version: this.#version } = readTokenFile(file))
    this.#checkedMs = nowMs()
  }

  /** Throws `UNAUTHORIZED` if the header has no valid token. */
  authenticate(authorization: string | undefined): Access {
    if (this.#nowMs() - this.#checkedMs > checkIntervalMs) this.#reloadIfChanged()
    const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
    if (token === undefined) throw new CausewayError('UNAUTHORIZED', 'the request has no bearer token')
    const digest = hashToken(token)
    const access = this.#find(digest)
    if (access !== undefined) return access
    this.#reloadIfChanged()
    const reloadedAccess = this.#find(digest)
    if (reloadedAccess === undefined)
      throw new CausewayError('UNAUTHORIZED', 'the token is not valid for this server')
    return reloadedAccess
  }

  /** Rejects every call while the file is invalid: a revoked token must not stay valid. */
  #reloadIfChanged(): void {
    this.#checkedMs = this.#nowMs()
    try {
      if (toVersion(statSync(this.#file, { throwIfNoEntry: false })) === this.#version) return
      ;({ entries: this.#entries, version: this.#version } = readTokenFile(this.#file))
      this.#failure = undefined
      this.#log.info({ tokens: this.#entries.length }, 'token file reloaded')
    } catch (err) {
      this.#entries = []
      // The next check reads the file again, because causes such as too many open files are temporary.
      this.#version = undefined
      if (String(err) === this.#failure) return
      this.#failure = String(err)
      this.#log.error({ err }, 'the token file is invalid: every call is rejected until it is corrected')
    }
  }

  #find(digest: Buffer): Access | undefined {
    let access: Access | undefined
    for (const entry of this.#entries) if (timingSafeEqual(entry.digest, digest)) access = entry.access
    return access
  }
}

const hashToken = (token: string): Buffer => createHash('sha256').update(token).digest()

const toVersion = (stat: Stats | undefined): string =>
  stat === undefined ? 'missing' : [stat.mtimeMs, stat.ctimeMs, stat.size, stat.ino, stat.mode].join(' ')

function readTokenFile(file: string): { entries: readonly TokenEntry[]; version: string } {
  const { text, version } = readPrivateFile(file)
  const { lines, problems } = parseTokens(text)
  const [firstProblem] = problems
  if (firstProblem !== undefined)
    throw createInvalidError(`${firstProblem.problem}: line ${firstProblem.line} of ${file}`)
  if (lines.length === 0) throw createInvalidError(`the token file contains no token: ${file}`)
  return { entries: lines.map(toEntry), version }
}

function toEntry({ token, access }: TokenLine): TokenEntry {
  const digest = hashToken(token)
  const owner = access.name === '' ? `#${digest.toString('hex', 0, 16)}` : access.name
  return { digest, access: { ...access, owner } }
}

/** Checks the mode after opening, so that the file cannot be replaced meanwhile. */
function readPrivateFile(file: string): { text: string; version: string } {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (cause) {
    throw createInvalidError(`cannot read the token file: ${file}`, { cause })
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw createInvalidError(`the token file is not a regular file: ${file}`)
    if (isReadableByOthers(stat.mode))
      throw createInvalidError(`other users of this machine can read the token file: ${file}`, {
        remedy: `run chmod 600 ${file}`,
      })
    return { text: readFileSync(descriptor, 'utf8'), version: toVersion(stat) }
  } catch (cause) {
    throw isCausewayError(cause)
      ? cause
      : createInvalidError(`cannot read the token file: ${file}`, { cause })
  } finally {
    closeSync(descriptor)
  }
}

const createInvalidError = (
  message: string,
  options: { remedy?: string; cause?: unknown } = {},
): CausewayError => new CausewayError('INVALID_SETTING', message, options)
