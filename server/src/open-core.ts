/** Puts the server together from its parts, without any channel. */
import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import type { App, Cache, Env } from '@causeway/app-kit'
import { type CallToolResult, CausewayError, pathName } from '@causeway/protocol'
import type { Logger } from 'pino'
import { openAudit } from './audit/audit.ts'
import { partsOf } from './backup/backup.ts'
import { openBackups } from './backup/backups.ts'
import { backupsFolder } from './backup/own-parts.ts'
import { callApp, ownCalls } from './call-app.ts'
import { recordOf } from './causeway/audit-query.ts'
import { causewayApp } from './causeway/index.ts'
import { clientStates } from './client-state.ts'
import { type Config, type SettingKey, settings } from './config.ts'
import type { Core, ListKind, Mount } from './core.ts'
import { mountDescriptions } from './describe-mount.ts'
import { dispatch } from './dispatch.ts'
import { announcement } from './events.ts'
import { healthOf, reportHealth } from './health.ts'
import { type Host, type Hosted, openHost } from './host.ts'
import { openLimits } from './limit/limits.ts'
import type { LogFiles } from './log-files.ts'
import { openCaches } from './memory/caches.ts'
import { collectGarbage } from './memory/collect.ts'
import { openMemoryGuard } from './memory/guard.ts'
import { defaultLimitBytes, readMemory } from './memory/reading.ts'
import { findResource } from './method/resources.ts'
import { runTool } from './method/tools.ts'
import { openMetrics } from './metrics.ts'
import { bareMount, sharedMount } from './mount.ts'
import { openRegistry } from './registry.ts'
import { rootsOf } from './roots.ts'
import { openScope } from './scope.ts'
import { openServerStore } from './server-store.ts'
import { StorageHealth } from './storage-health.ts'
import { openUserApps } from './user-app.ts'

/** What a server is made of. */
export interface CoreOptions {
  readonly config: Config
  readonly log: Logger
  /** Milliseconds since the epoch. */
  readonly now?: () => number
  /** From any beginning, ms, never set; default: `now` where that is given. */
  readonly steady?: () => number
  readonly newId?: () => string
  /** Where relative names of user apps start. */
  readonly cwd?: string
  /** Files that receive the entries of the audit as lines of JSON too. */
  readonly logFiles?: Pick<LogFiles, 'audit' | 'onFailure'> | undefined
  /** The hosted apps, beside the server's own and the user's. */
  readonly apps: readonly App[]
}

/** A core that can be closed. */
export interface OpenCore extends Core {
  close(): Promise<void>
}

/** Name of the server's own app, to which its data files belong. */
const serverApp = 'Causeway'

