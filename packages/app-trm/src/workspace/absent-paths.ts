import { type Dirent, existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { AbsentPath } from '../domain/evaluation/absent-path.ts'
import { statIfExists } from './place.ts'
import { generatedFolders } from './tree-list.ts'

/** Maximum entries that are compared, and files that are listed of an absent folder. */
const [maxEntries, maxFiles] = [20_000, 500]

/** Returns the topmost paths of a project that a copy of it does not have: ignored files and other repositories. */
export async function findAbsentPaths(project: string, copy: string): Promise<readonly AbsentPath[]> {
  const found: AbsentPath[] = []
  const folders = ['']
  let entries = 0
  for (const folder of folders) {
    for (const entry of await listEntries(join(project, folder))) {
      if (++entries > maxEntries) return found
      if (entry.name === '.git' || generatedFolders.includes(entry.name)) continue
      const path = `${folder}${entry.name}`
      const absolute = join(project, path)
      const stats = await statIfExists(join(copy, path))
      if (!entry.isDirectory()) {
        if (stats === undefined) found.push({ path, isRepository: false, files: [entry.name] })
      } else if (stats?.isDirectory() || (await containsRepository(absolute))) folders.push(`${path}/`)
      else if (stats === undefined)
        found.push({ path, isRepository: isRepository(absolute), files: await listFiles(absolute) })
    }
  }
  return found
}

/** Returns nothing for a folder that cannot be read. */
const listEntries = (folder: string): Promise<Dirent[]> =>
  readdir(folder, { withFileTypes: true }).catch(() => [])

const isRepository = (folder: string): boolean => existsSync(join(folder, '.git'))

const containsRepository = async (folder: string): Promise<boolean> =>
  (await listEntries(folder)).some(({ name }) => isRepository(join(folder, name)))

async function listFiles(root: string): Promise<readonly string[]> {
  const files: string[] = []
  const folders = [root]
  for (const folder of folders)
    for (const entry of await listEntries(folder)) {
      if (files.length >= maxFiles || folders.length >= maxFiles) return files
      if (entry.isFile()) files.push(entry.name)
      else if (entry.isDirectory() && entry.name !== '.git') folders.push(join(folder, entry.name))
    }
  return files
}
