/** How a snapshot is kept: contents, each under its own id, and a list of the paths that have them. */
import { CausewayError } from '@causeway/protocol'
import type { Contents } from './contents.ts'
import type { SnapshotEntry, SnapshotId } from './types.ts'

/** What a snapshot says. */
export interface Manifest {
  /** The real path of the project. */
  readonly root: string
  /** Sorted by path. */
  readonly entries: readonly SnapshotEntry[]
}

/** True for what may be the id of a snapshot. */
const isSnapshotId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(id)

/** The same with its entries in the order of their paths. */
export const sorted = ({ root, entries }: Manifest): Manifest => ({
  root,
  entries: entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
})

/** Keeps a snapshot whose contents are kept already; gives it as it is kept. */
export async function storeManifest(
  contents: Contents,
  id: SnapshotId,
  manifest: Manifest,
): Promise<Manifest> {
  const kept = sorted(manifest)
  const blobs = kept.entries.map(({ blob }) => blob).filter((blob) => blob !== '')
  await contents.keepList(id, JSON.stringify(kept), blobs)
  return kept
}

/** Reads a snapshot; throws `SNAPSHOT_NOT_FOUND`. */
export async function readManifest(contents: Contents, id: SnapshotId): Promise<Manifest> {
  const list = isSnapshotId(id) ? await contents.list(id) : undefined
  if (list !== undefined) return JSON.parse(list)
  throw new CausewayError('SNAPSHOT_NOT_FOUND', `no snapshot has the id ${id.slice(0, 100)}`)
}
