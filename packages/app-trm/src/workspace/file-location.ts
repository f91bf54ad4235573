import type { Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { normalizePath } from '../domain/candidate/path.ts'
import { TrmError } from '../errors.ts'

export interface FileLocation {
  readonly path: string
  readonly absolutePath: string
  readonly stats: Stats | undefined
}

/** Throws `DIRECTORY_NOT_FOUND`. */
export async function resolveRoot(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (cause) {
    throw new CausewayError('DIRECTORY_NOT_FOUND', `the project does not exist: ${folder}`, {
      cause,
      data: { folder },
    })
  }
}

/**
 * Does not follow links. Throws `INVALID_PATH` if a parent folder is a link, a file, or the root of another
 * repository.
 */
export async function locate(root: string, givenPath: string): Promise<FileLocation> {
  const path = normalizePath(givenPath)
  const absolutePath = join(root, path)
  const segments = path.split('/')
  for (let depth = 1; depth < segments.length; depth++) {
    const folder = segments.slice(0, depth).join('/')
    const stats = await statIfExists(join(root, folder))
    if (stats === undefined) return { path, absolutePath, stats: undefined }
    if (stats.isSymbolicLink()) throw createError(path, `goes through the link ${folder}`)
    if (!stats.isDirectory()) throw createError(path, `goes through ${folder}, which is not a folder`)
    if (await statIfExists(join(root, folder, '.git')))
      throw createError(path, `is in another repository, ${folder}`)
  }
  return { path, absolutePath, stats: await statIfExists(absolutePath) }
}

/** Examines a path that must be a regular file or absent. Throws `INVALID_PATH`. */
export async function locateFile(root: string, path: string): Promise<FileLocation> {
  const location = await locate(root, path)
  const { stats } = location
  if (stats?.isSymbolicLink()) throw createError(location.path, 'is a link')
  if (stats?.isDirectory()) throw createError(location.path, 'is a folder')
  if (stats && !stats.isFile()) throw createError(location.path, 'is a device')
  return location
}

/** Does not follow a link. */
export async function statIfExists(absolutePath: string): Promise<Stats | undefined> {
  try {
    return await lstat(absolutePath)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    if (code === 'ENAMETOOLONG') throw createError(basename(absolutePath), 'contains a name that is too long')
    throw error
  }
}

export function listParents(root: string, absolutePath: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(absolutePath); folder.length > root.length; folder = dirname(folder))
    folders.push(folder)
  return folders
}

const createError = (path: string, problem: string): CausewayError =>
  new TrmError('INVALID_PATH', `the path ${problem}: ${path}`, { data: { path } })
