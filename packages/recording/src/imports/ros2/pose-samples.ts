import { createLimitError } from '../tables/table.ts'

/** Position, orientation (w first), linear and angular velocity. NaN means unknown. */
const sampleWidth = 13

/** Limits memory to 232 MB. */
const maxSamples = 2_000_000

export interface Sample {
  readonly stamp: bigint
  readonly parent: number
  readonly child: number
  readonly numbers: readonly number[]
}

/** Poses in parent frames, in message order. */
export class PoseSamples {
  readonly #path: string
  #stamps = new BigInt64Array(1024)
  #frames = new Int32Array(2048)
  #numbers = new Float64Array(1024 * sampleWidth)
  #count = 0

  constructor(path: string) {
    this.#path = path
  }

  get count(): number {
    return this.#count
  }

  add({ stamp, parent, child, numbers }: Sample): void {
    if (this.#count >= maxSamples)
      throw createLimitError('the bag has too many poses', maxSamples, this.#path)
    if (this.#count === this.#stamps.length) this.#grow()
    const at = this.#count++
    this.#stamps[at] = stamp
    this.#frames[2 * at] = parent
    this.#frames[2 * at + 1] = child
    this.#numbers.set(numbers, at * sampleWidth)
  }

  stamp(at: number): bigint {
    return this.#stamps[at] ?? 0n
  }

  parent(at: number): number {
    return this.#frames[2 * at] ?? 0
  }

  child(at: number): number {
    return this.#frames[2 * at + 1] ?? 0
  }

  numbers(at: number): Float64Array {
    return this.#numbers.subarray(at * sampleWidth, (at + 1) * sampleWidth)
  }

  /** Returns indexes in stamp order (stable). */
  sort(): Uint32Array {
    const order = Uint32Array.from({ length: this.#count }, (_, i) => i)
    let isSorted = true
    for (let i = 1; i < this.#count && isSorted; i++) isSorted = this.stamp(i - 1) <= this.stamp(i)
    if (isSorted) return order
    return order.sort((a, b) => {
      const [first, second] = [this.stamp(a), this.stamp(b)]
      return first < second ? -1 : first > second ? 1 : a - b
    })
  }

  #grow(): void {
    const length = 2 * this.#stamps.length
    const [stamps, frames] = [new BigInt64Array(length), new Int32Array(2 * length)]
    const numbers = new Float64Array(length * sampleWidth)
    stamps.set(this.#stamps)
    frames.set(this.#frames)
    numbers.set(this.#numbers)
    this.#stamps = stamps
    this.#frames = frames
    this.#numbers = numbers
  }
}
