import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, readlink } from 'node:fs/promises'

export interface SnapshotEntry {
  readonly path: string
  /** `other` is a folder or a device. */
  readonly kind: 'file' | 'link' | 'absent' | 'other'
  /** Id of the content, computed as git does. Empty for `absent` and `other`. */
  readonly blob: string
  /** Permission bits (0o7777), or 0 if absent. */
  readonly mode: number
  readonly bytes: number
}

export interface Manifest {
  /** Real path of the project. */
  readonly root: string
  readonly entries: readonly SnapshotEntry[]
}

export const createManifest = (root: string, entries: readonly SnapshotEntry[]): Manifest => ({
  root,
  entries: entries.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
})

export async function readEntry(
  path: string,
  absolutePath: string,
  stats: Stats | undefined,
): Promise<SnapshotEntry> {
  if (stats === undefined) return createAbsentEntry(path)
  const mode = stats.mode & 0o7777
  if (stats.isFile()) return { path, kind: 'file', mode, ...(await hashFile(absolutePath)) }
  if (!stats.isSymbolicLink()) return { ...createAbsentEntry(path), kind: 'other', mode }
  const target = Buffer.from(await readlink(absolutePath))
  const blob = createBlobHash(target.length).update(target).digest('hex')
  return { path, kind: 'link', mode, blob, bytes: target.length }
}

export const createAbsentEntry = (path: string): SnapshotEntry => ({
  path,
  kind: 'absent',
  blob: '',
  mode: 0,
  bytes: 0,
})

/** Ignores the mode. */
export const hasSameContent = (a: SnapshotEntry, b: SnapshotEntry): boolean =>
  a.kind === b.kind && a.blob === b.blob

export const isSameEntry = (a: SnapshotEntry, b: SnapshotEntry): boolean =>
  hasSameContent(a, b) && (a.kind !== 'file' || a.mode === b.mode)

/** Creates the hash of a git blob: SHA-1 of a header and the bytes, which the caller adds. */
export const createBlobHash = (bytes: number) => createHash('sha1').update(`blob ${bytes}\0`)

export async function hashFile(absolutePath: string): Promise<Pick<SnapshotEntry, 'blob' | 'bytes'>> {
  const file = await open(absolutePath, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size: bytes } = await file.stat()
    const hash = createBlobHash(bytes)
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
    return { blob: hash.digest('hex'), bytes }
  } finally {
    await file.close()
  }
}
