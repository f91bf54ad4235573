import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Client } from '@modelcontextprotocol/client'
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio'
import { toNodeHandler } from '@modelcontextprotocol/node'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport as StdioV1 } from '@modelcontextprotocol/sdk/client/stdio.js'
import { McpServer as McpServerV1 } from '@modelcontextprotocol/sdk/server/mcp.js'
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js'
import {
  ElicitRequestSchema,
  ListRootsRequestSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import {
  acceptedContent,
  createMcpHandler,
  inputRequired,
  type McpHttpHandler,
  McpServer,
} from '@modelcontextprotocol/server'
import type { Test } from 'tap'
import { z } from 'zod'
import { verifies } from '../../test/verifies.ts'
import { rejectRequest, type Stream, startBackend, type Wire } from './backend.ts'
import { cleanEnv, fromSource, modern, startBridge } from './client.ts'

const info = { name: 'peer', version: '1' }
const colour = { type: 'object' as const, properties: { colour: { type: 'string' as const } } }

const bridgeTo = (url: string) => ({
  command: process.execPath,
  args: fromSource,
  env: { ...(cleanEnv() as Record<string, string>), MCP_SERVER_URL: url },
})

async function serve(t: Test, listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
}

/** Starts a server of SDK v2 that rejects `initialize`. */
async function startModernOnly(t: Test): Promise<{ url: string; handler: McpHttpHandler }> {
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(info, {
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} },
      })
      server.registerTool('add', { inputSchema: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => ({
        content: [{ type: 'text', text: String(a + b) }],
      }))
      server.registerTool('paint', {}, (ctx) => {
        const answer = acceptedContent<{ colour: string }>(ctx.mcpReq.inputResponses, 'choice')
        if (answer === undefined)
          return inputRequired({
            inputRequests: { choice: inputRequired.elicit({ message: 'which?', requestedSchema: colour }) },
            requestState: 'state',
          })
        return { content: [{ type: 'text', text: `${answer.colour} ${ctx.mcpReq.requestState()}` }] }
      })
      server.registerResource('r', 'test://r', {}, (uri) => ({ contents: [{ uri: uri.href, text: 'r' }] }))
      return server
    },
    { legacy: 'reject' },
  )
  t.teardown(() => handler.close())
  const url = await serve(t, (request, response) => {
    // The types of the SDK do not support exactOptionalPropertyTypes.
    void toNodeHandler(handler)(request as never, response)
  })
  return { url, handler }
}

/** Starts a server of SDK v1 with sessions, which does not support the stateless era. */
async function startLegacyOnly(t: Test): Promise<{ url: string; servers: McpServerV1[] }> {
  const servers: McpServerV1[] = []
  const sessions = new Map<string, StreamableHTTPServerTransport>()
  const open = async (): Promise<StreamableHTTPServerTransport> => {
    const server = new McpServerV1(info, { capabilities: { logging: {}, resources: { subscribe: true } } })
    server.registerTool('add', { inputSchema: { a: z.number(), b: z.number() } as never }, (async ({
      a,
      b,
    }: {
      a: number
      b: number
    }) => ({ content: [{ type: 'text', text: String(a + b) }] })) as never)
    server.registerTool('paint', {}, (async () => {
      const { content } = await server.server.elicitInput({ message: 'which?', requestedSchema: colour })
      const { roots } = await server.server.listRoots()
      return { content: [{ type: 'text', text: `${content?.colour} ${roots[0]?.uri}` }] }
    }) as never)
    const transport = new StreamableHTTPServerTransport({
      sessionIdGenerator: () => randomUUID(),
      onsessioninitialized: (id) => void sessions.set(id, transport),
    })
    await server.connect(transport as never)
    servers.push(server)
    return transport
  }
  const url = await serve(t, async (request, response) => {
    const id = request.headers['mcp-session-id']
    if (typeof id === 'string') {
      const transport = sessions.get(id)
      if (transport === undefined) response.writeHead(404).end()
      else await transport.handleRequest(request, response)
      return
    }
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk)
    const body = JSON.parse(Buffer.concat(chunks).toString())
    if (body.method === 'initialize') await (await open()).handleRequest(request, response, body)
    else {
      const error = { code: -32000, message: 'Bad Request: No valid session ID provided' }
      response.writeHead(400, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ jsonrpc: '2.0', id: null, error }))
    }
  })
  t.teardown(async () => {
    for (const server of servers) await server.close()
  })
  return { url, servers }
}

