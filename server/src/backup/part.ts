/** Backups that are not complete: a folder `<name>.part`, held by whoever makes it, and swept where nobody does any more. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { isCausewayError } from '@causeway/protocol'
import { lockFiles, lockFolder } from '@causeway/store'

const ending = '.part'

/** The folder in which a backup is made. */
export const partOf = (target: string): string => `${target}${ending}`

/** True for the name of a backup that is not complete. */
export const isPart = (name: string): boolean => name.endsWith(ending)

/** A part that belongs to this process until it lets go or ends, however it ends. */
export interface PartHold {
  /** Lets go, once, and takes what showed it out of the folder, which may have another name by now. */
  release(folder: string): Promise<void>
}

/** What shows that a part is held; SQLite finds its journal no more where the folder has been renamed. */
const shownBy: readonly string[] = [...Object.values(lockFiles), `${lockFiles.lock}-journal`]

/** Holds a part that is there. */
export function holdPart(part: string): PartHold {
  const lock = lockFolder(part)
  let isHeld = true
  return {
    async release(folder) {
      if (!isHeld) return
      isHeld = false
      lock.release()
      for (const name of shownBy) await rm(join(folder, name), { force: true })
    },
  }
}

/** Removes the parts in a folder whose makers were killed; gives their names. What somebody makes now stays. */
export async function sweepParts(folder: string): Promise<readonly string[]> {
  const swept: string[] = []
  for (const entry of await readdir(folder, { withFileTypes: true })) {
    const part = join(folder, entry.name)
    if (!entry.isDirectory() || !isPart(entry.name) || isHeld(part)) continue
    await rm(part, { recursive: true, force: true })
    swept.push(entry.name)
  }
  return swept
}

/** True while somebody makes this part. */
export function isHeld(part: string): boolean {
  try {
    lockFolder(part).release()
    return false
  } catch (error) {
    if (isCausewayError(error) && error.code === 'DATA_IN_USE') return true
    throw error
  }
}
