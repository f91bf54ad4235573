import { performance } from 'node:perf_hooks'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { Delivery } from '../src/calls/delivery.ts'
import { Forwarder } from '../src/calls/forwarder.ts'
import { PendingCalls } from '../src/calls/pending-calls.ts'
import { EventParser } from '../src/http/sse.ts'
import type { Reader } from '../src/http/upstream.ts'
import type { ClientMessage } from '../src/stdio/message.ts'
import { type Got, startBackend, type Wire } from './backend.ts'
import { modern, startBridge } from './client.ts'

t.setTimeout(300_000)

const noLimit = Number.POSITIVE_INFINITY

/** Parses a stream that arrives in pieces of `pieceBytes`. */
function parse(text: string, { pieceBytes = 1, limit = noLimit } = {}) {
  const bytes = Buffer.from(text)
  const parser = new EventParser(limit)
  const events = []
  for (let at = 0; at < bytes.length; at += pieceBytes)
    for (const event of parser.push(bytes.subarray(at, at + pieceBytes))) events.push(event)
  return {
    parser,
    events: events.map(({ type, id, data, size }) => ({ type, id, data: data?.toString(), size })),
  }
}

const event = (data: string, { type = 'message', id = '' } = {}) => ({
  type,
  id,
  data,
  size: Buffer.byteLength(data),
})

verifies('bridge:sse:parse', async (t) => {
  const stream = [
    '\uFEFF: a comment',
    'id: 1',
    'retry: 250',
    'data: ',
    '',
    'event: message',
    'data: {"a":',
    'data:"é"}',
    'unknown: field',
    'data',
    '',
    'event: other',
    'id: 2',
    'data:  two spaces',
    '',
    'id',
    'data: x',
    '',
    'data: never completed',
  ]
  for (const end of ['\n', '\r', '\r\n'])
    for (const pieceBytes of [1, 2, 3, 7, 1000]) {
      const { events, parser } = parse(stream.join(end), { pieceBytes })
      t.same(
        events,
        [event('{"a":\n"é"}\n', { id: '1' }), event(' two spaces', { type: 'other', id: '2' }), event('x')],
        `${JSON.stringify(end)} in pieces of ${pieceBytes}`,
      )
      t.equal(parser.retryMs, 250)
      t.equal(parser.lastEventId, '')
    }
})

t.test('EventParser stores the id of an event without data and does not emit the event', async (t) => {
  const { events, parser } = parse('id: 7\ndata:\n\n')
  t.same(events, [])
  t.equal(parser.lastEventId, '7')
})

t.test('EventParser changes the last event id only when the event is complete', async (t) => {
  const { events, parser } = parse('id: 4\ndata: whole\n\nid: 5\ndata: {"par')
  t.same(events, [event('whole', { id: '4' })])
  t.equal(parser.lastEventId, '4', 'a resumed stream repeats the incomplete event')
  parser.push(Buffer.from('t": 1}\n\n'))
  t.equal(parser.lastEventId, '5')
})

t.test('EventParser ignores an id with NUL and a retry that is not a number', async (t) => {
  const { parser } = parse('id: a\nid: b\0\nretry: soon\n\n')
  t.equal(parser.lastEventId, 'a')
  t.equal(parser.retryMs, undefined)
})

t.test('EventParser counts data over the limit without storing it, and emits the next event', async (t) => {
  const { events } = parse(`data: ${'x'.repeat(500)}\n\ndata: short\n\n`, { pieceBytes: 50, limit: 100 })
  t.same(events, [{ type: 'message', id: '', data: undefined, size: 500 }, event('short')])
})

t.test('EventParser parses 200,000 events in one chunk', async (t) => {
  // The chunk has no carriage return. Searching for it from each line would read the chunk 400,000 times.
  const { events } = parse('data: 1\n\n'.repeat(200_000), { pieceBytes: 2_000_000 })
  t.equal(events.length, 200_000)
})

t.test('EventParser joins a data line of 10 MB that arrives in small chunks', async (t) => {
  const text = 'y'.repeat(10_000_000)
  const { events } = parse(`data: ${text}\r\n\r\n`, { pieceBytes: 4096 })
  t.equal(events[0]?.data, text)
})

