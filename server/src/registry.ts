/**
 * The cached lists: which tools and prompts each mount has, under which names, serialised once a change.
 *
 * Discovery runs at start, every `ttlMs`, and when somebody asks for it. It never makes a call wait: until it is
 * through, and for an app whose discovery fails or is slow, the last good list stands.
 */
import { createHash } from 'node:crypto'
import type { AppTool } from '@causeway/app-kit'
import { type Prompt, type Tool, wireName } from '@causeway/protocol'
import type { Logger } from 'pino'
import type { Era, ListKind, Mount } from './core.ts'
import type { Host, Hosted } from './host.ts'
import { bareMount, callableNames, listedPrompt, listedTool, sharedMount } from './mount.ts'
import { pageOf } from './page.ts'

/** A tool with the app that it belongs to. */
export interface ToolEntry {
  readonly hosted: Hosted
  readonly tool: AppTool
}

/** One mount's lists, frozen. */
export interface MountLists {
  readonly mount: Mount
  readonly tools: readonly Tool[]
  readonly prompts: readonly Prompt[]
  /** By every callable name. */
  readonly toolByName: ReadonlyMap<string, ToolEntry>
  readonly entries: readonly ToolEntry[]
  readonly hosted: readonly Hosted[]
  /** Hash of the tools; a page's cursor belongs to it. */
  readonly toolsHash: string
  readonly promptsHash: string
  /** The `result` of the first page of `tools/list`, serialised. */
  readonly toolsJson: Readonly<Record<Era, string>>
}

/** The registry. */
export interface Registry {
  mounts(): readonly MountLists[]
  /** The lists of a mount, by path; undefined where nothing is served. */
  lists(path: string): MountLists | undefined
  /** Hash over every mount. */
  hash(): string
  /** Discovers again. Calls at the same time share one run; a call during a run gets the next one. */
  refresh(): Promise<{ readonly changed: boolean; readonly hash: string }>
  close(): void
}

/** What the registry needs to be told. */
export interface RegistryOptions {
  readonly host: Host
  readonly ttlMs: number
  readonly pageSize: number
  readonly log: Logger
  onChange(mount: Mount, kind: ListKind): void
  /** Runs before each discovery: changed apps are put in their place here. */
  beforeDiscovery?(): Promise<void>
  /** Longest wait for one app, ms. */
  readonly discoveryMs?: number
}

/** Fields that tell a stateless client how long it may keep a list. */
export const cacheHints = (ttlMs: number) => ({ ttlMs, cacheScope: 'public' as const })

/** Discovers for the first time and starts the clock. */
export async function openRegistry(options: RegistryOptions): Promise<Registry> {
  const { host, ttlMs, log, onChange, discoveryMs = 1000 } = options
  const lastGood = new Map<string, readonly AppTool[]>()
  const state = { lists: new Map<string, MountLists>(), hash: '' }
  let running: Promise<void> = Promise.resolve()
  let next: Promise<{ changed: boolean; hash: string }> | undefined

  const toolsOf = async (hosted: Hosted): Promise<readonly AppTool[]> => {
    if (hosted.failure !== undefined) return hosted.app.tools
    try {
      const found = await within(discoveryMs, hosted.app.discover(hosted.store))
      // A name that clients cannot use is the app's failure, not the server's.
      for (const { name } of found) wireName(hosted.app.name, name)
      lastGood.set(hosted.path, found)
    } catch (error) {
      log.warn({ app: hosted.app.name, err: error }, 'discovery failed; the last good list stands')
    }
    return [...hosted.app.tools, ...(lastGood.get(hosted.path) ?? [])]
  }

  const discover = async (): Promise<{ changed: boolean; hash: string }> => {
    await options.beforeDiscovery?.()
    const apps = host.apps()
    const found = await Promise.all(apps.map(async (hosted) => ({ hosted, tools: await toolsOf(hosted) })))
    const before = state.lists
    const mounts = [sharedMount, ...apps.map(({ path }) => bareMount(path))]
    state.lists = new Map(
      mounts.map((mount) => [
        mount.path,
        mountLists(
          mount,
          found.filter(({ hosted }) => mount.app === undefined || mount.app === hosted.path),
          options,
        ),
      ]),
    )
    const hash = digest(
      [...state.lists.values()].map(({ toolsHash, promptsHash }) => [toolsHash, promptsHash]),
    )
    const changed = state.hash !== hash
    state.hash = hash
    if (before.size > 0) announceChanges(before, state.lists, onChange)
    return { changed, hash }
  }

  const refresh = (): Promise<{ changed: boolean; hash: string }> => {
    next ??= running.then(() => {
      next = undefined
      const run = discover()
      running = run.then(
        () => undefined,
        () => undefined,
      )
      return run
    })
    return next
  }

  await refresh()
  const timer = setInterval(
    () => {
      refresh().catch((error: unknown) => log.error({ err: error }, 'discovery failed'))
    },
    Math.max(ttlMs, 100),
  ).unref()
  return {
    mounts: () => [...state.lists.values()],
    lists: (path) => state.lists.get(path),
    hash: () => state.hash,
    refresh,
    close: () => clearInterval(timer),
  }
}

function mountLists(
  mount: Mount,
  found: readonly { hosted: Hosted; tools: readonly AppTool[] }[],
  { ttlMs, pageSize }: RegistryOptions,
): MountLists {
  const toolByName = new Map<string, ToolEntry>()
  const entries: ToolEntry[] = []
  const tools: Tool[] = []
  const prompts: Prompt[] = []
  for (const { hosted, tools: own } of found) {
    for (const tool of own) {
      tools.push(listedTool(mount, hosted.app, tool))
      entries.push({ hosted, tool })
      for (const name of callableNames(mount, hosted.app, tool)) toolByName.set(name, { hosted, tool })
    }
    for (const prompt of hosted.app.prompts) prompts.push(listedPrompt(mount, hosted.app, prompt))
  }
  const toolsHash = digest(tools)
  const { items, nextCursor } = pageOf(tools, { cursor: undefined, hash: toolsHash, size: pageSize })
  const page = { tools: items, ...(nextCursor === undefined ? {} : { nextCursor }) }
  return {
    mount,
    tools,
    prompts,
    toolByName,
    entries,
    hosted: found.map(({ hosted }) => hosted),
    toolsHash,
    promptsHash: digest(prompts),
    toolsJson: {
      legacy: JSON.stringify(page),
      modern: JSON.stringify({ ...page, ...cacheHints(ttlMs) }),
    },
  }
}

function announceChanges(
  before: ReadonlyMap<string, MountLists>,
  after: ReadonlyMap<string, MountLists>,
  onChange: RegistryOptions['onChange'],
): void {
  for (const [path, lists] of after) {
    const old = before.get(path)
    if (old?.toolsHash !== lists.toolsHash) onChange(lists.mount, 'tools')
    if (old?.promptsHash !== lists.promptsHash) onChange(lists.mount, 'prompts')
  }
}

const digest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${ms} ms`)), ms)
  })
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
