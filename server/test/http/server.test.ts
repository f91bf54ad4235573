import { createRequire } from 'node:module'
import { defineApp } from '@causeway/app-kit'
import { createSuccess, structuredJson } from '@causeway/protocol'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as TransportV1 } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { startBridge } from '../../../bridge/test/client.ts'
import { verifies } from '../../../test/verifies.ts'
import { parseTrace } from '../../src/audit/trace.ts'
import { encodeResult } from '../../src/http/mcp/responses.ts'
import { HttpServer } from '../../src/http/server.ts'
import { foundTool } from '../demo-app.ts'
import { both, modern, openWire, rpc, toolCall, until } from './open-wire.ts'
import { portApp } from './port-app.ts'

t.test(
  'encodeResult reuses the JSON of long data, and the content type does not depend on the length',
  async (t) => {
    const data = { text: '"'.repeat(20_000), toJSON: () => t.fail('the data is serialized again') }
    const json = JSON.stringify({ text: data.text })
    const more = { isError: undefined, _meta: { a: 1 } }
    const result = { content: [{ type: 'text', text: json }], structuredContent: data, ...more }
    const encoded = encodeResult('a', { ...result, [structuredJson]: json })
    t.ok(Buffer.isBuffer(encoded))
    t.equal(
      String(encoded),
      JSON.stringify(createSuccess('a', { ...result, structuredContent: { text: data.text } })),
    )
    const { send } = await openWire(t)
    const types = ['short', data.text].map(
      async (text) => (await send(toolCall('Demo__echo', { text }))).headers,
    )
    const [short, long] = await Promise.all(types)
    t.equal(long?.['content-type'], short?.['content-type'])
  },
)

t.test(
  'responses of 5 MB are complete for legacy calls with and without a session, stateless calls and REST',
  async (t) => {
    const { send, initialize } = await openWire(t)
    const text = 'long '.repeat(2 ** 20)
    const call = toolCall('Demo__echo', { text })
    const stateless = modern(call)
    const answers = await Promise.all([
      send(call),
      send(call, { headers: { ...both, 'mcp-session-id': await initialize() } }),
      send(stateless.body, { headers: stateless.headers }),
      send({ text }, { path: '/api/apps/demo/tools/echo' }),
    ])
    for (const answer of answers) {
      const data = answer.text.replace(/^(?:.*\n)*?data: (?=\{)/, '')
      const json = JSON.parse(data)
      t.ok((json.result?.structuredContent ?? json).text === text)
    }
  },
)

t.test('the server does not load schema compilers', async (t) => {
  const { send } = await openWire(t)
  t.equal((await send(undefined, { path: '/health', method: 'GET' })).status, 200)
  const modules = Object.keys(createRequire(import.meta.url).cache)
  t.ok(modules.some((path) => path.includes('/fastify/')))
  t.same(
    modules.filter((path) => /@fastify\/[a-z-]+-compiler/.test(path)),
    [],
  )
})

t.test('close: calls in flight are answered, new calls get 503, and streams end', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const work = toolCall('Wire__work', { steps: 0 })
  const listen = modern(rpc('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const listening = [
    await wire.stream(undefined, { method: 'GET', headers: { 'mcp-session-id': id } }),
    await wire.stream(listen.body, { headers: listen.headers }),
  ]
  const modernWork = modern(work)
  const calls = [
    wire.send(work),
    wire.send(work, { headers: { ...both, 'mcp-session-id': id } }),
    wire.send(modernWork.body, { headers: modernWork.headers }),
    wire.send({ steps: 0 }, { path: '/api/apps/wire/tools/work' }),
  ]
  await until(() => wire.wire.begun.length === 4)
  const closed = wire.http.close(5000)

  const late = modern(toolCall('Demo__count'))
  t.match(await wire.send(toolCall('Demo__count')), {
    status: 503,
    json: { id: 1, error: { code: -32000, data: { code: 'SHUTTING_DOWN', retryable: true } } },
  })
  t.equal((await wire.send(late.body, { headers: late.headers })).status, 503)
  t.equal((await wire.send({}, { path: '/api/apps/demo/tools/count' })).status, 503)
  t.equal((await wire.send(undefined, { method: 'GET', headers: { 'mcp-session-id': id } })).status, 503)
  t.match(await wire.send(undefined, { path: '/health', method: 'GET' }), {
    status: 503,
    json: { status: 'stopping' },
  })

  wire.wire.release()
  for (const call of calls) t.match((await call).text, /"steps":0/)
  await closed
  t.same(await listening[0]?.messages.next(), { done: true, value: undefined })
  await t.rejects(wire.send(rpc('ping')), { code: 'ECONNREFUSED' })
})

t.test('close: a call in flight can still be cancelled', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const headers = { ...both, 'mcp-session-id': id }
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), { headers })
  await until(() => wire.wire.begun.length === 1)
  const closed = wire.http.close(60_000)
  await wire.send(
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { headers },
  )
  t.match((await messages.next()).value, { id: 1, error: { data: { code: 'CANCELLED' } } })
  await closed
})

