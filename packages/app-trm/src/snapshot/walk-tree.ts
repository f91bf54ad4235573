/** The files of a project that its own ignore rules keep, for machines without git. */
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type IgnoreRules, ignoreRules } from '../domain/ignore-rules.ts'
import { machineFolders } from './machine-folders.ts'
import { statsOf } from './place.ts'

/** Rules of one `.gitignore`, for what is below its folder. */
interface Rules {
  /** relative to the project, with a slash at its end; empty for the project */
  readonly folder: string
  readonly rules: IgnoreRules
}

/**
 * Paths of files and links, in no order. Rules of deeper folders come before those above; what lies in an ignored folder is
 * not looked at; repositories within the project are left out. What a repository tracks in spite of its rules is not known
 * without git.
 */
export async function walkTree(root: string): Promise<readonly string[]> {
  const own = await rulesAt(join(root, '.git', 'info', 'exclude'), '')
  const found: string[] = []
  const walk = async (folder: string, above: readonly Rules[]): Promise<void> => {
    const here = [...(await rulesAt(join(root, folder, '.gitignore'), folder)), ...above]
    for (const entry of await readdir(join(root, folder), { withFileTypes: true })) {
      const path = `${folder}${entry.name}`
      const isFolder = entry.isDirectory()
      if (entry.name === '.git' || isIgnored(path, isFolder, here)) continue
      if (!isFolder) found.push(path)
      else if (!machineFolders.includes(entry.name) && !(await isRepository(join(root, path))))
        await walk(`${path}/`, here)
    }
  }
  await walk('', own)
  return found
}

const isRepository = async (folder: string): Promise<boolean> =>
  (await statsOf(join(folder, '.git'))) !== undefined

async function rulesAt(file: string, folder: string): Promise<readonly Rules[]> {
  if (!(await statsOf(file))?.isFile()) return []
  return [{ folder, rules: ignoreRules(await readFile(file, 'utf8')) }]
}

/** The nearest rules that say something of a path decide. */
function isIgnored(path: string, isFolder: boolean, nearestFirst: readonly Rules[]): boolean {
  for (const { folder, rules } of nearestFirst) {
    const said = rules(path.slice(folder.length), isFolder)
    if (said !== undefined) return said
  }
  return false
}
