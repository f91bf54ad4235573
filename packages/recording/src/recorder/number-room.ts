/** Memory for numbers that live as long as a frame is read, or until the flush that stores it. */

/** Numbers of a slab, 512 KiB: the blocks of some 100 frames of 20 bodies. */
const slabLength = 65_536

/** Slabs that are kept for the next flush, 8 MiB: twice what is taken before a flush comes by itself. */
const keptSlabs = 16

/** Hands out parts of a few large arrays, over and over again. */
export interface NumberRoom {
  /** An array of this length; what stands in it is left from before. */
  take(length: number): Float64Array
  /** Makes room: whatever was taken may be written over from now on. */
  clear(): void
}

/**
 * Makes an empty room. An array of its own for each frame lies outside of V8's heap, which therefore marks the whole heap
 * again and again, in threads beside ours: a quarter of the processor time of a recording (measured).
 */
export function numberRoom(): NumberRoom {
  const slabs: Float64Array[] = []
  let slab = 0
  let used = 0
  return {
    take(length) {
      if (length > slabLength) return new Float64Array(length)
      if (used + length > slabLength) {
        slab += 1
        used = 0
      }
      slabs[slab] ??= new Float64Array(slabLength)
      const from = used
      used += length
      return (slabs[slab] as Float64Array).subarray(from, used)
    },
    clear() {
      slab = 0
      used = 0
      slabs.length = Math.min(slabs.length, keptSlabs)
    },
  }
}

/** Rows of numbers of which nobody knows how many will come; its memory is kept for the next ones. */
export class NumberRows {
  /** Everything there is room for; rows end at `length`. A new array whenever there were too many. */
  numbers: Float64Array = new Float64Array(512)
  length = 0

  /** Begins a row of this width; answers where in `numbers`. What stands there is left from before. */
  begin(width: number): number {
    const at = this.length
    this.length += width
    if (this.length > this.numbers.length) {
      const wider = new Float64Array(2 * this.length)
      wider.set(this.numbers)
      this.numbers = wider
    }
    return at
  }

  /** The rows, good until the next one begins. */
  taken(): Float64Array {
    return this.numbers.subarray(0, this.length)
  }

  clear(): void {
    this.length = 0
  }
}
