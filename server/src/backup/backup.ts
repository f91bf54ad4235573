/**
 * Backups of a data folder: `backup` while servers run or none does, `restore` while none does. Both work in a thread of
 * their own, tell how far they are, and can be cancelled.
 */
import type { App } from '@causeway/app-kit'
import { startWorker, workerFile } from '@causeway/worker'
import type { OwnedPart } from '../domain/data-part.ts'
import { version } from '../version.ts'
import type { BackupMethods } from './backup-methods.ts'
import type { BackupWatch } from './backup-types.ts'
import type { Manifest } from './manifest.ts'
import { ownParts } from './own-parts.ts'
import type { Restored } from './restore-data.ts'

/** How a backup is made. */
export interface BackupOptions extends BackupWatch {
  /** With the key that the server signs with, which it makes anew where it is missing. Default false. */
  readonly withSecrets?: boolean
  /** The request that asks for it; a repeat finds the backup by it. */
  readonly request?: string
  readonly nowMs?: number
}

/** How a backup is restored. */
export interface RestoreOptions extends BackupWatch {
  /** Consent to move the data that is there aside, beside the data folder. Default false: `DATA_EXISTS`. */
  readonly replace?: boolean
  readonly nowMs?: number
}

/** The parts of a data folder that these apps and the server keep. */
export const partsOf = (apps: readonly App[]): readonly OwnedPart[] => [
  ...ownParts,
  ...apps.flatMap(({ name: app, data }) => data.map((part) => ({ ...part, app }))),
]

/**
 * Copies everything that the data folder holds for good into the folder `target`, which appears when it is complete. It
 * works whether a server runs on the folder or not.
 *
 * Throws `FILE_NOT_FOUND`, `DATA_EXISTS`, `DATA_DAMAGED`, `DATA_UNWRITABLE`, `BACKUP_UNSETTLED`, `INVALID_ARGUMENTS`,
 * `CANCELLED`; nothing stays then.
 */
export function backup(
  dataDir: string,
  target: string,
  parts: readonly OwnedPart[],
  { withSecrets = false, request, nowMs = Date.now(), ...watch }: BackupOptions = {},
): Promise<Manifest> {
  const madeAt = new Date(nowMs).toISOString()
  const job = { dataDir, target, parts, version, madeAt, request: request ?? null, withSecrets }
  return inThread('copy', job, watch)
}

/**
 * Puts a backup in the place of a data folder that no server uses, all of it or nothing.
 *
 * Throws `BACKUP_NOT_FOUND`, `BACKUP_DAMAGED`, `NEWER_DATA`, `DATA_IN_USE`, `DATA_EXISTS`, `DATA_UNWRITABLE`, `CANCELLED`;
 * the data folder is then as it was.
 */
export function restore(
  source: string,
  dataDir: string,
  parts: readonly OwnedPart[],
  { replace = false, nowMs = Date.now(), ...watch }: RestoreOptions = {},
): Promise<Restored> {
  return inThread('restore', { source, dataDir, parts, replace, nowMs }, watch)
}

async function inThread<Name extends keyof BackupMethods & string>(
  method: Name,
  job: Parameters<BackupMethods[Name]>[0],
  { onProgress, signal }: BackupWatch,
): Promise<Awaited<ReturnType<BackupMethods[Name]>>> {
  const link = startWorker<BackupMethods>(workerFile('backup-worker', import.meta.url), {
    name: 'the worker of backups',
  })
  try {
    const progress = (done: number, total = 0, file = ''): void => onProgress?.(done, total, file)
    return await link.call(method, job as never, { signal, progress })
  } finally {
    await link.stop()
  }
}
