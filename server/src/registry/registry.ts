import { setTimeout as wait } from 'node:timers/promises'
import type { App, AppTool } from '@causeway/app-kit'
import { CausewayError, pathName, reservedPaths, wireName } from '@causeway/protocol'
import type { Logger } from 'pino'
import type { AppHost, AppInstance } from '../host/app-host.ts'
import {
  type Change,
  coreMount,
  createBareMount,
  createProfileMount,
  type Mount,
  sharedMount,
  type ToolEntry,
} from './mount.ts'
import { buildMountLists, createDigest, type MountLists } from './mount-lists.ts'

interface RegistryOptions {
  readonly host: AppHost
  readonly ttlMs: number
  readonly pageSize: number
  readonly log: Logger
  profiles(): Readonly<Record<string, readonly string[]>>
  onChange(change: Change): void
  beforeDiscovery(): Promise<void>
}

export interface HostedApp extends App {
  readonly path: string
}

interface RefreshResult {
  readonly changed: boolean
  readonly hash: string
}

/** An app that takes longer keeps its previous tools. */
const discoveryTimeoutMs = 1000

/**
 * The lists of every mount. Discovers tools at start, every `ttlMs` and on request. If discovery fails, the
 * previous tools remain.
 */
export class Registry {
  /** Stateless clients may cache a list for this time. */
  readonly ttlMs: number
  readonly pageSize: number
  readonly #options: RegistryOptions
  readonly #discoveredTools = new Map<string, readonly AppTool[]>()
  #lists: ReadonlyMap<string, MountLists> = new Map()
  #apps: readonly HostedApp[] = []
  #hash = ''
  #runningRefresh: Promise<unknown> = Promise.resolve()
  #nextRefresh: Promise<RefreshResult> | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: RegistryOptions) {
    this.ttlMs = options.ttlMs
    this.pageSize = options.pageSize
    this.#options = options
  }

  async start(): Promise<void> {
    const { log } = this.#options
    await this.refresh()
    const refresh = (): void => {
      this.refresh().catch((error: unknown) => log.error({ err: error }, 'discovery failed'))
    }
    this.#timer = setInterval(refresh, Math.max(this.ttlMs, 100)).unref()
  }

  get sharedMounts(): readonly Mount[] {
    return [...this.#lists.values()].flatMap(({ mount }) => (mount.app === undefined ? [mount] : []))
  }

  get lists(): ReadonlyMap<string, MountLists> {
    return this.#lists
  }

  get apps(): readonly HostedApp[] {
    return this.#apps
  }

  findApp(path: string | undefined): HostedApp | undefined {
    return this.#apps.find((app) => app.path === path)
  }

  get hash(): string {
    return this.#hash
  }

  getLists({ path }: Mount): MountLists {
    const lists = this.#lists.get(path)
    if (lists !== undefined) return lists
    throw new CausewayError('ROUTE_NOT_FOUND', `nothing is served at ${path}`)
  }

  /** Accepts every name that the mount's clients can use. */
  findTool({ path }: Pick<Mount, 'path'>, name: string): ToolEntry | undefined {
    return this.#lists.get(path)?.toolByName.get(name)
  }

  /** `app`: name or path; `name`: bare name or alias. */
  findAppTool(app: string, name: string): ToolEntry | undefined {
    return this.findTool(createBareMount(pathName(app)), name)
  }

  /** Concurrent calls share a discovery. */
  refresh(): Promise<RefreshResult> {
    this.#nextRefresh ??= this.#runningRefresh.then(() => {
      this.#nextRefresh = undefined
      const discovery = this.#discover()
      this.#runningRefresh = discovery.catch(() => {})
      return discovery
    })
    return this.#nextRefresh
  }

  close(): void {
    clearInterval(this.#timer)
  }

  async #discover(): Promise<RefreshResult> {
    const { host, profiles, beforeDiscovery } = this.#options
    await beforeDiscovery()
    const { instances } = host
    const apps = await Promise.all(
      instances.map(async (instance) => ({ instance, tools: await this.#discoverTools(instance) })),
    )
    const previous = this.#lists
    const mounts = [
      sharedMount,
      coreMount,
      ...Object.entries(profiles()).map(([name, patterns]) => createProfileMount(name, patterns)),
      ...instances.filter(({ path }) => !reservedPaths.has(path)).map(({ path }) => createBareMount(path)),
    ]
    this.#lists = new Map(
      mounts.map((mount) => {
        const servedApps = apps.filter(
          ({ instance }) => mount.app === undefined || mount.app === instance.path,
        )
        return [mount.path, buildMountLists(mount, servedApps, this)]
      }),
    )
    this.#apps = apps.map(({ instance: { app, path }, tools }) => ({ ...app, path, tools }))
    this.#reportOmissions(previous)
    const hash = createDigest(
      [...this.#lists.values()].map(({ toolsHash, promptsHash }) => [toolsHash, promptsHash]),
    )
    const changed = this.#hash !== hash
    this.#hash = hash
    if (previous.size > 0) this.#reportChanges(previous)
    return { changed, hash }
  }

  async #discoverTools({ app, path, store, failure }: AppInstance): Promise<readonly AppTool[]> {
    if (failure !== undefined) return app.tools
    try {
      const discoveredTools = await Promise.race([app.discover(store), rejectAfter(discoveryTimeoutMs)])
      for (const { name } of discoveredTools) wireName(app.name, name)
      this.#discoveredTools.set(path, discoveredTools)
    } catch (error) {
      this.#options.log.warn(
        { app: app.name, err: error },
        'discovery failed; the previous list remains in use',
      )
    }
    return [...app.tools, ...(this.#discoveredTools.get(path) ?? [])]
  }

  #reportOmissions(previous: ReadonlyMap<string, MountLists>): void {
    for (const [path, { omitted }] of this.#lists)
      if (omitted.length > 0 && String(previous.get(path)?.omitted) !== String(omitted))
        this.#options.log.warn({ mount: path, omitted }, 'the view has no room for these tools')
  }

  #reportChanges(previous: ReadonlyMap<string, MountLists>): void {
    for (const [path, { mount, toolsHash, promptsHash }] of this.#lists) {
      const previousLists = previous.get(path)
      if (previousLists?.toolsHash !== toolsHash) this.#options.onChange({ mount, list: 'tools' })
      if (previousLists?.promptsHash !== promptsHash) this.#options.onChange({ mount, list: 'prompts' })
    }
  }
}

async function rejectAfter(ms: number): Promise<never> {
  await wait(ms, undefined, { ref: false })
  throw new Error(`no answer within ${ms} ms`)
}
