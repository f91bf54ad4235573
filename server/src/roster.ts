/** Something that can stand in a roster, which alone writes its place. */
export interface Listed {
  place: number
}

/**
 * What is under way, for the rare look at all of it.
 *
 * A `Set` or a `Map` would do but for the garbage collection. Every few additions V8 moves the entries into a new table and
 * leaves the old one behind, in the old generation, pointing to what stood in it: until the next major collection all
 * that those calls hold lives on. With 16 calls at once each minor collection copied 8 MB, now it copies 1 (measured).
 */
export class Roster<Item extends Listed> {
  readonly #items: (Item | undefined)[] = []
  #count = 0

  get size(): number {
    return this.#count
  }

  add(item: Item): void {
    item.place = this.#count
    this.#items[this.#count] = item
    this.#count += 1
  }

  /** Takes it out; the last one gets its place. */
  remove(item: Item): void {
    if (this.#items[item.place] !== item) return
    this.#count -= 1
    const last = this.#items[this.#count] as Item // there are as many as are counted
    this.#items[item.place] = last
    last.place = item.place
    // Emptied and not cut off: the array would be copied when it grows again, which leaves an old one behind too.
    this.#items[this.#count] = undefined
  }

  /** All of them, the last one first: one that is removed meanwhile makes none be missed. */
  *[Symbol.iterator](): Generator<Item> {
    for (let place = this.#count - 1; place >= 0; place -= 1) {
      const item = this.#items[place]
      if (item !== undefined) yield item
    }
  }
}
