import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Backend, type Got, handshake, startBackend } from './backend.ts'
import { type Client, initializeParams, startBridge } from './client.ts'

t.setTimeout(300_000)

/** The valid session, and how the server rejects calls in another one; default: with 404. */
interface Sessions {
  current: string
  readonly refuse?: (got: Got) => void
}

/** Makes the backend a server that accepts only the session `sessions.current`. */
function loseSessions(backend: Backend, sessions: Sessions): void {
  const refuse = (got: Got) =>
    sessions.refuse === undefined
      ? got.json(
          { jsonrpc: '2.0', id: null, error: { code: -32001, message: 'Session not found' } },
          { status: 404 },
        )
      : sessions.refuse(got)
  const known = (got: Got) => got.headers['mcp-session-id'] === sessions.current
  backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': sessions.current }))
  for (const method of [
    'tools/list',
    'tools/call',
    'logging/setLevel',
    'resources/subscribe',
    'resources/unsubscribe',
  ])
    backend.on(method, (got) => (known(got) ? got.result({ session: sessions.current }) : refuse(got)))
  for (const method of ['notifications/initialized', 'notifications/x'])
    backend.on(method, (got) => (known(got) ? got.status(202) : refuse(got)))
}

/** Returns the JSON-RPC methods that the backend received in a session. */
const methodsIn = (backend: Backend, session: string): string[] =>
  backend.got.all
    .filter((got) => got.method === 'POST' && got.headers['mcp-session-id'] === session)
    .map((got) => got.message.method)

async function opened(bridge: Client): Promise<void> {
  await bridge.open()
  await bridge.call('opened', 'ping')
}

/** Opens a bridge to a server that loses its session if `sessions.current` changes. */
async function openLosing(t: Test, args: readonly string[] = []) {
  const backend = await startBackend(t)
  const sessions: Sessions = { current: 'one' }
  loseSessions(backend, sessions)
  const bridge = startBridge(t, { url: backend.url, args })
  await opened(bridge)
  return { backend, sessions, bridge }
}

verifies(
  'bridge:session:restart',
  'renews a lost session with the stored handshake, once for many calls',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    await bridge.call('level', 'logging/setLevel', { level: 'debug' })
    await bridge.call('sub', 'resources/subscribe', { uri: 'a:1' })
    await bridge.call('sub2', 'resources/subscribe', { uri: 'a:2' })
    await bridge.call('unsub', 'resources/unsubscribe', { uri: 'a:2' })

    sessions.current = 'two'
    const ids = [1, 2, 3, 4, 5]
    const answers = await Promise.all(ids.map((id) => bridge.call(id, 'tools/call', { n: id })))
    for (const answer of answers) t.match(answer, { result: { session: 'two' } })
    await bridge.saw('notifications/tools/list_changed')

    const initializes = backend.got.all.filter(({ message }) => message?.method === 'initialize')
    t.equal(initializes.length, 2, 'one renewal')
    t.equal(initializes[1]?.text, initializes[0]?.text)
    t.equal(initializes[1]?.headers['mcp-session-id'], undefined)
    t.same(methodsIn(backend, 'two').slice(0, 3), [
      'notifications/initialized',
      'logging/setLevel',
      'resources/subscribe',
    ])
    t.equal(methodsIn(backend, 'two').filter((method) => method === 'tools/call').length, 5)
    t.equal(
      bridge.messages.all.filter(({ id }) => id === 'open').length,
      1,
      'the client sees no second handshake',
    )
    t.equal(bridge.messages.all.filter(({ method }) => method !== undefined).length, 1, 'one list changed')
  },
)

verifies(
  'bridge:relay:protocol-version',
  'accepts an event stream as the response to initialize',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('initialize', (got) => {
      const stream = got.stream({ 'mcp-session-id': 'streamed' })
      stream.raw('id: 0\ndata:\n\n')
      stream.send({
        jsonrpc: '2.0',
        id: got.message.id,
        result: { ...handshake, protocolVersion: '2025-06-18' },
      })
      stream.end()
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await bridge.call(1, 'ping')
    t.match((await backend.saw('ping')).headers, {
      'mcp-session-id': 'streamed',
      'mcp-protocol-version': '2025-06-18',
    })
  },
)

verifies('bridge:end:session', 'deletes the previous session if the client initializes again', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': 's2' }))
  await bridge.call('again', 'initialize', initializeParams)
  t.equal((await backend.saw('DELETE')).headers['mcp-session-id'], 's1')
  await bridge.call(1, 'ping')
  t.equal((await backend.saw('ping')).headers['mcp-session-id'], 's2')
})

verifies(
  'bridge:session:restart',
  'sends list_changed for the lists that the server declares as changeable',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    const capabilities = { prompts: { listChanged: true }, resources: {} }
    backend.on('initialize', (got) => got.result({ ...handshake, capabilities }, { 'mcp-session-id': 'two' }))
    sessions.current = 'two'
    await bridge.call(1, 'tools/list')
    await bridge.saw('notifications/prompts/list_changed')
    const notices = bridge.messages.all.flatMap(({ method }) => method ?? [])
    t.same(notices.sort(), ['notifications/prompts/list_changed', 'notifications/tools/list_changed'])
  },
)

verifies(
  'bridge:session:restart',
  'renews the session on 400 with a session error, but not on other errors',
  async (t) => {
    const backend = await startBackend(t)
    const sessions = {
      current: 'one',
      refuse: (got: Got) =>
        got.json(
          { jsonrpc: '2.0', id: null, error: { code: -32000, message: 'No valid session ID' } },
          { status: 400 },
        ),
    }
    loseSessions(backend, sessions)
    const bridge = startBridge(t, { url: backend.url })
    await opened(bridge)
    sessions.current = 'two'
    t.match(await bridge.call(1, 'tools/list'), { result: { session: 'two' } })
    backend.on('unknown', (got) =>
      got.json(
        { jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'no' } },
        { status: 404 },
      ),
    )
    t.match(await bridge.call(2, 'unknown'), { error: { code: -32601 } })
    t.equal(backend.methods().filter((method) => method === 'initialize').length, 2)
  },
)

