/** Two-sided CUSUM (Page, 1954): finds the run with the largest sum of values minus their slack. */
export class CumulativeSum {
  #upSum = 0
  #upFirst = 0
  #downSum = 0
  #downFirst = 0
  largest = { first: 0, last: 0, sum: 0 }

  add(frame: number, value: number, slack: number): void {
    if (this.#upSum === 0) this.#upFirst = frame
    if (this.#downSum === 0) this.#downFirst = frame
    this.#upSum = Math.max(0, this.#upSum + value - slack)
    this.#downSum = Math.min(0, this.#downSum + value + slack)
    const size = Math.abs(this.largest.sum)
    if (this.#upSum > size) this.largest = { first: this.#upFirst, last: frame, sum: this.#upSum }
    if (this.#downSum < -size) this.largest = { first: this.#downFirst, last: frame, sum: this.#downSum }
  }

  restart(): void {
    this.#upSum = 0
    this.#downSum = 0
  }
}
