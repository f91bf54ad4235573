import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { PendingCalls } from '../src/calls/pending-calls.ts'
import { Relay } from '../src/calls/relay.ts'
import { canResend, computeBackoff, getRetryAfterMs, isRepeatable, isTemporary } from '../src/calls/retry.ts'
import { type Backend, type Got, type Script, startBackend } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

const cancel = (requestId: unknown, more: object = {}) => ({
  jsonrpc: '2.0',
  method: 'notifications/cancelled',
  params: { requestId, ...more },
})

verifies(
  'bridge:relay:cancel',
  'sends a legacy call before its cancellation, and drops a late response',
  async (t) => {
    const backend = await startBackend(t)
    let slow: Got | undefined
    backend.on('slow', (got) => {
      slow = got
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 7, method: 'slow', params: { pad: 'x'.repeat(100_000) } }, cancel(7))
    const got = await backend.saw('notifications/cancelled')
    t.same(got.message.params, { requestId: 7 })
    t.equal(got.headers['mcp-session-id'], 's1')
    t.ok(backend.methods().indexOf('slow') < backend.methods().indexOf('notifications/cancelled'))
    slow?.result({ late: true })
    await slow?.closed
    await bridge.call(8, 'ping')
    t.notOk(bridge.messages.all.some(({ id }) => id === 7))
  },
)

verifies(
  'bridge:relay:cancel',
  'relays server messages on the stream of a cancelled legacy call',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 7, method: 'slow' })
    backend.on('slow', () => {})
    const stream = (await backend.saw('slow')).stream()
    bridge.send(cancel(7))
    await backend.saw('notifications/cancelled')
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: {} })
    await bridge.saw('notifications/message')
    t.pass('relayed')
  },
)

verifies(
  'bridge:relay:cancel',
  'cancels a stateless call by closing its stream and writes nothing more for it',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('slow', () => {})
    const bridge = startBridge(t, { url: backend.url })
    bridge.send({ jsonrpc: '2.0', id: 'm', method: 'slow', params: modern })
    const slow = await backend.saw('slow')
    const stream = slow.stream()
    const progress = (value: number) => ({
      jsonrpc: '2.0',
      method: 'notifications/progress',
      params: { value },
    })
    stream.send(progress(1))
    await bridge.saw('notifications/progress')
    bridge.send(cancel('m'))
    await slow.closed
    stream.send(progress(2))
    stream.send({ jsonrpc: '2.0', id: 'm', result: {} })
    await bridge.call('after', 'ping')
    t.same(
      bridge.messages.all.map(({ id, method }) => id ?? method),
      ['notifications/progress', 'after'],
    )
    t.notOk(backend.methods().includes('notifications/cancelled'))
  },
)

verifies('bridge:relay:cancel', 'ignores a cancellation whose id has the wrong type', async (t) => {
  const backend = await startBackend(t)
  backend.on('slow', () => {})
  const bridge = startBridge(t, { url: backend.url })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'slow', params: modern }, cancel('1', modern))
  const slow = await backend.saw('slow')
  await bridge.call('after', 'ping')
  slow.result({ done: true })
  t.match(await bridge.answer(1), { result: { done: true } })
})

verifies(
  'bridge:relay:cancel',
  'forwards the cancellation of an unknown id to a legacy server',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    bridge.send(cancel('unknown'), { jsonrpc: '2.0', method: 'notifications/cancelled' })
    await backend.saw('notifications/cancelled', ({ message }) => message.params?.requestId === 'unknown')
    t.match(await bridge.call(1, 'ping'), { result: {} })
  },
)

verifies(
  'bridge:relay:cancel',
  'closes the stream of a cancelled legacy call after a grace period',
  async (t) => {
    /** Cancels a call. Returns the events, to which later ones are added, and a promise for the end of the stream. */
    const cancelCall = async (cancelGraceMs: number) => {
      const calls = new PendingCalls()
      const events: string[] = []
      let abort = (): void => {}
      const closed = new Promise<void>((resolve) => {
        abort = () => {
          events.push('closed')
          resolve()
        }
      })
      const relay = new Relay({
        calls,
        forwarder: {
          forward: async () => void events.push('forwarded'),
          send: async () => void events.push('cancelled'),
        },
        session: { remember() {} },
        cancelGraceMs,
        log() {},
      } as unknown as ConstructorParameters<typeof Relay>[0])
      const receive = (message: object) =>
        relay.receive(Buffer.from(JSON.stringify({ jsonrpc: '2.0', ...message })))
      receive({ id: 7, method: 'slow' })
      const call = calls.find(7)
      if (call === undefined) throw new Error('the call is not pending')
      const whenWritten = async (): Promise<void> => {}
      call.exchange = { done: new Promise(() => {}), wasWritten: () => true, whenWritten, abort }
      receive(cancel(7))
      await call.settled
      return { events, closed }
    }
    const long = await cancelCall(3_600_000)
    await new Promise(setImmediate)
    t.same(long.events, ['forwarded', 'cancelled'], 'the stream is still read')
    // Keeps the process alive, because the timer of the grace period does not.
    const alive = setInterval(() => {}, 1000)
    const { events, closed } = await cancelCall(1)
    await closed
    clearInterval(alive)
    t.same(events, ['forwarded', 'cancelled', 'closed'])
  },
)

