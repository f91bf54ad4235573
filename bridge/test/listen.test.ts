import { verifies } from '../../test/verifies.ts'
import { createListener } from '../src/listen.ts'
import type { Session } from '../src/session.ts'
import type { Exchange, Upstream } from '../src/upstream.ts'
import { type Got, handshake, startBackend } from './backend.ts'
import { startBridge } from './client.ts'

verifies('bridge:relay:server-notification', async (t) => {
  const backend = await startBackend(t)
  backend.on('GET', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  const got = await backend.saw('GET')
  t.match(got.headers, {
    'mcp-session-id': 's1',
    'mcp-protocol-version': '2025-11-25',
    accept: 'text/event-stream',
  })
  const stream = got.stream()
  stream.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  stream.send({ jsonrpc: '2.0', method: 'notifications/resources/updated', params: { uri: 'a:1' } })
  await bridge.saw('notifications/tools/list_changed')
  t.match(await bridge.saw('notifications/resources/updated'), { params: { uri: 'a:1' } })
  stream.send({ jsonrpc: '2.0', id: 0, method: 'roots/list' })
  await bridge.saw('roots/list')
  bridge.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } })
  t.match((await backend.saw('response')).message, { id: 0, result: { roots: [] } })
})

verifies(
  'bridge:session:stream',
  'a stream that ends is taken up again where it ended, after the time the server asks for',
  async (t) => {
    const backend = await startBackend(t)
    const streams: Got[] = []
    backend.on('GET', (got) => void streams.push(got))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    const first = (await backend.saw('GET')).stream()
    first.raw('retry: 10\n')
    first.send({ jsonrpc: '2.0', method: 'notifications/one' }, 'id: event-1\n')
    await bridge.saw('notifications/one')
    first.break()
    const second = await backend.saw('GET', ({ headers }) => headers['last-event-id'] === 'event-1')
    const again = second.stream()
    again.send({ jsonrpc: '2.0', method: 'notifications/two' })
    await bridge.saw('notifications/two')
    again.end()
    await backend.saw('GET', (got) => got !== second && got.headers['last-event-id'] === 'event-1')
    t.pass('and once more')
  },
)

for (const status of [400, 500])
  verifies(
    'bridge:session:stream',
    `an event that the server no longer has (${status}) is given up, the stream is not`,
    async (t) => {
      const backend = await startBackend(t)
      let streams = 0
      backend.on('GET', (got) => {
        if (got.headers['last-event-id'] !== undefined) return got.status(status, 'Invalid event ID format')
        streams += 1
        const stream = got.stream()
        stream.raw('retry: 10\n')
        stream.send({ jsonrpc: '2.0', method: `notifications/stream-${streams}` }, 'id: event-1\n')
        if (streams === 1) got.response.write('', () => stream.break())
      })
      const bridge = startBridge(t, { url: backend.url })
      await bridge.open()
      await bridge.saw('notifications/stream-2')
      await bridge.saw('notifications/tools/list_changed')
      t.same(
        backend.got.all.filter(({ method }) => method === 'GET').map((got) => got.headers['last-event-id']),
        [undefined, 'event-1', undefined],
      )
    },
  )

verifies(
  'bridge:session:stream',
  'a server that is busy is asked for the same event again, one that offers no stream any more is left alone',
  async (t) => {
    const backend = await startBackend(t)
    const asked = () => backend.got.all.filter(({ method }) => method === 'GET')
    const statuses = [503, 409]
    backend.on('GET', (got) => {
      if (asked().length > 1) return got.status(statuses.shift() ?? 405)
      const stream = got.stream()
      got.response.write('retry: 10\nid: event-1\ndata:\n\n', () => stream.break())
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await backend.got.first('five GETs', () => asked().length === 5)
    await bridge.call(1, 'ping')
    t.same(
      asked().map(({ headers }) => headers['last-event-id']),
      [undefined, 'event-1', 'event-1', 'event-1', undefined],
    )
  },
)

verifies('bridge:session:stream', 'a server without a stream is asked once', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await backend.saw('GET')
  await bridge.call(1, 'ping')
  t.equal(backend.methods().filter((method) => method === 'GET').length, 1)
})

verifies('bridge:session:stream', 'without a session there is no stream to ask for', async (t) => {
  const backend = await startBackend(t)
  backend.on('initialize', (got) => got.result(handshake))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call(1, 'ping')
  bridge.end()
  await bridge.exited
  t.same(backend.methods(), ['initialize', 'notifications/initialized', 'ping'], 'and none to delete')
})

verifies(
  'bridge:session:stream',
  'after a restart the stream itself finds the session gone, and the client hears of the change',
  async (t) => {
    const backend = await startBackend(t)
    let session = 'one'
    backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': session }))
    backend.on('GET', (got) => {
      if (got.headers['mcp-session-id'] !== session) got.status(404)
      else got.stream().raw('retry: 10\n\n')
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await backend.saw('GET')
    session = 'two'
    await backend.stop()
    await backend.start()
    await bridge.saw('notifications/tools/list_changed')
    await backend.saw('GET', ({ headers }) => headers['mcp-session-id'] === 'two')
    t.match(await bridge.call(1, 'ping'), { result: {} })
  },
)

verifies('bridge:session:stream', 'a second stream is refused by 409 without harm', async (t) => {
  const backend = await startBackend(t)
  backend.on('GET', (got) => got.status(409))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await backend.saw('GET')
  t.match(await bridge.call(1, 'ping'), { result: {} })
})

verifies(
  'bridge:session:stream',
  'after a break in a session that lives on, the client hears that the lists may have changed',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('GET', (got) => got.stream().raw('retry: 10\n\n'))
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    await backend.saw('GET')
    await bridge.call(1, 'ping')
    t.equal(bridge.lines.length, 2, 'nothing was said before')
    await backend.stop()
    await backend.start()
    await bridge.saw('notifications/tools/list_changed')
    t.equal(backend.methods().filter((method) => method === 'initialize').length, 1)
  },
)

verifies(
  'bridge:session:stream',
  'while the server is away, the first answer to a call takes the stream up again',
  async (t) => {
    const refused: Exchange = {
      sent: Promise.resolve(),
      done: Promise.reject(new Error('refused')),
      wasWritten: () => false,
      abort() {},
    }
    let tries = 0
    const upstream = {
      listen: () => {
        tries += 1
        return refused
      },
    } as unknown as Upstream
    const session = { mark: () => ({ id: 's1', version: '2025-11-25' }) } as Session
    const waits: { ms: number; answer: () => void }[] = []
    const listener = createListener({
      upstream,
      session: () => session,
      limit: 1000,
      onEvent() {},
      announce() {},
      awaitAnswer: (ms) => new Promise((answer) => void waits.push({ ms, answer })),
      random: () => 0,
      log() {},
    })
    listener.start()
    await new Promise(setImmediate)
    t.equal(tries, 1, 'it waits')
    waits[0]?.answer()
    await new Promise(setImmediate)
    t.equal(tries, 2)
    t.same(
      waits.map(({ ms }) => ms),
      [2000, 4000],
      'and would have come back by itself',
    )
    listener.stop()
  },
)
