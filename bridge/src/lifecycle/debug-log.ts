import { writeSync } from 'node:fs'
import { openPrivateFile } from '../stages/private-files.ts'

/** Writes a text and the start of a message as one line. */
export type Log = (text: string, message?: Buffer) => void

export const noLog: Log = () => {}

const maxExcerptBytes = 2048

/** Throws like `openPrivateFile`. */
export function openDebugLog(path: string, { pid, now }: { pid: number; now: () => Date }): Log {
  const file = openPrivateFile(path)
  return (text, message) => {
    const line = message === undefined ? text : `${text}: ${message.toString('utf8', 0, maxExcerptBytes)}`
    try {
      writeSync(file, `${now().toISOString()} [${pid}] ${redact(line.replace(/[\r\n]+/g, ' '))}\n`)
    } catch {
      // A full disk must not end the bridge.
    }
  }
}

/** Replaces HTTP credentials, `sk-` keys, and JSON values whose names suggest a secret. */
export const redact = (text: string): string =>
  text
    .replace(
      /("[^"]*(?:token|secret|passw|authorization|api[-_]?key|credential|cookie)[^"]*"\s*:\s*)(?:"(?:[^"\\]|\\.)*(?:"|\\?$)|[^\s",}\]]+)/gi,
      '$1"[redacted]"',
    )
    .replace(/\b(bearer|basic)\s+[\w.~+/=-]+/gi, '$1 [redacted]')
    .replace(/\bsk-[\w-]{8,}/g, '[redacted]')