t.test('close: after the deadline, calls are aborted and connections are closed', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const work = toolCall('Wire__work', { steps: 0 })
  const modernWork = modern(work)
  const calls = [
    wire.send(work),
    wire.send(work, { headers: { ...both, 'mcp-session-id': id } }),
    wire.send(modernWork.body, { headers: modernWork.headers }),
    wire.send(undefined, { path: '/api/apps/wire/drip', method: 'GET' }),
  ].map((call) => call.catch(() => undefined))
  await until(() => wire.wire.begun.length === 4)
  await wire.http.close(1)
  await Promise.all(calls)
  await until(() => wire.wire.begun.every(({ aborted }) => aborted))
})

verifies('wire:route:stream', async (t) => {
  const { app, control } = portApp()
  const { http, events } = await openWire(t, { apps: [app] })
  const stream = await events(undefined, { path: '/api/apps/port/live', method: 'GET' })
  t.same((await stream.events.next()).value, { event: undefined, data: 'first' })
  const started = performance.now()
  await http.close(20_000)
  t.ok(performance.now() - started < 10_000, 'close does not wait for the stream')
  t.equal((await stream.events.next()).done, true)
  t.equal(control.streams[0]?.aborted, true)
})

verifies('wire:guard:loopback', async (t) => {
  const { http } = await openWire(t)
  t.equal(new URL(http.url).hostname, '127.0.0.1')
})

t.test('open: rejects with EADDRINUSE if the port is in use', async (t) => {
  const { core, http } = await openWire(t)
  const options = { host: '127.0.0.1', port: http.port, bodyLimitBytes: 1024 }
  await t.rejects(HttpServer.open(core, options), { code: 'EADDRINUSE' })
})

/** The common interface of the official SDK clients: v1, and v2 in each of its modes. */
interface AnyClient {
  readonly names: () => Promise<string[]>
  readonly call: (
    name: string,
    args?: Record<string, unknown>,
    options?: { onprogress?: (progress: { progress: number }) => void; signal?: AbortSignal },
  ) => Promise<Record<string, unknown>>
  readonly read: (uri: string) => Promise<unknown>
  readonly prompt: (name: string, args: Record<string, string>) => Promise<unknown>
  readonly onToolsChanged: (listener: () => void) => Promise<void>
}

const info = { name: 'sdk', version: '1' }

async function v1(t: Test, url: string): Promise<AnyClient> {
  const client = new ClientV1(info)
  // The types of v1 are not compatible with exactOptionalPropertyTypes.
  await client.connect(new TransportV1(new URL(url)) as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, undefined, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async onToolsChanged(listener) {
      client.setNotificationHandler(ToolListChangedNotificationSchema, listener)
    },
  }
}

type Mode = 'legacy' | 'auto' | { readonly pin: string }

async function v2(t: Test, url: string, mode?: Mode): Promise<AnyClient> {
  const listeners: (() => void)[] = []
  const client = new Client(info, {
    ...(mode === undefined ? {} : { versionNegotiation: { mode } }),
    listChanged: {
      tools: {
        autoRefresh: false,
        debounceMs: 0,
        onChanged: () => listeners.forEach((listener) => void listener()),
      },
    },
  })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  t.teardown(() => client.close())
  return {
    names: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args = {}, options = {}) => client.callTool({ name, arguments: args }, options),
    read: (uri) => client.readResource({ uri }),
    prompt: (name, args) => client.getPrompt({ name, arguments: args }),
    async onToolsChanged(listener) {
      listeners.push(listener)
    },
  }
}

const clients: Readonly<Record<string, (t: Test, url: string) => Promise<AnyClient>>> = {
  v1,
  'v2 by default': (t, url) => v2(t, url),
  'v2 auto': (t, url) => v2(t, url, 'auto'),
  'v2 pinned to 2026-07-28': (t, url) => v2(t, url, { pin: '2026-07-28' }),
}