verifies('bridge:translate:legacy-client', async (t) => {
  const { url, handler } = await startModernOnly(t)
  const client = new ClientV1(info, { capabilities: { elicitation: {} } })
  client.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    t.match(params, { message: 'which?' })
    return { action: 'accept', content: { colour: 'red' } }
  })
  const changed = new Promise((resolve) =>
    client.setNotificationHandler(ToolListChangedNotificationSchema, () => resolve(true)),
  )
  const updated = new Promise((resolve) =>
    client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => resolve(params)),
  )
  await client.connect(new StdioV1(bridgeTo(url)) as never)
  t.teardown(() => client.close())

  t.match(client.getServerVersion(), info)
  const { tools, ...rest } = await client.listTools()
  t.same(
    tools.map(({ name }) => name),
    ['add', 'paint'],
  )
  t.same(rest, {}, 'no member of the other era remains')
  const added = await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } })
  t.same(added, { content: [{ type: 'text', text: '3' }] })
  const painted = await client.callTool({ name: 'paint', arguments: {} })
  t.match(painted, { content: [{ text: 'red state' }] })
  await client.ping()
  await client.setLoggingLevel('info')
  await client.subscribeResource({ uri: 'test://r' })
  await t.rejects(client.getPrompt({ name: 'absent' }), { code: -32601 })

  // A legacy client cannot detect when the server has received its subscription.
  const repeated = setInterval(() => {
    handler.notify.toolsChanged()
    handler.notify.resourceUpdated('test://r')
  }, 50)
  t.teardown(() => clearInterval(repeated))
  t.equal(await changed, true)
  t.same(await updated, { uri: 'test://r' })
})

verifies('bridge:translate:modern-client', async (t) => {
  const { url, servers } = await startLegacyOnly(t)
  const client = new Client(info, {
    capabilities: { elicitation: {}, roots: {} },
    versionNegotiation: { mode: { pin: '2026-07-28' } },
  })
  client.setRequestHandler('elicitation/create', async ({ params }) => {
    t.match(params, { message: 'which?' })
    return { action: 'accept', content: { colour: 'red' } }
  })
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///here' }] }))
  const changed = new Promise((resolve) =>
    client.setNotificationHandler('notifications/tools/list_changed', () => resolve(true)),
  )
  await client.connect(new StdioClientTransport(bridgeTo(url)))
  t.teardown(() => client.close())

  const { tools } = await client.listTools()
  t.same(
    tools.map(({ name }) => name),
    ['add', 'paint'],
  )
  t.match(await client.callTool({ name: 'add', arguments: { a: 1, b: 2 } }), { content: [{ text: '3' }] })
  const painted = await client.callTool({ name: 'paint', arguments: {} })
  t.match(painted, { content: [{ text: 'red file:///here' }] }, 'two rounds of input')
  t.equal(
    servers.length,
    2,
    'one session for the process with which this client probes, and one for all calls',
  )

  const subscription = await client.listen({ toolsListChanged: true })
  t.same(subscription.honoredFilter, { toolsListChanged: true })
  const repeated = setInterval(() => servers.at(-1)?.sendToolListChanged(), 50)
  t.teardown(() => clearInterval(repeated))
  t.equal(await changed, true)
  await subscription.close()
})

verifies('bridge:translate:untouched', async (t) => {
  const { url } = await startLegacyOnly(t)
  const legacy = new ClientV1(info, { capabilities: { roots: {} } })
  legacy.setRequestHandler(ListRootsRequestSchema, async () => ({ roots: [] }))
  await legacy.connect(new StdioV1(bridgeTo(url)) as never)
  t.teardown(() => legacy.close())
  t.match(await legacy.callTool({ name: 'add', arguments: { a: 1, b: 2 } }), { content: [{ text: '3' }] })

  const { url: modernUrl } = await startModernOnly(t)
  const modern = new Client(info, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await modern.connect(new StdioClientTransport(bridgeTo(modernUrl)))
  t.teardown(() => modern.close())
  t.match(await modern.callTool({ name: 'add', arguments: { a: 1, b: 2 } }), { content: [{ text: '3' }] })
})

/** Starts a bridge between a stateless client and a legacy server. `opened` resolves to the GET stream. */
async function startTranslated(t: Test) {
  const backend = await startBackend(t)
  backend.on('server/discover', (got) => rejectRequest(got, -32601))
  const opened = new Promise<Stream>((resolve) => backend.on('GET', (got) => resolve(got.stream())))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call(1, 'server/discover', modern)
  return { backend, bridge, opened }
}

const subscriptionId = 'io.modelcontextprotocol/subscriptionId'

verifies(
  'bridge:translate:modern-client',
  'a subscription receives notifications that match its filter until it is cancelled',
  async (t) => {
    const { backend, bridge, opened } = await startTranslated(t)
    const notifications = { promptsListChanged: true, resourceSubscriptions: ['test://a'] }
    bridge.send({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { ...modern, notifications },
    })
    t.same((await bridge.saw('notifications/subscriptions/acknowledged')).params, {
      notifications,
      _meta: { [subscriptionId]: 'sub' },
    })
    t.match((await backend.saw('resources/subscribe')).message.params, { uri: 'test://a' })
    const stream = await opened
    for (const [method, params] of [
      ['notifications/tools/list_changed', undefined],
      ['notifications/resources/updated', { uri: 'test://b' }],
      ['notifications/resources/updated', { uri: 'test://a' }],
      ['notifications/prompts/list_changed', undefined],
    ])
      stream.send({ jsonrpc: '2.0', method, params })
    t.same((await bridge.saw('notifications/prompts/list_changed')).params, {
      _meta: { [subscriptionId]: 'sub' },
    })
    t.same((await bridge.saw('notifications/resources/updated')).params, {
      uri: 'test://a',
      _meta: { [subscriptionId]: 'sub' },
    })
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/tools/list_changed'))
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'sub' } })
    t.match((await backend.saw('resources/unsubscribe')).message.params, { uri: 'test://a' })
  },
)

