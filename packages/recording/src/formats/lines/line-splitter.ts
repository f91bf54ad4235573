import { RecordingError } from '../../errors.ts'

/** Enough for about 10,000 bodies with contacts. */
export const maxLineBytes = 16 * 1024 ** 2

export class LineSplitter {
  readonly #maxBytes: number
  #parts: Uint8Array[] = []
  #pendingBytes = 0
  #count = 0

  constructor(maxBytes = maxLineBytes) {
    this.#maxBytes = maxBytes
  }

  /** Number of lines so far, including an overlong one. */
  get count(): number {
    return this.#count
  }

  /** Yields complete lines without line feeds. Throws `INVALID_FRAME` for a line that is too long. */
  *push(part: Uint8Array): Generator<string> {
    // `indexOf` is faster for a `Buffer`.
    const bytes = toBuffer(part)
    let from = 0
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      if (this.#pendingBytes + to - from > this.#maxBytes) this.#append(bytes.subarray(from, to))
      const line = this.#take(bytes.subarray(from, to))
      from = to + 1
      yield line
    }
    this.#append(bytes.subarray(from))
  }

  /** Returns the last line if it does not end with a line feed. */
  end(): string | undefined {
    return this.#pendingBytes === 0 ? undefined : this.#take(Buffer.alloc(0))
  }

  #take(last: Buffer): string {
    this.#count += 1
    const whole = this.#pendingBytes === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#pendingBytes = 0
    return whole.toString('utf8')
  }

  #append(rest: Uint8Array): void {
    if (this.#pendingBytes + rest.length > this.#maxBytes) {
      this.#count += 1
      throw new RecordingError('INVALID_FRAME', `the line is longer than ${this.#maxBytes} bytes`, {
        remedy: 'end each frame with a line feed',
        data: { path: '', expected: `at most ${this.#maxBytes} bytes` },
      })
    }
    if (rest.length === 0) return
    this.#parts.push(rest)
    this.#pendingBytes += rest.length
  }
}

const toBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length)
