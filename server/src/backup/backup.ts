import type { App, DataPart } from '@causeway/app-kit'
import { gatewayMigrations } from '@causeway/gateway'
import { lockFiles } from '@causeway/store'
import { type CallOptions, resolveWorkerFile, WorkerLink } from '@causeway/worker'
import { serverMigrations } from '../host/server-store.ts'
import { version } from '../process/version.ts'
import type { CopyJob } from './copy-data.ts'
import type { OwnedPart } from './data-part.ts'
import type { Manifest } from './manifest.ts'
import type { RestoreJob, RestoreResult } from './restore-data.ts'

export interface BackupMethods {
  copy(job: CopyJob): Promise<Manifest>
  restore(job: RestoreJob): Promise<RestoreResult>
}

/** `progress` receives bytes and a path below the data folder. */
interface BackupOptions extends CallOptions {
  /** Whether to include the signing key. */
  readonly withSecrets?: boolean
  readonly request?: string
  readonly nowMs?: number
}

interface RestoreOptions extends CallOptions {
  /** Whether to move existing data aside instead of throwing `DATA_EXISTS`. */
  readonly replace?: boolean
  readonly nowMs?: number
}

export const backupsFolder = 'backups'

const serverParts: readonly DataPart[] = [
  ...[`${backupsFolder}/`, 'logs/', ...Object.values(lockFiles)].map(toExcludedPart),
  { path: 'roots.json', kind: 'files' },
  { path: 'mcp.json', kind: 'files' },
  // Excluded, because an authorization server may treat an old refresh token as stolen.
  ...['gateway/', 'auth.json', 'auth.json.lock'].map(toExcludedPart),
  {
    path: 'server.db',
    kind: 'database',
    schema: serverMigrations.map(({ name }) => name),
    withoutSecrets: 'DELETE FROM secret',
  },
  { path: 'gateway.db', kind: 'database', schema: gatewayMigrations.map(({ name }) => name) },
]

function toExcludedPart(path: string): DataPart {
  return { path, kind: 'passing' }
}

export const listParts = (apps: readonly Pick<App, 'name' | 'data'>[]): readonly OwnedPart[] =>
  [{ name: 'Causeway', data: serverParts }, ...apps].flatMap(({ name: app, data }) =>
    data.map((part) => ({ ...part, app })),
  )

/**
 * Copies a data folder, even if it is in use. Creates `target` only on success. Throws `FILE_NOT_FOUND`,
 * `DATA_EXISTS`, `DATA_DAMAGED`, `DATA_UNWRITABLE`, `BACKUP_UNSETTLED`, `INVALID_ARGUMENTS`, `CANCELLED`.
 */
export function backup(
  dataDir: string,
  target: string,
  parts: readonly OwnedPart[],
  { withSecrets = false, request, nowMs = Date.now(), ...options }: BackupOptions = {},
): Promise<Manifest> {
  const madeAt = new Date(nowMs).toISOString()
  const job = { dataDir, target, parts, version, madeAt, request: request ?? null, withSecrets }
  return callWorker('copy', job, options)
}

/**
 * Replaces a data folder that no server uses. Leaves it unchanged on failure. Throws `BACKUP_NOT_FOUND`,
 * `BACKUP_DAMAGED`, `NEWER_DATA`, `DATA_IN_USE`, `DATA_EXISTS`, `DATA_UNWRITABLE`, `CANCELLED`.
 */
export function restore(
  source: string,
  dataDir: string,
  parts: readonly OwnedPart[],
  { replace = false, nowMs = Date.now(), ...options }: RestoreOptions = {},
): Promise<RestoreResult> {
  return callWorker('restore', { source, dataDir, parts, replace, nowMs }, options)
}

async function callWorker<Name extends keyof BackupMethods>(
  method: Name,
  job: Parameters<BackupMethods[Name]>[0],
  options: CallOptions,
): Promise<Awaited<ReturnType<BackupMethods[Name]>>> {
  const link = new WorkerLink<BackupMethods>(resolveWorkerFile('backup-worker', import.meta.url), {
    name: 'the worker of backups',
  })
  try {
    return await link.call(method, job as never, options)
  } finally {
    await link.stop()
  }
}
