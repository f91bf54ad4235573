/** Each bucket is this much wider than the one before: the error of a quantile is at most half of it. */
const growth = 1.05
/** Buckets from 0.01 ms to about nine hours. */
const buckets = 360
const lowest = 0.01

/** Durations in milliseconds, kept as counts: what it costs does not grow with what it has seen. */
export class Histogram {
  readonly #counts = new Uint32Array(buckets)
  #total = 0

  add(ms: number): void {
    const at = Math.ceil(Math.log(Math.max(ms, lowest) / lowest) / Math.log(growth))
    const bucket = Math.min(buckets - 1, at)
    this.#counts[bucket] = (this.#counts[bucket] ?? 0) + 1
    this.#total += 1
  }

  /** The duration that this share of all stays within, to five per cent; undefined while there is none. */
  quantile(share: number): number | undefined {
    let left = Math.ceil(this.#total * share)
    if (left === 0) return undefined
    for (const [bucket, count] of this.#counts.entries()) {
      left -= count
      if (left <= 0) return lowest * growth ** (bucket - 0.5)
    }
    return undefined
  }
}