const unreachable = { error: { data: { code: 'SERVER_UNREACHABLE' } } }

const opening = { protocolVersion: '2025-03-26', capabilities: {} }

/** Opens a session of 2025-03-26, the only version with batches. */
async function openBatching(t: Test): Promise<{ backend: Backend; bridge: Client }> {
  const backend = await startBackend(t)
  backend.on('initialize', (got) => got.result(opening, { 'mcp-session-id': 'one' }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('opened', 'ping')
  return { backend, bridge }
}

/** Scripts the response to a batch. */
const onBatch = (backend: Backend, script: Script): void => backend.on('batch', script)

const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params })

const batchesIn = (backend: Backend): number =>
  backend.methods().filter((method) => method === 'batch').length

verifies('bridge:relay:batch', 'repeats a batch only if all of its messages are repeatable', async (t) => {
  const { backend, bridge } = await openBatching(t)
  const cutOnce: Script = (got) => {
    got.response.destroy()
    onBatch(backend, (again) =>
      again.json(again.message.map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: {} }))),
    )
  }
  onBatch(backend, cutOnce)
  bridge.send([request(1, 'tools/list'), request(2, 'tools/call', { name: 'delete' })])
  for (const id of [1, 2]) t.match(await bridge.answer(id), unreachable)
  t.equal(batchesIn(backend), 1)

  onBatch(backend, cutOnce)
  bridge.send([request(3, 'tools/list'), { jsonrpc: '2.0', method: 'notifications/x' }])
  t.match(await bridge.answer(3), unreachable)
  t.equal(batchesIn(backend), 2)

  onBatch(backend, cutOnce)
  bridge.send([request(4, 'tools/list'), request(5, 'ping')])
  t.match(await bridge.messages.first('the answers', Array.isArray), [{ id: 4 }, { id: 5 }])
  t.equal(batchesIn(backend), 4)
})

verifies(
  'bridge:relay:batch',
  'removes responses without a pending request from a batch and forwards the bytes of the others',
  async (t) => {
    const { backend, bridge } = await openBatching(t)
    const held = new Promise<Got>((resolve) => onBatch(backend, resolve))
    bridge.send([request(1, 'tools/call'), request(2, 'tools/call'), request(3, 'tools/call')])
    const got = await held
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } })
    await backend.saw('notifications/cancelled')
    const second = '{"jsonrpc":"2.0", "id":2, "result":{"n":1.0,"text":"],[\\""}}'
    const third = '{"jsonrpc":"2.0","id":3,"error":{"code":1,"message":"no"}}'
    const notice = '{"jsonrpc":"2.0","method":"notifications/message","params":{}}'
    const answers = ['{"jsonrpc":"2.0","id":1,"result":{}}', second, notice, third, third]
    got.status(200, ` [${answers.join(' ,\n')}]\n`, { 'content-type': 'application/json' })
    await bridge.messages.first('the answers', Array.isArray)
    t.equal(bridge.lines.at(-1), `[${second},${notice},${third}]`)

    onBatch(backend, (again) => again.status(200, '[]', { 'content-type': 'application/json' }))
    bridge.send([request(4, 'tools/call'), request(5, 'tools/list')])
    for (const id of [4, 5]) t.match(await bridge.answer(id), { error: {} }, 'and each id gets one')
  },
)

verifies(
  'bridge:relay:batch',
  'repeats the settings of a batch in a new session, and reads the results of a batch',
  async (t) => {
    const { backend, bridge } = await openBatching(t)
    const tools = [{ name: 'look', annotations: { readOnlyHint: true } }]
    onBatch(backend, (got) =>
      got.json(got.message.map(({ id }: { id: number }) => ({ jsonrpc: '2.0', id, result: { tools } }))),
    )
    bridge.send([request(1, 'logging/setLevel', { level: 'debug' }), request(2, 'tools/list')])
    await bridge.messages.first('the answers', Array.isArray)

    backend.on('tools/call', (got) => {
      got.response.destroy()
      backend.on('tools/call', (again) => again.status(404))
    })
    backend.on('initialize', (got) => {
      backend.on('tools/call', (call) => call.result({ again: true }))
      got.result(opening, { 'mcp-session-id': 'two' })
    })
    t.match(await bridge.call(3, 'tools/call', { name: 'look' }), { result: { again: true } })
    const level = await backend.saw('logging/setLevel')
    t.equal(level.headers['mcp-session-id'], 'two')
  },
)

