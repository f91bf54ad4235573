import type { Writable } from 'node:stream'
import { replaceLineBreaks } from './lines.ts'

const newline = Buffer.from('\n')

/** Copying shorter lines is cheaper than a second write for the line break. */
const maxCopiedBytes = 4096

export class Output {
  /** Resolves when the client closes its end. */
  readonly closed: Promise<void>
  readonly #stream: Writable
  #isBlocked = false
  #isClosed = false
  #drainCallbacks: (() => void)[] = []

  constructor(stream: Writable) {
    this.#stream = stream
    this.closed = new Promise((resolve) => {
      stream.on('error', () => {
        this.#isClosed = true
        this.#unblock()
        resolve()
      })
    })
    stream.on('drain', () => this.#unblock())
  }

  get isBlocked(): boolean {
    return this.#isBlocked
  }

  write(json: Buffer): void {
    if (this.#isClosed) return
    const stream = this.#stream
    if (stream.writableCorked === 0) {
      // One system call per event loop turn saves a third of a busy bridge's CPU time.
      stream.cork()
      setImmediate(() => stream.uncork())
    }
    const line = replaceLineBreaks(json)
    if (line.length > maxCopiedBytes) stream.write(line)
    const end = line.length > maxCopiedBytes ? newline : Buffer.concat([line, newline])
    this.#isBlocked = !stream.write(end) || this.#isBlocked
  }

  whenWritable(callback: () => void): void {
    if (this.#isBlocked) this.#drainCallbacks.push(callback)
    else callback()
  }

  /** Resolves when everything is written or can no longer be written. */
  flush(): Promise<void> {
    return new Promise((resolve) => {
      if (this.#isClosed) resolve()
      else this.#stream.write('', () => resolve())
    })
  }

  #unblock(): void {
    this.#isBlocked = false
    for (const callback of this.#drainCallbacks.splice(0)) callback()
  }
}
