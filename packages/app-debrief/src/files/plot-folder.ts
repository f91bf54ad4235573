import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Roots } from '@causeway/app-kit'
import { getTitle, isPlotName } from '../domain/document/plot-name.ts'
import { isNotFoundError, toReadError } from './plot-file.ts'

export interface PlotTitle {
  readonly filename: string
  readonly title: string
}

export interface PlotFile extends PlotTitle {
  readonly size_bytes: number
  /** ISO 8601. */
  readonly modified: string
}

/** If a name occurs twice, the first folder takes precedence. */
export async function listPlotFiles(roots: Roots): Promise<readonly PlotFile[]> {
  const filesByName = new Map<string, PlotFile>()
  for (const folder of roots.folders())
    for (const file of await listFolderFiles(folder))
      if (!filesByName.has(file.filename)) filesByName.set(file.filename, file)
  return [...filesByName.values()].sort((a, b) => (a.filename < b.filename ? -1 : 1))
}

/**
 * Finds a plot file by its NFC name and returns its real path. Throws `PLOT_UNREADABLE` if no folder has the file and
 * one is not readable.
 */
export async function findPlotFile(roots: Roots, name: string): Promise<string | undefined> {
  let firstError: unknown
  for (const folder of roots.folders()) {
    try {
      // Names on disk may have a different Unicode normalization.
      const names = await readdir(folder)
      const path = join(folder, names.find((entryName) => entryName.normalize('NFC') === name) ?? name)
      // Excludes links, which can lead outside the folder and which a save would replace.
      if ((await lstat(path)).isFile()) return await roots.resolve(path)
    } catch (error) {
      if (!isNotFoundError(error)) firstError ??= toReadError(error, folder)
    }
  }
  if (firstError !== undefined) throw firstError
  return undefined
}

async function listFolderFiles(folder: string): Promise<readonly PlotFile[]> {
  const names = (await readdir(folder).catch(() => [])).filter(isPlotName)
  const files = await Promise.all(
    names.map(async (name) => {
      const fileStats = await lstat(join(folder, name)).catch(() => undefined)
      if (fileStats?.isFile() !== true) return []
      const { size, mtime } = fileStats
      const filename = name.normalize('NFC')
      return { filename, title: getTitle(filename), size_bytes: size, modified: mtime.toISOString() }
    }),
  )
  return files.flat()
}
