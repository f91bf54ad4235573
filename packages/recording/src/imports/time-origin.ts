/** Minimum time (2001-09-09) that counts as wall-clock seconds since 1970. */
const minEpochSeconds = 1e9

/**
 * Converts times to seconds. Wall-clock times become relative to the first one, because numbers near 1.7e9 are exact
 * only to 2e-7 s.
 */
export class TimeOrigin {
  readonly #perSecond: number
  #origin: number | bigint | undefined

  constructor(perSecond: number) {
    this.#perSecond = perSecond
  }

  get isRelative(): boolean {
    return this.#origin !== undefined && this.#origin !== 0 && this.#origin !== 0n
  }

  convert(value: number | bigint): { readonly time: number; readonly wall_time?: number } {
    const absoluteSeconds = Number(value) / this.#perSecond
    if (this.#origin === undefined) {
      const zero = typeof value === 'bigint' ? 0n : 0
      this.#origin = absoluteSeconds >= minEpochSeconds ? value : zero
    }
    if (!this.isRelative) return { time: absoluteSeconds }
    const difference =
      typeof value === 'bigint' && typeof this.#origin === 'bigint'
        ? Number(value - this.#origin)
        : Number(value) - Number(this.#origin)
    return { time: difference / this.#perSecond, wall_time: absoluteSeconds }
  }
}
