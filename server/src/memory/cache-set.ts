import type { Cache } from '@causeway/app-kit'

export interface OwnedCache {
  /** App path, or `causeway`. */
  readonly owner: string
  readonly cache: Cache
}

export interface CacheReport {
  readonly bytes: number
  readonly most_bytes: number
  readonly given_back_bytes: number
}

export class CacheSet {
  readonly #findCaches: () => readonly OwnedCache[]
  readonly #onFailure: (cache: string, error: unknown) => void
  readonly #evicted = new Map<string, number>()

  constructor(findCaches: () => readonly OwnedCache[], onFailure: (cache: string, error: unknown) => void) {
    this.#findCaches = findCaches
    this.#onFailure = onFailure
  }

  /** Cheapest to refill first. */
  get byCost(): readonly OwnedCache[] {
    return this.#findCaches().toSorted((a, b) => a.cache.costMs - b.cache.costMs)
  }

  /** Bytes since the start, by `<owner>.<cache>`. */
  get evicted(): ReadonlyMap<string, number> {
    return this.#evicted
  }

  async evict(owned: OwnedCache, bytes: number): Promise<number> {
    const evicted = await this.#try(owned, () => owned.cache.shrink(bytes))
    if (evicted > 0) this.#evicted.set(getName(owned), (this.#evicted.get(getName(owned)) ?? 0) + evicted)
    return evicted
  }

  async enforceLimits(): Promise<void> {
    for (const owned of this.#findCaches()) {
      const excess = (await this.#getBytes(owned)) - owned.cache.maxBytes
      if (excess > 0) await this.evict(owned, excess)
    }
  }

  async report(): Promise<Readonly<Record<string, CacheReport>>> {
    const entries = this.#findCaches().map(async (owned) => {
      const name = getName(owned)
      const bytes = await this.#getBytes(owned)
      const report = {
        bytes,
        most_bytes: owned.cache.maxBytes,
        given_back_bytes: this.#evicted.get(name) ?? 0,
      }
      return [name, report] as const
    })
    return Object.fromEntries(await Promise.all(entries))
  }

  #getBytes(owned: OwnedCache): Promise<number> {
    return this.#try(owned, () => owned.cache.bytes())
  }

  async #try(owned: OwnedCache, run: () => number | Promise<number>): Promise<number> {
    try {
      return await run()
    } catch (error) {
      this.#onFailure(getName(owned), error)
      return 0
    }
  }
}

const getName = ({ owner, cache }: OwnedCache): string => `${owner}.${cache.name}`
