const newlineByte = 10

/** Stores at most `maxBytes` of an unfinished line. */
export class LineSplitter {
  readonly #maxBytes: number
  readonly #onLine: (line: string) => void
  readonly #onTooLong: () => void
  #parts: Buffer[] = []
  #byteLength = 0

  constructor({ maxBytes, onLine, onTooLong }: LineSplitterOptions) {
    this.#maxBytes = maxBytes
    this.#onLine = onLine
    this.#onTooLong = onTooLong
  }

  push(chunk: Buffer): void {
    let start = 0
    for (let end = chunk.indexOf(newlineByte); end !== -1; end = chunk.indexOf(newlineByte, start)) {
      this.#append(chunk.subarray(start, end))
      this.end()
      start = end + 1
    }
    if (start < chunk.length) this.#append(chunk.subarray(start))
  }

  /** Emits an unfinished line. */
  end(): void {
    if (this.#byteLength === 0) return
    const [onlyPart] = this.#parts
    const bytes = this.#parts.length === 1 && onlyPart !== undefined ? onlyPart : Buffer.concat(this.#parts)
    this.#parts = []
    this.#byteLength = 0
    const line = bytes.toString('utf8')
    this.#onLine(line.endsWith('\r') ? line.slice(0, -1) : line)
  }

  #append(part: Buffer): void {
    if (part.length === 0) return
    if (this.#byteLength + part.length > this.#maxBytes) {
      this.#onTooLong()
      const remaining = this.#maxBytes - this.#byteLength
      if (remaining > 0) this.#parts.push(part.subarray(0, remaining))
      this.#byteLength = this.#maxBytes
      return
    }
    this.#parts.push(part)
    this.#byteLength += part.length
  }
}

interface LineSplitterOptions {
  readonly maxBytes: number
  onLine(line: string): void
  /** Called if the current line exceeds the limit. Its rest is dropped. */
  onTooLong(): void
}
