import { existsSync, readdirSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { FolderLock, lockFiles, StoreError } from '@causeway/store'
import { ServerError } from '../errors.ts'
import { lockNames } from './data-folder.ts'
import { dataFolder, manifestName } from './manifest.ts'

const suffix = '.part'

export const isPartial = (name: string): boolean => name.endsWith(suffix)

/** The locked folder `<target>.part` of an unfinished backup. */
export class PartialBackup {
  readonly folder: string
  readonly #lock: FolderLock

  /**
   * Empties a folder that a killed process left. Throws `OVERLOADED` if another process uses it, and `DATA_EXISTS`
   * if it is not a backup.
   */
  constructor(target: string) {
    const folder = `${target}${suffix}`
    if (existsSync(folder) && readdirSync(folder).length > 0 && !isBackup(folder))
      throw new ServerError(
        'DATA_EXISTS',
        `a folder with the temporary name of the backup exists: ${folder}`,
        {
          data: { target, part: folder },
          remedy: 'choose another name, or move the folder away',
        },
      )
    this.folder = folder
    this.#lock = lockFolder(folder, target)
    for (const name of readdirSync(folder))
      if (!lockNames.includes(name)) rmSync(join(folder, name), { recursive: true })
  }

  async release(folder = this.folder): Promise<void> {
    if (!this.#lock.isHeld) return
    this.#lock.release(folder)
    for (const name of lockNames) await rm(join(folder, name), { force: true })
  }
}

/** Removes unfinished backups of killed processes. Returns their names. */
export async function removeAbandoned(parent: string): Promise<readonly string[]> {
  const removedNames: string[] = []
  for (const entry of await readdir(parent, { withFileTypes: true })) {
    const folder = join(parent, entry.name)
    if (!entry.isDirectory() || !isPartial(entry.name) || !isBackup(folder) || isLocked(folder)) continue
    await rm(folder, { recursive: true, force: true })
    removedNames.push(entry.name)
  }
  return removedNames
}

function lockFolder(folder: string, target: string): FolderLock {
  try {
    return new FolderLock(folder)
  } catch (error) {
    if (!StoreError.is(error, 'DATA_IN_USE')) throw error
    throw new CausewayError('OVERLOADED', `a backup is being made under this name: ${target}`, {
      data: { target, retry_after_ms: 1000 },
    })
  }
}

/** Checks the contents, because other programs also use the suffix. */
function isBackup(folder: string): boolean {
  const names = readdirSync(folder)
  const expectedNames = [...lockNames, dataFolder, manifestName]
  return names.includes(lockFiles.lock) && names.every((name) => expectedNames.includes(name))
}

function isLocked(folder: string): boolean {
  try {
    new FolderLock(folder).release()
    return false
  } catch (error) {
    if (StoreError.is(error, 'DATA_IN_USE')) return true
    throw error
  }
}
