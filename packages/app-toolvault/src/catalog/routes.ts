import type { ChannelContext, Registrar } from '@causeway/app-kit'
import { asCausewayError, CausewayError, toErrorObject } from '@causeway/protocol'
import type { Vault } from '../store.ts'
import { catalog, findTool } from './catalog.ts'
import { readSamples } from './samples.ts'
import { createIndex, describeTool, describeToolFiles } from './tool-index.ts'
import type { VaultTool } from './vault-tool.ts'

export function declareRoutes(app: Registrar<Vault, object>): void {
  app.route('GET', '/index.json', {
    about: 'Returns the tools as a tree of categories.',
    handle: async () => Response.json(createIndex()),
  })
  app.route('GET', '/tools/list', {
    about: 'Returns the tools as a tree of categories, and as a list.',
    handle: async () => Response.json({ ...createIndex(), tools: catalog.map(describeTool) }),
  })
  app.route('POST', '/tools/call', {
    about: 'Calls a tool: {name, arguments}. The arguments are an object or an array of {name, value}.',
    // Tools only return commands and change nothing.
    scope: 'read',
    handle: callTool,
  })
  app.route('GET', '/api/tools/{tool}', {
    about: 'Returns the index entry of a tool.',
    handle: async (_request, { tool }) => Response.json(describeToolFiles(requireTool(tool))),
  })
  app.route('GET', '/api/tools/{tool}/samples/{file}', {
    about: 'Returns a sample of a tool: input and expected output.',
    handle: async (_request, { tool, file }) => Response.json(findSample(requireTool(tool), file)),
  })
  app.route('GET', '/api/samples/{file}', {
    about: 'Returns all samples of a tool: <tool>.json.',
    handle: async (_request, { file = '' }) =>
      Response.json(readSamples(requireTool(file.replace(/\.json$/, '')))),
  })
}

async function callTool(
  request: Request,
  _variables: unknown,
  ctx: ChannelContext<Vault, object>,
): Promise<Response> {
  try {
    const { name, args } = await readCall(request)
    const result = await ctx.call(requireTool(name).name, args)
    return Response.json({ result, isError: false })
  } catch (error) {
    const causewayError = asCausewayError(error)
    if (causewayError.code === 'INTERNAL') ctx.log.error({ err: error }, 'the tool failed')
    return Response.json(
      {
        error: causewayError.message,
        details: causewayError.remedy,
        isError: true,
        ...toErrorObject(causewayError),
      },
      { status: causewayError.definition.status },
    )
  }
}

async function readCall(request: Request): Promise<{ name: string; args: Record<string, unknown> }> {
  const body: unknown = await request.json().catch(() => undefined)
  const { name, arguments: args = {} } = (body ?? {}) as { name?: unknown; arguments?: unknown }
  if (typeof name !== 'string')
    throw new CausewayError('INVALID_ARGUMENTS', 'the body has no tool name', {
      remedy: 'send {"name": "<tool>", "arguments": {…}}',
    })
  if (!Array.isArray(args)) return { name, args: args as Record<string, unknown> } // the tool validates it
  const pairs = args as readonly { name?: unknown; value?: unknown }[]
  const namedPairs = pairs.filter((pair) => typeof pair?.name === 'string')
  return { name, args: Object.fromEntries(namedPairs.map((pair) => [pair.name, pair.value])) }
}

function requireTool(name: string | undefined): VaultTool {
  const tool = findTool(name ?? '')
  if (tool !== undefined) return tool
  throw new CausewayError('ROUTE_NOT_FOUND', `ToolVault has no tool ${name}`, {
    data: { tools: catalog.map((tool) => tool.name) },
    remedy: 'use one of data.tools',
  })
}

function findSample(tool: VaultTool, file = ''): unknown {
  const samples = readSamples(tool)
  const sample = samples.find((candidate) => `${candidate.name}.json` === file)
  if (sample !== undefined) return { input: sample.input, expectedOutput: sample.expectedOutput }
  throw new CausewayError('ROUTE_NOT_FOUND', `${tool.name} has no sample ${file}`, {
    data: { samples: samples.map((candidate) => `${candidate.name}.json`) },
    remedy: 'use one of data.samples',
  })
}
