import { join } from 'node:path'
import type { App, Log } from '@causeway/app-kit'
import type { ServerLogin } from '@causeway/oauth'
import { createHostedApp } from './app/hosted-app.ts'
import { ParkedCalls } from './calls/parked-calls.ts'
import { findEndpointWarnings, type HostedServer, type RenderedEndpoint } from './config/index.ts'
import type { Catalogue } from './domain/catalogue.ts'
import { findCatalogueWarnings } from './domain/catalogue-warnings.ts'
import { chooseAppName } from './domain/names.ts'
import { type CatalogueChange, createPins, findChanges, reviewCatalogue, toPinKey } from './domain/pins.ts'
import { toCausewayUri } from './domain/resource-uris.ts'
import { GatewayError } from './errors.ts'
import type { OutputLines } from './instances/output-log.ts'
import { describeServer, type HostedServerStatus } from './instances/server-status.ts'
import { hashConfig, UpstreamServer } from './instances/upstream-server.ts'
import { GatewayStore, selectPins } from './store.ts'
import { PidFile } from './upstream/pid-file.ts'
import { measureGroups } from './upstream/process-group.ts'

const endedClientIdleMs = 5 * 60_000

export interface GatewayOptions {
  readonly dataDir: string
  readonly log: Log
  /** Unix milliseconds. */
  readonly now: () => number
  /** Monotonic milliseconds. */
  readonly monotonicNow: () => number
  readonly createId: () => string
  readonly clientInfo: { readonly name: string; readonly version: string }
  readonly random?: () => number
  /** Throws a `CausewayError`. */
  render(server: HostedServer, project: string | undefined): RenderedEndpoint
  /** Returns `undefined` for a server with a configured token. Throws a `CausewayError`. */
  createLogin?(server: HostedServer): ServerLogin | undefined
  /** Whether another app or view has this path. */
  isReserved(path: string): boolean
  /** Called when `takeChanges` has changes. */
  onChange(): void
  onResource(uri: string): void
}

/** Changes since the last call of `takeChanges`. */
export interface AppChanges {
  readonly changedApps: readonly App[]
  /** Paths of apps. */
  readonly removedPaths: readonly string[]
}

interface Entry {
  readonly server: UpstreamServer
  readonly appName: string
  app: App
  changes: readonly CatalogueChange[]
  warnings: readonly string[]
}

/** Hosts MCP servers as apps. The first call starts a server; lists come from a stored catalogue. */
export class Gateway {
  readonly #options: GatewayOptions
  readonly #pidFile: PidFile
  readonly #parkedCalls = new ParkedCalls()
  /** By name in mcp.json. */
  readonly #entries = new Map<string, Entry>()
  readonly #changedNames = new Set<string>()
  readonly #removedPaths = new Set<string>()
  #store: GatewayStore | undefined
  #isDebugRequested = false

