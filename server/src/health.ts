/** The answer of `/health`: is every app well, and where does the server keep its data. */
import { asCausewayError } from '@causeway/protocol'
import { dataFailure } from '@causeway/store'
import type { Audit } from './audit/audit.ts'
import type { Config } from './config.ts'
import type { AppHealth, HealthReport } from './core.ts'
import type { Host, Hosted } from './host.ts'
import type { Limits } from './limit/limits.ts'
import type { MemoryGuard } from './memory/guard.ts'
import type { StorageHealth } from './storage-health.ts'
import type { UserApps } from './user-app.ts'
import { version } from './version.ts'

/** Asks every app. One that does not answer, or answers with an error, is reported and hurts no other. */
export async function reportHealth(parts: {
  host: Host
  userApps: UserApps
  config: Config
  /** On the clock that is never set. */
  startedMs: number
  steady: () => number
  limits: Limits
  audit: Audit
  memory: Pick<MemoryGuard, 'report'>
  storage: StorageHealth
  hash: string
}): Promise<HealthReport> {
  const { host, userApps, config, startedMs, steady, limits, audit, memory, storage: disk, hash } = parts
  const opened = await Promise.all(
    host.apps().map(async (hosted) => [hosted.app.name, await healthOf(hosted, disk)] as const),
  )
  const storage = await disk.report(await audit.retry())
  const notLoaded = userApps
    .failures()
    .map(
      ({ name, error }) => [name, { status: 'failed', reason: error.code, message: error.message }] as const,
    )
  const apps = Object.fromEntries([...opened, ...notLoaded])
  const isWell = storage.status === 'ok' && Object.values(apps).every(({ status }) => status === 'ok')
  return {
    status: isWell ? 'ok' : 'degraded',
    version,
    pid: process.pid,
    uptime_s: Math.round((steady() - startedMs) / 1000),
    data_dir: config.dataDir,
    registry_hash: hash,
    limits: {
      body_bytes: config.bodyLimitBytes,
      snapshot_bytes: config.snapshotCapBytes,
      inflight: config.maxInflight,
      ...limits.report(),
    },
    memory: await memory.report(),
    storage,
    audit: audit.report(),
    apps,
  }
}

/** Asks one app. */
export async function healthOf({ app, store, failure }: Hosted, storage: StorageHealth): Promise<AppHealth> {
  try {
    const broken = failure ?? storage.findDamage(app.name)
    if (broken !== undefined) throw broken
    return { status: 'ok', tools: app.tools.length, ...(await app.health(store)) }
  } catch (error) {
    const { code: reason, message, remedy } = asCausewayError(dataFailure(error, `data of ${app.name}`))
    return { status: 'failed', reason, message, remedy }
  }
}
