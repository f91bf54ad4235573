/** The tokens that this server takes, from a file that only its user may read; a change of the file counts at once. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { closeSync, fstatSync, openSync, readFileSync, type Stats, statSync } from 'node:fs'
import { CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'
import { type Access, readTokens, type TokenLine } from '../domain/access.ts'

/** The tokens of a server. */
export interface Tokens {
  /** Who shows this `Authorization` header; throws `UNAUTHORIZED` where it is missing or of nobody. */
  admit(authorization: string | undefined): Access
}

/** How long the file is not looked at again, ms. */
const trustMs = 500

interface Known {
  readonly digest: Buffer
  readonly access: Access
}

/**
 * Opens the file. Throws `INVALID_SETTING` for one that is missing, that others may read, or that holds no token. What
 * goes wrong with it later is logged, and until it is mended nobody is let in: a withdrawn token must not live on.
 */
export function openTokens(
  file: string,
  { log, nowMs = () => performance.now() }: { log: Pick<Logger, 'error' | 'info'>; nowMs?: () => number },
): Tokens {
  let { known, stamp } = read(file)
  let lookedMs = nowMs()

  const look = (): void => {
    lookedMs = nowMs()
    const now = stampOf(file)
    if (now === stamp) return
    stamp = now
    try {
      ;({ known, stamp } = read(file))
      log.info({ tokens: known.length }, 'the token file was read again')
    } catch (err) {
      known = []
      log.error({ err }, 'the token file cannot be used: every call is refused until it is mended')
    }
  }

  const find = (digest: Buffer): Access | undefined => {
    let found: Access | undefined
    // All of them, whichever it is: the time tells nothing.
    for (const one of known) if (timingSafeEqual(one.digest, digest)) found = one.access
    return found
  }

  return {
    admit(authorization) {
      if (nowMs() - lookedMs > trustMs) look()
      const token = /^Bearer ([\x21-\x7e]+)$/i.exec(authorization ?? '')?.[1]
      if (token === undefined) throw unauthorized('the call carries no token')
      const digest = digestOf(token)
      const access = find(digest)
      if (access !== undefined) return access
      // Perhaps it was written a moment ago.
      look()
      const late = find(digest)
      if (late === undefined) throw unauthorized('the token is not one of this server')
      return late
    },
  }
}

const unauthorized = (message: string): CausewayError => new CausewayError('UNAUTHORIZED', message)

const digestOf = (token: string): Buffer => createHash('sha256').update(token).digest()

const stampOf = (file: string): string => {
  const stat = statSync(file, { throwIfNoEntry: false })
  return stat === undefined ? 'missing' : stampOfStat(stat)
}

const stampOfStat = ({ mtimeMs, ctimeMs, size, ino, mode }: Stats): string =>
  [mtimeMs, ctimeMs, size, ino, mode].join(' ')

function read(file: string): { readonly known: readonly Known[]; readonly stamp: string } {
  const { text, stamp } = readPrivately(file)
  const { lines, problems } = readTokens(text)
  const [first] = problems
  if (first !== undefined) throw refused(`${first.problem}: line ${first.line} of ${file}`)
  if (lines.length === 0) throw refused(`the token file holds no token: ${file}`)
  return { known: lines.map(identify), stamp }
}

/** Adds the owner, which a token without a name has by its digest. */
function identify({ token, access }: TokenLine): Known {
  const digest = digestOf(token)
  const owner = access.name === '' ? `#${digest.toString('hex', 0, 16)}` : access.name
  return { digest, access: { ...access, owner } }
}

/** The text of a file that nobody but its owner may read. What is checked is the file that is read. */
function readPrivately(file: string): { readonly text: string; readonly stamp: string } {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (cause) {
    throw refused(`cannot read the token file: ${file}`, { cause })
  }
  try {
    const stat = fstatSync(descriptor)
    if (!stat.isFile()) throw refused(`the token file is not a file: ${file}`)
    // Windows keeps rights elsewhere; the mode there says nothing.
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
      throw refused(`others on this machine may read the token file: ${file}`, {
        remedy: `run chmod 600 ${file}`,
      })
    return { text: readFileSync(descriptor, 'utf8'), stamp: stampOfStat(stat) }
  } finally {
    closeSync(descriptor)
  }
}

const refused = (message: string, more: { remedy?: string; cause?: unknown } = {}): CausewayError =>
  new CausewayError('INVALID_SETTING', message, more)
