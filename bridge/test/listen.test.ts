import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import type { Delivery } from '../src/calls/delivery.ts'
import type { RetryOptions } from '../src/calls/retry-budget.ts'
import { ServerRequests } from '../src/calls/server-requests.ts'
import { explainUnreachable } from '../src/doctor/connection-errors.ts'
import { sendRequest } from '../src/http/send-request.ts'
import type { Exchange, Reader, Upstream } from '../src/http/upstream.ts'
import { GetStream } from '../src/session/get-stream.ts'
import { readEnvelope, replaceId } from '../src/stdio/envelope.ts'
import { type Got, handshake, type Stream, startBackend, type Wire } from './backend.ts'
import { type Client, startBridge } from './client.ts'

t.setTimeout(300_000)

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
  'resumes a stream after its last event, with the delay that the server requested',
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
    `reconnects without an event id if the server has discarded the event (${status})`,
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
  'resends Last-Event-ID while the server is busy, and stops if the server no longer offers a stream',
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

verifies('bridge:session:stream', 'requests the stream only once if the server has none', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await backend.saw('GET')
  await bridge.call(1, 'ping')
  t.equal(backend.methods().filter((method) => method === 'GET').length, 1)
})

verifies('bridge:session:stream', 'requests no stream without a session', async (t) => {
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
  'detects a lost session on the stream and notifies the client',
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

verifies('bridge:session:stream', 'continues if the server rejects a second stream with 409', async (t) => {
  const backend = await startBackend(t)
  backend.on('GET', (got) => got.status(409))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await backend.saw('GET')
  t.match(await bridge.call(1, 'ping'), { result: {} })
})

verifies(
  'bridge:session:stream',
  'sends list_changed when a broken stream of a session is reopened',
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
  'reconnects when a call gets the first response of a server that was unreachable',
  async (t) => {
    const refused: Exchange = {
      done: Promise.reject(new Error('refused')),
      wasWritten: () => false,
      whenWritten: async () => {},
      abort() {},
    }
    let tries = 0
    const upstream = {
      send: () => {
        tries += 1
        return refused
      },
    } as unknown as Upstream
    const waits: { ms: number; answer: () => void }[] = []
    const stream = new GetStream({
      upstream,
      key: { id: 's1', version: '2025-11-25' },
      retry: {
        monitor: {
          waitForResponse: (ms: number) =>
            new Promise((resolve) => void waits.push({ ms, answer: () => resolve(true) })),
        },
        random: () => 0,
      } as unknown as RetryOptions,
      delivery: {} as Delivery,
      onMissed() {},
      isLost: () => false,
      renew: async () => {},
      log() {},
    })
    await new Promise(setImmediate)
    t.equal(tries, 1, 'it waits')
    waits[0]?.answer()
    await new Promise(setImmediate)
    t.equal(tries, 2)
    t.same(
      waits.map(({ ms }) => ms),
      [2000, 4000],
      'backoff limits each wait',
    )
    stream.close()
  },
)

const question = (id: string | number, method = 'roots/list') => ({ jsonrpc: '2.0', id, method })

/** Opens a bridge whose server sends a request with id 0 in two sessions. `begin` opens the second one. */
async function askedTwice(t: Test, begin: (bridge: Client) => Promise<unknown>) {
  const backend = await startBackend(t)
  let session = 'one'
  backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': session }))
  backend.on('tools/list', (got) =>
    got.headers['mcp-session-id'] === session ? got.result({ tools: [] }) : got.status(404),
  )
  const openStream = async (name: string): Promise<Stream> =>
    (await backend.saw('GET', ({ headers }) => headers['mcp-session-id'] === name)).stream()
  backend.on('GET', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  const first = await openStream('one')
  first.send(question(0))
  await bridge.saw('roots/list')
  session = 'two'
  await begin(bridge)
  const second = await openStream('two')
  second.send(question(0, 'elicitation/create'))
  const shown = await bridge.saw('elicitation/create')
  const answers = () => backend.got.all.filter(({ message }) => message !== undefined && 'result' in message)
  return { backend, bridge, second, shown, answers }
}

/** Makes a call that the server rejects, because its session is lost. */
const findLost = (bridge: Client) => bridge.call(1, 'tools/list')

verifies(
  'bridge:session:restart',
  'cancels the requests of a lost session and drops their responses',
  async (t) => {
    const { backend, bridge, shown, answers } = await askedTwice(t, findLost)
    t.match(await bridge.saw('notifications/cancelled'), { params: { requestId: 0 } })
    t.not(shown.id, 0)
    bridge.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } })
    bridge.send({ jsonrpc: '2.0', id: shown.id, result: { action: 'accept' } })
    t.match((await backend.saw('response')).message, { id: 0, result: { action: 'accept' } })
    await bridge.call(2, 'tools/list')
    t.equal(answers().length, 1, 'the first answer is dropped')
  },
)

