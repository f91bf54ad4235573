/** Lines of the log for a reader that may be slow, gone, or never read: the server neither waits for it nor keeps all for it. */
import { write, writeSync } from 'node:fs'

/** Takes lines and writes them when some have gathered. */
export interface StderrLines {
  write(line: string): void
  /**
   * Writes what is left, for a second at most. False where a write hangs still, for want of a reader: the thread that it
   * hangs in would hold `process.exit`.
   */
  close(): Promise<boolean>
}

/** Bytes that are worth a write at once. */
const enough = 4096
/** Longest time that a line waits for others, so that many calls share one write; ms. */
const gatherMs = 100
/** Characters that are kept for a reader that does not read; further lines are dropped and counted. */
const mostWaiting = 4 * 1024 * 1024
/** Time that the last lines get; ms. */
const closeMs = 1000

/**
 * Writes to a file descriptor, which is not closed. A stream of a library would do but for the end: at the exit of the
 * process it writes what is left again and again, for ever where nobody reads.
 */
export function stderrLines(fd = 2): StderrLines {
  let waiting: string[] = []
  let length = 0
  let dropped = 0
  /** From the first write of some bytes to the last, and while a write is under way. */
  let isWriting = false
  let isOut = false
  let isBroken = false
  let timer: NodeJS.Timeout | undefined
  let whenDone: (() => void) | undefined

  const gather = (ms: number): void => {
    timer ??= setTimeout(flush, ms).unref()
  }
  const settle = (): void => {
    if (!isWriting && waiting.length === 0) whenDone?.()
  }
  const takeAll = (): Buffer => {
    if (dropped > 0)
      waiting.push(`${JSON.stringify({ level: 40, time: Date.now(), dropped, msg: 'lines were dropped' })}\n`)
    const text = waiting.join('')
    waiting = []
    length = 0
    dropped = 0
    return Buffer.from(text)
  }
  const put = (bytes: Buffer): void => {
    isWriting = true
    isOut = true
    write(fd, bytes, 0, bytes.length, null, (error, written) => {
      isOut = false
      const code = error?.code
      const rest = error === null ? bytes.subarray(written) : bytes
      if (error !== null && code !== 'EAGAIN') isBroken = true
      else if (rest.length > 0) {
        setTimeout(put, error === null ? 0 : gatherMs, rest).unref()
        return
      }
      isWriting = false
      if (waiting.length > 0) gather(0)
      settle()
    })
  }
  function flush(): void {
    clearTimeout(timer)
    timer = undefined
    if (isBroken) takeAll()
    else if (!isWriting && waiting.length > 0) put(takeAll())
    settle()
  }

  // An end that nobody planned, such as an error that was not caught: what is said last is what explains it.
  process.once('exit', () => {
    if (isWriting || isBroken || waiting.length === 0) return
    try {
      writeSync(fd, takeAll())
    } catch {
      // Nobody reads.
    }
  })

  return {
    write(line) {
      if (isBroken) return
      if (length + line.length > mostWaiting) {
        dropped += 1
        return
      }
      waiting.push(line)
      length += line.length
      if (length >= enough && !isWriting) flush()
      else gather(gatherMs)
    },
    close: () =>
      new Promise((resolve) => {
        const late = setTimeout(() => resolve(!isOut), closeMs)
        whenDone = () => {
          clearTimeout(late)
          resolve(true)
        }
        flush()
      }),
  }
}