  private constructor(options: GatewayOptions) {
    this.#options = options
    this.#pidFile = new PidFile(join(options.dataDir, 'gateway', 'pids.json'), (err) =>
      options.log.warn({ err }, 'the list of running hosted servers could not be saved'),
    )
  }

  /** Also ends child processes that a killed Causeway server left behind. */
  static async open(options: GatewayOptions, servers: readonly HostedServer[]): Promise<Gateway> {
    const gateway = new Gateway(options)
    const reapedPids = await gateway.#pidFile.endRecordedGroups()
    if (reapedPids.length > 0)
      options.log.warn({ pids: reapedPids }, 'hosted servers of the previous server were ended')
    await gateway.update(servers)
    return gateway
  }

  get apps(): readonly App[] {
    return [...this.#entries.values()].map(({ app }) => app)
  }

  /** Servers with an unchanged configuration keep running. */
  async update(servers: readonly HostedServer[]): Promise<void> {
    const closePromises: Promise<void>[] = []
    const previousSize = this.#entries.size
    const configs = new Map(servers.map((config) => [config.name, config]))
    for (const [name, { server, appName }] of [...this.#entries]) {
      const config = configs.get(name)
      if (config !== undefined && isSameConfig(config, server.config)) continue
      this.#entries.delete(name)
      this.#changedNames.delete(name)
      this.#removedPaths.add(appName.toLowerCase())
      closePromises.push(server.close())
    }
    for (const config of servers) if (!this.#entries.has(config.name)) this.#add(config)
    if (previousSize > 0 || servers.length > 0)
      this.#openStore().retainCatalogues(servers.map(({ name }) => name))
    this.#options.onChange()
    await Promise.all(closePromises)
  }

  takeChanges(): AppChanges {
    const changedApps = [...this.#changedNames].flatMap((name) => this.#entries.get(name)?.app ?? [])
    const paths = new Set(this.apps.map(({ name }) => name.toLowerCase()))
    const removedPaths = [...this.#removedPaths].filter((path) => !paths.has(path))
    this.#changedNames.clear()
    this.#removedPaths.clear()
    return { changedApps, removedPaths }
  }

  describe(): readonly HostedServerStatus[] {
    const entries = [...this.#entries.values()]
    const pids = entries.flatMap(({ server }) => server.pool.instances.flatMap(({ pid }) => pid ?? []))
    const memoryByPid = measureGroups(pids)
    return entries.map((entry) => this.#describe(entry, memoryByPid))
  }

  /** `after` is the position of an earlier read. Throws `SERVER_NOT_FOUND`. */
  readOutput(name: string, after?: number): OutputLines {
    return this.#find(name).server.output.read(after)
  }

  /** Also clears failures. Throws `SERVER_NOT_FOUND`. */
  async restart(name: string): Promise<void> {
    await this.#find(name).server.restart()
  }

  /** Starts the server and lists it again. Throws `SERVER_NOT_FOUND` and start errors. */
  async refresh(name: string): Promise<void> {
    await this.#find(name).server.refreshCatalogue()
  }

  /** Throws `SERVER_NOT_FOUND`. */
  listPendingChanges(name: string): readonly CatalogueChange[] {
    return this.#find(name).changes
  }

  /** `items` are names of tools and prompts; default: all definitions. Throws `SERVER_NOT_FOUND`. */
  async approve(name: string, items?: readonly string[]): Promise<void> {
    const entry = this.#find(name)
    const { catalogue } = entry.server
    if (catalogue === undefined) return
    const keys =
      items &&
      new Set(entry.changes.filter((entry) => items.includes(entry.name)).map((entry) => toPinKey(entry)))
    this.#openStore().savePins(name, selectPins(createPins(catalogue), keys))
    this.#review(entry, catalogue)
  }

  /** Requests only `debug`: other levels would hide messages from clients that request no level. */
  requestLogLevel(level: unknown): void {
    if (level !== 'debug' || this.#isDebugRequested) return
    this.#isDebugRequested = true
    for (const { server } of this.#entries.values()) server.setLogLevel(level)
  }

  /** After a client's session has ended, stops its instances once they are idle for `idleMs`. */
  endClient(clientKey: string, idleMs = endedClientIdleMs): void {
    for (const { server } of this.#entries.values()) server.pool.endClient(clientKey, idleMs)
  }

  async close(): Promise<void> {
    this.#parkedCalls.close()
    await Promise.all([...this.#entries.values()].map(({ server }) => server.close()))
    this.#store?.close()
  }

  #find(name: string): Entry {
    const entry = this.#entries.get(name)
    if (entry !== undefined) return entry
    throw new GatewayError('SERVER_NOT_FOUND', `mcp.json has no server ${name}`, {
      data: { name, servers: [...this.#entries.keys()] },
    })
  }

  #add(config: HostedServer): void {
    const { dataDir, log, monotonicNow: now, random = Math.random, createId, clientInfo } = this.#options
    const appName = this.#chooseName(config)
    const path = appName.toLowerCase()
    const server = new UpstreamServer({
      services: {
        ...{ dataDir, log, now, random, createId: createId, clientInfo },
        pidFile: this.#pidFile,
        parkedCalls: this.#parkedCalls,
        render: (entry, project) => this.#options.render(entry, project),
        createLogin: (entry) => this.#options.createLogin?.(entry),
      },
      config,
      catalogue: this.#openStore().findCatalogue(config.name, hashConfig(config)),
      onCatalogue: (catalogue) => this.#save(config, catalogue),
      onResource: (uri) => this.#options.onResource(toCausewayUri(path, uri)),
    })
    if (this.#isDebugRequested) server.setLogLevel('debug')
    const entry: Entry = {
      server,
      appName,
      changes: [],
      warnings: findWarnings(config, server.catalogue, appName),
      app: this.#createApp(server, appName, []),
    }
    this.#entries.set(config.name, entry)
    this.#removedPaths.delete(path)
    this.#changedNames.add(config.name)
    if (server.catalogue !== undefined) this.#review(entry, server.catalogue)
    server.prepare()
  }

  #chooseName({ app, name }: HostedServer): string {
    const usedNames = new Set([...this.#entries.values()].map((entry) => entry.appName.toLowerCase()))
    const isTaken = (path: string): boolean => usedNames.has(path) || this.#options.isReserved(path)
    const chosenName = chooseAppName(app ?? name, isTaken)
    if (app !== undefined && chosenName !== app)
      this.#options.log.warn(
        { server: name, app, chosen: chosenName },
        'the app name of a hosted server is not available',
      )
    return chosenName
  }

  #save(config: HostedServer, catalogue: Catalogue): void {
    const entry = this.#entries.get(config.name)
    if (entry === undefined || !isSameConfig(entry.server.config, config)) return
    this.#openStore().saveCatalogue(config.name, hashConfig(config), catalogue, this.#options.now())
    this.#review(entry, catalogue)
  }

  /** Compares a catalogue with the pins. An approved server's first catalogue is the baseline. */
  #review(entry: Entry, catalogue: Catalogue): void {
    const { server, appName } = entry
    const { name, pin } = server.config
    entry.warnings = findWarnings(server.config, catalogue, appName)
    const store = this.#openStore()
    if (store.listPins(name).length === 0) store.savePins(name, createPins(catalogue))
    entry.changes = pin === 'off' ? [] : findChanges(catalogue, store.listPins(name))
    if (entry.changes.length > 0) this.#reportChanges(entry)
    entry.app = this.#createApp(server, appName, pin === 'block' ? entry.changes : [])
    this.#changedNames.add(name)
    this.#options.onChange()
  }

  #reportChanges({ server, changes }: Entry): void {
    const names = changes.map(({ kind, name }) => (name === '' ? kind : name))
    const { name, pin } = server.config
    this.#options.log.warn({ server: name, pin, changed: names }, 'definitions differ from the approved ones')
  }

  #createApp(server: UpstreamServer, name: string, changes: readonly CatalogueChange[]): App {
    const { catalogue } = server
    return createHostedApp({
      name,
      server,
      reviewedCatalogue: catalogue === undefined ? undefined : reviewCatalogue(catalogue, changes),
      health: () => this.#reportHealth(server.config.name),
    })
  }

  #reportHealth(name: string): Readonly<Record<string, unknown>> {
    const entry = this.#entries.get(name)
    if (entry === undefined) return {}
    const { state, pids, instances, last_error, changed: changedApps, share } = this.#describe(entry)
    const report = { server: name, state, share, pids, instances: instances.length, changed: changedApps }
    return {
      ...report,
      ...(last_error === undefined ? {} : { last_error }),
      ...(state === 'down'
        ? { status: 'failed', reason: last_error?.code, message: last_error?.message }
        : {}),
    }
  }

  #describe(
    { server, appName, changes, warnings }: Entry,
    memoryByPid: ReadonlyMap<number, number> = new Map(),
  ): HostedServerStatus {
    const now = this.#options.monotonicNow()
    return describeServer(server, {
      app: appName,
      changed: changes.length,
      warnings,
      now,
      memory: memoryByPid,
    })
  }

  #openStore(): GatewayStore {
    this.#store ??= new GatewayStore(this.#options.dataDir)
    return this.#store
  }
}

const findWarnings = (
  { endpoint }: HostedServer,
  catalogue: Catalogue | undefined,
  app: string,
): readonly string[] => [
  ...findEndpointWarnings(endpoint),
  ...(catalogue === undefined ? [] : findCatalogueWarnings(catalogue, app)),
]

const isSameConfig = (a: HostedServer, b: HostedServer): boolean => JSON.stringify(a) === JSON.stringify(b)
