import { randomUUID } from 'node:crypto'
import { constants } from 'node:fs'
import {
  copyFile,
  type FileHandle,
  link,
  mkdir,
  open,
  readdir,
  rename,
  rm,
  rmdir,
  symlink,
} from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { classifyFailure, StoreError } from '@causeway/store'
import { TrmError } from '../errors.ts'
import { type FileLocation, listParents } from './file-location.ts'

export type Replacement =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly mode: number; readonly fill: (file: FileHandle) => Promise<void> }
  | { readonly kind: 'link'; readonly target: () => Promise<string> }

export interface FileReplacement {
  readonly location: FileLocation
  readonly replacement: Replacement
}

const temporaryMarker = '.causeway-'

type Actions = (() => Promise<unknown>)[]

/**
 * Replaces files, all or none. Writes new contents next to their paths, runs `check`, and renames each file.
 * A failure restores the previous files. Throws `TREE_BUSY`, `DATA_UNWRITABLE`, and the errors of `check`.
 */
export async function replaceFiles(
  root: string,
  files: readonly FileReplacement[],
  check: () => Promise<void>,
): Promise<void> {
  const undo: Actions = []
  const cleanup: Actions = []
  try {
    const stagedFiles: { location: FileLocation; path: string | undefined }[] = []
    for (const { location, replacement } of files) {
      await createParents(root, location.absolutePath, undo)
      stagedFiles.push({ location, path: await stageFile(location, replacement, undo) })
    }
    await check()
    for (const { location, path } of stagedFiles) await swapFile(location, path, { undo, cleanup })
  } catch (error) {
    for (const action of undo.toReversed()) await action()
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR' || code === 'ENOTEMPTY' || code === 'ENOENT')
      throw new TrmError('TREE_BUSY', 'another program changed the project at the same time', {
        cause: error,
      })
    if (classifyFailure(error) === 'unwritable')
      throw new StoreError('DATA_UNWRITABLE', 'a file of the project cannot be written', {
        remedy: 'free disk space and check the permissions of the project',
        cause: error,
      })
    throw error
  }
  for (const action of cleanup) await action()
  for (const { location, replacement } of files)
    if (replacement.kind === 'absent') await removeEmptyParents(root, location.absolutePath)
}

/** Removes files that an interrupted replacement left next to a path. */
export async function removeTemporaryFiles(absolute: string): Promise<void> {
  const folder = dirname(absolute)
  const prefix = createTemporaryPrefix(absolute)
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith(prefix)) await rm(join(folder, name), { force: true })
  }
}

async function createParents(root: string, absolute: string, undo: Actions): Promise<void> {
  for (const folder of listParents(root, absolute).toReversed()) {
    try {
      await mkdir(folder)
      undo.push(() => rmdir(folder))
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
    }
  }
}

async function stageFile(
  { absolutePath }: FileLocation,
  by: Replacement,
  undo: Actions,
): Promise<string | undefined> {
  if (by.kind === 'absent') return undefined
  const path = createTemporaryPath(absolutePath)
  undo.push(() => rm(path, { force: true }))
  if (by.kind === 'link') {
    await symlink(await by.target(), path)
    return path
  }
  const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW
  const file = await open(path, flags, 0o600)
  try {
    await by.fill(file)
    await file.chmod(by.mode)
    await file.sync()
  } finally {
    await file.close()
  }
  return path
}

async function swapFile(
  { absolutePath, stats }: FileLocation,
  stagedPath: string | undefined,
  { undo, cleanup }: { readonly undo: Actions; readonly cleanup: Actions },
): Promise<void> {
  if (stats === undefined) {
    if (stagedPath === undefined) return
    undo.push(() => rm(absolutePath, { force: true }))
    await rename(stagedPath, absolutePath)
    return
  }
  const backupPath = createTemporaryPath(absolutePath)
  if (stagedPath === undefined) await rename(absolutePath, backupPath)
  else await linkOrCopy(absolutePath, backupPath)
  undo.push(() => rename(backupPath, absolutePath))
  if (stagedPath !== undefined) await rename(stagedPath, absolutePath)
  cleanup.push(() => rm(backupPath, { force: true }))
}

async function linkOrCopy(from: string, to: string): Promise<void> {
  try {
    await link(from, to)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (!['EPERM', 'ENOTSUP', 'EMLINK', 'ENOSYS'].includes(code)) throw error
    await copyFile(from, to, constants.COPYFILE_EXCL)
  }
}

const createTemporaryPath = (absolute: string): string =>
  join(dirname(absolute), `${createTemporaryPrefix(absolute)}${randomUUID().slice(0, 8)}`)

/** Truncates the name to 50 characters, at most 200 bytes, because file names have up to 255. */
const createTemporaryPrefix = (absolute: string): string =>
  `.${[...basename(absolute)].slice(0, 50).join('')}${temporaryMarker}`

async function removeEmptyParents(root: string, absolute: string): Promise<void> {
  for (const folder of listParents(root, absolute)) {
    try {
      await rmdir(folder)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return
    }
  }
}
