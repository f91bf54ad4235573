/** Number of values in a slab (512 KiB): about 100 frames of 20 bodies. */
const slabLength = 65_536

/** Maximum number of slabs that remain allocated after a flush: 8 MiB, two batches. */
const maxRetainedSlabs = 16

/** Arrays are valid until `clear`. One array per frame would cost a quarter of the CPU time (measured). */
export class SlabAllocator {
  readonly #slabs: Float64Array[] = []
  #slabIndex = 0
  #usedLength = 0

  allocate(length: number): Float64Array {
    if (length > slabLength) return new Float64Array(length)
    if (this.#usedLength + length > slabLength) {
      this.#slabIndex += 1
      this.#usedLength = 0
    }
    this.#slabs[this.#slabIndex] ??= new Float64Array(slabLength)
    const start = this.#usedLength
    this.#usedLength += length
    return (this.#slabs[this.#slabIndex] as Float64Array).subarray(start, this.#usedLength)
  }

  clear(): void {
    this.#slabIndex = 0
    this.#usedLength = 0
    this.#slabs.length = Math.min(this.#slabs.length, maxRetainedSlabs)
  }
}

/** `clear` does not release the memory. */
export class NumberRows {
  /** The rows up to `length`, followed by unused memory. Replaced by a larger array when full. */
  numbers: Float64Array = new Float64Array(512)
  length = 0

  /** Appends an uninitialized row. Returns its offset in `numbers`. */
  append(width: number): number {
    const at = this.length
    this.length += width
    if (this.length > this.numbers.length) {
      const largerArray = new Float64Array(2 * this.length)
      largerArray.set(this.numbers)
      this.numbers = largerArray
    }
    return at
  }

  /** Valid until the next `append`. */
  view(): Float64Array {
    return this.numbers.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }
}