/** Opens the data folder, the apps and the registry. Throws what a data file or a setting is refused for. */
export async function openCore(options: CoreOptions): Promise<OpenCore> {
  const { config, log, apps, now = Date.now, newId = randomUUID, cwd = process.cwd(), logFiles } = options
  mkdirSync(config.dataDir, { recursive: true, mode: 0o700 })
  // Who sets the clock of a core sets it for good; the time of day of a machine may jump.
  const steady = options.steady ?? options.now ?? (() => performance.now())
  const startedMs = steady()
  const onError = (err: unknown): void => log.error({ err }, 'a listener failed')
  const listChanged = announcement<[Mount, ListKind]>(onError)
  const resourceChanged = announcement<[string]>(onError)
  const store = await openServerStore(join(config.dataDir, 'server.db'), { now, steady })
  const limits = openLimits(config)
  const storage = new StorageHealth(config.dataDir, partsOf([...apps]))
  logFiles?.onFailure((error) => storage.record(serverApp, error))
  const audit = openAudit({
    store: store.audit,
    keepDays: config.auditKeepDays,
    maxRows: config.auditMaxRows,
    also: logFiles && ((entry) => logFiles.audit.write(`${JSON.stringify(recordOf(entry))}\n`)),
    onFailure: (error) => storage.record(serverApp, error),
    log,
    now,
    steady,
  })
  const metrics = openMetrics(limits.running)
  const scope = openScope({
    states: clientStates(store.states, { steady }),
    limits,
    audit,
    metrics,
    storage,
    log,
    now,
  })
  const userApps = await openUserApps(config.userApps, { cwd, log })

  // An app may announce a change while it is being opened: that is told once there is somebody to tell.
  let becomeReady: (core: OpenCore) => void = () => {}
  const ready = new Promise<OpenCore>((resolve) => {
    becomeReady = resolve
  })

  const envOf = (app: App): Env => ({
    dir: config.dataDir,
    settings: settingsOf(app, config),
    log: log.child({ app: app.name }),
    now,
    steady,
    newId,
    roots: rootsOf(app, config),
    changed: {
      tools: () => void ready.then(({ refresh }) => refresh()).catch(onError),
      resources: () => {
        for (const mount of [sharedMount, bareMount(pathName(app.name))])
          listChanged.announce(mount, 'resources')
      },
      resource: (uri) => resourceChanged.announce(uri),
    },
    call: (name, tool, args, ctx) => callApp({ registry, scope, from: app, app: name, tool }, args, ctx),
  })

  const all = [causewayApp(() => core), ...apps, ...userApps.apps()]
  const host = await openHost(enabled(all, config.apps), { envOf, log })
  const ownCaches: Cache[] = []
  const memory = openMemoryGuard({
    caches: openCaches({
      host,
      own: () => ownCaches,
      onFailure: (cache, err) => log.warn({ cache, err }, 'a cache could not give back'),
    }),
    limitBytes: config.memoryLimitMb === undefined ? defaultLimitBytes() : config.memoryLimitMb * 1024 ** 2,
    read: readMemory,
    collect: collectGarbage,
    log,
  })
  metrics.memory(memory.report)
  const registry = await openRegistry({
    host,
    ttlMs: config.toolsTtlMs,
    pageSize: config.pageSize,
    log,
    onChange: (mount, kind) => listChanged.announce(mount, kind),
    beforeDiscovery: () => renew(host, userApps.reload, log),
  })
  const describe = mountDescriptions()
  const hostedAs = (app: string): Hosted => {
    const hosted = host.find(app)
    if (hosted !== undefined) return hosted
    throw new CausewayError('ROUTE_NOT_FOUND', `no such app: ${app}`)
  }
  const context = { registry, scope, ttlMs: config.toolsTtlMs, pageSize: config.pageSize }

  const core: OpenCore = {
    mounts: () => registry.mounts().map(({ mount }) => mount),
    dispatch: (method, params, caller) => dispatch(context, method, params, caller),
    toolList(mount, era) {
      const lists = registry.lists(mount.path)
      if (lists === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${mount.path}`)
      return { json: lists.toolsJson[era], hash: lists.toolsHash }
    },
    describe: (mount) => describe(registry.lists(mount.path), mount),
    tool: (mount, name) => registry.lists(mount.path)?.toolByName.get(name)?.tool,
    events: { onListChanged: listChanged.listen, onResourceChanged: resourceChanged.listen },
    handshakes: store.handshakes,
    tasks: store.tasks,
    signingKey: store.signingKey,
    apps: () =>
      host.apps().map(({ app, path }) => ({
        name: app.name,
        path,
        about: app.about,
        tools: (registry.lists(bareMount(path).path)?.entries ?? []).map(({ tool }) => tool),
        routes: app.routes,
        sockets: app.sockets,
        ...(app.service === undefined ? {} : { service: app.service }),
      })),
    async callTool(app, tool, args, caller) {
      const lists = registry.lists(bareMount(pathName(app)).path)
      const entry = lists?.toolByName.get(tool)
      if (entry === undefined)
        throw new CausewayError('UNKNOWN_TOOL', `no such tool: ${app} ${tool}`, { data: { app, tool } })
      // Without `input`, questions are refused.
      return (await runTool(
        entry,
        args,
        { caller: { ...caller, input: undefined } },
        context,
      )) as CallToolResult
    },
    async withContext(app, caller, task, run) {
      const hosted = hostedAs(app)
      return scope.run(hosted, caller, task, (ctx) =>
        run({ ...ctx, call: ownCalls({ registry, scope, hosted, caller }) }),
      )
    },
    ownerOf: (uri) => findResource(host.apps(), uri)?.hosted.path,
    refresh: registry.refresh,
    audit: audit.query,
    memory: { isShort: memory.isShort, add: (cache) => void ownCaches.push(cache) },
    backups: openBackups({
      dataDir: config.dataDir,
      folder: config.backupDir ?? join(config.dataDir, backupsFolder),
      parts: () => partsOf(all),
      now,
      log,
    }),
    health: () =>
      reportHealth({
        host,
        userApps,
        config,
        startedMs,
        steady,
        limits,
        audit,
        memory,
        storage,
        hash: registry.hash(),
      }),
    appHealth: async (app) => healthOf(hostedAs(app), storage),
    metrics: metrics.exposition,
    turnedAway: metrics.turnedAway,
    async close() {
      registry.close()
      await memory.close()
      userApps.close()
      await host.close()
      limits.close()
      metrics.close()
      await audit.close()
      await store.close()
    },
  }
  becomeReady(core)
  return core
}

/** Puts changed user apps in place and tries again to open what could not be opened. */
async function renew(host: Host, reload: () => Promise<readonly App[]>, log: Logger): Promise<void> {
  for (const app of await reload()) {
    await host.put(app).catch((err: unknown) => log.error({ app: app.name, err }, 'the last good app stays'))
  }
  await host.reopen()
}

/** The apps that the setting names, all without it; throws `INVALID_SETTING` for a name that no app has. */
function enabled(all: readonly App[], names: readonly string[]): readonly App[] {
  if (names.length === 0) return all
  const wanted = new Set(names.map(pathName))
  for (const name of wanted) {
    if (!all.some((app) => pathName(app.name) === name))
      throw new CausewayError('INVALID_SETTING', `${settings.apps.env} names no app: ${name}`, {
        data: { apps: all.map((app) => app.name) },
      })
  }
  return all.filter((app) => wanted.has(pathName(app.name)))
}

const settingsOf = (app: App, config: Config): Readonly<Record<string, unknown>> =>
  Object.fromEntries(
    (Object.keys(settings) as SettingKey[])
      .filter((key) => 'app' in settings[key] && settings[key].app === app.name)
      .map((key) => [key, config[key]]),
  )
