import { closeSync, constants, fchmodSync, fstatSync, openSync, writeSync } from 'node:fs'

/** Takes one line of the debug log, and the message it is about, of which the beginning is shown. */
export type Log = (text: string, message?: Buffer) => void

/** The log of a bridge that is not debugged. */
export const noLog: Log = () => {}

const ownerOnly = 0o600
const shownBytes = 2048

/**
 * Opens the debug log for appending. The folder is writable for everybody, so a link, a file of another user, a pipe
 * or a file with a second name is refused: `Error` that says which.
 */
export function openDebugLog(path: string, { pid, now }: { pid: number; now: () => Date }): Log {
  const { O_WRONLY, O_APPEND, O_CREAT, O_NOFOLLOW, O_NONBLOCK } = constants
  // Windows has no such flags; there the folder belongs to the user alone.
  const flags = O_WRONLY | O_APPEND | O_CREAT | (O_NOFOLLOW ?? 0) | (O_NONBLOCK ?? 0)
  const file = openSync(path, flags, ownerOnly)
  const stat = fstatSync(file)
  const user = process.getuid?.()
  if (!stat.isFile() || stat.nlink !== 1 || (user !== undefined && stat.uid !== user)) {
    closeSync(file)
    throw new Error(`not a file of this user alone: ${path}`)
  }
  if ((stat.mode & 0o777) !== ownerOnly) fchmodSync(file, ownerOnly)
  return (text, message) => {
    const shown = message === undefined ? text : `${text}: ${message.toString('utf8', 0, shownBytes)}`
    try {
      writeSync(file, `${now().toISOString()} [${pid}] ${redact(shown.replace(/[\r\n]+/g, ' '))}\n`)
    } catch {
      // A full disk must not end the bridge.
    }
  }
}

/** Values of members whose name says secret, and credentials of HTTP, as they stand in a JSON text or a header. */
export const redact = (text: string): string =>
  text
    .replace(
      /("[^"]*(?:token|secret|passw|authorization|api[-_]?key|credential|cookie)[^"]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s",}\]]+)/gi,
      '$1"[redacted]"',
    )
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]')
    .replace(/\bsk-[\w-]{8,}/g, '[redacted]')
