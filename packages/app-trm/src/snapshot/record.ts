import { readlink } from 'node:fs/promises'
import type { Contents } from './contents.ts'
import { diskEntry } from './disk-entry.ts'
import { type Placed, placed } from './place.ts'
import type { SnapshotEntry } from './types.ts'

/** Records what stands at the paths of a project; their contents are kept. */
export async function recordPaths(
  contents: Contents,
  root: string,
  paths: readonly string[],
): Promise<readonly SnapshotEntry[]> {
  const places = await Promise.all([...new Set(paths)].map((path) => placed(root, path)))
  const files = places.filter(({ stats }) => stats?.isFile())
  const blobs = await contents.keepFiles(files.map(({ absolute }) => absolute))
  const blobOf = new Map(files.map((place, index) => [place, blobs[index] ?? '']))
  return Promise.all(places.map((place) => entryOf(contents, place, blobOf.get(place))))
}

async function entryOf(contents: Contents, place: Placed, blob: string | undefined): Promise<SnapshotEntry> {
  const { path, absolute, stats } = place
  if (blob !== undefined && stats)
    return { path, kind: 'file', blob, mode: stats.mode & 0o7777, bytes: stats.size }
  if (stats?.isSymbolicLink()) await contents.keepText(await readlink(absolute))
  return diskEntry(path, absolute, stats)
}
