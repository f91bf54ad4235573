import { lstat } from 'node:fs/promises'
import { join } from 'node:path'
import { type AbsentPath, findNamedPaths } from '../domain/evaluation/absent-path.ts'
import { generatedFolders } from './tree-list.ts'

const maxAbsent = 5

/**
 * Returns the topmost paths named in outputs that only the project has, not its copy: ignored files and other
 * repositories.
 */
export async function findAbsentPaths(
  project: string,
  copy: string,
  outputs: readonly string[],
): Promise<readonly AbsentPath[]> {
  const found = new Map<string, AbsentPath>()
  for (const named of findNamedPaths(outputs)) {
    const parts = named.split('/')
    if (parts.includes('.git') || parts.some((part) => generatedFolders.includes(part))) continue
    if (!(await exists(project, named))) continue
    const prefixes = parts.map((_, index) => parts.slice(0, index + 1).join('/'))
    let topmost: string | undefined
    let repository: string | undefined
    for (const path of prefixes) {
      if (topmost === undefined && !(await exists(copy, path))) topmost = path
      if (topmost !== undefined && (await exists(project, `${path}/.git`))) repository ??= path
    }
    const path = repository ?? topmost
    if (path !== undefined) found.set(path, { path, isRepository: repository !== undefined })
  }
  return [...found.values()].slice(0, maxAbsent)
}

const exists = (folder: string, path: string): Promise<boolean> =>
  lstat(join(folder, path)).then(
    () => true,
    () => false,
  )
