/** The analysis tools of ToolVault, run on an open plot so that features never travel through the client. */
import { CausewayError, isCausewayError, isObject, type JsonObject } from '@causeway/protocol'
import { type Injection, readInjection } from './domain/inject.ts'
import type { Plot } from './plot.ts'
import type { DebriefContext } from './session.ts'
import type { VaultTool } from './vault-tool.ts'

/** What a tool returned, and the revision that it saw. */
export interface VaultRun {
  readonly command: unknown
  readonly rev: number
  /** arguments that were taken from the plot */
  readonly injected: readonly string[]
}

const vault = 'ToolVault'

/** Every tool, as the vault told it within the last minute. Throws `UNKNOWN_TOOL` where ToolVault is not served. */
export async function vaultTools(ctx: DebriefContext): Promise<readonly VaultTool[]> {
  const { toolCache } = ctx.store
  const ageMs = ctx.now() - toolCache.atMs
  // A clock that was set back must not keep it for longer.
  if (ageMs >= 0 && ageMs < freshMs) return toolCache.tools
  const answer = await ctx.store.call(vault, 'list_tools', {}, ctx)
  const tools = isObject(answer) && Array.isArray(answer.tools) ? answer.tools : []
  toolCache.tools = tools.filter(isObject).map(({ name, category, about, inject }) => ({
    name: String(name),
    category: typeof category === 'string' ? category : null,
    about: String(about),
    inject: injections(inject),
  }))
  toolCache.atMs = ctx.now()
  return toolCache.tools
}

/** How long the list of tools is good, ms. */
const freshMs = 60_000

/**
 * Runs a tool on a plot: what the caller does not give comes from the plot. Throws `UNKNOWN_TOOL`,
 * `TOOL_NOT_APPLICABLE`, and what the tool throws.
 */
export async function runVaultTool(
  ctx: DebriefContext,
  plot: Plot,
  { tool, given }: { readonly tool: VaultTool; readonly given: JsonObject },
): Promise<VaultRun> {
  const wanted = Object.fromEntries(Object.entries(tool.inject).filter(([name]) => given[name] === undefined))
  const { data, stamp } = await plot.read({ kind: 'inject', wanted })
  try {
    const command = await ctx.store.call(vault, tool.name, { ...data.values, ...given }, ctx)
    return { command, rev: stamp.rev, injected: Object.keys(data.values) }
  } catch (error) {
    const [name, reason] = Object.entries(data.missing)[0] ?? []
    if (name === undefined || !isCausewayError(error) || !isAboutArguments(error)) throw error
    throw new CausewayError('TOOL_NOT_APPLICABLE', `${tool.name} needs ${name}: ${reason}`, {
      data: { tool: tool.name, missing: data.missing },
      cause: error,
    })
  }
}

/** The tool of a name, with hyphens or underscores. Throws `UNKNOWN_TOOL`. */
export async function vaultTool(ctx: DebriefContext, name: string): Promise<VaultTool> {
  const tools = await vaultTools(ctx)
  const wanted = name.replaceAll('-', '_').replace(/^(toolvault_|ToolVault__)/, '')
  const found = tools.find((tool) => tool.name === wanted)
  if (found !== undefined) return found
  throw new CausewayError('UNKNOWN_TOOL', `the vault has no such tool: ${name}`, {
    remedy: 'call list_applicable_tools for the tools that there are',
    data: { tool: name, tools: tools.map((tool) => tool.name) },
  })
}

const isAboutArguments = ({ code }: CausewayError): boolean =>
  code === 'FEATURES_NEEDED' || code === 'INVALID_ARGUMENTS'

function injections(value: unknown): Readonly<Record<string, Injection>> {
  if (!isObject(value)) return {}
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, hint]) => {
      const read = readInjection(hint)
      return read === null ? [] : [[name, read]]
    }),
  )
}