verifies(
  'bridge:translate:modern-client',
  'server requests for input become input requests one by one, and other server requests are declined',
  async (t) => {
    const { backend, bridge, opened } = await startTranslated(t)
    const stream = await opened
    const replied = (id: unknown) => backend.saw('response', ({ message }) => message.id === id)
    stream.send({ jsonrpc: '2.0', id: 'p', method: 'ping' })
    t.same((await replied('p')).message.result, {})
    stream.send({ jsonrpc: '2.0', id: 'early', method: 'roots/list' })
    t.match((await replied('early')).message.error, { code: -32601 })

    backend.on('tools/call', async (got) => {
      const answer = got.stream()
      for (const id of ['q1', 'q2'])
        answer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: id } })
      const said = [await replied('q1'), await replied('q2')].map(({ message }) => message.result)
      answer.send({ jsonrpc: '2.0', id: got.message.id, result: { said } })
      answer.end()
    })
    const params = { ...modern, name: 'x' }
    const rounds: Wire[] = []
    let { result } = await bridge.call('c0', 'tools/call', params)
    for (const id of ['c1', 'c2']) {
      rounds.push(result.inputRequests.reply)
      const { requestState } = result
      const inputResponses = { reply: { action: 'accept', content: { id } } }
      result = (await bridge.call(id, 'tools/call', { ...params, inputResponses, requestState })).result
    }
    t.same(rounds, [
      { method: 'elicitation/create', params: { message: 'q1' } },
      { method: 'elicitation/create', params: { message: 'q2' } },
    ])
    t.match(result, {
      resultType: 'complete',
      said: [{ content: { id: 'c1' } }, { content: { id: 'c2' } }],
    })
    t.equal(backend.methods().filter((method) => method === 'tools/call').length, 1, 'the tool ran once')
  },
)

verifies(
  'bridge:translate:modern-client',
  'a cancelled server request is dropped unless the client has already received it',
  async (t) => {
    const { backend, bridge } = await startTranslated(t)
    backend.on('tools/call', async (got) => {
      const answer = got.stream()
      for (const id of ['q1', 'q2', 'q3'])
        answer.send({ jsonrpc: '2.0', id, method: 'elicitation/create', params: { message: id } })
      for (const requestId of ['q1', 'q2', 'unknown'])
        answer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId } })
      await backend.saw('response', ({ message }) => message.id === 'q3')
      answer.send({ jsonrpc: '2.0', id: got.message.id, result: {} })
      answer.end()
    })
    const params = { ...modern, name: 'x' }
    const asked: Wire[] = []
    let { result } = await bridge.call('c0', 'tools/call', params)
    for (let round = 1; result.resultType === 'input_required'; round += 1) {
      asked.push(result.inputRequests.reply.params.message)
      const { requestState } = result
      const inputResponses = { reply: { action: 'accept' } }
      ;({ result } = await bridge.call(`c${round}`, 'tools/call', {
        ...params,
        inputResponses,
        requestState,
      }))
    }
    t.same(asked, ['q1', 'q3'])
    t.equal(result.resultType, 'complete')
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/cancelled'))
  },
)

verifies(
  'bridge:translate:modern-client',
  'a call is cancelled with the id that the server received',
  async (t) => {
    const { backend, bridge } = await startTranslated(t)
    backend.on('tools/call', () => {})
    bridge.send({ jsonrpc: '2.0', id: 'c', method: 'tools/call', params: { ...modern, name: 'x' } })
    await backend.saw('tools/call')
    const _meta = modern._meta
    bridge.send({
      jsonrpc: '2.0',
      method: 'notifications/cancelled',
      params: { requestId: 'c', reason: 'r', _meta },
    })
    const cancelled = await backend.saw('notifications/cancelled')
    t.same(cancelled.message.params, { requestId: 'c', reason: 'r' })
  },
)

verifies(
  'bridge:translate:modern-client',
  'above the maximum of interrupted calls, the oldest one is cancelled',
  async (t) => {
    const { backend, bridge } = await startTranslated(t)
    backend.on('tools/call', (got) =>
      got.stream().send({ jsonrpc: '2.0', id: `q${got.message.id}`, method: 'roots/list' }),
    )
    for (let call = 0; call <= 64; call += 1)
      t.match((await bridge.call(`c${call}`, 'tools/call', { ...modern, name: 'x' })).result, {
        resultType: 'input_required',
      })
    t.match((await backend.saw('notifications/cancelled')).message.params, { requestId: 'c0' })
  },
)
