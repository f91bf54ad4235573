const maxLines = 200
const windowMs = 10_000
const maxLoggedPerWindow = 20

interface OutputLogOptions {
  readonly now: () => number
  log(source: OutputSource, line: string): void
}

/**
 * `stdout`: lines that are not messages; `message`: MCP log messages without a known client; `causeway`:
 * failures that Causeway reports.
 */
export type OutputSource = 'stderr' | 'stdout' | 'message' | 'causeway'

export interface OutputLines {
  readonly lines: readonly string[]
  /** Position for the next read. */
  readonly next: number
}

/** Contains lines of all processes of a server, including ended ones. */
export class OutputLog {
  readonly #options: OutputLogOptions
  readonly #lines: string[] = []
  #lineCount = 0
  #windowStartMs = Number.NEGATIVE_INFINITY
  #loggedCount = 0

  constructor(options: OutputLogOptions) {
    this.#options = options
  }

  add(source: OutputSource, line: string): void {
    this.#lineCount += 1
    if (this.#lines.push(source === 'stderr' ? line : `[${source}] ${line}`) > maxLines) this.#lines.shift()
    if (source !== 'causeway' && this.#canLog()) this.#options.log(source, line)
  }

  /** A position from before a restart may be too high. It then means the beginning. */
  read(after = 0): OutputLines {
    const missedCount = after > this.#lineCount ? this.#lineCount : this.#lineCount - after
    return { lines: missedCount === 0 ? [] : this.#lines.slice(-missedCount), next: this.#lineCount }
  }

  #canLog(): boolean {
    const now = this.#options.now()
    if (now - this.#windowStartMs > windowMs) {
      this.#windowStartMs = now
      this.#loggedCount = 0
    }
    this.#loggedCount += 1
    return this.#loggedCount <= maxLoggedPerWindow
  }
}
