/** The plain HTTP interface of the original vault, at the root of its alias port. */
import type { ChannelContext, Registrar } from '@causeway/app-kit'
import { asCausewayError, CausewayError, errorObject, rowOf } from '@causeway/protocol'
import { shelf, toolNamed } from './shelf.ts'
import type { Vault } from './store.ts'
import { toolDetail, toolIndex, toolNode } from './tool-index.ts'
import type { AnyVaultTool } from './vault-tool.ts'

type Context = ChannelContext<Vault, object>

/** Declares the index, the list, the call and the samples. */
export function vaultRoutes(app: Registrar<Vault, object>, version: string): void {
  app.route('GET', '/index.json', {
    about: 'The tools as a tree of categories.',
    handle: async () => Response.json(toolIndex(version)),
  })
  app.route('GET', '/tools/list', {
    about: 'The tools as a tree of categories, and as a list.',
    handle: async () => Response.json({ ...toolIndex(version), tools: shelf.map(toolNode) }),
  })
  app.route('POST', '/tools/call', {
    about: 'Calls a tool: {name, arguments}, arguments an object or an array of {name, value}.',
    // The tools read: what they answer changes something once it is applied.
    scope: 'read',
    handle: callTool,
  })
  app.route('GET', '/api/tools/{tool}', {
    about: 'The index of one tool.',
    handle: async (_request, { tool }) => Response.json(toolDetail(known(tool))),
  })
  app.route('GET', '/api/tools/{tool}/samples/{file}', {
    about: 'A sample of a tool: its input and the command that it answers.',
    handle: async (_request, { tool, file }) => Response.json(sampleOf(known(tool), file)),
  })
  app.route('GET', '/api/samples/{file}', {
    about: 'The samples of a tool, all in one: <tool>.json.',
    handle: async (_request, { file = '' }) => Response.json(known(file.replace(/\.json$/, '')).samples),
  })
}

async function callTool(request: Request, _variables: unknown, ctx: Context): Promise<Response> {
  try {
    const { name, args } = await callOf(request)
    const result = await ctx.call(known(name).name, args)
    return Response.json({ result, isError: false })
  } catch (error) {
    // The body of the original, with the whole error beside it; never a stack.
    const known = asCausewayError(error)
    if (known.code === 'INTERNAL') ctx.log.error({ err: error }, 'the tool failed')
    const object = errorObject(known)
    return Response.json(
      { error: known.message, details: known.remedy, isError: true, ...object },
      { status: rowOf(known.code).http },
    )
  }
}

async function callOf(request: Request): Promise<{ name: string; args: Record<string, unknown> }> {
  const body: unknown = await request.json().catch(() => undefined)
  const { name, arguments: args = {} } = (body ?? {}) as { name?: unknown; arguments?: unknown }
  if (typeof name !== 'string')
    throw new CausewayError('INVALID_ARGUMENTS', 'the body names no tool', {
      remedy: 'send {"name": "<tool>", "arguments": {…}}',
    })
  if (!Array.isArray(args)) return { name, args: args as Record<string, unknown> } // checked by the tool's schema
  const pairs = args as readonly { name?: unknown; value?: unknown }[]
  const named = pairs.filter((pair) => typeof pair?.name === 'string')
  return { name, args: Object.fromEntries(named.map((pair) => [pair.name, pair.value])) }
}

function known(name: string | undefined): AnyVaultTool {
  const tool = toolNamed(name ?? '')
  if (tool !== undefined) return tool
  throw new CausewayError('ROUTE_NOT_FOUND', `the vault has no tool ${name}`, {
    data: { tools: shelf.map((one) => one.name) },
    remedy: 'use one of data.tools',
  })
}

function sampleOf({ name, samples }: AnyVaultTool, file = ''): unknown {
  const sample = samples.find((one) => `${one.name}.json` === file)
  if (sample !== undefined) return { input: sample.input, expectedOutput: sample.expectedOutput }
  throw new CausewayError('ROUTE_NOT_FOUND', `${name} has no sample ${file}`, {
    data: { samples: samples.map((one) => `${one.name}.json`) },
    remedy: 'use one of data.samples',
  })
}