verifies(
  'bridge:session:restart',
  'repeats a call once in a new session, then forwards its error',
  async (t) => {
    const backend = await startBackend(t)
    loseSessions(backend, { current: 'one' })
    const bridge = startBridge(t, { url: backend.url })
    await opened(bridge)
    const error = { code: -32001, message: 'Session not found' }
    backend.on('tools/call', (got) => got.json({ jsonrpc: '2.0', id: null, error }, { status: 404 }))
    let count = 1
    backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': `more-${count++}` }))
    t.same(await bridge.call(1, 'tools/call'), { jsonrpc: '2.0', id: 1, error })
    t.equal(backend.methods().filter((method) => method === 'tools/call').length, 2)
  },
)

verifies('bridge:session:restart', 'opens at most five new sessions a minute', async (t) => {
  const backend = await startBackend(t)
  loseSessions(backend, { current: 'never' })
  let count = 0
  backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': `lost-${count++}` }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  for (let id = 0; id < 8; id += 1) await bridge.call(id, 'tools/call')
  t.match(await bridge.call('last', 'tools/call'), { error: { data: { code: 'SESSION_NOT_FOUND' } } })
  t.equal(count, 6, 'the first and five renewals')
})

verifies(
  'bridge:session:restart',
  'a client session continues after the server was killed and restarted',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    await backend.stop()
    const held = bridge.call(1, 'tools/call')
    sessions.current = 'two'
    await backend.start()
    t.match(await held, { result: { session: 'two' } })
    await bridge.saw('notifications/tools/list_changed')
  },
)

verifies(
  'bridge:session:restart',
  'sends a notification to the new session and drops a response to the lost session',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    sessions.current = 'two'
    backend.on('response', (got) => got.status(404))
    bridge.send({ jsonrpc: '2.0', id: 'server-1', result: {} })
    await backend.saw('response')
    bridge.send({ jsonrpc: '2.0', method: 'notifications/x' })
    await backend.saw('notifications/x', ({ headers }) => headers['mcp-session-id'] === 'two')
    t.equal(backend.methods().filter((method) => method === 'response').length, 1)
  },
)

verifies(
  'bridge:session:restart',
  'reports a failed renewal and retries it with the next call',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t, ['--wait', '0'])
    sessions.current = 'two'
    backend.on('initialize', (got) => got.response.destroy())
    t.match(await bridge.call(1, 'tools/call'), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
    backend.on('initialize', (got) =>
      got.json({ jsonrpc: '2.0', id: 'open', error: { code: -32602, message: 'no' } }),
    )
    t.match(await bridge.call('x', 'tools/call'), { error: { data: { code: 'SESSION_NOT_FOUND' } } })
    backend.on('initialize', (got) => got.status(503, 'starting'))
    t.match(await bridge.call(2, 'tools/call'), { error: { data: { code: 'OVERLOADED' } } })
    loseSessions(backend, sessions)
    t.match(await bridge.call(3, 'tools/call'), { result: { session: 'two' } })
  },
)

verifies('bridge:session:restart', 'a renewal waits for an unreachable or busy server', async (t) => {
  const { backend, sessions, bridge } = await openLosing(t)
  await bridge.call('level', 'logging/setLevel', { level: 'debug' })
  sessions.current = 'two'
  const failFirst = (method: string, failures: ((got: Got) => void)[]) =>
    backend.on(method, (got) => {
      const fail = failures.shift()
      if (fail !== undefined) return fail(got)
      loseSessions(backend, sessions)
      got.result(handshake, { 'mcp-session-id': 'two' })
    })
  const notNow = (status: number) => (got: Got) => got.status(status, '', { 'retry-after': '0' })
  const cut = (got: Got) => void got.response.destroy()
  failFirst('logging/setLevel', [notNow(503)])
  failFirst('initialize', [cut, cut, notNow(503), notNow(429)])
  t.match(await bridge.call(1, 'tools/call'), { result: { session: 'two' } })
  t.equal(backend.methods().filter((method) => method === 'initialize').length, 6, 'the first and five')
  t.ok(methodsIn(backend, 'two').includes('logging/setLevel'))
})

verifies(
  'bridge:session:restart',
  'a renewal does not wait for the end of the response stream',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    sessions.current = 'two'
    const closed: Promise<unknown>[] = []
    backend.on('initialize', (got) => {
      const { id } = got.message
      got.stream({ 'mcp-session-id': 'two' }).send({ jsonrpc: '2.0', id, result: handshake })
      closed.push(got.closed)
    })
    t.match(await bridge.call(1, 'tools/call'), { result: { session: 'two' } })
    await closed[0]
    t.equal(closed.length, 1, 'the bridge gave the stream up')
  },
)

verifies(
  'bridge:session:restart',
  'sends list_changed even if the call that detected the loss was cancelled',
  async (t) => {
    const { backend, sessions, bridge } = await openLosing(t)
    sessions.current = 'two'
    backend.on('initialize', () => {})
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} })
    const renewal = await backend.saw('initialize', (got) => got !== backend.got.all[0])
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await backend.saw('notifications/cancelled')
    renewal.result(handshake, { 'mcp-session-id': 'two' })
    await bridge.saw('notifications/tools/list_changed')
    await bridge.call(2, 'tools/list')
    t.equal(backend.methods().filter((method) => method === 'tools/call').length, 1)
  },
)