verifies('bridge:relay:batch', 'splits a batch that cancels a call', async (t) => {
  const { backend, bridge } = await openBatching(t)
  backend.on('slow', () => {})
  bridge.send(request(1, 'slow'))
  const slow = await backend.saw('slow')
  bridge.send([
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    request(2, 'ping'),
  ])
  await backend.saw('notifications/cancelled')
  t.match(await bridge.answer(2), { result: { echo: 'ping' } })
  slow.result({ late: true })
  await slow.closed
  await bridge.call(3, 'ping')
  t.notOk(bridge.messages.all.some(({ id }) => id === 1))
  t.equal(batchesIn(backend), 0)
})

verifies(
  'bridge:relay:batch',
  'replaces a batch response over the limit with an error for each request',
  async (t) => {
    const { backend, bridge } = await openBatching(t)
    bridge.end()
    const short = startBridge(t, { url: backend.url, args: ['--max-line', '1500'] })
    await short.open()
    await short.call('opened', 'ping')
    onBatch(backend, (got) => got.json([{ jsonrpc: '2.0', id: 1, result: { text: 'x'.repeat(2000) } }]))
    short.send([request(1, 'tools/list'), request(2, 'tools/call')])
    t.match(await short.answer(1), { error: { data: { code: 'ANSWER_TOO_LARGE' } } })
    t.match(await short.answer(2), { result: { isError: true } })
  },
)

const stale = { code: 'UND_ERR_SOCKET' }
const refused = { code: 'ECONNREFUSED' }

t.test('canResend allows an unsafe call only if nothing was written', async (t) => {
  t.notOk(canResend(stale, { isSafe: false, wasWritten: true, hasResponse: false }))
  t.ok(canResend(stale, { isSafe: false, wasWritten: false, hasResponse: false }))
  t.ok(canResend(refused, { isSafe: false, wasWritten: false, hasResponse: false }))
})

t.test(
  'canResend allows a safe call after a lost connection, but not after the response has started',
  async (t) => {
    t.ok(canResend(stale, { isSafe: true, wasWritten: true, hasResponse: false }))
    t.notOk(canResend(stale, { isSafe: true, wasWritten: true, hasResponse: true }))
    const certificate = { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' }
    t.notOk(
      canResend(certificate, { isSafe: true, wasWritten: false, hasResponse: false }),
      'not after a permanent error',
    )
  },
)

t.test('isRepeatable accepts reads and subscriptions, but not tool calls and unknown methods', async (t) => {
  for (const method of ['initialize', 'ping', 'tools/list', 'resources/read', 'completion/complete'])
    t.ok(isRepeatable(method), method)
  for (const method of ['tools/call', 'tasks/update', 'made/up']) t.notOk(isRepeatable(method), method)
})

t.test('isTemporary accepts busy and unavailable servers unless they request a long delay', async (t) => {
  const reply = (status: number, retryAfter?: string) => ({
    status,
    headers: retryAfter === undefined ? {} : { 'retry-after': retryAfter },
  })
  for (const status of [408, 502, 503, 504]) t.ok(isTemporary(reply(status)), `${status}`)
  for (const status of [200, 400, 401, 404, 429, 500]) t.notOk(isTemporary(reply(status)), `${status}`)
  t.ok(isTemporary(reply(429, '5')))
  t.notOk(isTemporary(reply(429, '6')))
  t.notOk(isTemporary(reply(503, '60')))
  t.equal(getRetryAfterMs(reply(503, '3')), 3000)
})

t.test('getRetryAfterMs reads seconds, or a date relative to the Date header of the server', async (t) => {
  const parse = (retryAfter: string, date?: string) =>
    getRetryAfterMs({ headers: { 'retry-after': retryAfter, ...(date === undefined ? {} : { date }) } }, () =>
      Date.parse('2026-01-01T00:00:00Z'),
    )
  t.equal(parse('3'), 3000)
  t.equal(parse('Thu, 01 Jan 2026 00:00:04 GMT'), 4000)
  t.equal(
    parse('Sat, 02 Jan 1999 10:00:05 GMT', 'Sat, 02 Jan 1999 10:00:00 GMT'),
    5000,
    'regardless of the local clock',
  )
  t.equal(parse('Fri, 31 Dec 1999 23:59:59 GMT'), 0, 'a date that has passed')
  for (const odd of ['soon', '-1', '1.5', '2026-01-01T00:00:04Z', 'Thu, 99 Abc 2026 00:00:04 GMT'])
    t.equal(parse(odd), undefined, odd)
  t.ok(isTemporary({ status: 503, headers: { 'retry-after': 'Fri, 31 Dec 1999 23:59:59 GMT' } }))
})

t.test('computeBackoff doubles from the base to 30 s and is never less than the base', async (t) => {
  const none = () => 0
  t.same(
    [0, 1, 2, 5, 50].map((attempt) => computeBackoff(attempt, none)),
    [1000, 2000, 4000, 30_000, 30_000],
  )
  t.equal(
    computeBackoff(0, () => 0.5),
    1125,
  )
  t.equal(computeBackoff(0, none, 60_000), 60_000)
  t.equal(computeBackoff(3, none, 10), 80)
})
