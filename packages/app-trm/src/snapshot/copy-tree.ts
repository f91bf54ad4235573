import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, readlink, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { ShadowGit } from './shadow-git.ts'
import { type TreeFile, type TreeLimits, treeFiles } from './tree-list.ts'

/** How many files are copied at a time. */
const atOnce = 16

/** How to copy a project. */
export interface CopyOptions {
  readonly limits: TreeLimits
  readonly signal?: AbortSignal | undefined
}

/**
 * Lays out every file that the project's ignore rules keep in an empty or absent folder: bytes, links, mode bits and
 * times to the microsecond. Shares blocks where the file system can. Throws `SNAPSHOT_TOO_LARGE`.
 */
export async function copyTree(
  git: ShadowGit,
  root: string,
  target: string,
  { limits, signal }: CopyOptions,
): Promise<void> {
  const files = await treeFiles(git, root, limits)
  await mkdir(target, { recursive: true })
  if ((await readdir(target)).length > 0) throw new TypeError('a work copy is laid out in an empty folder')
  for (const folder of new Set(files.map(({ path }) => dirname(path))))
    await mkdir(join(target, folder), { recursive: true })
  const waiting = files.values()
  const copyNext = async (): Promise<void> => {
    for (const file of waiting) {
      signal?.throwIfAborted()
      await copyOne(file, join(target, file.path)).catch(ignoreAbsent)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, copyNext))
}

async function copyOne({ absolute, stats }: TreeFile, to: string): Promise<void> {
  if (stats.isSymbolicLink()) return symlink(await readlink(absolute), to)
  await copyFile(absolute, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await utimes(to, stats.atimeMs / 1000, stats.mtimeMs / 1000)
}

/** A file that went away since the list was made is as absent as one that went before. */
function ignoreAbsent(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error
}
