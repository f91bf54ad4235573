import { createHash } from 'node:crypto'
import type { AppTool } from '@causeway/app-kit'
import type { Prompt, Resource, Tool } from '@causeway/protocol'
import type { Era } from '../dispatch/caller.ts'
import type { AppInstance } from '../host/app-host.ts'
import { version } from '../process/version.ts'
import { writeInstructions } from './instructions.ts'
import { getCallableNames, type Mount, type ToolEntry, toListedPrompt } from './mount.ts'
import { paginate } from './page.ts'
import { selectTools } from './view.ts'
import { listWidgets } from './widgets.ts'

export interface AppTools {
  readonly instance: AppInstance
  readonly tools: readonly AppTool[]
}

export interface MountDescription {
  readonly serverInfo: { readonly name: string; readonly title: string; readonly version: string }
  readonly capabilities: Readonly<Record<string, unknown>>
  readonly instructions: string
}

/** Lists are replaced, never changed. */
export interface MountLists {
  readonly mount: Mount
  readonly description: MountDescription
  readonly instances: readonly AppInstance[]
  readonly tools: readonly Tool[]
  /** Tools that do not fit in the view. */
  readonly omitted: readonly string[]
  readonly prompts: readonly Prompt[]
  readonly widgets: readonly Resource[]
  readonly toolByName: ReadonlyMap<string, ToolEntry>
  readonly toolsHash: string
  readonly promptsHash: string
  /** The first page of `tools/list`. */
  readonly toolsJson: Readonly<Record<Era, string>>
}

export const createCacheHints = (ttlMs: number) => ({ ttlMs, cacheScope: 'public' as const })

export function buildMountLists(
  mount: Mount,
  apps: readonly AppTools[],
  { ttlMs, pageSize }: { readonly ttlMs: number; readonly pageSize: number },
): MountLists {
  const entries = apps.flatMap(({ instance, tools }) => tools.map((tool) => ({ instance, tool })))
  const instances = apps.map(({ instance }) => instance)
  const { tools, omitted } = selectTools(mount, entries)
  const prompts = instances.flatMap(({ app }) =>
    app.prompts.map((prompt) => toListedPrompt(mount, app, prompt)),
  )
  const toolByName = new Map(
    entries.flatMap((entry) =>
      getCallableNames(mount, entry.instance.app, entry.tool).map((name) => [name, entry] as const),
    ),
  )
  const toolsHash = createDigest(tools)
  const page = paginate('tools', tools, { cursor: undefined, hash: toolsHash, size: pageSize })
  return {
    mount,
    description: describe(mount, instances),
    instances,
    tools,
    omitted,
    prompts,
    widgets: listWidgets(entries.map(({ tool }) => tool)),
    toolByName,
    toolsHash,
    promptsHash: createDigest(prompts),
    toolsJson: {
      legacy: JSON.stringify(page),
      modern: JSON.stringify({ ...page, ...createCacheHints(ttlMs) }),
    },
  }
}

export const createDigest = (value: unknown): string =>
  createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 16)

function describe(mount: Mount, instances: readonly AppInstance[]): MountDescription {
  const hasResources = instances.some(({ app }) => app.resources.length > 0)
  return {
    serverInfo: { name: 'causeway', title: 'Causeway', version },
    capabilities: {
      tools: { listChanged: true },
      prompts: { listChanged: true },
      ...(hasResources ? { resources: { listChanged: true, subscribe: true } } : {}),
      completions: {},
      logging: {},
    },
    instructions: writeInstructions(
      mount,
      instances.map(({ app }) => app),
    ),
  }
}
