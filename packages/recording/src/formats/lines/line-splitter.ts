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
  *push(chunk: Uint8Array): Generator<string> {
    // `indexOf` is faster for a `Buffer`.
    const bytes = toBuffer(chunk)
    let from = 0
    for (let to = bytes.indexOf(10); to !== -1; to = bytes.indexOf(10, from)) {
      if (this.#pendingBytes + to - from > this.#maxBytes) this.#appendPending(bytes.subarray(from, to))
      const line = this.#takeLine(bytes.subarray(from, to))
      from = to + 1
      yield line
    }
    this.#appendPending(bytes.subarray(from))
  }

  /** Returns the last line if it does not end with a line feed. */
  end(): string | undefined {
    return this.#pendingBytes === 0 ? undefined : this.#takeLine(Buffer.alloc(0))
  }

  #takeLine(last: Buffer): string {
    this.#count += 1
    const line = this.#pendingBytes === 0 ? last : Buffer.concat([...this.#parts, last])
    this.#parts = []
    this.#pendingBytes = 0
    return line.toString('utf8')
  }

  #appendPending(bytes: Uint8Array): void {
    if (this.#pendingBytes + bytes.length > this.#maxBytes) {
      this.#count += 1
      throw new RecordingError('INVALID_FRAME', `the line is longer than ${this.#maxBytes} bytes`, {
        remedy: 'end each frame with a line feed',
        data: { path: '', expected: `at most ${this.#maxBytes} bytes` },
      })
    }
    if (bytes.length === 0) return
    this.#parts.push(bytes)
    this.#pendingBytes += bytes.length
  }
}

const toBuffer = ({ buffer, byteOffset, length }: Uint8Array): Buffer =>
  Buffer.from(buffer, byteOffset, length)
