import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { foundTool } from '../demo-app.ts'
import {
  both,
  initializeMessage,
  openWire,
  rpc,
  type Stream,
  toolCall,
  until,
  type Wire,
} from './open-wire.ts'

const inSession = (id: string) => ({ headers: { ...both, 'mcp-session-id': id } })

/** Posts `body` and returns the messages of the response stream, read to its end. */
async function postAll(wire: Wire, id: string, body: unknown): Promise<Record<string, unknown>[]> {
  const { messages } = await wire.stream(body, inSession(id))
  const all: Record<string, unknown>[] = []
  for await (const message of messages) all.push(message)
  return all
}

verifies('wire:era:legacy-session', async (t) => {
  const wire = await openWire(t)
  const opened = await wire.send(initializeMessage(), { headers: both })
  const id = opened.headers['mcp-session-id'] as string
  t.match(opened.headers['content-type'], /^text\/event-stream/)
  t.match(await postAll(wire, id, toolCall('Demo__echo', { text: 'hi' })), [
    { id: 1, result: { structuredContent: { text: 'hi', client: 'raw' } } },
  ])
  t.match(await wire.send(rpc('ping'), inSession('made-up')), {
    status: 404,
    json: { id: 1, error: { code: -32001, data: { code: 'SESSION_NOT_FOUND' } } },
  })
  t.equal((await wire.send(undefined, { method: 'DELETE', ...inSession(id) })).status, 200)
  t.equal((await wire.send(rpc('ping'), inSession(id))).status, 404)
  t.equal(await wire.core.store.handshakes.find(id, ''), undefined, 'an ended session is not revived')
})

t.test('session: initialize is answered after the handshake is stored', async (t) => {
  const wire = await openWire(t)
  const { handshakes } = wire.core.store
  const save = handshakes.save.bind(handshakes)
  const order: string[] = []
  Object.assign(handshakes, {
    save: async (handshake: Parameters<typeof save>[0]) => {
      for (let id = 1; id <= 10; id++) await wire.send(rpc('ping', {}, id))
      await save(handshake)
      order.push('stored')
    },
  })
  await wire.send(initializeMessage(), { headers: both })
  t.same(order, ['stored'])
})

t.test('session: initialize needs only the client name', async (t) => {
  const wire = await openWire(t)
  const { messages } = await wire.stream(rpc('initialize', { clientInfo: { name: 'short' } }))
  t.match((await messages.next()).value, { result: { protocolVersion: '2025-03-26' } })
})

t.test('session: malformed capabilities are rejected with -32602 and open no session', async (t) => {
  const { send } = await openWire(t)
  const answer = await send(rpc('initialize', { capabilities: { roots: 5 } }), { headers: both })
  t.match(answer, { status: 400, json: { id: 1, error: { code: -32602 } } })
  t.equal(answer.headers['mcp-session-id'], undefined)
})

t.test('session: a session is valid only on its mount', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize({ path: '/mcp/demo' })
  t.equal((await wire.send(rpc('ping'), inSession(id))).status, 404)
  const { json } = await wire.send(rpc('tools/list'), { path: '/mcp/demo', ...inSession(id) })
  t.ok(json.result.tools.some(({ name }: { name: string }) => name === 'demo.echo'))
})

verifies('wire:session:isolated', 'sessions have separate states, and other callers share one', async (t) => {
  const { send, initialize } = await openWire(t)
  const count = async (headers: Record<string, string>): Promise<unknown> =>
    (await send(toolCall('Demo__count'), { headers })).json.result.structuredContent
  const [one, two] = [await initialize(), await initialize()]
  t.same(await count({ 'mcp-session-id': one }), { count: 1, shared: false })
  t.same(await count({ 'mcp-session-id': one }), { count: 2, shared: false })
  t.same(await count({ 'mcp-session-id': two }), { count: 1, shared: false })
  t.same(await count({ 'causeway-session': 'bridge.1' }), { count: 1, shared: false })
  t.same(await count({ 'causeway-session': 'bridge.1', 'mcp-session-id': one }), { count: 2, shared: false })
  t.same(await count({}), { count: 1, shared: true })
  t.same(await count({}), { count: 2, shared: true })
})

