import type { Stats } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { machineFolders } from './machine-folders.ts'
import { statsOf } from './place.ts'
import { harmless, type ShadowGit } from './shadow-git.ts'
import { walkTree } from './walk-tree.ts'

/** A file of a project. */
export interface TreeFile {
  readonly path: string
  readonly absolute: string
  readonly stats: Stats
}

/** Most files and bytes of a snapshot of a whole project: 1 GiB. */
export interface TreeLimits {
  readonly files: number
  readonly bytes: number
}

/**
 * Every file and link of a project that its own ignore rules keep, and what it tracks in spite of them, sorted.
 * Repositories within it are left out. Without git the rules are read here. Throws `SNAPSHOT_TOO_LARGE` with `data.largest`.
 */
export async function treeFiles(
  git: ShadowGit | undefined,
  root: string,
  limits: TreeLimits,
): Promise<readonly TreeFile[]> {
  const paths =
    git === undefined
      ? new Set(await walkTree(root))
      : new Set([...(await untracked(git, root)), ...(await trackedThoughIgnored(git, root))])
  const kept = [...paths].filter((path) => path !== '' && !path.endsWith('/')).sort()
  if (kept.length > limits.files)
    throw tooLarge(
      kept.map((path) => [path, 1]),
      `${kept.length} files`,
      'files',
    )
  const files: TreeFile[] = []
  for (const path of kept) {
    const absolute = join(root, path)
    const stats = await statsOf(absolute)
    if (stats?.isFile() || stats?.isSymbolicLink()) files.push({ path, absolute, stats })
  }
  const bytes = files.reduce((sum, { stats }) => sum + stats.size, 0)
  if (bytes <= limits.bytes) return files
  throw tooLarge(
    files.map(({ path, stats }) => [path, stats.size]),
    `${bytes} bytes`,
    'bytes',
  )
}

/** Every file and link below a folder but for those that tools fill again, whatever rules say. */
export async function allFiles(root: string): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = []
  const waiting = ['']
  for (let folder = waiting.shift(); folder !== undefined; folder = waiting.shift()) {
    for (const name of await readdir(join(root, folder))) {
      const path = folder === '' ? name : `${folder}/${name}`
      const absolute = join(root, path)
      const stats = await statsOf(absolute)
      if (stats?.isDirectory()) {
        if (!machineFolders.includes(name)) waiting.push(path)
      } else if (stats?.isFile() || stats?.isSymbolicLink()) files.push({ path, absolute, stats })
    }
  }
  return files
}

/** With an index that is empty all files are untracked. */
async function untracked(git: ShadowGit, root: string): Promise<string[]> {
  const excludes = machineFolders.flatMap((name) => ['-x', `${name}/`])
  const own = join(root, '.git', 'info', 'exclude')
  const listed = await git.run(
    [
      ...['ls-files', '-z', '--others', '--exclude-per-directory=.gitignore', ...excludes],
      ...((await statsOf(own))?.isFile() ? ['-X', own] : []),
    ],
    { env: { GIT_WORK_TREE: root, GIT_INDEX_FILE: join(git.folder, 'no-index') }, cwd: root },
  )
  return listed.toString().split('\0')
}

/** What the project's own index holds although a rule ignores it; nothing outside of a repository. */
async function trackedThoughIgnored(git: ShadowGit, root: string): Promise<string[]> {
  const folder = join(root, '.git')
  if ((await statsOf(folder)) === undefined) return []
  const args = [...harmless, 'ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const listed = await git.attempt(args, { env: { GIT_DIR: folder, GIT_WORK_TREE: root }, cwd: root })
  return listed?.toString().split('\0') ?? []
}

function tooLarge(
  sizes: readonly (readonly [string, number])[],
  amount: string,
  unit: 'files' | 'bytes',
): CausewayError {
  const folders = new Map<string, number>()
  for (const [path, size] of sizes) {
    const parts = path.split('/')
    const folder = parts.slice(0, Math.min(2, parts.length - 1)).join('/') || '.'
    folders.set(folder, (folders.get(folder) ?? 0) + size)
  }
  const largest = [...folders]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([folder, size]) => ({ folder, [unit]: size }))
  return new CausewayError('SNAPSHOT_TOO_LARGE', `the project has ${amount}`, { data: { largest } })
}
