import { readlink } from 'node:fs/promises'
import { diskEntry } from './disk-entry.ts'
import { written } from './manifest.ts'
import { type Placed, placed } from './place.ts'
import type { ShadowGit } from './shadow-git.ts'
import type { SnapshotEntry } from './types.ts'

/** Records what stands at the paths of a project; contents go into the repository. */
export async function recordPaths(
  git: ShadowGit,
  root: string,
  paths: readonly string[],
): Promise<readonly SnapshotEntry[]> {
  const places = await Promise.all([...new Set(paths)].map((path) => placed(root, path)))
  const files = places.filter(({ stats }) => stats?.isFile())
  const input = files.map(({ absolute }) => `${absolute}\n`).join('')
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths']
  const blobs = input === '' ? [] : (await git.run(args, { input })).toString().trim().split('\n')
  const blobOf = new Map(files.map((place, index) => [place, blobs[index] ?? '']))
  return Promise.all(places.map((place) => entryOf(git, place, blobOf.get(place))))
}

async function entryOf(git: ShadowGit, place: Placed, blob: string | undefined): Promise<SnapshotEntry> {
  const { path, absolute, stats } = place
  if (blob !== undefined && stats)
    return { path, kind: 'file', blob, mode: stats.mode & 0o7777, bytes: stats.size }
  if (stats?.isSymbolicLink()) await written(git, await readlink(absolute))
  return diskEntry(path, absolute, stats)
}
