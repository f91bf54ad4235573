import { TrmError } from '../errors.ts'
import type { Contents } from './contents.ts'
import type { SnapshotEntry } from './snapshot-entry.ts'

/** The list of a snapshot. */
export interface Manifest {
  /** Real path of the project. */
  readonly root: string
  /** Sorted by path. */
  readonly entries: readonly SnapshotEntry[]
}

export const createManifest = (root: string, entries: readonly SnapshotEntry[]): Manifest => ({
  root,
  entries: entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
})

/** Stores a manifest whose contents are already stored. */
export function storeManifest(contents: Contents, id: string, manifest: Manifest): void {
  const blobs = manifest.entries.map(({ blob }) => blob).filter((blob) => blob !== '')
  contents.addList(id, JSON.stringify(manifest), blobs)
}

/** Throws `SNAPSHOT_NOT_FOUND`. */
export async function readManifest(contents: Contents, id: string): Promise<Manifest> {
  const isId = /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(id)
  const list = isId ? await contents.readList(id) : undefined
  if (list !== undefined) return JSON.parse(list)
  throw new TrmError('SNAPSHOT_NOT_FOUND', `no snapshot has the id ${id.slice(0, 100)}`)
}

const maxManifests = 500
/** Approximate bytes of an entry without its path. */
const entryBytes = 200

/** Caches manifests, which never change; evicts the oldest. */
export class ManifestCache {
  readonly #entries = new Map<string, { readonly manifest: Manifest; readonly bytes: number }>()
  #bytes = 0

  get(id: string): Manifest | undefined {
    return this.#entries.get(id)?.manifest
  }

  set(id: string, manifest: Manifest): Manifest {
    this.delete(id)
    const bytes = manifest.entries.reduce((sum, { path }) => sum + path.length + entryBytes, 0)
    this.#entries.set(id, { manifest, bytes })
    this.#bytes += bytes
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > maxManifests && oldest !== undefined) this.delete(oldest)
    return manifest
  }

  /** Returns the released bytes. */
  delete(id: string): number {
    const bytes = this.#entries.get(id)?.bytes ?? 0
    this.#entries.delete(id)
    this.#bytes -= bytes
    return bytes
  }

  bytes(): number {
    return this.#bytes
  }

  /** Evicts manifests until at least `bytes` are released. Returns the released bytes. */
  shrink(bytes: number): number {
    let released = 0
    for (const id of [...this.#entries.keys()]) if (released < bytes) released += this.delete(id)
    return released
  }
}
