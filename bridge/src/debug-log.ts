import { writeSync } from 'node:fs'
import { openPrivateFile } from './private-file.ts'

/** Takes one line of the debug log, and the message it is about, of which the beginning is shown. */
export type Log = (text: string, message?: Buffer) => void

/** The log of a bridge that is not debugged. */
export const noLog: Log = () => {}

const shownBytes = 2048

/** Opens the debug log for appending; throws where `openPrivateFile` does. */
export function openDebugLog(path: string, { pid, now }: { pid: number; now: () => Date }): Log {
  const file = openPrivateFile(path)
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