verifies('wire:session:key-form', async (t) => {
  const { send } = await openWire(t)
  for (const key of ['', 'a b', 'ä', 'x'.repeat(129), 'a/b'])
    t.match(await send(toolCall('Demo__count'), { headers: { 'causeway-session': key } }), {
      status: 400,
      json: { error: { code: -32602, data: { code: 'INVALID_PARAMS' } } },
    })
  t.equal((await send(rpc('ping'), { headers: { 'causeway-session': 'x'.repeat(128) } })).status, 200)
})

t.test('session: progress precedes the response, on the stream of its call', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 2 }, 'token'), inSession(id))
  const progress = [(await messages.next()).value, (await messages.next()).value]
  t.match(progress, [
    { method: 'notifications/progress', params: { progressToken: 'token', progress: 1, total: 2 } },
    { method: 'notifications/progress', params: { progressToken: 'token', progress: 2, message: 'step 2' } },
  ])
  wire.wire.release()
  t.match((await messages.next()).value, { id: 1, result: { structuredContent: { steps: 2 } } })
  t.ok((await messages.next()).done, 'the stream ends after the response')
})

t.test('session: no progress is sent without a progress token', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 2 }), inSession(id))
  await until(() => wire.wire.begun.length === 1)
  wire.wire.release()
  t.match((await messages.next()).value, { id: 1, result: {} })
})

t.test('session: a cancelled call aborts its handler and ends its stream', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), inSession(id))
  await until(() => wire.wire.begun.length === 1)
  const cancelled = { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }
  t.equal((await wire.send(cancelled, inSession(id))).status, 202)
  t.match((await messages.next()).value, { id: 1, error: { data: { code: 'CANCELLED' } } })
  t.ok((await messages.next()).done)
  t.equal(wire.wire.begun[0]?.aborted, true)
})

t.test('session: closing the connection of a call does not cancel it', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { hangUp, messages } = await wire.stream(toolCall('Wire__work', { steps: 1 }, 'p'), inSession(id))
  await messages.next()
  hangUp()
  await t.rejects(messages.next())
  t.equal((await wire.send(rpc('ping'), inSession(id))).status, 200)
  t.equal(wire.wire.begun[0]?.aborted, false)
})

t.test('session: calls run concurrently, each on its own stream', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const slow = await wire.stream(toolCall('Wire__work', { steps: 0 }), inSession(id))
  await until(() => wire.wire.begun.length === 1)
  t.match(await postAll(wire, id, { ...toolCall('Wire__identify'), id: 'quick' }), [{ id: 'quick' }])
  wire.wire.release()
  t.match((await slow.messages.next()).value, { id: 1 })
})

t.test('session: malformed messages and ids that the SDK does not support are answered', async (t) => {
  const { send, initialize } = await openWire(t)
  const id = await initialize()
  for (const rpcId of [1.5, 2 ** 53, 1e300])
    t.match((await send({ ...toolCall('Demo__count'), id: rpcId }, inSession(id))).json, {
      id: rpcId,
      result: { structuredContent: { shared: false } },
    })
  for (const body of [{ jsonrpc: '2.0', id: null, method: 'ping' }, [], 5])
    t.match(await send(body, inSession(id)), { status: 400, json: { error: { code: -32600 } } })
  t.match((await send([rpc('ping', undefined, 'a'), { nonsense: 1 }], inSession(id))).json, [
    { id: 'a', result: {} },
    { id: null, error: { code: -32600 } },
  ])
})

t.test('session: a client that does not accept a stream gets JSON and keeps its state', async (t) => {
  const { send, initialize } = await openWire(t)
  const id = await initialize()
  for (const count of [1, 2])
    t.match((await send(toolCall('Demo__count'), { headers: { 'mcp-session-id': id } })).json, {
      result: { structuredContent: { count, shared: false } },
    })
})

t.test('session: each request of a batch is answered', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const answers = await postAll(wire, id, [
    rpc('ping', undefined, 'a'),
    { ...toolCall('Demo__count'), id: 'b' },
  ])
  t.same(answers.map((answer) => answer.id).sort(), ['a', 'b'])
})

verifies('wire:stream:get', async (t) => {
  const wire = await openWire(t, { keepAliveMs: 5 })
  const id = await wire.initialize()
  const listening = await wire.stream(undefined, { method: 'GET', ...inSession(id) })
  t.equal(listening.status, 200)
  const second = await wire.send(undefined, { method: 'GET', ...inSession(id) })
  t.equal(second.status, 409)
  const next = listening.messages.next()
  await until(() => listening.comments.length > 1)
  wire.demo.announce('resources')
  t.match(
    (await next).value,
    { method: 'notifications/resources/list_changed' },
    'the first stream is not affected',
  )
  listening.hangUp()
  await t.rejects(listening.messages.next())
  const without = await wire.send(undefined, { method: 'GET', headers: both })
  t.equal(without.status, 405)
  t.equal(without.headers.allow, 'POST')
})

