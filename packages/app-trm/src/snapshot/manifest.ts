/** How a snapshot is kept: a tree with the files and a list of all that git does not keep of them. */
import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { ShadowGit } from './shadow-git.ts'
import type { SnapshotEntry, SnapshotId } from './types.ts'

/** What a snapshot says. */
export interface Manifest {
  /** The real path of the project. */
  readonly root: string
  /** True where everything was recorded, so that a file without an entry was not there. */
  readonly isWhole: boolean
  /** Sorted by path. */
  readonly entries: readonly SnapshotEntry[]
}

/** True for what may be the id of a snapshot. */
export const isSnapshotId = (id: string): boolean => /^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(id)

/** Where a snapshot hangs, safe from `git gc`. */
export const refOf = (id: SnapshotId): string => `refs/snapshots/${id}`

/** Keeps a snapshot; `tree` holds its files. */
export async function storeManifest(
  git: ShadowGit,
  id: SnapshotId,
  manifest: Manifest,
  tree: string,
): Promise<void> {
  const entries = manifest.entries.toSorted((a, b) => (a.path < b.path ? -1 : 1))
  const list = await written(git, JSON.stringify({ ...manifest, entries }))
  const whole = await git.run(['mktree'], {
    input: `100644 blob ${list}\tentries\n040000 tree ${tree}\ttree\n`,
  })
  await git.run(['update-ref', refOf(id), whole.toString().trim()])
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

/** A tree of what the repository holds already. */
export async function treeOf(git: ShadowGit, entries: readonly SnapshotEntry[]): Promise<string> {
  const input = entries
    .filter(({ kind }) => kind === 'file' || kind === 'link')
    .map(({ path, kind, mode, blob }) => `${gitMode(kind, mode)} ${blob}\t${path}\0`)
    .join('')
  return withIndex(git, async (env) => {
    await git.run(['update-index', '-z', '--index-info'], { input, env })
    return (await git.run(['write-tree'], { env })).toString().trim()
  })
}

/** Lends an index that nobody else uses. */
export async function withIndex<T>(
  git: ShadowGit,
  use: (env: { readonly GIT_INDEX_FILE: string }) => Promise<T>,
): Promise<T> {
  const file = join(git.folder, `index-${randomUUID()}`)
  try {
    return await use({ GIT_INDEX_FILE: file })
  } finally {
    await rm(file, { force: true })
  }
}

const gitMode = (kind: SnapshotEntry['kind'], mode: number): string => {
  if (kind === 'link') return '120000'
  return (mode & 0o100) === 0 ? '100644' : '100755'
}
