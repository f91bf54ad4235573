import { randomUUID } from 'node:crypto'
import { EventEmitter } from 'node:events'
import { join } from 'node:path'
import type { App, ChannelContext, Env } from '@causeway/app-kit'
import {
  type CallToolResult,
  CausewayError,
  createFolder,
  type Params,
  pathName,
  reservedPaths,
} from '@causeway/protocol'
import type { Logger } from 'pino'
import { CallActivity } from '../activity/call-activity.ts'
import { CallCapture } from '../activity/call-capture.ts'
import type { OpenSessions } from '../activity/open-sessions.ts'
import { Audit } from '../audit/audit.ts'
import { backupsFolder, listParts } from '../backup/backup.ts'
import { Backups } from '../backup/backups.ts'
import { toRecord } from '../causeway/audit-tools.ts'
import { createCausewayApp } from '../causeway/index.ts'
import { type Config, type SettingKey, settings } from '../config/config.ts'
import { makeAppRoots } from '../config/roots.ts'
import { callOtherApp, createOwnToolCaller, runAppTool } from '../dispatch/app-calls.ts'
import { noInput } from '../dispatch/call-context.ts'
import { CallRunner } from '../dispatch/call-runner.ts'
import type { Caller } from '../dispatch/caller.ts'
import { dispatch } from '../dispatch/dispatch.ts'
import type { Operation } from '../dispatch/operation.ts'
import { findResource } from '../dispatch/resources.ts'
import { Limits } from '../limits/limits.ts'
import type { LogFiles } from '../log/log-files.ts'
import { LogTail } from '../log/log-tail.ts'
import { MemoryGuard, type OwnedCache } from '../memory/memory-guard.ts'
import { collectGarbage, getDefaultLimitBytes, readMemoryUsage } from '../memory/process-memory.ts'
import { type HealthReport, reportHealth } from '../monitoring/health.ts'
import { HealthHistory } from '../monitoring/health-history.ts'
import { Metrics } from '../monitoring/metrics.ts'
import { StorageHealth } from '../monitoring/storage-health.ts'
import { measureStores, type StoreSize } from '../monitoring/store-sizes.ts'
import { type Change, createBareMount } from '../registry/mount.ts'
import { Registry } from '../registry/registry.ts'
import { AppHost } from './app-host.ts'
import { ClientStates } from './client-states.ts'
import { ErrorCatalog } from './error-catalog.ts'
import { HostedServers } from './hosted-servers.ts'
import { ServerStore } from './server-store.ts'
import { type AppFailure, UserApps } from './user-apps.ts'

interface CoreOptions {
  readonly config: Config
  readonly log: Logger
  /** Unix milliseconds. */
  readonly now?: () => number
  /** Monotonic milliseconds. Default: `now`, if given. */
  readonly monotonicNow?: () => number
  readonly cwd?: string
  readonly logFiles?: Pick<LogFiles, 'audit' | 'onFailure'> | undefined
  readonly logTail?: LogTail | undefined
  readonly profiles?: () => Readonly<Record<string, readonly string[]>>
  readonly apps: readonly App[]
}

const serverApp = 'Causeway'

/** The server without its transports. */
export class Core {
  readonly events = new EventEmitter<{ changed: [Change] }>()
  readonly errors = new ErrorCatalog()
  readonly config: Config
  readonly log: Logger
  /** Unix milliseconds. */
  readonly now: () => number
  readonly store: ServerStore
  readonly states: ClientStates
  readonly userApps: UserApps
  readonly limits: Limits
  readonly storage: StorageHealth
  readonly audit: Audit
  readonly activity = new CallActivity()
  readonly capture: CallCapture
  readonly logTail: LogTail
  readonly history: HealthHistory
  readonly openSessions: OpenSessions[] = []
  readonly metrics: Metrics
  readonly runner: CallRunner
  readonly host: AppHost
  readonly registry: Registry
  #hosted: HostedServers | undefined
  readonly caches: OwnedCache[] = []
  readonly memory: MemoryGuard
  readonly backups: Backups
  readonly #clocks: { readonly now: () => number; readonly monotonicNow: () => number }
  readonly #startedAt: number
  readonly #apps: readonly App[]
  readonly #ready = Promise.withResolvers<void>()