const unreachable = { error: { data: { code: 'SERVER_UNREACHABLE' } } }

verifies('bridge:stream:resume', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => {
    const stream = got.stream()
    stream.raw('retry: 20\nid: one\ndata:\n\n')
    stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress: 1 } }, 'id: two\n')
    setImmediate(() => (got.message.params.cut ? stream.break() : stream.end()))
  })
  const answerLate = (got: Got) => {
    const from = got.headers['last-event-id']
    if (from === undefined) return got.status(405)
    const stream = got.stream()
    if (from === 'two') stream.raw('id: three\ndata:\n\n')
    else stream.send({ jsonrpc: '2.0', id: 1, result: { late: true } })
    stream.end()
  }
  for (const cut of [true, false]) {
    backend.on('GET', answerLate)
    // With configured credentials, the bridge does not check responses for a required login.
    const bridge = startBridge(t, {
      url: backend.url,
      args: cut ? [] : ['--header', 'Authorization: Bearer x'],
    })
    await bridge.open()
    t.match(await bridge.call(1, 'tools/call', { cut }), { result: { late: true } }, cut ? 'cut' : 'ended')
    t.match(await bridge.call(2, 'ping'), { result: {} }, 'the bridge is still running')
    t.equal(bridge.messages.all.filter(({ method }) => method === 'notifications/progress').length, 1)
  }
  const resumed = backend.got.all.filter(({ headers }) => headers['last-event-id'] !== undefined)
  t.same(
    resumed.map(({ headers }) => [headers['last-event-id'], headers['mcp-session-id']]),
    ['two', 'three', 'two', 'three'].map((id) => [id, 's1']),
  )
  const sent = backend.methods().filter((method) => method === 'tools/call')
  t.equal(sent.length, 2, 'the call itself was not sent again')
})

verifies('bridge:stream:resume', 'resumes a stream that broke within its last event', async (t) => {
  const backend = await startBackend(t)
  const answer = (id: unknown) => ({ jsonrpc: '2.0', id, result: { text: 'x'.repeat(1000) } })
  backend.on('tools/call', (got) => {
    const stream = got.stream()
    stream.raw('retry: 1\nid: one\ndata:\n\n')
    const text = JSON.stringify(answer(got.message.id))
    got.response.write(`id: two\ndata: ${text.slice(0, 500)}`, () => stream.break())
  })
  backend.on('GET', (got) => {
    const from = got.headers['last-event-id']
    if (from === undefined) return got.status(405)
    const stream = got.stream()
    if (from === 'one') stream.send(answer(1), 'id: two\n')
    // After the event of the response, there is nothing to send.
    stream.end()
  })
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '500'] })
  await bridge.open()
  t.same(await bridge.call(1, 'tools/call'), answer(1))
  t.equal(bridge.messages.all.filter(({ id }) => id === 1).length, 1)
})

verifies(
  'bridge:stream:resume',
  'retries if the server has not closed the broken stream (409)',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('tools/call', (got) => {
      const stream = got.stream()
      got.response.write('retry: 1\nid: one\ndata:\n\n', () => stream.break())
    })
    let refusals = 0
    backend.on('GET', (got) => {
      if (got.headers['last-event-id'] === undefined) return got.status(405)
      refusals += 1
      if (refusals < 3) return got.status(409, 'Conflict: Stream already has an active connection')
      got.stream().send({ jsonrpc: '2.0', id: 1, result: { late: true } })
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    t.match(await bridge.call(1, 'tools/call'), { result: { late: true } })
    t.equal(refusals, 3)
  },
)

verifies(
  'bridge:stream:resume',
  'honours Retry-After of a busy server, and gives up if it exceeds the budget',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('tools/call', (got) => {
      const stream = got.stream()
      got.response.write('retry: 1\nid: one\ndata:\n\n', () => stream.break())
    })
    const delays = ['0', '3']
    backend.on('GET', (got) => {
      if (got.headers['last-event-id'] === undefined) return got.status(405)
      got.status(503, 'busy', { 'retry-after': delays.shift() ?? '3' })
    })
    const bridge = startBridge(t, { url: backend.url, args: ['--wait', '2000'] })
    await bridge.open()
    t.match(await bridge.call(1, 'tools/call'), unreachable)
    const asked = backend.got.all.filter(({ headers }) => headers['last-event-id'] !== undefined)
    t.equal(asked.length, 2, 'three seconds are more than the call waits')
  },
)

