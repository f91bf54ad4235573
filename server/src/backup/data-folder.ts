/** The data folder as a whole: whether it holds anything, what a restore puts beside it, and how it is taken. */
import { existsSync, readdirSync, renameSync, rmdirSync, rmSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { type FolderLock, lockFiles, lockFolder } from '@causeway/store'

/** What every start makes, and what SQLite keeps beside the lock. */
const ofTheLock: readonly string[] = [...Object.values(lockFiles), `${lockFiles.lock}-journal`]

/** Where a restore gathers what it puts in the place of the data folder. */
export const stagingOf = (dataDir: string): string => `${dataDir}.restoring`

/** Where a restore moves the data that was there. */
export const asideOf = (dataDir: string, nowMs: number): string =>
  `${dataDir}.before-${new Date(nowMs).toISOString().replaceAll(/[:.]/g, '-')}`

/** True where the folder is there and has more than what every start makes. */
export const holdsData = (dataDir: string): boolean =>
  namesIn(dataDir).some((name) => !ofTheLock.includes(name))

/** The folders that restores put beside a data folder and that are there still, in the order of their names. */
export function leftBeside(dataDir: string): readonly string[] {
  const place = resolve(dataDir)
  const above = dirname(place)
  const isLeft = (path: string): boolean => path === stagingOf(place) || path.startsWith(`${place}.before-`)
  return namesIn(above)
    .map((name) => join(above, name))
    .filter(isLeft)
    .sort()
}

/**
 * Takes the data folder for a server, which `about` describes to others. Throws `RESTORE_UNFINISHED` where there is none
 * because a restore was cut short between two renames, or is between them now: no server may begin with nothing then.
 * Also throws `DATA_IN_USE`, `DATA_UNWRITABLE`.
 */
export function takeDataFolder(dataDir: string, about: Readonly<Record<string, unknown>>): FolderLock {
  // One that is there may be held by a restore that runs, which the lock tells.
  if (!existsSync(dataDir)) refuseUnfinished(dataDir)
  const lock = lockFolder(dataDir, about)
  try {
    // The folder may have gone aside since, and then this is another one, made a moment ago.
    refuseUnfinished(dataDir)
    return lock
  } catch (error) {
    giveUp(lock, dataDir)
    throw error
  }
}

/** Lets go of a folder that was made only to be locked, and takes it away unless it holds something. */
export function giveUp(lock: FolderLock, dataDir: string): void {
  if (!lock.isHeld || holdsData(dataDir)) {
    lock.release()
    return
  }
  const going = `${dataDir}.${process.pid}.empty`
  // Windows renames no folder with an open file.
  if (process.platform === 'win32') lock.release()
  renameSync(dataDir, going)
  lock.release(going)
  removeEmpty(going)
}

/** Removes a folder that has nothing but what every start makes; throws where it has more. */
export function removeEmpty(folder: string): void {
  for (const name of ofTheLock) rmSync(join(folder, name), { force: true })
  rmdirSync(folder)
}

/** What is told of a data folder that is not there while what a restore left is; undefined else. */
export function unfinishedRestore(dataDir: string): CausewayError | undefined {
  const left = holdsData(dataDir) ? [] : leftBeside(dataDir)
  if (left.length === 0) return undefined
  const before = left.findLast((path) => path !== stagingOf(resolve(dataDir)))
  const back =
    before === undefined
      ? `to begin with nothing, remove ${basename(stagingOf(dataDir))}`
      : `to go back, rename ${before} to ${dataDir}; to begin with nothing, move it elsewhere`
  return new CausewayError('RESTORE_UNFINISHED', `${dataDir} is empty, and beside it is ${left.join(', ')}`, {
    data: { dataDir, left },
    remedy: `run causeway restore again; ${back}`,
  })
}

function refuseUnfinished(dataDir: string): void {
  const unfinished = unfinishedRestore(dataDir)
  if (unfinished !== undefined) throw unfinished
}

/** What is in a folder; nothing where there is none, or where this user may not look. */
function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder)
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? ''))
      return []
    throw error
  }
}
