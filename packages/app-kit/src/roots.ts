/** Folder access below the configured roots, checked on real paths so that no link leads out. */
import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { Roots } from './context.ts'

/**
 * Roots over a list that is asked for on every use, so that folders added while running count at once.
 * `setting` is the environment variable that a refusal names.
 */
export function makeRoots(folders: () => readonly string[], setting: string): Roots {
  return {
    folders: () => folders().map((folder) => resolve(folder)),
    async resolve(path) {
      const configured = folders().map((folder) => resolve(folder))
      const roots = await realFolders(configured)
      const candidates = isAbsolute(path) ? [path] : configured.map((folder) => join(folder, path))
      let leadsOut = false
      for (const candidate of candidates) {
        const real = await realOf(candidate)
        if (real !== undefined && isBelowAny(roots, real)) return real
        // What does not exist is told apart by its name alone: no answer says whether a file outside is there.
        leadsOut ||= real !== undefined || !isBelowAny([...configured, ...roots], resolve(candidate))
      }
      if (leadsOut) throw outside(path, { setting, roots: configured })
      throw new CausewayError('FILE_NOT_FOUND', `there is no such file: ${path}`, {
        data: { path, searched: candidates },
      })
    },
  }
}

const outside = (
  path: string,
  { setting, roots }: { setting: string; roots: readonly string[] },
): CausewayError =>
  new CausewayError('OUTSIDE_ROOTS', `the path is outside the folders that may be read: ${path}`, {
    remedy: `add its folder to ${setting}, or run: causeway roots add <folder>`,
    data: { path, setting, roots },
  })

async function realFolders(folders: readonly string[]): Promise<string[]> {
  const real = await Promise.all(folders.map(realOf))
  return real.filter((folder) => folder !== undefined)
}

/** The real path; undefined where nothing is there. A link into nowhere, and a name that no file can have, count as nothing. */
async function realOf(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (nothingThere.has(code)) return undefined
    throw error
  }
}

/** `ERR_INVALID_ARG_VALUE` is the refusal of a name with NUL in it. */
const nothingThere: ReadonlySet<string> = new Set([
  'ENOENT',
  'ENOTDIR',
  'ELOOP',
  'EACCES',
  'ENAMETOOLONG',
  'ERR_INVALID_ARG_VALUE',
])

const isBelowAny = (roots: readonly string[], path: string): boolean =>
  roots.some((root) => isBelow(root, path))

function isBelow(root: string, path: string): boolean {
  const way = relative(root, path)
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way))
}
