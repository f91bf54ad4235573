import { LineSplitter } from './line-splitter.ts'

const maxLineBytes = 8 * 1024
const maxLines = 20

/** The latest 20 lines of a child's stderr, each at most 8 KiB. */
export class StderrLog {
  readonly #onLine: (line: string) => void
  readonly #splitter: LineSplitter
  readonly #lines: string[] = []

  constructor(onLine: (line: string) => void) {
    this.#onLine = onLine
    this.#splitter = new LineSplitter({
      maxBytes: maxLineBytes,
      onLine: (line) => this.#add(line),
      onTooLong: () => {},
    })
  }

  get lines(): readonly string[] {
    return this.#lines
  }

  push(chunk: Buffer): void {
    this.#splitter.push(chunk)
  }

  end(): void {
    this.#splitter.end()
  }

  #add(line: string): void {
    if (this.#lines.push(line) > maxLines) this.#lines.shift()
    this.#onLine(line)
  }
}
