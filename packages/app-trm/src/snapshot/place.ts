import type { Stats } from 'node:fs'
import { lstat, realpath } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { checkedPath } from '../domain/candidate/path.ts'

/** A path of a project, and what stands there. */
export interface Placed {
  readonly path: string
  readonly absolute: string
  /** Undefined where nothing stands. */
  readonly stats: Stats | undefined
}

/** The real path of a project; throws `DIRECTORY_NOT_FOUND`. */
export async function realRoot(folder: string): Promise<string> {
  try {
    return await realpath(folder)
  } catch (cause) {
    throw new CausewayError('DIRECTORY_NOT_FOUND', `the project is not there: ${folder}`, {
      cause,
      data: { folder },
    })
  }
}

/**
 * Looks at a path below a real root without following any link. Throws `INVALID_PATH` where one of its folders is a
 * link, a file, or the root of another repository; what stands at the path itself is for the caller to judge.
 */
export async function placed(root: string, path: string): Promise<Placed> {
  const checked = checkedPath(path)
  const parts = checked.split('/')
  for (let depth = 1; depth < parts.length; depth++) {
    const folder = parts.slice(0, depth).join('/')
    const stats = await statsOf(join(root, folder))
    if (stats === undefined) return { path: checked, absolute: join(root, checked), stats: undefined }
    if (stats.isSymbolicLink()) throw refused(checked, `leads through the link ${folder}`)
    if (!stats.isDirectory()) throw refused(checked, `leads through ${folder}, which is no folder`)
    if (await statsOf(join(root, folder, '.git')))
      throw refused(checked, `lies in another repository, ${folder}`)
  }
  const absolute = join(root, checked)
  return { path: checked, absolute, stats: await statsOf(absolute) }
}

/** The same for a path that must be a plain file or absent. */
export async function placedFile(root: string, path: string): Promise<Placed> {
  const place = await placed(root, path)
  if (place.stats?.isSymbolicLink()) throw refused(place.path, 'is a link')
  if (place.stats?.isDirectory()) throw refused(place.path, 'is a folder')
  if (place.stats && !place.stats.isFile()) throw refused(place.path, 'is a device')
  return place
}

/** What stands at a path, links not followed; undefined where nothing does. */
export async function statsOf(absolute: string): Promise<Stats | undefined> {
  try {
    return await lstat(absolute)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw error
  }
}

/** The folders above a path within the root, the nearest first. */
export function foldersAbove(root: string, absolute: string): string[] {
  const folders: string[] = []
  for (let folder = dirname(absolute); folder.length > root.length; folder = dirname(folder))
    folders.push(folder)
  return folders
}

const refused = (path: string, reason: string): CausewayError =>
  new CausewayError('INVALID_PATH', `the path ${reason}: ${path}`, { data: { path } })
