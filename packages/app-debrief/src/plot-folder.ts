/** Plot files in the configured folders. */
import { lstat, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Roots } from '@causeway/app-kit'
import { isPlotName, titleOf } from './domain/plot-name.ts'

/** A plot in lists and in errors. */
export interface PlotTitle {
  readonly filename: string
  readonly title: string
}

/** A plot file. */
export interface PlotFile extends PlotTitle {
  readonly size_bytes: number
  /** ISO 8601 */
  readonly modified: string
}

/** Plot files of all folders, by name; of several with one name that of the first folder, which is the one that is opened. */
export async function plotFiles(roots: Roots): Promise<readonly PlotFile[]> {
  const found = new Map<string, PlotFile>()
  for (const folder of roots.folders())
    for (const file of await filesOf(folder)) if (!found.has(file.filename)) found.set(file.filename, file)
  return [...found.values()].sort((a, b) => (a.filename < b.filename ? -1 : 1))
}

/** The real path of the plot file of a name, in Unicode's composed form; undefined where no folder has it. */
export async function findPlotFile(roots: Roots, name: string): Promise<string | undefined> {
  for (const folder of roots.folders()) {
    // A disk may hold the name in another of Unicode's forms.
    const names = await readdir(folder).catch(() => [])
    const path = join(folder, names.find((one) => one.normalize('NFC') === name) ?? name)
    // A link could lead anywhere, and a save would replace it.
    const found = await lstat(path).catch(() => undefined)
    if (found?.isFile() === true) return roots.resolve(path)
  }
  return undefined
}

async function filesOf(folder: string): Promise<readonly PlotFile[]> {
  const names = (await readdir(folder).catch(() => [])).filter(isPlotName)
  const files = await Promise.all(
    names.map(async (name) => {
      const found = await lstat(join(folder, name)).catch(() => undefined)
      if (found?.isFile() !== true) return []
      const { size, mtime } = found
      const filename = name.normalize('NFC')
      return { filename, title: titleOf(filename), size_bytes: size, modified: mtime.toISOString() }
    }),
  )
  return files.flat()
}
