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
import { CausewayError } from '@causeway/protocol'
import { failureKind } from '@causeway/store'
import { foldersAbove, type Placed } from './place.ts'

/** What is to stand at a path. */
export type Replacement =
  | { readonly kind: 'absent' }
  | { readonly kind: 'file'; readonly mode: number; readonly fill: (file: FileHandle) => Promise<void> }
  | { readonly kind: 'link'; readonly target: () => Promise<string> }

/** One path of a replacement. */
export interface Replaced {
  readonly place: Placed
  readonly by: Replacement
}

const marker = '.causeway-'

/**
 * Replaces files, all or none. New contents are written beside their places first; then `check` has the last word, and
 * every place is exchanged by a rename. What fails half way puts back the very files that stood there before.
 */
export async function replaceFiles(
  root: string,
  files: readonly Replaced[],
  check: () => Promise<void>,
): Promise<void> {
  const undo: (() => Promise<unknown>)[] = []
  const finish: (() => Promise<unknown>)[] = []
  try {
    const staged: { place: Placed; path: string | undefined }[] = []
    for (const { place, by } of files) {
      await makeFolders(root, place.absolute, undo)
      staged.push({ place, path: await stage(place, by, undo) })
    }
    await check()
    for (const { place, path } of staged) await exchange(place, path, undo, finish)
  } catch (error) {
    for (const step of undo.toReversed()) await step()
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EISDIR' || code === 'ENOTEMPTY' || code === 'ENOENT')
      throw new CausewayError('TREE_BUSY', 'another program changed the project meanwhile', { cause: error })
    if (failureKind(error) === 'unwritable')
      throw new CausewayError('DATA_UNWRITABLE', 'a file of the project cannot be written', {
        remedy: 'free disk space and check the permissions of the project',
        cause: error,
      })
    throw error
  }
  for (const step of finish) await step()
  for (const { place, by } of files) if (by.kind === 'absent') await removeEmptyFolders(root, place.absolute)
}

/** Removes what an interrupted replacement left beside a path. */
export async function sweepBeside(absolute: string): Promise<void> {
  const folder = dirname(absolute)
  const prefix = `.${basename(absolute).slice(0, 100)}${marker}`
  for (const name of await readdir(folder).catch(() => [])) {
    if (name.startsWith(prefix)) await rm(join(folder, name), { force: true })
  }
}

async function makeFolders(root: string, absolute: string, undo: (() => Promise<unknown>)[]): Promise<void> {
  for (const folder of foldersAbove(root, absolute).toReversed()) {
    const isMade = await mkdir(folder).then(
      () => true,
      (error: NodeJS.ErrnoException) => {
        if (error.code === 'EEXIST') return false
        throw error
      },
    )
    if (isMade) undo.push(() => rmdir(folder))
  }
}

async function stage(
  { absolute }: Placed,
  by: Replacement,
  undo: (() => Promise<unknown>)[],
): Promise<string | undefined> {
  if (by.kind === 'absent') return undefined
  const path = beside(absolute)
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

async function exchange(
  { absolute, stats }: Placed,
  staged: string | undefined,
  undo: (() => Promise<unknown>)[],
  finish: (() => Promise<unknown>)[],
): Promise<void> {
  if (stats === undefined) {
    if (staged === undefined) return
    undo.push(() => rm(absolute, { force: true }))
    await rename(staged, absolute)
    return
  }
  const kept = beside(absolute)
  if (staged === undefined) await rename(absolute, kept)
  else await keep(absolute, kept)
  undo.push(() => rename(kept, absolute))
  if (staged !== undefined) await rename(staged, absolute)
  finish.push(() => rm(kept, { force: true }))
}

/** A second name for what stands there, or a copy where the file system has no such names. */
async function keep(absolute: string, kept: string): Promise<void> {
  try {
    await link(absolute, kept)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code !== 'EPERM' && code !== 'ENOTSUP' && code !== 'EMLINK' && code !== 'ENOSYS') throw error
    await copyFile(absolute, kept, constants.COPYFILE_EXCL)
  }
}

const beside = (absolute: string): string =>
  join(dirname(absolute), `.${basename(absolute).slice(0, 100)}${marker}${randomUUID().slice(0, 8)}`)

async function removeEmptyFolders(root: string, absolute: string): Promise<void> {
  for (const folder of foldersAbove(root, absolute)) {
    const isGone = await rmdir(folder).then(
      () => true,
      ({ code }: NodeJS.ErrnoException) => code === 'ENOENT',
    )
    if (!isGone) return
  }
}