  private constructor({ config, log, apps, logFiles, ...options }: CoreOptions, userApps: UserApps) {
    const { now = Date.now } = options
    this.config = config
    this.log = log
    this.now = now
    const monotonicNow = options.monotonicNow ?? options.now ?? (() => performance.now())
    this.#clocks = { now, monotonicNow }
    this.#startedAt = monotonicNow()
    this.store = new ServerStore(join(config.dataDir, 'server.db'), {
      ...this.#clocks,
      onFailure: (err) => {
        log.warn({ err }, 'expired data could not be deleted')
        this.storage.record(serverApp, err)
      },
    })
    this.userApps = userApps
    const builtInApps = [createCausewayApp(() => this), ...apps]
    for (const app of builtInApps) this.errors.add(app)
    this.#apps = [...builtInApps, ...userApps.apps]
    this.limits = new Limits(config)
    this.storage = new StorageHealth(config.dataDir, listParts([...apps]))
    logFiles?.onFailure((error) => this.storage.record(serverApp, error))
    this.audit = this.#openAudit(logFiles)
    this.capture = new CallCapture(now)
    this.logTail = options.logTail ?? new LogTail(config.dataDir)
    this.history = new HealthHistory({
      now,
      readMemoryBytes: () => readMemoryUsage().usedBytes,
      readTotals: () => this.activity.totals,
    })
    this.metrics = new Metrics(async () => ({
      running: this.limits.runningByApp,
      memory: await this.memory.report(),
    }))
    this.states = new ClientStates(this.store.states, { now: monotonicNow })
    this.runner = new CallRunner(this)
    this.host = new AppHost({ createEnv: (app) => this.#createEnv(app), errors: this.errors, log })
    this.registry = new Registry({
      host: this.host,
      ttlMs: config.toolsTtlMs,
      pageSize: config.pageSize,
      log,
      profiles: options.profiles ?? (() => this.#hosted?.config.profiles ?? {}),
      onChange: (change) => this.#notify(change),
      beforeDiscovery: () => this.#renewApps(),
    })
    this.memory = this.#openMemoryGuard()
    this.backups = new Backups({
      dataDir: config.dataDir,
      folder: config.backupDir ?? join(config.dataDir, backupsFolder),
      parts: () => listParts(this.#apps),
      now,
      log,
    })
  }

  get hosted(): HostedServers {
    if (this.#hosted === undefined) throw new Error('the core is not open')
    return this.#hosted
  }

  get failures(): readonly AppFailure[] {
    const appFailures = this.host.instances.flatMap(({ app, failure }) =>
      failure === undefined ? [] : [{ name: app.name, error: failure }],
    )
    return [...appFailures, ...this.userApps.failures]
  }

  static async open(options: CoreOptions): Promise<Core> {
    const { config, log, cwd = process.cwd() } = options
    createFolder(config.dataDir, 0o700)
    const core = new Core(options, await UserApps.load(config.userApps, { cwd, log }))
    const hosted = await core.#openHosted()
    core.#hosted = hosted
    // Discarded, because these apps are opened below.
    hosted.gateway.takeChanges()
    await core.host.open(selectApps([...core.#apps, ...hosted.gateway.apps], config.apps))
    for (const instance of core.host.instances) core.storage.requireFiles(instance)
    await core.registry.start()
    core.#ready.resolve()
    return core
  }

  get uptimeMs(): number {
    return this.#clocks.monotonicNow() - this.#startedAt
  }

  /**
   * Returns the JSON-RPC `result`, or an `Ask` for the caller's `input`. A failed tool is a result with
   * `isError`. Throws a `CausewayError` for an invalid request; other errors are defects.
   */
  dispatch(method: string, params: Params, caller: Caller): Promise<unknown> {
    return dispatch(this, method, params, caller)
  }

  /** `app`: path or name; `tool`: name or alias. Throws `UNKNOWN_TOOL` and the tool's error. */
  callTool(app: string, tool: string, args: unknown, caller: Caller): Promise<CallToolResult> {
    return runAppTool(this, { app, tool, args }, { ...caller, input: undefined })
  }

  /** Runs a route or one step of a socket. Throws `ROUTE_NOT_FOUND`. */
  async withContext<T>(
    app: string,
    caller: Caller,
    operation: Operation,
    run: (ctx: ChannelContext) => Promise<T>,
  ): Promise<T> {
    const instance = this.host.find(app)
    if (instance === undefined) throw new CausewayError('ROUTE_NOT_FOUND', `no such app: ${app}`)
    const call = createOwnToolCaller(this, instance, caller)
    return this.runner.run({ instance, caller, operation }, (ctx) => run({ ...ctx, call }))
  }

  findResourceOwner(uri: string): string | undefined {
    return findResource(this.host.instances, uri)?.instance.path
  }

  subscribe(uri: string, caller: Caller): () => void {
    const { clientKey = caller.sessionKey, sharedSession, project, input = noInput } = caller
    const origin = { clientKey, sharedSession, input, ...(project === undefined ? {} : { project }) }
    return findResource(this.host.instances, uri)?.resource.subscribe?.(uri, origin) ?? (() => {})
  }

  health(): Promise<HealthReport> {
    return reportHealth(this)
  }

  measureStores(): Promise<readonly StoreSize[]> {
    return measureStores(this.config.dataDir, listParts(this.#apps))
  }

  async close(): Promise<void> {
    this.history.close()
    this.registry.close()
    await this.memory.close()
    this.userApps.close()
    await this.#hosted?.close()
    await this.host.close()
    this.limits.close()
    this.metrics.close()
    await this.audit.close()
    this.store.close()
  }

  #openHosted(): Promise<HostedServers> {
    const onError = (err: unknown): void => this.#logListenerError(err)
    const reservedNames = new Set([...this.#apps.map(({ name }) => pathName(name)), ...reservedPaths])
    return HostedServers.open({
      dataDir: this.config.dataDir,
      log: this.log,
      env: process.env,
      ...this.#clocks,
      isReserved: (path) => reservedNames.has(path),
      onChange: () => void this.#ready.promise.then(() => this.registry.refresh()).catch(onError),
      onResource: (uri) => this.#notify({ uri }),
    })
  }

  #openAudit(logFiles: CoreOptions['logFiles']): Audit {
    const { auditKeepDays: keepDays, auditMaxRows: maxRows } = this.config
    return new Audit({
      store: this.store.audit,
      keepDays,
      maxRows,
      onWritten:
        logFiles &&
        ((entries) =>
          logFiles.audit.write(
            entries.map((entry) => `${JSON.stringify(toRecord(entry, this.errors))}\n`).join(''),
          )),
      onFailure: (error) => this.storage.record(serverApp, error),
      log: this.log,
      ...this.#clocks,
    })
  }

  #openMemoryGuard(): MemoryGuard {
    const { memoryLimitMb } = this.config
    return new MemoryGuard({
      findCaches: () => [...this.caches, ...this.host.caches],
      limitBytes: memoryLimitMb === undefined ? getDefaultLimitBytes() : memoryLimitMb * 1024 ** 2,
      readUsage: readMemoryUsage,
      collectGarbage,
      log: this.log,
    })
  }

  #createEnv(app: App): Env {
    const onError = (err: unknown): void => this.#logListenerError(err)
    return {
      dir: this.config.dataDir,
      settings: selectSettings(app, this.config),
      log: this.log.child({ app: app.name }),
      ...this.#clocks,
      steady: this.#clocks.monotonicNow,
      newId: randomUUID,
      roots: makeAppRoots(app, this.config),
      changed: {
        // Waits for the start, because an app can report changes while it opens.
        tools: () => void this.#ready.promise.then(() => this.registry.refresh()).catch(onError),
        resources: () => {
          for (const mount of [...this.registry.sharedMounts, createBareMount(pathName(app.name))])
            this.#notify({ mount, list: 'resources' })
        },
        resource: (uri) => this.#notify({ uri }),
      },
      call: (name, tool, args, ctx) => callOtherApp(this, app, { app: name, tool, args }, ctx),
    }
  }

  async #renewApps(): Promise<void> {
    const { changedApps, removedPaths } = this.hosted.gateway.takeChanges()
    for (const path of removedPaths) await this.host.remove(path)
    const selectedNames = this.config.apps.map(pathName)
    const hostedApps = changedApps.filter(
      ({ name }) => selectedNames.length === 0 || selectedNames.includes(pathName(name)),
    )
    for (const app of [...hostedApps, ...(await this.userApps.reload())])
      await this.host
        .replace(app)
        .catch((err: unknown) =>
          this.log.error(
            { app: app.name, err },
            'the app could not be replaced; the previous version remains in use',
          ),
        )
    await this.host.reopenFailed()
  }

  #notify(change: Change): void {
    try {
      this.events.emit('changed', change)
    } catch (error) {
      this.#logListenerError(error)
    }
  }

  #logListenerError(err: unknown): void {
    this.log.error({ err }, 'a listener failed')
  }
}

function selectApps(allApps: readonly App[], names: readonly string[]): readonly App[] {
  if (names.length === 0) return allApps
  const selectedNames = new Set(names.map(pathName))
  for (const name of selectedNames) {
    if (!allApps.some((app) => pathName(app.name) === name))
      throw new CausewayError('INVALID_SETTING', `${settings.apps.env} names no app: ${name}`, {
        data: { apps: allApps.map((app) => app.name) },
      })
  }
  return allApps.filter((app) => selectedNames.has(pathName(app.name)))
}

function selectSettings(app: App, config: Config): Readonly<Record<string, unknown>> {
  const keys = (Object.keys(settings) as SettingKey[]).filter(
    (key) => 'app' in settings[key] && settings[key].app === app.name,
  )
  return Object.fromEntries(keys.map((key) => [key, config[key]]))
}
