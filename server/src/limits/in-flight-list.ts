/** An item of an `InFlightList`, which alone sets `index`. */
interface Item {
  index: number
}

/**
 * Unordered items that are added and removed with each request. A `Set` or `Map` would move entries to new tables, and
 * V8 would retain the old ones until the next major collection.
 */
export class InFlightList<T extends Item> {
  readonly #items: (T | undefined)[] = []
  #size = 0

  add(item: T): void {
    item.index = this.#size
    this.#items[this.#size] = item
    this.#size += 1
  }

  remove(item: T): void {
    if (this.#items[item.index] !== item) return
    this.#size -= 1
    const lastItem = this.#items[this.#size] as T
    this.#items[item.index] = lastItem
    lastItem.index = item.index
    // Truncating the array would copy it when it grows again.
    this.#items[this.#size] = undefined
  }

  /** Starts with the last item, so that removing the current one skips no other. */
  *[Symbol.iterator](): Generator<T> {
    for (let index = this.#size - 1; index >= 0; index -= 1) {
      const item = this.#items[index]
      if (item !== undefined) yield item
    }
  }
}
