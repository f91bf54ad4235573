import { asCausewayError } from '@causeway/protocol'
import { toDataError } from '@causeway/store'
import type { CallCapture } from '../activity/call-capture.ts'
import type { Audit } from '../audit/audit.ts'
import type { Config } from '../config/config.ts'
import type { AppHost, AppInstance } from '../host/app-host.ts'
import type { UserApps } from '../host/user-apps.ts'
import type { Limits } from '../limits/limits.ts'
import type { MemoryGuard } from '../memory/memory-guard.ts'
import { version } from '../process/version.ts'
import type { Registry } from '../registry/registry.ts'
import type { StorageHealth } from './storage-health.ts'

interface AppHealth {
  readonly status: string
  readonly [more: string]: unknown
}

export interface HealthReport {
  readonly status: 'ok' | 'degraded'
  readonly version: string
  readonly pid: number
  readonly uptime_s: number
  readonly data_dir: string
  readonly apps: Readonly<Record<string, AppHealth>>
  readonly [more: string]: unknown
}

interface HealthOptions {
  readonly host: AppHost
  readonly userApps: UserApps
  readonly config: Config
  readonly uptimeMs: number
  readonly limits: Limits
  readonly audit: Audit
  readonly capture: CallCapture
  readonly memory: MemoryGuard
  readonly storage: StorageHealth
  readonly registry: Registry
}

/** Reports failures instead of throwing them. */
export async function reportHealth(options: HealthOptions): Promise<HealthReport> {
  const { host, userApps, config, uptimeMs, limits, audit, capture, memory, storage, registry } = options
  const openedApps = await Promise.all(
    host.instances.map(
      async (instance) => [instance.app.name, await reportAppHealth(instance, storage)] as const,
    ),
  )
  const storageReport = await storage.report(await audit.retry())
  const unloadedApps = userApps.failures.map(
    ({ name, error }) => [name, { status: 'failed', reason: error.code, message: error.message }] as const,
  )
  const apps = Object.fromEntries([...openedApps, ...unloadedApps])
  const isHealthy =
    storageReport.status === 'ok' && Object.values(apps).every(({ status }) => status === 'ok')
  return {
    status: isHealthy ? 'ok' : 'degraded',
    version,
    pid: process.pid,
    uptime_s: Math.round(uptimeMs / 1000),
    data_dir: config.dataDir,
    registry_hash: registry.hash,
    limits: {
      body_bytes: config.bodyLimitBytes,
      snapshot_bytes: config.snapshotCapBytes,
      inflight: config.maxInflight,
      ...limits.report(),
    },
    memory: await memory.report(),
    storage: storageReport,
    audit: audit.report(),
    ...(capture.state === null ? {} : { capture: capture.state }),
    apps,
  }
}

export async function reportAppHealth(instance: AppInstance, storage: StorageHealth): Promise<AppHealth> {
  const { app, store, failure } = instance
  try {
    const error = failure ?? storage.findDamage(instance)
    if (error !== undefined) throw error
    return {
      status: 'ok',
      tools: app.tools.filter(({ unlisted }) => unlisted !== true).length,
      ...(await app.health(store)),
    }
  } catch (error) {
    const { code: reason, message, remedy } = asCausewayError(toDataError(error, `data of ${app.name}`))
    return { status: 'failed', reason, message, remedy }
  }
}