for (const [name, connect] of Object.entries(clients)) {
  t.test(`SDK client ${name} lists and calls tools, reads resources and gets prompts`, async (t) => {
    const { http } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    t.ok((await client.names()).includes('Demo__echo'))
    t.match(await client.call('Demo__echo', { text: 'hi' }), {
      structuredContent: { text: 'hi', client: 'sdk' },
    })
    t.match(await client.call('Demo__picture'), {
      structuredContent: { value: null },
      content: [{}, { type: 'image' }],
    })
    t.match(await client.read('demo://notes/a'), { contents: [{ text: '{"id":"a"}' }] })
    t.match(await client.prompt('Demo__greet', { who: 'Ada' }), { messages: [{ role: 'user' }] })
  })

  verifies(
    'wire:error:sdk-clients',
    `SDK client ${name} receives tool errors after listing the tools`,
    async (t) => {
      const { http } = await openWire(t)
      const client = await connect(t, `${http.url}/mcp`)
      await client.names()
      const failed = await client.call('Demo__fail', { code: 'NO_RECORDING' })
      t.match(failed, {
        isError: true,
        content: [{ type: 'text', text: /^NO_RECORDING: no recording loaded; / }],
        _meta: { 'causeway/error': { code: 'NO_RECORDING', retryable: false, data: { hint: 1 } } },
      })
      t.equal(failed.structuredContent, undefined)
      t.match(await client.call('Demo__echo', { txt: 1 }), { isError: true })
      t.match(await client.call('Demo__fail', { code: 'accident' }), { isError: true })
    },
  )

  t.test(
    `SDK client ${name} rejects an unknown tool and a missing resource with an error code`,
    async (t) => {
      const { http } = await openWire(t)
      const client = await connect(t, `${http.url}/mcp`)
      await t.rejects(client.call('Demo__nothing'), { code: -32602 })
      const number = /pinned|auto/.test(name) ? -32602 : -32002
      await t.rejects(client.read('demo://nothing/here'), { code: number })
    },
  )

  t.test(`SDK client ${name} receives progress, and its cancellation aborts the handler`, async (t) => {
    const { http, wire } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    const received: number[] = []
    const call = client.call(
      'Wire__work',
      { steps: 3 },
      { onprogress: ({ progress }) => received.push(progress) },
    )
    await until(() => received.length === 3)
    wire.release()
    t.match(await call, { structuredContent: { steps: 3 } })
    t.same(received, [1, 2, 3])

    const cancel = new AbortController()
    const cancelled = client.call('Wire__work', { steps: 0 }, { signal: cancel.signal })
    await until(() => wire.begun.length === 2)
    cancel.abort()
    await t.rejects(cancelled)
    await until(() => wire.begun[1]?.aborted === true)
  })

  t.test(`SDK client ${name} is notified when the tools change`, async (t) => {
    const { http, demo } = await openWire(t)
    const client = await connect(t, `${http.url}/mcp`)
    let notifications = 0
    let round = 0
    await client.onToolsChanged(() => notifications++)
    // A client opens its stream in the background and is not notified of a change before that.
    await until(() => {
      demo.discovered = [foundTool(`late${round++}`)]
      demo.announce('tools')
      return notifications > 0
    })
    t.ok((await client.names()).some((listed) => listed.startsWith('Demo__late')))
  })
}

const relay = defineApp(
  { name: 'Relay', about: 'Calls another app.', open: (env) => env, session: () => ({}) },
  (app) => {
    app.tool('relay', {
      about: 'Calls echo.',
      input: {},
      output: { text: z.string() },
      example: { args: {} },
      run: async (_, ctx) => (await ctx.store.call('Demo', 'echo', { text: 'x' }, ctx)) as { text: string },
    })
  },
)

const traceId = '0af7651916cd43dd8448eb211c80319c'
const traceparent = `00-${traceId}-b7ad6b7169203331-01`

verifies('log:trace', async (t, channel) => {
  const { core, http, logged, send } = await openWire(t)
  const params = { name: 'Demo__echo', arguments: { text: 'x' } }
  if (channel === 'bridge') {
    const bridge = startBridge(t, { url: `${http.url}/mcp` })
    await bridge.open()
    await bridge.call(7, 'tools/call', { ...params, _meta: { traceparent } })
    await bridge.call(8, 'tools/call', params)
  } else {
    await send(rpc('tools/call', params), { headers: { traceparent } })
    await send(rpc('tools/call', { ...params, _meta: { traceparent } }))
  }
  const lines = logged.lines.filter(({ what }) => what === 'echo')
  t.match(lines[0], { trace_id: traceId, parent_id: 'b7ad6b7169203331', request_id: String })
  const entries = await core.audit.query({ trace_id: traceId, limit: 9 })
  t.equal(entries.length, channel === 'bridge' ? 1 : 2)
  if (channel === 'bridge')
    t.match(lines[1], { trace_id: /^[\da-f]{32}$/ }, 'a call without a traceparent gets a new trace')
})

t.test('trace: a call from one app to another has the same trace id', async (t) => {
  const { core, send } = await openWire(t, { apps: [relay] })
  await send(rpc('tools/call', { name: 'Relay__relay', arguments: {} }), { headers: { traceparent } })
  const entries = await core.audit.query({ trace_id: traceId, limit: 9 })
  t.same(entries.map(({ tool }) => tool).sort(), ['echo', 'relay'])
})

t.test('trace: a malformed traceparent is ignored', async (t) => {
  t.same(parseTrace(traceparent), { traceId, parentId: 'b7ad6b7169203331' })
  t.same(
    parseTrace(`01-${traceId}-b7ad6b7169203331-01-later`),
    { traceId, parentId: 'b7ad6b7169203331' },
    'a later version',
  )
  for (const odd of [
    undefined,
    '',
    traceparent.toUpperCase(),
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${traceId}-${'0'.repeat(16)}-01`,
    `ff-${traceId}-b7ad6b7169203331-01`,
    `00-${traceId}-b7ad6b7169203331`,
  ])
    t.equal(parseTrace(odd), undefined, String(odd))
})
