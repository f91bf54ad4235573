import { realpath } from 'node:fs/promises'
import { isAbsolute, join, relative, resolve, sep } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { Roots } from './context.ts'

/** Returns roots that call `folders` on every use. Remedies of errors name `setting`. */
export function makeRoots(folders: () => readonly string[], setting: string): Roots {
  return {
    folders: () => folders().map((folder) => resolve(folder)),
    async resolve(path) {
      const configuredFolders = folders().map((folder) => resolve(folder))
      const realFolders = await Promise.all(configuredFolders.map(findRealPath))
      const roots = realFolders.filter((folder) => folder !== undefined)
      const candidates = isAbsolute(path) ? [path] : configuredFolders.map((folder) => join(folder, path))
      let isOutside = false
      for (const candidate of candidates) {
        const foundPath = await findRealPath(candidate)
        if (foundPath !== undefined && isBelow(roots, foundPath)) return foundPath
        // The error must not reveal which files exist outside the roots.
        isOutside ||=
          foundPath !== undefined || !isBelow([...configuredFolders, ...roots], resolve(candidate))
      }
      if (isOutside)
        throw new CausewayError(
          'OUTSIDE_ROOTS',
          `the path is outside the folders that may be read: ${path}`,
          {
            remedy: `add its folder to ${setting}, or run: causeway roots add <folder>`,
            data: { path, setting, roots: configuredFolders },
          },
        )
      throw new CausewayError('FILE_NOT_FOUND', `there is no such file: ${path}`, {
        data: { path, searched: candidates },
      })
    },
  }
}

async function findRealPath(path: string): Promise<string | undefined> {
  try {
    return await realpath(path)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (missingCodes.includes(code)) return undefined
    throw error
  }
}

/** Codes of a missing file. `ERR_INVALID_ARG_VALUE` means that the name contains NUL. */
const missingCodes = ['ENOENT', 'ENOTDIR', 'ELOOP', 'EACCES', 'ENAMETOOLONG', 'ERR_INVALID_ARG_VALUE']

const isBelow = (roots: readonly string[], path: string): boolean =>
  roots.some((root) => {
    const relativePath = relative(root, path)
    return relativePath !== '..' && !relativePath.startsWith(`..${sep}`) && !isAbsolute(relativePath)
  })
