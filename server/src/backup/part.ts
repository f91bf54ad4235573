/** Backups that are not complete: a folder `<name>.part`, held by whoever makes it, and swept where nobody does any more. */
import { existsSync, readdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type FolderLock, lockFiles, lockFolder } from '@causeway/store'
import { dataFolder, manifestName } from './manifest.ts'

const ending = '.part'

/** The folder in which a backup is made. */
export const partOf = (target: string): string => `${target}${ending}`

/** True for the name of a backup that is not complete, which none that is may have. */
export const isPart = (name: string): boolean => name.endsWith(ending)

/** A part that belongs to this process until it lets go or ends, however it ends. */
export interface PartHold {
  /** Lets go, once, and takes what showed it out of the folder, which may have another name by now. */
  release(folder: string): Promise<void>
}

/** What shows that a part is held; SQLite finds its journal no more where the folder has been renamed. */
const shownBy: readonly string[] = [...Object.values(lockFiles), `${lockFiles.lock}-journal`]

/**
 * Makes the part of a backup, or takes one whose maker was killed and empties it. Throws `OVERLOADED` while somebody makes
 * it, `DATA_EXISTS` for a folder of that name that is none of ours.
 */
export function holdPart(target: string): PartHold {
  const part = partOf(target)
  if (existsSync(part) && readdirSync(part).length > 0 && !isOurs(part))
    throw new CausewayError('DATA_EXISTS', `this stands where the backup would be made: ${part}`, {
      data: { target, part },
      remedy: 'choose another name, or move the folder away',
    })
  const lock = lockPart(part, target)
  for (const name of readdirSync(part))
    if (!shownBy.includes(name)) rmSync(join(part, name), { recursive: true })
  return {
    async release(folder) {
      if (!lock.isHeld) return
      lock.release(folder)
      for (const name of shownBy) await rm(join(folder, name), { force: true })
    },
  }
}

function lockPart(part: string, target: string): FolderLock {
  try {
    return lockFolder(part)
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'DATA_IN_USE') throw error
    throw new CausewayError('OVERLOADED', `a backup is being made under this name: ${target}`, {
      data: { target, retry_after_ms: 1000 },
    })
  }
}

/** Removes the parts in a folder whose makers were killed; gives their names. What somebody makes now stays. */
export async function sweepParts(folder: string): Promise<readonly string[]> {
  const swept: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const part = join(folder, entry.name)
    if (!entry.isDirectory() || !isPart(entry.name) || !isOurs(part) || isHeld(part)) continue
    await rm(part, { recursive: true, force: true })
    swept.push(entry.name)
  }
  return swept
}

/** True where there is our lock, and nothing else than what a backup has: other programs name folders so too. */
function isOurs(part: string): boolean {
  const names = readdirSync(part)
  return (
    names.includes(lockFiles.lock) &&
    names.every((name) => [...shownBy, dataFolder, manifestName].includes(name))
  )
}

/** True while somebody makes this part. */
function isHeld(part: string): boolean {
  try {
    lockFolder(part).release()
    return false
  } catch (error) {
    if (isCausewayError(error) && error.code === 'DATA_IN_USE') return true
    throw error
  }
}