/** Resumes a stream. Retries as a client does while the server has not detected that the old stream is closed. */
async function resumeStream(wire: Wire, session: string, lastEventId: string | undefined): Promise<Stream> {
  const headers = { 'mcp-session-id': session, 'last-event-id': lastEventId ?? '' }
  for (;;) {
    const stream = await wire.stream(undefined, { method: 'GET', headers })
    if (stream.status !== 409) return stream
    await stream.messages.next()
  }
}

verifies('wire:stream:resume', 'a resumed GET stream neither loses nor repeats events', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const first = await wire.stream(undefined, { method: 'GET', ...inSession(id) })
  wire.demo.announce('resources')
  await first.messages.next()
  first.hangUp()
  await t.rejects(first.messages.next())
  wire.demo.discovered = [foundTool('late')]
  await wire.core.registry.refresh()
  const again = await resumeStream(wire, id, first.ids[0])
  const lost = { method: 'notifications/tools/list_changed' }
  t.match((await again.messages.next()).value, lost, 'no event is lost')
  wire.demo.announce('resources')
  const next = { method: 'notifications/resources/list_changed' }
  t.match((await again.messages.next()).value, next, 'no event is repeated')
})

verifies('wire:stream:resume', 'a resumed stream of a call delivers the result', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { messages, ids, hangUp } = await wire.stream(
    toolCall('Wire__work', { steps: 1 }, 'p'),
    inSession(id),
  )
  await messages.next()
  hangUp()
  await t.rejects(messages.next())
  wire.wire.release()
  const again = await resumeStream(wire, id, ids.at(-1))
  t.match((await again.messages.next()).value, { id: 1, result: { structuredContent: { steps: 1 } } })
  t.ok((await again.messages.next()).done)
})

t.test('session: an event id from before a restart opens a new stream', async (t) => {
  const wire = await openWire(t)
  const headers = { 'mcp-session-id': await wire.initialize(), 'last-event-id': 'long-ago-7' }
  const { status, messages } = await wire.stream(undefined, { method: 'GET', headers })
  t.equal(status, 200)
  wire.demo.announce('resources')
  t.match((await messages.next()).value, { method: 'notifications/resources/list_changed' })
})

verifies('wire:stream:lost-answer', async (t) => {
  const dir = t.testdir()
  const first = await openWire(t, { dir })
  const session = await first.initialize()
  const call = await first.stream(toolCall('Wire__work', { steps: 1 }, 'p'), inSession(session))
  await call.messages.next()
  call.hangUp()
  first.wire.release()
  await first.http.close(0)
  await first.core.close()
  const second = await openWire(t, { dir })
  const headers = { ...both, 'mcp-session-id': session, 'last-event-id': call.ids.at(-1) ?? '' }
  const { status, json } = await second.send(undefined, { method: 'GET', headers })
  t.match(
    { status, json },
    { status: 400, json: { error: { data: { code: 'INVALID_REQUEST', remedy: /again/ } } } },
  )
})

verifies('wire:list:changed', 'a change before the first GET stream is notified on it once', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  wire.demo.announce('resources')
  wire.demo.announce('resources')
  wire.demo.discovered = [foundTool('late')]
  await wire.core.registry.refresh()
  const first = await wire.stream(undefined, { method: 'GET', ...inSession(id) })
  t.match((await first.messages.next()).value, { method: 'notifications/resources/list_changed' })
  t.match((await first.messages.next()).value, { method: 'notifications/tools/list_changed' })
  wire.demo.announce({ uri: 'demo://notes/a' })
  wire.demo.announce('resources')
  t.match(
    (await first.messages.next()).value,
    { method: 'notifications/resources/list_changed' },
    'an earlier change is not repeated',
  )
})

