import { LineSplitter } from './line-splitter.ts'

const maxLineBytes = 8 * 1024
const maxLines = 200
const windowMs = 10_000
const maxLoggedPerWindow = 20

interface StderrLogOptions {
  readonly now: () => number
  /** Receives at most 20 lines in 10 s. */
  log(line: string): void
}

/** The latest 200 lines that a child process wrote to stderr, each at most 8 KiB long. */
export class StderrLog {
  readonly #options: StderrLogOptions
  readonly #splitter: LineSplitter
  readonly #lines: string[] = []
  #windowStart = Number.NEGATIVE_INFINITY
  #logged = 0

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

  #add(line: string): void {
    if (this.#lines.push(line) > maxLines) this.#lines.shift()
    const now = this.#options.now()
    if (now - this.#windowStart > windowMs) {
      this.#windowStart = now
      this.#logged = 0
    }
    this.#logged += 1
    if (this.#logged <= maxLoggedPerWindow) this.#options.log(line)
  }
}
