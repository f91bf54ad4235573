import type { App, AppTool } from '@causeway/app-kit'
import { matchesPattern } from '@causeway/gateway'
import { pathName, type Tool } from '@causeway/protocol'
import type { AppInstance } from '../host/app-host.ts'
import { type Mount, sharedMount, type ToolEntry, toListedTool } from './mount.ts'

/** Some clients accept no more tools. */
const coreLimits = { tools: 20, bytes: 16_000 } as const

/** Maximum tools that clients with deferred loading load at the start. */
const maxAlwaysLoad = 6

/** Search hints that would extend the listing of a tool or app beyond these bytes are omitted. */
const metadataLimits = { tool: 2000, app: 25_000 } as const

/** Keys in `_meta` that Claude Code reads. */
const alwaysLoadKey = 'anthropic/alwaysLoad'
const searchHintKey = 'anthropic/searchHint'

interface ViewTools {
  readonly tools: readonly Tool[]
  readonly omitted: readonly string[]
}

export function selectTools(mount: Mount, entries: readonly ToolEntry[]): ViewTools {
  const { app: bareApp, view } = mount
  if (view === 'core') return selectCoreTools(mount, entries)
  const listedEntries = entries.filter(({ instance: { app }, tool }) =>
    view === undefined ? tool.unlisted !== true : isListable(tool) && matchesAny(view, app, tool),
  )
  const tools = listedEntries.map((entry) => ({
    ...entry,
    listedTool: toListedTool(mount, entry.instance.app, entry.tool),
  }))
  return {
    tools: bareApp === undefined ? addMetadata(tools) : tools.map(({ listedTool }) => listedTool),
    omitted: [],
  }
}

/** Omits output schemas, which a model does not need for a call. */
function selectCoreTools(mount: Mount, entries: readonly ToolEntry[]): ViewTools {
  const tools: Tool[] = []
  const omitted: string[] = []
  let bytes = 2
  for (const { instance, tool } of entries) {
    if (tool.isCore !== true) continue
    const { outputSchema: _, ...listedTool } = toListedTool(mount, instance.app, tool)
    const size = getSize(listedTool) + 1
    if (tools.length === coreLimits.tools || bytes + size > coreLimits.bytes) omitted.push(listedTool.name)
    else {
      tools.push(listedTool)
      bytes += size
    }
  }
  return { tools, omitted }
}

interface ListedEntry extends ToolEntry {
  readonly listedTool: Tool
}

function addMetadata(entries: readonly ListedEntry[]): readonly Tool[] {
  const eagerEntries = new Set(entries.filter(({ tool }) => tool.alwaysLoad === true).slice(0, maxAlwaysLoad))
  const markedEntries = entries.map((entry) =>
    eagerEntries.has(entry)
      ? { ...entry, listedTool: addMeta(entry.listedTool, { [alwaysLoadKey]: true }) }
      : entry,
  )
  const remainingBytes = new Map<AppInstance, number>()
  const getRemainingBytes = (instance: AppInstance): number =>
    remainingBytes.get(instance) ?? metadataLimits.app
  for (const { instance, listedTool } of markedEntries)
    remainingBytes.set(instance, getRemainingBytes(instance) - getSize(listedTool))
  return markedEntries.map(({ instance, tool: { searchHint }, listedTool }) => {
    if (searchHint === undefined) return listedTool
    const hintedTool = addMeta(listedTool, { [searchHintKey]: searchHint })
    const bytesLeft = getRemainingBytes(instance) + getSize(listedTool) - getSize(hintedTool)
    if (bytesLeft < 0 || getSize(hintedTool) > metadataLimits.tool) return listedTool
    remainingBytes.set(instance, bytesLeft)
    return hintedTool
  })
}

const addMeta = (tool: Tool, meta: object): Tool => ({ ...tool, _meta: { ...tool._meta, ...meta } })

const getSize = (tool: Tool): number => Buffer.byteLength(JSON.stringify(tool))

const isListable = ({ unlisted, isCore }: AppTool): boolean => unlisted !== true || isCore === true

/** `Replay` matches all tools of an app, and `Files__read_*` matches names on the shared mount. */
const matchesAny = (patterns: readonly string[], app: App, tool: AppTool): boolean =>
  patterns.some((pattern) =>
    /__|\*/.test(pattern)
      ? matchesPattern(toListedTool(sharedMount, app, tool).name, [pattern])
      : pathName(pattern) === pathName(app.name),
  )
