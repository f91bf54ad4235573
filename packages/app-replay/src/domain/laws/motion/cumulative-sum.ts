/** Page's test (1954): finds the largest sum of consecutive values that exceed their slack, upwards or downwards. */
export class CumulativeSum {
  #up = 0
  #upFirst = 0
  #down = 0
  #downFirst = 0
  largest = { first: 0, last: 0, sum: 0 }

  add(frame: number, value: number, slack: number): void {
    if (this.#up === 0) this.#upFirst = frame
    if (this.#down === 0) this.#downFirst = frame
    this.#up = Math.max(0, this.#up + value - slack)
    this.#down = Math.min(0, this.#down + value + slack)
    const size = Math.abs(this.largest.sum)
    if (this.#up > size) this.largest = { first: this.#upFirst, last: frame, sum: this.#up }
    if (this.#down < -size) this.largest = { first: this.#downFirst, last: frame, sum: this.#down }
  }

  restart(): void {
    this.#up = 0
    this.#down = 0
  }
}
