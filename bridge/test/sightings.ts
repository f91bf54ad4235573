import { inspect } from 'node:util'

/** A list of items that tests can wait for. */
export class Sightings<T> {
  readonly all: T[] = []
  readonly #timeoutMs: number
  #waiting: { matches: (item: T) => boolean; found: (item: T) => void }[] = []

  constructor(timeoutMs = 30_000) {
    this.#timeoutMs = timeoutMs
  }

  push(item: T): void {
    this.all.push(item)
    for (const wait of this.#waiting.filter(({ matches }) => matches(item))) {
      this.#waiting = this.#waiting.filter((other) => other !== wait)
      wait.found(item)
    }
  }

  /** Resolves to the first item that matches. Rejects after the timeout. */
  first(what: string, matches: (item: T) => boolean): Promise<T> {
    const past = this.all.find(matches)
    if (past !== undefined) return Promise.resolve(past)
    return new Promise((resolve, reject) => {
      const late = () =>
        reject(new Error(`did not see ${what} among ${inspect(this.all.slice(-20), { depth: 3 })}`))
      const deadline = setTimeout(late, this.#timeoutMs)
      const found = (item: T) => {
        clearTimeout(deadline)
        resolve(item)
      }
      this.#waiting.push({ matches, found })
    })
  }
}
