import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import { canRenameOpenFolder, FolderLock, lockFiles } from '@causeway/store'
import { ServerError } from '../errors.ts'

/** Files of a folder lock. SQLite leaves the journal behind when the folder is renamed. */
export const lockNames: readonly string[] = [...Object.values(lockFiles), `${lockFiles.lock}-journal`]

export const toStagingFolder = (dataDir: string): string => `${dataDir}.restoring`

export const toPreviousFolder = (dataDir: string, nowMs: number): string =>
  `${dataDir}.before-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}`

export const hasData = (dataDir: string): boolean =>
  readNames(dataDir).some((name) => !lockNames.includes(name))

/** Returns the sorted folders that restores left next to a data folder. */
export function listLeftovers(dataDir: string): readonly string[] {
  const folder = resolve(dataDir)
  const parent = dirname(folder)
  return readNames(parent)
    .map((name) => join(parent, name))
    .filter((path) => path === toStagingFolder(folder) || path.startsWith(`${folder}.before-`))
    .sort()
}

/**
 * Locks a data folder. Throws `DATA_IN_USE`, `DATA_UNWRITABLE`, and `RESTORE_UNFINISHED` if a restore was
 * interrupted between its renames.
 */
export function takeDataFolder(dataDir: string, holder: Readonly<Record<string, unknown>>): FolderLock {
  if (!existsSync(dataDir)) requireNoLeftovers(dataDir)
  const lock = new FolderLock(dataDir, holder)
  try {
    // If a restore moved the folder after the first check, `FolderLock` created a new one.
    requireNoLeftovers(dataDir)
    return lock
  } catch (error) {
    discardFolder(lock, dataDir)
    throw error
  }
}

export function discardFolder(lock: FolderLock, dataDir: string): void {
  if (!lock.isHeld || hasData(dataDir)) {
    lock.release()
    return
  }
  const renamedFolder = `${dataDir}.${process.pid}.empty`
  if (!canRenameOpenFolder()) lock.release()
  renameSync(dataDir, renamedFolder)
  lock.release(renamedFolder)
  removeEmpty(renamedFolder)
}

export function removeEmpty(folder: string): void {
  for (const name of lockNames) rmSync(join(folder, name), { force: true })
  rmdirSync(folder)
}

export function findUnfinishedRestore(dataDir: string): CausewayError | undefined {
  const leftovers = hasData(dataDir) ? [] : listLeftovers(dataDir)
  if (leftovers.length === 0) return undefined
  const previous = leftovers.findLast((path) => path !== toStagingFolder(resolve(dataDir)))
  const alternative =
    previous === undefined
      ? `to begin with nothing, remove ${basename(toStagingFolder(dataDir))}`
      : `to go back, rename ${previous} to ${dataDir}; to begin with nothing, move it elsewhere`
  return new ServerError(
    'RESTORE_UNFINISHED',
    `${dataDir} is empty, and next to it is ${leftovers.join(', ')}`,
    {
      data: { dataDir, left: leftovers },
      remedy: `run causeway restore again; ${alternative}`,
    },
  )
}

function requireNoLeftovers(dataDir: string): void {
  const error = findUnfinishedRestore(dataDir)
  if (error !== undefined) throw error
}

function readNames(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    const { code = '' } = error as NodeJS.ErrnoException
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes(code)) return []
    throw error
  }
}
