import { write, writeSync } from 'node:fs'

const bufferBytes = 16_384
const flushDelayMs = 100
/** Maximum characters. Further lines are dropped and counted. */
const maxBufferedLength = 4 * 1024 * 1024
const closeTimeoutMs = 1000

/** Never blocks the server, even if nothing reads the lines. sonic-boom would retry forever at exit. */
export class StderrWriter {
  readonly #fd: number
  #lines: string[] = []
  #length = 0
  #droppedCount = 0
  #isWriting = false
  #isInSystemCall = false
  #isBroken = false
  #timer: NodeJS.Timeout | undefined
  #onDrained: (() => void) | undefined

  constructor(fd = 2) {
    this.#fd = fd
    // The last lines explain an uncaught error.
    process.once('exit', () => {
      if (this.#isWriting || this.#isBroken || this.#lines.length === 0) return
      try {
        writeSync(fd, this.#takeBuffer())
      } catch {
        // The reader is gone.
      }
    })
  }

  write(line: string): void {
    if (this.#isBroken) return
    if (this.#length + line.length > maxBufferedLength) {
      this.#droppedCount += 1
      return
    }
    this.#lines.push(line)
    this.#length += line.length
    if (this.#length >= bufferBytes && !this.#isWriting) this.#flush()
    else this.#flushAfter(flushDelayMs)
  }

  /** Writes remaining lines for at most a second. Returns `false` if a write is blocked, which also blocks `process.exit`. */
  close(): Promise<boolean> {
    return new Promise((resolve) => {
      const timeout = setTimeout(() => resolve(!this.#isInSystemCall), closeTimeoutMs)
      this.#onDrained = () => {
        clearTimeout(timeout)
        resolve(true)
      }
      this.#flush()
    })
  }

  #flushAfter(ms: number): void {
    this.#timer ??= setTimeout(() => this.#flush(), ms).unref()
  }

  #flush(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#isBroken) this.#takeBuffer()
    else if (!this.#isWriting && this.#lines.length > 0) this.#writeBytes(this.#takeBuffer())
    this.#checkDrained()
  }

  #writeBytes(bytes: Buffer): void {
    this.#isWriting = true
    this.#isInSystemCall = true
    write(this.#fd, bytes, 0, bytes.length, null, (error, writtenBytes) => {
      this.#isInSystemCall = false
      const remaining = error === null ? bytes.subarray(writtenBytes) : bytes
      if (error !== null && error.code !== 'EAGAIN') this.#isBroken = true
      else if (remaining.length > 0) {
        setTimeout(() => this.#writeBytes(remaining), error === null ? 0 : flushDelayMs).unref()
        return
      }
      this.#isWriting = false
      if (this.#lines.length > 0) this.#flushAfter(0)
      this.#checkDrained()
    })
  }

  #takeBuffer(): Buffer {
    if (this.#droppedCount > 0) {
      const note = { level: 40, time: Date.now(), dropped: this.#droppedCount, msg: 'lines were dropped' }
      this.#lines.push(`${JSON.stringify(note)}\n`)
    }
    const text = this.#lines.join('')
    this.#lines = []
    this.#length = 0
    this.#droppedCount = 0
    return Buffer.from(text)
  }

  #checkDrained(): void {
    if (!this.#isWriting && this.#lines.length === 0) this.#onDrained?.()
  }
}
