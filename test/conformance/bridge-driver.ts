/**
 * The client under test of the official suite: an SDK client that connects over stdio to the bridge, which connects over HTTP
 * to the server of the scenario. The suite passes the server's URL as the last argument and the rest in the environment.
 */
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { fromSource } from '../../bridge/test/client.ts'

/** An argument for each type. */
const samples: Readonly<Record<string, unknown>> = { number: 5, integer: 5, string: 'text', boolean: true }

interface Context {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Record<string, unknown> }[]
}

const url = process.argv.at(-1) as string
const { MCP_CONFORMANCE_CONTEXT, MCP_CONFORMANCE_PROTOCOL_VERSION: version = '2025-11-25' } = process.env
const { toolCalls = [] } = JSON.parse(MCP_CONFORMANCE_CONTEXT ?? '{}') as Context

const client = new Client(
  { name: 'causeway-bridge', version: '0' },
  {
    capabilities: {
      elicitation: { form: { applyDefaults: true } },
      sampling: {},
      roots: { listChanged: true },
    },
    ...(version === '2026-07-28' ? { versionNegotiation: { mode: { pin: version } } } : {}),
  },
)
client.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content: {} }))
client.setRequestHandler('roots/list', async () => ({ roots: [] }))

const env = { ...(process.env as Record<string, string>), MCP_SERVER_URL: url }
await client.connect(new StdioClientTransport({ command: process.execPath, args: fromSource, env }))
try {
  const { tools, resources, prompts } = client.getServerCapabilities() ?? {}
  if (tools) await callTools()
  if (resources)
    for (const { uri } of (await client.listResources()).resources) await client.readResource({ uri })
  if (prompts) for (const { name } of (await client.listPrompts()).prompts) await client.getPrompt({ name })
} finally {
  await client.close()
}

/** Calls the tools of the scenario, or every tool with sample arguments if the scenario lists none. */
async function callTools(): Promise<void> {
  const { tools } = await client.listTools()
  const echoed = tools.find(({ name }) => name === 'json_schema_2020_12_tool')?.inputSchema
  const calls =
    toolCalls.length > 0
      ? toolCalls
      : tools.map(({ name, inputSchema }) => ({
          name,
          arguments: createArguments(inputSchema.properties ?? {}, echoed),
        }))
  // An error response is allowed: the suite checks the requests that its server received.
  for (const call of calls)
    await client.callTool(call).catch((error: unknown) => console.error(call.name, error))
}

function createArguments(properties: object, echoed: unknown): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(properties).map(([name, { type }]) => [name, name === 'schema' ? echoed : samples[type]]),
  )
}
