import { execFile } from 'node:child_process'
import { constants, type Stats } from 'node:fs'
import { copyFile, mkdir, readdir, readFile, readlink, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import type { CausewayError } from '@causeway/protocol'
import type { AbsentPath } from '../domain/evaluation/absent-path.ts'
import { type IgnoreRules, parseIgnoreRules } from '../domain/ignore-rules.ts'
import { TrmError } from '../errors.ts'
import { type FileLocation, statIfExists } from './file-location.ts'
import { forEachConcurrently } from './for-each.ts'

/** A file or a link. */
export type TreeFile = FileLocation & { readonly stats: Stats }

export interface TreeLimits {
  readonly files: number
  readonly bytes: number
}

/** Folders that are never copied, because tools can create them again. */
const generatedFolders: readonly string[] = [
  'node_modules',
  '.venv',
  'venv',
  '.tox',
  '__pycache__',
  '.mypy_cache',
  '.pytest_cache',
  '.ruff_cache',
]

/**
 * Lists every file and link that is not ignored or that the repository tracks, sorted. Omits nested repositories.
 * Without git, tracked files that are ignored are missing. Throws `SNAPSHOT_TOO_LARGE` with `data.largest`.
 */
export async function listTree(root: string, limits: TreeLimits): Promise<readonly TreeFile[]> {
  const { included } = await walkTree(root)
  const paths = [...new Set([...included, ...(await listTrackedIgnored(root))])].sort()
  if (paths.length > limits.files)
    throw createTooLargeError(
      paths.map((path) => [path, 1]),
      'files',
    )
  const repositories = await findRepositories(root, paths)
  const files = await findFiles(
    root,
    paths.filter((path) => !repositories.some((folder) => path.startsWith(folder))),
  )
  if (files.reduce((sum, { stats }) => sum + stats.size, 0) <= limits.bytes) return files
  throw createTooLargeError(
    files.map(({ path, stats }) => [path, stats.size]),
    'bytes',
  )
}

/**
 * Returns the parent folders of `paths` that contain `.git`, each with a trailing slash. Git lists the files of a
 * nested repository only if that repository is damaged.
 */
async function findRepositories(root: string, paths: readonly string[]): Promise<readonly string[]> {
  const folders = new Set(
    paths.flatMap((path) => [...path.matchAll(/\//g)].map(({ index }) => path.slice(0, index + 1))),
  )
  const folderLists = await Promise.all(
    [...folders].map(async (folder) => ((await statIfExists(join(root, folder, '.git'))) ? [folder] : [])),
  )
  return folderLists.flat()
}

/** Lists all files and links, even ignored ones, except in generated folders. */
export async function listAll(root: string): Promise<readonly TreeFile[]> {
  return findFiles(root, (await walkTree(root, { includeIgnored: true })).included)
}

/** Omits paths that were removed in the meantime. */
async function findFiles(root: string, paths: readonly string[]): Promise<readonly TreeFile[]> {
  const files: TreeFile[] = []
  for (const path of paths) {
    const absolutePath = join(root, path)
    const stats = await statIfExists(absolutePath)
    if (stats?.isFile() || stats?.isSymbolicLink()) files.push({ path, absolutePath, stats })
  }
  return files
}

/** Does not start programs that the repository's configuration names. */
async function listTrackedIgnored(root: string): Promise<readonly string[]> {
  const folder = join(root, '.git')
  if ((await statIfExists(folder)) === undefined) return []
  const flags = ['-c', 'core.fsmonitor=false', '-c', 'core.hooksPath=/dev/null']
  const args = [...flags, 'ls-files', '-z', '--cached', '--ignored', '--exclude-standard']
  const env = {
    PATH: process.env.PATH ?? '',
    GIT_DIR: folder,
    GIT_WORK_TREE: root,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
  }
  try {
    const { stdout } = await promisify(execFile)('git', args, { cwd: root, env, maxBuffer: 2 ** 26 })
    return stdout.split('\0').filter((path) => path !== '')
  } catch {
    return []
  }
}

interface FolderRules {
  /** Path relative to the project, with a trailing slash. Empty for the project itself. */
  readonly folder: string
  readonly rules: IgnoreRules
}

/**
 * Lists the paths that are not ignored, or all paths if `includeIgnored` is set. Rules of nested folders take
 * precedence. `skipped` contains ignored files and folders, and other repositories. Generated folders are in neither
 * list.
 */
export async function walkTree(root: string, { includeIgnored = false } = {}) {
  const included: string[] = []
  const skipped: AbsentPath[] = []
  const walk = async (folder: string, inheritedRules: readonly FolderRules[]): Promise<void> => {
    const folderRules = includeIgnored ? [] : await readRules(join(root, folder, '.gitignore'), folder)
    const activeRules = [...folderRules, ...inheritedRules]
    for (const entry of await readEntries(join(root, folder))) {
      const path = `${folder}${entry.name}`
      const isFolder = entry.isDirectory()
      if (entry.name === '.git' || generatedFolders.includes(entry.name)) continue
      const isRepository =
        !includeIgnored && isFolder && (await statIfExists(join(root, path, '.git'))) !== undefined
      if (isRepository || isIgnored(path, isFolder, activeRules))
        skipped.push({ path, isFolder, isRepository })
      else if (isFolder) await walk(`${path}/`, activeRules)
      else included.push(path)
    }
  }
  await walk('', includeIgnored ? [] : await readRules(join(root, '.git', 'info', 'exclude'), ''))
  return { included, skipped }
}

/** Returns an empty list for a removed or unreadable folder. */
const readEntries = (folder: string) =>
  readdir(folder, { withFileTypes: true }).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'EACCES') return []
    throw error
  })

async function readRules(file: string, folder: string): Promise<readonly FolderRules[]> {
  if (!(await statIfExists(file))?.isFile()) return []
  return [{ folder, rules: parseIgnoreRules(await readFile(file, 'utf8')) }]
}

function isIgnored(path: string, isFolder: boolean, nearestFirst: readonly FolderRules[]): boolean {
  for (const { folder, rules } of nearestFirst) {
    const ignored = rules(path.slice(folder.length), isFolder)
    if (ignored !== undefined) return ignored
  }
  return false
}

function createTooLargeError(
  sizes: readonly (readonly [path: string, size: number])[],
  unit: 'files' | 'bytes',
): CausewayError {
  const folders = new Map<string, number>()
  let total = 0
  for (const [path, size] of sizes) {
    const segments = path.split('/')
    const folder = segments.slice(0, Math.min(2, segments.length - 1)).join('/') || '.'
    folders.set(folder, (folders.get(folder) ?? 0) + size)
    total += size
  }
  const largest = [...folders]
    .sort(([, a], [, b]) => b - a)
    .slice(0, 5)
    .map(([folder, size]) => ({ folder, [unit]: size }))
  return new TrmError('SNAPSHOT_TOO_LARGE', `the project has ${total} ${unit}`, { data: { largest } })
}

/**
 * Copies files and links with their mode bits and times to an empty or absent folder. Shares disk blocks if possible.
 */
export async function copyTree(
  files: readonly TreeFile[],
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(target, { recursive: true })
  if ((await readdir(target)).length > 0) throw new TypeError(`the folder is not empty: ${target}`)
  for (const folder of new Set(files.map(({ path }) => dirname(path))))
    await mkdir(join(target, folder), { recursive: true })
  await forEachConcurrently(files, async (file) => {
    signal?.throwIfAborted()
    try {
      await copyEntry(file, join(target, file.path))
    } catch (error) {
      // A file that was removed after the listing is omitted.
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    }
  })
}

async function copyEntry({ absolutePath, stats }: TreeFile, to: string): Promise<void> {
  if (stats.isSymbolicLink()) return symlink(await readlink(absolutePath), to)
  await copyFile(absolutePath, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await utimes(to, stats.atimeMs / 1000, stats.mtimeMs / 1000)
}