verifies(
  'bridge:session:restart',
  'drops the response to a server request after the client has opened another session',
  async (t) => {
    const { backend, bridge, shown, answers } = await askedTwice(t, (bridge) => bridge.open())
    bridge.send({ jsonrpc: '2.0', id: 0, result: { roots: [] } })
    bridge.send({ jsonrpc: '2.0', id: shown.id, result: { action: 'accept' } })
    t.match((await backend.saw('response')).message, { id: 0, result: { action: 'accept' } })
    await bridge.call(2, 'tools/list')
    t.equal(answers().length, 1)
    t.notOk(bridge.messages.all.some(({ method }) => method === 'notifications/cancelled'))
  },
)

verifies('bridge:session:restart', 'cancels a renamed server request by its new id', async (t) => {
  const { bridge, second, shown } = await askedTwice(t, findLost)
  second.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 0, reason: 'late' } })
  const notice = await bridge.messages.first(
    'the second cancellation',
    ({ method, params }) => method === 'notifications/cancelled' && params.reason === 'late',
  )
  t.equal(notice.params.requestId, shown.id)
})

t.test('ServerRequests uses the same id for a request that a resumed stream repeats', async (t) => {
  const questions = new ServerRequests()
  const bytes = Buffer.from(JSON.stringify(question('a')))
  const envelope = readEnvelope(bytes)
  if (envelope === undefined) return t.fail('it is a message')
  t.equal(questions.toClient(bytes, envelope), bytes)
  t.equal(questions.toClient(bytes, envelope), bytes)
  t.same(
    questions.cancelAll().map((notice) => JSON.parse(notice.toString()).params.requestId),
    ['a'],
  )
  const renamed = questions.toClient(bytes, envelope)
  t.same(questions.toClient(bytes, envelope), renamed)
  t.same(JSON.parse(renamed.toString()), { ...question('a'), id: 'causeway-question-1' })
})

t.test('ServerRequests replaces the id of a cancellation with deeply nested params', async (t) => {
  const questions = new ServerRequests()
  const toClient = (text: string): Wire => {
    const bytes = Buffer.from(text)
    const envelope = readEnvelope(bytes)
    if (envelope === undefined) throw new Error('not a message')
    return JSON.parse(questions.toClient(bytes, envelope).toString())
  }
  toClient(JSON.stringify(question(0)))
  questions.cancelAll()
  const { id } = toClient(JSON.stringify(question(0)))
  const takeBack = (more: string): string =>
    `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":0,${more}}}`
  const deep = `${'['.repeat(20_000)}${']'.repeat(20_000)}`
  t.same(toClient(takeBack(`"reason":"late","_meta":{"x":${deep}}`)).params, {
    requestId: id,
    reason: 'late',
  })
  t.same(toClient(takeBack(`"reason":${deep}`)).params, { requestId: id })
})

t.test('replaceId keeps all bytes except the id', async (t) => {
  const withNine = (text: string) => replaceId(Buffer.from(text), 9).toString()
  t.equal(withNine(' { "id" : "a\\"}" , "result": 1e2 }'), ' { "id" : 9 , "result": 1e2 }')
  t.equal(withNine('{"error":{"id":1}}'), '{"id":9,"error":{"id":1}}')
  t.equal(withNine('[{"id":1}]'), '[{"id":1}]')
  t.equal(withNine('{"id":1,"id":2}'), '{"id":1,"id":9}', 'the last id is replaced')
})

/** Creates a server whose scripted response never ends. */
function openEnded(answer: (reader: Reader) => void) {
  let aborts = 0
  const exchange: Exchange = {
    done: new Promise(() => {}),
    wasWritten: () => true,
    whenWritten: async () => {},
    abort() {
      aborts += 1
    },
  }
  const upstream = {
    url: new URL('http://127.0.0.1/mcp'),
    send(_request: unknown, reader: Reader) {
      answer(reader)
      return exchange
    },
  } as unknown as Upstream
  return { upstream, aborts: () => aborts }
}

verifies(
  'bridge:session:restart',
  'sendRequest rejects if no response arrives within the timeout',
  async (t) => {
    for (const head of [false, true]) {
      const { upstream, aborts } = openEnded((reader) => {
        if (head) reader.head(200, { 'content-type': 'text/event-stream' })
      })
      const error = await sendRequest(upstream, { method: 'POST', fields: {} }, 1).catch(
        (error: unknown) => error,
      )
      t.match(error, { code: 'SERVER_UNREACHABLE' })
      t.match(explainUnreachable(error, undefined, {}), { text: 'no response in time (TimeoutError)' })
      t.equal(aborts(), 1)
    }
  },
)

t.test('sendRequest returns the first response of a stream and closes the stream', async (t) => {
  const { upstream, aborts } = openEnded((reader) => {
    reader.head(200, { 'content-type': 'text/event-stream' })
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","method":"notifications/message"}\n\n'))
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","id":1,"result":{"n":1}}\n\n'))
    reader.data(Buffer.from('data: {"jsonrpc":"2.0","id":2,"result":{"n":2}}\n\n'))
  })
  const { reply, response } = await sendRequest(upstream, { method: 'POST', fields: {} })
  t.match(reply, { status: 200, type: 'events' })
  t.match(response, { id: 1, result: { n: 1 } })
  t.equal(aborts(), 1)
})
