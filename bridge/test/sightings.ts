import { inspect } from 'node:util'

/** Things that happen, and promises of things that will: waiting for a condition instead of for a time. */
export class Sightings<T> {
  readonly all: T[] = []
  #waiting: { matches: (item: T) => boolean; found: (item: T) => void }[] = []

  push(item: T): void {
    this.all.push(item)
    for (const wait of this.#waiting.filter(({ matches }) => matches(item))) {
      this.#waiting = this.#waiting.filter((other) => other !== wait)
      wait.found(item)
    }
  }

  /** The first that matches, past or to come; fails after ten seconds. */
  first(what: string, matches: (item: T) => boolean): Promise<T> {
    const past = this.all.find(matches)
    if (past !== undefined) return Promise.resolve(past)
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`did not see ${what} among ${inspect(this.all.slice(-20), { depth: 3 })}`))
      const deadline = setTimeout(late, 10_000)
      const found = (item: T) => {
        clearTimeout(deadline)
        resolve(item)
      }
      this.#waiting.push({ matches, found })
    })
  }
}