verifies('wire:resource:subscribe', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const { messages } = await wire.stream(undefined, { method: 'GET', ...inSession(id) })
  t.match(await postAll(wire, id, rpc('resources/subscribe', { uri: 'demo://notes/a' })), [{ result: {} }])
  t.match(await postAll(wire, id, rpc('resources/subscribe', { uri: 'demo://nothing/here' })), [
    { error: { code: -32002, data: { code: 'RESOURCE_NOT_FOUND' } } },
  ])
  t.match(await postAll(wire, id, rpc('resources/subscribe', {})), [{ error: { code: -32602 } }])
  wire.demo.announce({ uri: 'demo://notes/b' })
  wire.demo.announce({ uri: 'demo://notes/a' })
  t.match((await messages.next()).value, {
    method: 'notifications/resources/updated',
    params: { uri: 'demo://notes/a' },
  })
  await postAll(wire, id, rpc('resources/unsubscribe', { uri: 'demo://notes/a' }))
  wire.demo.announce({ uri: 'demo://notes/a' })
  wire.demo.announce('resources')
  t.match((await messages.next()).value, { method: 'notifications/resources/list_changed' })
})

t.test('session: a session survives a restart with its state and subscriptions', async (t) => {
  const dir = t.testdir()
  const before = await openWire(t, { dir })
  const id = await before.initialize()
  await postAll(before, id, toolCall('Demo__count'))
  await postAll(before, id, rpc('resources/subscribe', { uri: 'demo://notes/a' }))
  await before.http.close(1000)
  await before.core.close()

  const after = await openWire(t, { dir })
  const responses = await Promise.all([
    postAll(after, id, toolCall('Demo__count')),
    postAll(after, id, toolCall('Wire__identify')),
  ])
  t.match(responses, [
    [{ result: { structuredContent: { count: 2, shared: false } } }],
    [{ result: { structuredContent: { client: 'raw', version: '1' } } }],
  ])
  const { messages } = await after.stream(undefined, { method: 'GET', ...inSession(id) })
  after.demo.announce({ uri: 'demo://notes/a' })
  t.match((await messages.next()).value, { method: 'notifications/resources/updated' })
})

t.test('session: the least recently used session is evicted and restored on its next request', async (t) => {
  const wire = await openWire(t, { maxSessions: 2 })
  const [first, second] = [await wire.initialize(), await wire.initialize()]
  const listening = await wire.stream(undefined, { method: 'GET', ...inSession(first) })
  await postAll(wire, second, toolCall('Demo__count'))
  await wire.initialize()
  t.equal(wire.http.sessionCount, 2)
  t.match(await postAll(wire, second, toolCall('Demo__count')), [
    { result: { structuredContent: { count: 2 } } },
  ])
  t.equal(wire.http.sessionCount, 2)
  wire.demo.announce('resources')
  t.match((await listening.messages.next()).value, { method: 'notifications/resources/list_changed' })
})

t.test('session: an idle session is evicted and restored on its next request', async (t) => {
  const wire = await openWire(t, { sessionIdleMs: 4 })
  const id = await wire.initialize()
  await until(() => wire.http.sessionCount === 0)
  const { messages } = await wire.stream(undefined, { method: 'GET', ...inSession(id) })
  wire.demo.announce('resources')
  t.match((await messages.next()).value, { method: 'notifications/resources/list_changed' })
  t.equal(wire.http.sessionCount, 1, 'a session with an open stream is not evicted')
})

t.test('session: an unsupported protocol version is rejected', async (t) => {
  const { send, initialize } = await openWire(t)
  const id = await initialize()
  const headers = { ...both, 'mcp-session-id': id, 'mcp-protocol-version': '1999-01-01' }
  t.match(await send(rpc('ping'), { headers }), {
    status: 400,
    json: { error: { code: -32022, data: { data: { requested: '1999-01-01' } } } },
  })
})

t.test('session: logging/setLevel, prompts and completion are answered', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  t.match(await postAll(wire, id, rpc('logging/setLevel', { level: 'debug' })), [{ result: {} }])
  t.match(await postAll(wire, id, rpc('prompts/get', { name: 'Demo__greet', arguments: { who: 'Ada' } })), [
    { result: { messages: [{ content: { text: 'Greet Ada.' } }] } },
  ])
  const ref = { type: 'ref/prompt', name: 'Demo__greet' }
  const argument = { name: 'who', value: 'A' }
  t.match(await postAll(wire, id, rpc('completion/complete', { ref, argument })), [
    { result: { completion: { values: ['Ada', 'Alan'] } } },
  ])
  t.match(await postAll(wire, id, rpc('no/such')), [{ error: { code: -32601 } }])
})
