import { type AppTool, closest } from '@causeway/app-kit'
import { CausewayError, type Params } from '@causeway/protocol'
import { ServerError } from '../errors.ts'
import { type Mount, sharedMount, type ToolEntry } from '../registry/mount.ts'
import type { Registry } from '../registry/registry.ts'

interface ResolvedCall {
  readonly entry: ToolEntry
  readonly args: unknown
}

/**
 * Returns the tool that a call runs: for `call_tool` and `call_read_tool`, the named one. Throws
 * `UNKNOWN_TOOL`, `INVALID_ARGUMENTS` and `NOT_READ_ONLY`.
 */
export function resolveCall(registry: Registry, entry: ToolEntry, args: unknown): ResolvedCall {
  const forwardedCall = entry.tool.forward?.(args)
  if (forwardedCall === undefined) return { entry, args }
  const { name, mustBeReadOnly } = forwardedCall
  const target = requireTool(registry, name)
  if (target.tool.forward !== undefined)
    throw new CausewayError('INVALID_ARGUMENTS', `${name} only calls other tools`, {
      data: { name },
      remedy: 'name the other tool',
    })
  if (mustBeReadOnly && target.tool.annotations.readOnlyHint !== true)
    throw new ServerError('NOT_READ_ONLY', `${name} can change something`, { data: { name } })
  return { entry: target, args: forwardedCall.args }
}

/** Returns `undefined` if the call would fail. */
export function findCalledTool(
  registry: Registry,
  mount: Mount,
  { name, arguments: args }: Params,
): AppTool | undefined {
  const entry = registry.findTool(mount, String(name))
  if (entry?.tool.forward === undefined) return entry?.tool
  try {
    return resolveCall(registry, entry, args).entry.tool
  } catch {
    return undefined
  }
}

/** `name` is a name on the shared mount. Throws `UNKNOWN_TOOL`. */
export function requireTool(registry: Registry, name: string): ToolEntry {
  const { toolByName } = registry.getLists(sharedMount)
  const entry = toolByName.get(name)
  if (entry === undefined) throw createUnknownToolError(name, toolByName.keys())
  return entry
}

export function createUnknownToolError(name: string, knownNames: Iterable<string>): CausewayError {
  const suggestion = suggestTool(name, [...knownNames])
  const hint = suggestion === undefined ? '' : ` (did you mean ${suggestion}?)`
  return new CausewayError('UNKNOWN_TOOL', `no such tool: ${name}${hint}`, {
    data: suggestion === undefined ? { name } : { name, did_you_mean: suggestion },
  })
}

/** Compares names without the prefix of the app, which would make short names similar. */
function suggestTool(name: string, knownNames: readonly string[]): string | undefined {
  const [app, bareName = name] = name.split('__')
  const sameTool = knownNames.find((known) => known === bareName || known.endsWith(`__${bareName}`))
  if (sameTool !== undefined) return sameTool
  const prefix = `${app}__`
  const appTools = knownNames.filter((known) => known.startsWith(prefix))
  if (appTools.length === 0) return closest(name, knownNames)
  const suggestion = closest(
    bareName,
    appTools.map((known) => known.slice(prefix.length)),
  )
  return suggestion && `${prefix}${suggestion}`
}
