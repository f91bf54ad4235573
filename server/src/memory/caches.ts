/** Every cache of the server, under its name, with what it has given back so far. */
import type { Cache } from '@causeway/app-kit'
import type { Host } from '../host.ts'

/** A cache and whose it is. */
export interface OwnedCache {
  /** Path of the app, `causeway` for the server's own. */
  readonly owner: string
  readonly cache: Cache
}

/** What a cache holds, for `/health` and `/metrics`. */
export interface CacheReport {
  readonly bytes: number
  readonly most_bytes: number
  readonly given_back_bytes: number
}

/** The caches of all apps that are open now, and those of the server. */
export interface Caches {
  all(): readonly OwnedCache[]
  /** Bytes that a cache holds; 0 for one that cannot say. */
  bytesOf(owned: OwnedCache): Promise<number>
  /** Asks a cache to give back; gives the bytes. A cache that fails gives nothing, and its owner is told in the log. */
  ask(owned: OwnedCache, bytes: number): Promise<number>
  /** By `<owner>.<name>`. */
  report(): Promise<Readonly<Record<string, CacheReport>>>
}

/** Gathers them. */
export function openCaches({
  host,
  own,
  onFailure,
}: {
  readonly host: Pick<Host, 'apps'>
  readonly own: () => readonly Cache[]
  readonly onFailure: (cache: string, error: unknown) => void
}): Caches {
  const given = new Map<string, number>()
  const all = (): readonly OwnedCache[] => [
    ...own().map((cache) => ({ owner: 'causeway', cache })),
    ...host
      .apps()
      .flatMap(({ app, path, store, failure }) =>
        failure === undefined ? app.caches(store).map((cache) => ({ owner: path, cache })) : [],
      ),
  ]
  const bytesOf = async (owned: OwnedCache): Promise<number> => {
    try {
      return await owned.cache.bytes()
    } catch (error) {
      onFailure(nameOf(owned), error)
      return 0
    }
  }
  return {
    all,
    bytesOf,
    async ask(owned, bytes) {
      const name = nameOf(owned)
      try {
        const back = await owned.cache.shrink(bytes)
        given.set(name, (given.get(name) ?? 0) + back)
        return back
      } catch (error) {
        onFailure(name, error)
        return 0
      }
    },
    async report() {
      const rows = await Promise.all(
        all().map(async (owned) => {
          const { cache } = owned
          const bytes = await bytesOf(owned)
          return [
            nameOf(owned),
            { bytes, most_bytes: cache.mostBytes, given_back_bytes: given.get(nameOf(owned)) ?? 0 },
          ] as const
        }),
      )
      return Object.fromEntries(rows)
    },
  }
}

/** `replay.recordings` */
export const nameOf = ({ owner, cache }: OwnedCache): string => `${owner}.${cache.name}`
