import { createHash } from 'node:crypto'
import { constants, type Stats } from 'node:fs'
import { open, readlink } from 'node:fs/promises'
import type { SnapshotEntry } from './types.ts'

/** The entry of a path as it is on disk now: what a snapshot taken now would say. */
export async function diskEntry(
  path: string,
  absolute: string,
  stats: Stats | undefined,
): Promise<SnapshotEntry> {
  if (stats === undefined) return absent(path)
  const mode = stats.mode & 0o7777
  if (stats.isFile()) return { path, kind: 'file', mode, ...(await fileBlob(absolute)) }
  if (!stats.isSymbolicLink()) return { ...absent(path), kind: 'other', mode }
  const target = Buffer.from(await readlink(absolute))
  return {
    path,
    kind: 'link',
    mode,
    blob: blobId(target.length).update(target).digest('hex'),
    bytes: target.length,
  }
}

/** The entry of a path at which nothing stands. */
export const absent = (path: string): SnapshotEntry => ({ path, kind: 'absent', blob: '', mode: 0, bytes: 0 })

/** True where two entries hold the same content; mode bits aside. */
export const hasSameContent = (a: SnapshotEntry, b: SnapshotEntry): boolean =>
  a.kind === b.kind && a.blob === b.blob

/** True where nothing would have to be written to make one of the other. */
export const isSameEntry = (a: SnapshotEntry, b: SnapshotEntry): boolean =>
  hasSameContent(a, b) && (a.kind !== 'file' || a.mode === b.mode)

/** The id that git gives a blob of so many bytes, which follow: SHA-1 over a header and the bytes. */
export const blobId = (bytes: number) => createHash('sha1').update(`blob ${bytes}\0`)

async function fileBlob(absolute: string): Promise<Pick<SnapshotEntry, 'blob' | 'bytes'>> {
  const file = await open(absolute, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
  try {
    const { size: bytes } = await file.stat()
    const hash = blobId(bytes)
    for await (const chunk of file.createReadStream({ autoClose: false })) hash.update(chunk)
    return { blob: hash.digest('hex'), bytes }
  } finally {
    await file.close()
  }
}
