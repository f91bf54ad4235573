export class ProgressLine {
  readonly #stream: NodeJS.WriteStream
  #isVisible = false

  constructor(stream: NodeJS.WriteStream = process.stderr) {
    this.#stream = stream
  }

  update(text: string): void {
    if (!this.#stream.isTTY) return
    this.#stream.write(`\r\x1b[K${text.slice(0, (this.#stream.columns ?? 80) - 1)}`)
    this.#isVisible = true
  }

  clear(): void {
    if (this.#isVisible) this.#stream.write('\r\x1b[K')
    this.#isVisible = false
  }
}
