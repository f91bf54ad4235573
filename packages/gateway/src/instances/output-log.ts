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
  #count = 0
  #windowStart = Number.NEGATIVE_INFINITY
  #logged = 0

  constructor(options: OutputLogOptions) {
    this.#options = options
  }

  add(source: OutputSource, line: string): void {
    this.#count += 1
    if (this.#lines.push(source === 'stderr' ? line : `[${source}] ${line}`) > maxLines) this.#lines.shift()
    if (source !== 'causeway' && this.#canLog()) this.#options.log(source, line)
  }

  /** A position from before a restart may be too high. It then means the beginning. */
  read(after = 0): OutputLines {
    const missed = after > this.#count ? this.#count : this.#count - after
    return { lines: missed === 0 ? [] : this.#lines.slice(-missed), next: this.#count }
  }

  #canLog(): boolean {
    const now = this.#options.now()
    if (now - this.#windowStart > windowMs) {
      this.#windowStart = now
      this.#logged = 0
    }
    this.#logged += 1
    return this.#logged <= maxLoggedPerWindow
  }
}
