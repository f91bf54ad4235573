import { constants } from 'node:fs'
import { copyFile, mkdir, readdir, readlink, symlink, utimes } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { TreeFile } from './tree-list.ts'

const concurrency = 16

/** Copies files to an empty or absent folder with links, mode bits and times. Shares blocks if the file system supports it. */
export async function copyTree(
  files: readonly TreeFile[],
  target: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  await mkdir(target, { recursive: true })
  if ((await readdir(target)).length > 0) throw new TypeError(`the folder is not empty: ${target}`)
  for (const folder of new Set(files.map(({ path }) => dirname(path))))
    await mkdir(join(target, folder), { recursive: true })
  const pending = files.values()
  const copyNext = async (): Promise<void> => {
    for (const file of pending) {
      signal?.throwIfAborted()
      try {
        await copyOne(file, join(target, file.path))
      } catch (error) {
        // A file that was removed after the listing is absent.
        if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
      }
    }
  }
  await Promise.all(Array.from({ length: concurrency }, copyNext))
}

async function copyOne({ absolute, stats }: TreeFile, to: string): Promise<void> {
  if (stats.isSymbolicLink()) return symlink(await readlink(absolute), to)
  await copyFile(absolute, to, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
  await utimes(to, stats.atimeMs / 1000, stats.mtimeMs / 1000)
}
