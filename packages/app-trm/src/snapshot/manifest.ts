/** How a snapshot is kept: a tree with the contents, each under its own id, and a list of the paths that have them. */
import { CausewayError } from '@causeway/protocol'
import type { ShadowGit } from './shadow-git.ts'
import type { SnapshotEntry, SnapshotId } from './types.ts'

/** What a snapshot says. */
export interface Manifest {
  /** The real path of the project. */
  readonly root: string
  /** Sorted by path. */
  readonly entries: readonly SnapshotEntry[]
}

/** True for what may be the id of a snapshot. */
export const isSnapshotId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(id)

/** Where a snapshot hangs, safe from `git gc`. */
export const refOf = (id: SnapshotId): string => `refs/snapshots/${id}`

/** The same with its entries in the order of their paths. */
export const sorted = ({ root, entries }: Manifest): Manifest => ({
  root,
  entries: entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
})

/** Keeps a snapshot whose contents the repository holds already; gives it as it is kept. */
export async function storeManifest(git: ShadowGit, id: SnapshotId, manifest: Manifest): Promise<Manifest> {
  const kept = sorted(manifest)
  const list = await written(git, JSON.stringify(kept))
  const blobs = new Set(kept.entries.map(({ blob }) => blob).filter((blob) => blob !== ''))
  const input = [
    `100644 blob ${list}\tentries\n`,
    ...[...blobs].map((blob) => `100644 blob ${blob}\t${blob}\n`),
  ]
  const tree = await git.run(['mktree'], { input: input.join('') })
  await git.run(['update-ref', refOf(id), tree.toString().trim()])
  return kept
}

/** Reads a snapshot; throws `SNAPSHOT_NOT_FOUND`. */
export async function readManifest(git: ShadowGit, id: SnapshotId): Promise<Manifest> {
  const list = isSnapshotId(id) ? await git.attempt(['cat-file', 'blob', `${refOf(id)}:entries`]) : undefined
  if (list !== undefined) return JSON.parse(list.toString())
  throw new CausewayError('SNAPSHOT_NOT_FOUND', `no snapshot has the id ${id.slice(0, 100)}`)
}

/** Writes a text into the repository and answers its id. */
export async function written(git: ShadowGit, text: string): Promise<string> {
  return (await git.run(['hash-object', '-w', '--stdin'], { input: text })).toString().trim()
}
