import { ask, defineApp, listRoots, replyTo } from '@causeway/app-kit'
import { Client, SSEClientTransport } from '@modelcontextprotocol/client'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import {
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js'
import t, { type Test } from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { EventLog } from '../../src/http/mcp/event-log.ts'
import { foundTool } from '../demo-app.ts'
import { initializeMessage, openWire, rpc, toolCall, until, type Wire } from './open-wire.ts'

const info = { name: 'old-client', version: '1' }

/** Opens a stream and returns it with a function that posts to the endpoint from its first event. */
async function connect(t: Test, wire: Wire, path = '/sse', headers: Record<string, string> = {}) {
  const stream = await wire.events(undefined, { path, method: 'GET', headers })
  t.teardown(() => stream.hangUp())
  const first = (await stream.events.next()).value
  t.equal(first.event, 'endpoint')
  const post = (message: unknown) => wire.send(message, { path: first.data, headers })
  const next = async () => JSON.parse((await stream.events.next()).value.data)
  return { ...stream, endpoint: first.data as string, post, next }
}

/** Connects and completes the handshake. */
async function open(t: Test, wire: Wire, path?: string, headers?: Record<string, string>) {
  const peer = await connect(t, wire, path, headers)
  await peer.post(initializeMessage())
  await peer.next()
  await peer.post({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return peer
}

verifies('wire:sse:connect', async (t) => {
  const wire = await openWire(t)
  const peer = await connect(t, wire)
  t.match(peer.endpoint, /^\/messages\?sessionId=[\w-]+$/)
  const { status, text } = await peer.post(initializeMessage())
  t.match({ status, text }, { status: 202, text: 'Accepted' })
  t.match(await peer.next(), { id: 1, result: { serverInfo: { name: 'causeway' } } })
  await peer.post(toolCall('Demo__echo', { text: 'hi' }))
  t.match(await peer.next(), { id: 1, result: { structuredContent: { text: 'hi', client: 'raw' } } })
  await peer.post(toolCall('Wire__identify'))
  t.match(await peer.next(), { result: { structuredContent: { client: 'raw', version: '1' } } })

  const bare = await open(t, wire, '/sse/demo')
  await bare.post(rpc('tools/list'))
  const names = (await bare.next()).result.tools.map(({ name }: { name: string }) => name)
  t.ok(names.includes('count'), 'one app under bare names')
})

t.test('sse: initialize needs only the client name, and a malformed initialize gets an error', async (t) => {
  const wire = await openWire(t)
  const peer = await connect(t, wire)
  await peer.post(rpc('initialize', { clientInfo: { name: 'terse' } }))
  t.match(await peer.next(), { result: { protocolVersion: '2025-03-26' } })
  const wrong = await connect(t, wire)
  await wrong.post(rpc('initialize', { capabilities: 5 }))
  t.match(await wrong.next(), { id: 1, error: { code: -32602, data: { code: 'INVALID_PARAMS' } } })
})

t.test('sse: invalid posts and paths are rejected with an error code', async (t) => {
  const wire = await openWire(t)
  const { endpoint } = await connect(t, wire)
  const rejected = [
    [rpc('ping'), '/messages', 404, -32001],
    [rpc('ping'), '/messages?sessionId=unknown', 404, -32001],
    ['{', endpoint, 400, -32700],
    [{ hello: 1 }, endpoint, 400, -32600],
    [[], endpoint, 400, -32600],
  ] as const
  for (const [body, path, status, code] of rejected)
    t.match(await wire.send(body, { path }), { status, json: { error: { code } } }, `${path} ${status}`)
  t.match(await wire.send(undefined, { path: '/sse/unknown', method: 'GET' }), {
    status: 404,
    json: { error: { data: { code: 'ROUTE_NOT_FOUND' } } },
  })
  t.match(await wire.send({}, { path: '/sse' }), { status: 405, headers: { allow: 'GET' } })
  for (const path of ['/sse', endpoint])
    t.equal((await wire.send(undefined, { path, method: 'GET', headers: { host: 'evil.com' } })).status, 403)
})

t.test('sse: client state belongs to the stream or to the session in Causeway-Session', async (t) => {
  const wire = await openWire(t)
  const count = async (peer: Awaited<ReturnType<typeof open>>) => {
    await peer.post(toolCall('Demo__count'))
    return (await peer.next()).result.structuredContent
  }
  const [one, other] = [await open(t, wire), await open(t, wire)]
  t.match(await count(one), { count: 1, shared: false })
  t.match(await count(one), { count: 2 })
  t.match(await count(other), { count: 1 })
  const named = { 'causeway-session': 'mine' }
  t.match(await count(await open(t, wire, '/sse', named)), { count: 1 })
  t.match(await count(await open(t, wire, '/sse', named)), { count: 2 }, 'a second stream of the same client')
})

t.test('sse: each request of a batch is answered', async (t) => {
  const wire = await openWire(t)
  const peer = await open(t, wire)
  await peer.post([rpc('ping', {}, 'a'), { jsonrpc: '2.0', method: 'notifications/x' }, rpc('ping', {}, 'b')])
  t.same([(await peer.next()).id, (await peer.next()).id].sort(), ['a', 'b'])
})

t.test('sse: reading a missing resource returns -32002', async (t) => {
  const wire = await openWire(t)
  const peer = await open(t, wire)
  await peer.post(rpc('resources/read', { uri: 'demo://unknown' }))
  t.match(await peer.next(), { error: { code: -32002 } })
})

verifies('wire:sse:stream', async (t) => {
  const wire = await openWire(t, { keepAliveMs: 20 })
  const peer = await open(t, wire)
  const pong = peer.next() // comments are recorded only while the stream is read
  await until(() => peer.comments.includes('keep-alive'))
  await peer.post(rpc('ping', {}, 'ping'))
  t.match(await pong, { id: 'ping', result: {} })
  await peer.post(toolCall('Wire__work', { steps: 2 }, 'token'))
  t.match(await peer.next(), {
    method: 'notifications/progress',
    params: { progress: 1, progressToken: 'token' },
  })
  t.match(await peer.next(), { params: { progress: 2 } })
  await until(() => wire.wire.begun.length === 1)
  await peer.post({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
  await until(() => wire.wire.begun[0]?.aborted === true)

  await peer.post({ ...toolCall('Wire__work', { steps: 0 }), id: 2 })
  await until(() => wire.wire.begun.length === 2)
  peer.hangUp()
  await until(() => wire.wire.begun[1]?.aborted === true)
  t.match(
    await wire.send(rpc('ping'), { path: peer.endpoint }),
    { status: 404 },
    'the session ends with its stream',
  )
})

t.test('sse: a stopping server completes its calls and then ends the streams', async (t) => {
  const wire = await openWire(t)
  const peer = await open(t, wire)
  await peer.post(toolCall('Wire__work', { steps: 0 }))
  await until(() => wire.wire.begun.length === 1)
  const closed = wire.http.close(5000)
  t.match(await peer.post(rpc('ping')), { status: 503, json: { error: { data: { code: 'SHUTTING_DOWN' } } } })
  wire.wire.release()
  t.match(await peer.next(), { id: 1, result: { structuredContent: { steps: 0 } } })
  t.ok((await peer.events.next()).done)
  await closed
})

t.test('sse: a stream beyond the session limit is rejected with 503', async (t) => {
  const wire = await openWire(t, { maxSessions: 1 })
  await connect(t, wire)
  t.match(await wire.send(undefined, { path: '/sse', method: 'GET' }), {
    status: 503,
    headers: { 'retry-after': '1' },
    json: { error: { data: { code: 'OVERLOADED' } } },
  })
})

verifies('wire:sse:clients', 'SDK v1 uses tools, progress, notifications and subscriptions', async (t) => {
  const wire = await openWire(t)
  const client = new ClientV1(info)
  const transport = new SseV1(new URL(`${wire.http.url}/sse`))
  await client.connect(transport as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  t.ok((await client.listTools()).tools.some(({ name }) => name === 'Demo__echo'))
  const echoed = await client.callTool({ name: 'Demo__echo', arguments: { text: 'x' } })
  t.match(echoed, { structuredContent: { text: 'x', client: info.name } })
  await t.rejects(client.callTool({ name: 'Demo__ecko' }), { code: -32602 })

  const steps: number[] = []
  const working = client.callTool({ name: 'Wire__work', arguments: { steps: 3 } }, undefined, {
    onprogress: ({ progress }) => steps.push(progress),
  })
  await until(() => steps.length === 3)
  wire.wire.release()
  t.match(await working, { structuredContent: { steps: 3 } })

  const received: unknown[] = []
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => void received.push('tools'))
  client.setNotificationHandler(
    ResourceUpdatedNotificationSchema,
    ({ params }) => void received.push(params.uri),
  )
  await client.subscribeResource({ uri: 'demo://notes/n1' })
  wire.demo.announce({ uri: 'demo://notes/n1' })
  wire.demo.announce({ uri: 'demo://notes/n2' })
  await until(() => received.length === 1)
  wire.demo.discovered = [foundTool('late')]
  wire.demo.announce('tools')
  await until(() => received.length === 2)
  t.same(received, ['demo://notes/n1', 'tools'])
})

/** An app that requests the roots of its client. */
const asker = defineApp({ name: 'Asker', about: 'Asks.', open: () => ({}), session: () => ({}) }, (app) =>
  app.tool('where', {
    about: 'Asks for the folders.',
    input: {},
    output: { uris: z.array(z.string()) },
    example: { args: {} },
    run(_, { input }) {
      const reply = replyTo(input, 'roots')
      if (reply?.kind !== 'roots') return ask({ roots: listRoots() })
      return { uris: reply.roots.map(({ uri }) => uri) }
    },
  }),
)

verifies('wire:sse:clients', 'SDK v2 uses tools, server requests and cancellation', async (t) => {
  const wire = await openWire(t, { apps: [asker] })
  const client = new Client(info, { capabilities: { roots: {} } })
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///here' }] }))
  await client.connect(new SSEClientTransport(new URL(`${wire.http.url}/sse`)))
  t.teardown(() => client.close())
  t.match(await client.callTool({ name: 'Asker__where', arguments: {} }), {
    structuredContent: { uris: ['file:///here'] },
  })
  t.match(await client.callTool({ name: 'Wire__identify', arguments: {} }), {
    structuredContent: { client: info.name },
  })
  const cancel = new AbortController()
  const cancelled = client.callTool(
    { name: 'Wire__work', arguments: { steps: 0 } },
    { signal: cancel.signal },
  )
  await until(() => wire.wire.begun.length === 1)
  cancel.abort()
  await t.rejects(cancelled)
  await until(() => wire.wire.begun[0]?.aborted === true)
})

const message = (text = '') => ({ jsonrpc: '2.0' as const, method: 'm', params: { text } })

t.test('event log: replayEventsAfter replays only later events of the same stream', async (t) => {
  const log = new EventLog('x')
  const first = await log.storeEvent('a', message())
  await log.storeEvent('b', message())
  const third = await log.storeEvent('a', message('third'))
  const sent: unknown[] = []
  const stream = await log.replayEventsAfter(first, {
    send: async (id, event) => void sent.push([id, event]),
  })
  t.equal(stream, 'a')
  t.same(sent, [[third, message('third')]])
  t.equal(await log.getStreamIdForEventId(third), 'a')
  t.equal(await log.getStreamIdForEventId('y-1'), undefined)
})

t.test('event log: the oldest events are evicted by count and by total length', async (t) => {
  const log = new EventLog('x', { maxEvents: 3, maxLength: 1000 })
  const ids: string[] = []
  for (let n = 0; n < 5; n++) ids.push(await log.storeEvent('a', message()))
  t.same(
    ids.map((id) => log.has(id)),
    [false, false, true, true, true],
  )
  ids.push(await log.storeEvent('a', message('x'.repeat(890))))
  t.same(
    ids.map((id) => log.has(id)),
    [false, false, false, false, true, true],
  )
})

t.test('event log: an event over the length limit is dropped together with all earlier events', async (t) => {
  const log = new EventLog('x', { maxLength: 1000 })
  const before = await log.storeEvent('a', message())
  const long = await log.storeEvent('a', message('x'.repeat(1000)))
  const after = await log.storeEvent('a', message())
  t.same(
    [before, long, after].map((id) => log.has(id)),
    [false, false, true],
  )
})
