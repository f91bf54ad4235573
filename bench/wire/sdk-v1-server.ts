/** SDK v1 with express, as documented: `/session` keeps a server for each session, `/stateless` creates one for each request. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
// @ts-expect-error express ships no types
import express from 'express'
import { about, echo, input, output, toolNames } from '../hundred-tools.ts'

type HttpRequest = IncomingMessage & { readonly body: unknown }

function makeServer(): McpServer {
  const server = new McpServer({ name: 'sdk-v1', version: '1' })
  for (const name of toolNames)
    server.registerTool(
      name,
      { description: about, inputSchema: input, outputSchema: output },
      async (args) => {
        const data = echo(args)
        return { content: [{ type: 'text', text: JSON.stringify(data) }], structuredContent: data }
      },
    )
  return server
}

const sessions = new Map<string, StreamableHTTPServerTransport>()

async function openSession(): Promise<StreamableHTTPServerTransport> {
  const transport: StreamableHTTPServerTransport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  })
  await makeServer().connect(transport as Parameters<McpServer['connect']>[0])
  return transport
}

const app = express()
app.use(express.json())
app.post('/session', async (request: HttpRequest, response: ServerResponse) => {
  const id = request.headers['mcp-session-id']
  const transport = (typeof id === 'string' ? sessions.get(id) : undefined) ?? (await openSession())
  await transport.handleRequest(request, response, request.body)
})
app.post('/stateless', async (request: HttpRequest, response: ServerResponse) => {
  const transport = new StreamableHTTPServerTransport()
  const server = makeServer()
  response.on('close', () => void server.close())
  await server.connect(transport as Parameters<McpServer['connect']>[0])
  await transport.handleRequest(request, response, request.body)
})
process.on('disconnect', () => process.exit())
const listener = app.listen(0, '127.0.0.1', () => {
  process.stderr.write(`http://127.0.0.1:${listener.address().port}\n`)
})
