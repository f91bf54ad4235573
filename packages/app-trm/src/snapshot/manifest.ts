import { TrmError } from '../errors.ts'
import type { Contents } from './contents.ts'
import type { SnapshotEntry } from './snapshot-entry.ts'

export interface Manifest {
  /** Real path of the project. */
  readonly root: string
  readonly entries: readonly SnapshotEntry[]
}

export const createManifest = (root: string, entries: readonly SnapshotEntry[]): Manifest => ({
  root,
  entries: entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
})

/** The contents must be stored already. */
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
