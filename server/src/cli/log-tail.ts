/** Reads the end of rotating log files: `server.1.log`, `server.2.log`. The highest number is the current file. */
import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { setTimeout as wait } from 'node:timers/promises'

/** The last lines of the files taken as one, and where the newest file ended while they were read. */
export function lastLines(
  files: readonly string[],
  count: number,
): { lines: readonly string[]; end: number } {
  let lines: readonly string[] = []
  const read = [...files].reverse()
  let end = 0
  for (const [at, file] of read.entries()) {
    const text = textFrom(file, 0)
    if (at === 0) end = Buffer.byteLength(text)
    lines = [...text.split('\n').filter((line) => line !== ''), ...lines].slice(-count)
    if (lines.length >= count) break
  }
  return { lines, end }
}

/** New lines as they are written, on through the next files, until `signal` aborts. */
export async function* followLines(
  files: () => readonly string[],
  from: { readonly file: string; readonly offset: number },
  { signal, everyMs = 200 }: { signal: AbortSignal; everyMs?: number },
): AsyncGenerator<string> {
  let { file, offset } = from
  while (!signal.aborted) {
    // Looked for first: what is written to the old file before the new one exists is read by the lines below.
    const known = files()
    const next = known[known.indexOf(file) + 1]
    const text = textFrom(file, offset)
    offset += Buffer.byteLength(text)
    yield* text.split('\n').filter((line) => line !== '')
    if (next !== undefined) {
      file = next
      offset = 0
    } else if (text === '') await wait(everyMs, undefined, { signal }).catch(() => {})
  }
}

/** What stands behind this byte; nothing where the file is gone, since the oldest ones are removed. Ends at a whole line. */
function textFrom(file: string, offset: number): string {
  let descriptor: number
  try {
    descriptor = openSync(file, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return ''
    throw error
  }
  try {
    const bytes = Buffer.alloc(Math.max(0, fstatSync(descriptor).size - offset))
    const got = bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset))
    // A character of several bytes may be half written: the rest of its line is read next time.
    return got.subarray(0, got.lastIndexOf(0x0a) + 1).toString('utf8')
  } finally {
    closeSync(descriptor)
  }
}
