import { createHash } from 'node:crypto'
import { copyFile, readlink, rename, stat, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { diskEntry } from './disk-entry.ts'
import { withIndex, written } from './manifest.ts'
import { type Placed, placed } from './place.ts'
import type { ShadowGit } from './shadow-git.ts'
import { type TreeLimits, treeFiles } from './tree-list.ts'
import type { SnapshotEntry } from './types.ts'

/** Records what stands at the paths of a project; contents go into the repository. */
export async function recordPaths(
  git: ShadowGit,
  root: string,
  paths: readonly string[],
  signal?: AbortSignal,
): Promise<readonly SnapshotEntry[]> {
  const places = await Promise.all([...new Set(paths)].map((path) => placed(root, path)))
  const files = places.filter(({ stats }) => stats?.isFile())
  const input = files.map(({ absolute }) => `${absolute}\n`).join('')
  const args = ['hash-object', '-w', '--no-filters', '--stdin-paths']
  const blobs = input === '' ? [] : (await git.run(args, { input, signal })).toString().trim().split('\n')
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

/** Records a whole project. An index for each project spares reading again what did not change. */
export async function recordTree(
  git: ShadowGit,
  root: string,
  limits: TreeLimits,
  signal?: AbortSignal,
): Promise<{ readonly entries: readonly SnapshotEntry[]; readonly tree: string }> {
  const files = await treeFiles(git, root, limits)
  const kept = join(git.folder, `index-of-${createHash('sha1').update(root).digest('hex')}`)
  return withIndex(git, async ({ GIT_INDEX_FILE }) => {
    const there = { env: { GIT_INDEX_FILE, GIT_WORK_TREE: root }, cwd: root, signal }
    await copyIndex(kept, GIT_INDEX_FILE).catch(ignoreAbsent)
    const known = (await git.run(['ls-files', '-z'], there)).toString().split('\0')
    const wanted = new Set(files.map(({ path }) => path))
    const gone = known.filter((path) => path !== '' && !wanted.has(path))
    await git.run(['update-index', '-z', '--force-remove', '--stdin'], { ...there, input: zeroEnded(gone) })
    const add = ['update-index', '-z', '--add', '--remove', '--replace', '--stdin']
    await git.run(add, { ...there, input: zeroEnded([...wanted]) })
    const tree = (await git.run(['write-tree'], there)).toString().trim()
    const listed = (await git.run(['ls-files', '-s', '-z'], there)).toString()
    await rename(GIT_INDEX_FILE, kept)
    const blobs = new Map(
      [...listed.matchAll(/\d+ ([0-9a-f]+) \d\t([^\0]+)\0/g)].map(([, blob, path]) => [path, blob]),
    )
    const entries = files.flatMap(({ path, stats }): SnapshotEntry[] => {
      const blob = blobs.get(path)
      if (blob === undefined) return []
      const kind = stats.isSymbolicLink() ? 'link' : 'file'
      return [{ path, kind, blob, mode: stats.mode & 0o7777, bytes: stats.size }]
    })
    return { entries, tree }
  })
}

/**
 * Git reads a file again that was changed in the second in which its index was written, which it knows by the time of
 * the index: a copy with a time of its own would hide such changes.
 */
async function copyIndex(from: string, to: string): Promise<void> {
  const { atime, mtime } = await stat(from)
  await copyFile(from, to)
  await utimes(to, atime, mtime)
}

const zeroEnded = (paths: readonly string[]): string => paths.map((path) => `${path}\0`).join('')

function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
