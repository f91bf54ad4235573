import { LineSplitter } from './line-splitter.ts'

const maxLineBytes = 8 * 1024
const maxLines = 20

export class StderrLog {
  readonly #options: StderrLogOptions
  readonly #splitter: LineSplitter
  readonly #lines: string[] = []

  constructor(options: StderrLogOptions) {
    this.#options = options
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

  #add(text: string): void {
    const line = this.#options.redact(text)
    if (this.#lines.push(line) > maxLines) this.#lines.shift()
    this.#options.onLine(line)
  }
}

interface StderrLogOptions {
  redact(line: string): string
  onLine(line: string): void
}
