import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, readlink, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TreeFile } from './tree-list.ts'

/** How many files are copied at a time. */
const atOnce = 16

/**
 * Lays files out in an empty or absent folder: bytes, links, mode bits, and times to the microsecond. Shares blocks where
 * the file system can.
 */
export async function copyTree(
  files: readonly TreeFile[],
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
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