verifies('bridge:stream:resume', 'waits for an unreachable server until the budget is spent', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => void got.stream().raw('id: one\ndata:\n\n'))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: {} })
  await backend.saw('tools/call')
  backend.on('GET', (got) => {
    if (got.headers['last-event-id'] !== undefined)
      got.stream().send({ jsonrpc: '2.0', id: 1, result: { back: true } })
    else got.status(405)
  })
  await backend.stop()
  await backend.start()
  t.match(await bridge.answer(1), { result: { back: true } })
})

verifies('bridge:stream:resume', 'reports an error if the server rejects the event id', async (t) => {
  const backend = await startBackend(t)
  const cut = (got: Got) => {
    const stream = got.stream()
    stream.raw('id: one\ndata:\n\n')
    setImmediate(() => stream.end())
  }
  backend.on('tools/call', cut)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  for (const [id, status] of [400, 404, 405].entries()) {
    backend.on('GET', (got) => got.status(status))
    t.match(await bridge.call(id, 'tools/call'), unreachable, `${status}`)
  }
  t.match(await bridge.call('m', 'tools/call', modern), unreachable, 'the stateless era resumes nothing')
  backend.on('GET', (got) => got.status(503))
  const impatient = startBridge(t, { url: backend.url, args: ['--wait', '100'] })
  await impatient.open()
  t.match(await impatient.call(1, 'tools/call'), unreachable, 'retries of a busy server end')
})

verifies('bridge:broken-stream', 'reports an error immediately if there is no event id', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => {
    const stream = got.stream()
    stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
    setImmediate(() => stream.break())
  })
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('warm', 'ping')
  const start = performance.now()
  t.match(await bridge.call(1, 'tools/call'), unreachable)
  t.ok(performance.now() - start < 10_000)
})

verifies('bridge:stream:promised', async (t) => {
  const backend = await startBackend(t)
  backend.on('GET', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  const stream = (await backend.saw('GET')).stream()
  backend.on('tools/call', (got) => {
    got.status(202)
    stream.send({ jsonrpc: '2.0', id: got.message.id, result: { on: 'the other stream' } })
  })
  t.match(await bridge.call(1, 'tools/call'), { result: { on: 'the other stream' } })
})

verifies('bridge:stream:promised', 'reports an error if the response after 202 never arrives', async (t) => {
  const written: Wire[] = []
  const calls = new PendingCalls()
  const log = () => {}
  const delivery = new Delivery({
    calls,
    write: (json) => void written.push(JSON.parse(json.toString())),
    maxMessageBytes: 1000,
    log,
  })
  const key = { id: 's1', version: '2025-11-25' }
  const forwarder = new Forwarder({
    upstream: {
      url: new URL('http://127.0.0.1/mcp'),
      send(_request: unknown, reader: Reader) {
        reader.head(202, {})
        return { done: Promise.resolve() }
      },
    },
    session: { key, isLost: () => false },
    retry: { now: () => 0 },
    identity: { call: () => ({}) },
    acceptedTimeoutMs: 1,
    delivery,
    log,
  } as unknown as ConstructorParameters<typeof Forwarder>[0])
  const message: ClientMessage = {
    bytes: Buffer.from(''),
    kind: 'request',
    id: 1,
    method: 'tools/call',
    params: {},
    claimedVersion: undefined,
  }
  // Keeps the process alive, because the timeout does not.
  const alive = setInterval(() => {}, 1000)
  await forwarder.forward(calls.open(message.bytes, [message]))
  clearInterval(alive)
  t.match(written, [
    { id: 1, error: { data: { code: 'SERVER_ANSWER_INVALID', data: { http_status: 202 } } } },
  ])
})
