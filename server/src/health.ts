/** The answer of `/health`: is every app well, and where does the server keep its data. */
import { asCausewayError } from '@causeway/protocol'
import type { Audit } from './audit/audit.ts'
import type { Config } from './config.ts'
import type { AppHealth, HealthReport } from './core.ts'
import type { Host, Hosted } from './host.ts'
import type { Limits } from './limit/limits.ts'
import type { MemoryGuard } from './memory/guard.ts'
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
  hash: string
}): Promise<HealthReport> {
  const { host, userApps, config, startedMs, steady, limits, audit, memory, hash } = parts
  const opened = await Promise.all(
    host.apps().map(async (hosted) => [hosted.app.name, await healthOf(hosted)] as const),
  )
  const notLoaded = userApps
    .failures()
    .map(
      ({ name, error }) => [name, { status: 'failed', reason: error.code, message: error.message }] as const,
    )
  const apps = Object.fromEntries([...opened, ...notLoaded])
  return {
    status: Object.values(apps).every(({ status }) => status === 'ok') ? 'ok' : 'degraded',
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
    audit: audit.report(),
    apps,
  }
}

/** Asks one app. */
export async function healthOf({ app, store, failure }: Hosted): Promise<AppHealth> {
  if (failure !== undefined) return { status: 'failed', reason: failure.code, message: failure.message }
  try {
    return { status: 'ok', tools: app.tools.length, ...(await app.health(store)) }
  } catch (error) {
    const { code: reason, message } = asCausewayError(error)
    return { status: 'failed', reason, message }
  }
}
