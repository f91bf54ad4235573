import { readInjection } from '@causeway/plot'
import { CausewayError, isCausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { DebriefError } from '../errors.ts'
import type { Plot } from '../plot/plot.ts'
import type { DebriefContext } from '../session.ts'
import type { VaultTool } from './vault-tool.ts'

const cacheTtlMs = 60_000

/** Throws `UNKNOWN_TOOL` if ToolVault is disabled. */
export async function listVaultTools(ctx: DebriefContext): Promise<readonly VaultTool[]> {
  const { toolCache } = ctx.store
  const ageMs = ctx.now() - toolCache.loadedAtMs
  // The age is negative after the clock was set back.
  if (ageMs >= 0 && ageMs < cacheTtlMs) return toolCache.tools
  const result = await ctx.store.call('ToolVault', 'list_tools', {}, ctx)
  const tools = isObject(result) && Array.isArray(result.tools) ? result.tools : []
  toolCache.tools = tools.filter(isObject).map(({ name, category, about, inject }) => ({
    name: String(name),
    category: typeof category === 'string' ? category : null,
    about: String(about),
    inject: readInjections(inject),
  }))
  toolCache.loadedAtMs = ctx.now()
  return toolCache.tools
}

/** Takes omitted arguments from the plot. Throws `TOOL_NOT_APPLICABLE` and errors of the tool. */
export async function runVaultTool(
  ctx: DebriefContext,
  plot: Plot,
  { tool, args }: { readonly tool: VaultTool; readonly args: JsonObject },
) {
  const injections = Object.fromEntries(
    Object.entries(tool.inject).filter(([name]) => args[name] === undefined),
  )
  const { data, status } = await plot.read({ kind: 'inject', injections })
  try {
    const command = await ctx.store.call('ToolVault', tool.name, { ...data.values, ...args }, ctx)
    return { command, rev: status.rev, injected: Object.keys(data.values) }
  } catch (error) {
    const [name, reason] = Object.entries(data.missing)[0] ?? []
    if (name === undefined || !isCausewayError(error) || !isArgumentError(error)) throw error
    throw new DebriefError('TOOL_NOT_APPLICABLE', `${tool.name} requires ${name}: ${reason}`, {
      data: { tool: tool.name, missing: data.missing },
      cause: error,
    })
  }
}

/** Accepts hyphens instead of underscores. Throws `UNKNOWN_TOOL`. */
export async function findVaultTool(ctx: DebriefContext, name: string): Promise<VaultTool> {
  const tools = await listVaultTools(ctx)
  const normalizedName = name.replaceAll('-', '_').replace(/^(toolvault_|ToolVault__)/, '')
  const matchingTool = tools.find((tool) => tool.name === normalizedName)
  if (matchingTool !== undefined) return matchingTool
  throw new CausewayError('UNKNOWN_TOOL', `ToolVault has no tool ${name}`, {
    remedy: 'call list_applicable_tools for the available tools',
    data: { tool: name, tools: tools.map((tool) => tool.name) },
  })
}

const isArgumentError = ({ code }: CausewayError): boolean =>
  code === 'FEATURES_NEEDED' || code === 'INVALID_ARGUMENTS'

function readInjections(value: unknown): VaultTool['inject'] {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, hint]) => {
      const injection = readInjection(hint)
      return injection === null ? [] : [[name, injection]]
    }),
  )
}
