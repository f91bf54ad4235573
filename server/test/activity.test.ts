import t from 'tap'
import replay from '../../packages/app-replay/src/index.ts'
import { verifies } from '../../test/verifies.ts'
import { CallActivity } from '../src/activity/call-activity.ts'
import { CallCapture } from '../src/activity/call-capture.ts'
import { EventFeed } from '../src/activity/event-feed.ts'
import type { AuditEntry } from '../src/audit/audit-entry.ts'
import { parseUserAgent } from '../src/http/exchange.ts'
import { LogTail } from '../src/log/log-tail.ts'
import { HealthHistory } from '../src/monitoring/health-history.ts'
import { both, type EventStream, openWire, toolCall } from './http/open-wire.ts'

const routes = '/api/apps/causeway'
const get = (path: string) => ({ method: 'GET', path: `${routes}${path}` }) as const
const recordings = new URL('../../fixtures/recordings', import.meta.url).pathname

const entry: AuditEntry = {
  at_ms: 1000,
  app: 'Demo',
  service: 'demo',
  tool: 'echo',
  channel: 'mcp',
  client: 'probe',
  client_version: '1',
  session: 'a',
  request_id: 'r',
  trace_id: null,
  ms: 1,
  code: 'ok',
  request_bytes: null,
  answer_chars: null,
  subject: null,
  facts: null,
}

/** Returns the data of the next batch with events. A stream starts with an empty batch. */
async function nextBatch({ events }: EventStream): Promise<string> {
  for await (const { data } of events) if (!data.includes('"events":[]')) return data
  throw new Error('the stream ended')
}

t.test('a feed returns the events after a position and counts those that it no longer stores', async (t) => {
  const feed = new EventFeed<number>(3)
  t.same(feed.readAfter(0), { events: [], missed: 0, position: 0 })
  for (const event of [1, 2, 3, 4, 5]) feed.publish(event)
  t.same(feed.readAfter(0), { events: [3, 4, 5], missed: 2, position: 5 })
  t.same(feed.readAfter(4), { events: [5], missed: 0, position: 5 })
  t.same(feed.readAfter(5), { events: [], missed: 0, position: 5 })
  t.equal(feed.parseId(null), 5, 'without an id, only new events are sent')
  for (const id of ['other.4', 'x', '.', '9']) t.equal(feed.parseId(id), 0, `${id} is of another run`)
})

t.test('a feed with many events returns exactly the latest ones', async (t) => {
  const feed = new EventFeed<string>(120)
  const texts = Array.from({ length: 333 }, (_, at) => `\u00fc "${at}"\n`)
  for (const text of texts) feed.publish(text)
  for (const position of [0, 213, 214, 249, 250, 251, 299, 300, 332, 333]) {
    const first = Math.max(position, 213)
    t.same(
      feed.readAfter(position),
      { events: texts.slice(first), missed: first - position, position: 333 },
      `after ${position}`,
    )
  }
})

t.test(
  'sessions are listed by their last call, and the least recently used session is evicted',
  async (t) => {
    const activity = new CallActivity()
    const call = (session: string) => activity.add({ entry: { ...entry, session }, view: undefined })
    for (const session of ['a', 'b', 'c', 'a']) call(session)
    t.same(
      activity.sessions.map(({ session, calls }) => [session, calls]),
      [
        ['a', 2],
        ['c', 1],
        ['b', 1],
      ],
    )
    for (let at = 0; at < 198; at += 1) call(`other ${at}`)
    t.equal(activity.sessions.length, 200)
    t.same(
      activity.sessions.slice(-2).map(({ session }) => session),
      ['a', 'c'],
    )
  },
)

t.test('parseUserAgent returns name and version, with defaults for missing ones', async (t) => {
  t.same(parseUserAgent('node'), { name: 'node', version: '0' })
  t.same(parseUserAgent('curl/8.5.0 (x86)'), { name: 'curl', version: '8.5.0' })
  t.same(parseUserAgent(undefined), { name: 'unknown', version: '0' })
})

verifies('console:traffic:events', async (t) => {
  const wire = await openWire(t)
  const stream = await wire.events(undefined, get('/calls/events'))
  t.match(stream.headers, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const secret = 'secret-argument'
  await wire.send(toolCall('Demo__echo', { text: secret }), { headers: { 'user-agent': 'probe/2' } })
  const batch = await nextBatch(stream)
  t.match(JSON.parse(batch), {
    missed: 0,
    events: [{ toolName: 'echo', success: true, metadata: { app: 'Demo', client: 'probe', channel: 'mcp' } }],
  })
  t.notMatch(batch, secret, 'arguments and results are not sent')
  stream.hangUp()
  await wire.send(toolCall('Demo__count'))
  const id = stream.ids.at(-1) ?? ''
  const headers = { 'last-event-id': id }
  const resumed = await wire.events(undefined, { ...get('/calls/events'), headers })
  t.match(JSON.parse(await nextBatch(resumed)), { missed: 0, events: [{ toolName: 'count' }] })
  resumed.hangUp()
})

verifies('console:traffic:errors', async (t) => {
  const wire = await openWire(t)
  for (const text of [1, 2, 3]) await wire.send(toolCall('Demo__echo', { text }))
  await wire.send(toolCall('Demo__echo', { text: 'x' }))
  const { json } = await wire.send(undefined, get('/calls/errors'))
  t.match(json, {
    groups: [{ code: 'INVALID_ARGUMENTS', app: 'Demo', tool: 'echo', count: 3, clients: 1 }],
    examined: 3,
    is_complete: true,
  })
  const call = await wire.send(undefined, get(`/audit?request_id=${json.groups[0].request_id}`))
  t.match(call.json.entries, [{ error: { code: 'INVALID_ARGUMENTS' } }], 'the group names a call')
  t.same((await wire.send(undefined, get('/calls/errors?tool=count'))).json.groups, [])
})

verifies('console:sessions', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const headers = { ...both, 'mcp-session-id': id }
  await wire.send(toolCall('Demo__count'), { headers })
  const { json, text } = await wire.send(undefined, get('/sessions'))
  t.match(json.open, [{ client: 'raw', client_version: '1', protocol_version: '2025-11-25', mount: '/mcp' }])
  const { session } = json.open[0]
  t.match(json.sessions, [{ session, client: 'raw', calls: 1, errors: 0, last_tool: 'Demo__count' }])
  t.notMatch(text, id, 'the id of a session is a secret')
  const end = { method: 'DELETE', path: `${routes}/sessions/${session}` } as const
  t.equal((await wire.send(undefined, end)).status, 204)
  t.match(await wire.send(undefined, end), { status: 404, json: { code: 'SESSION_NOT_FOUND' } })
  t.equal((await wire.send(toolCall('Demo__count'), { headers })).status, 404, 'it has ended for good')
})

verifies('console:capture', 'a capture can be started and read over HTTP', async (t) => {
  const wire = await openWire(t)
  const session = { ...both, 'mcp-session-id': await wire.initialize() }
  /** Calls the tool `echo` and returns the path of the captured call. */
  const call = async (text: unknown, headers: Record<string, string>) => {
    const answer = await wire.send(toolCall('Demo__echo', { text }), { headers })
    return get(`/capture/calls/${answer.headers['causeway-request']}`)
  }
  const read = async (path: Awaited<ReturnType<typeof call>>) => (await wire.send(undefined, path)).json.call
  const before = await call('before', session)
  const { json } = await wire.send(undefined, get('/sessions'))
  const name = json.open[0].session
  const start = (name: string) =>
    wire.send(undefined, { method: 'POST', path: `${routes}/sessions/${name}/capture` })
  t.match(await start('unknown'), { status: 404, json: { code: 'SESSION_NOT_FOUND' } })
  const readHealth = async () => (await wire.send(undefined, { method: 'GET', path: '/health' })).json
  t.notOk('capture' in (await readHealth()))
  t.match((await start(name)).json, { capture: { session: name, calls: 0, until_ms: Number } })

  const kept = await call('<secret>', session)
  const failed = await call(1, session)
  const other = await call('of another client', { 'user-agent': 'other/1' })
  t.match(await read(kept), {
    arguments: { chars: 19, value: { text: '<secret>' } },
    answer: { value: { structuredContent: { text: '<secret>' } } },
  })
  t.match(await read(failed), {
    arguments: { value: { text: 1 } },
    answer: { value: { code: 'INVALID_ARGUMENTS', remedy: String } },
  })
  t.equal(await read(before), null)
  t.equal(await read(other), null)
  t.match((await readHealth()).capture, { session: name, calls: 2 })
  t.notMatch(JSON.stringify(wire.logged.lines), /secret/)

  const stop = { method: 'DELETE', path: `${routes}/capture` } as const
  t.equal((await wire.send(undefined, stop)).status, 204)
  t.notOk('capture' in (await readHealth()))
  t.equal(await read(kept), null, 'it is deleted')
  t.equal(await read(await call('after', session)), null)
})

verifies('console:capture', 'a capture is limited in calls, length and time', async (t) => {
  let now = 1000
  const capture = new CallCapture(() => now)
  t.teardown(() => capture.stop())
  const add = (id: number, args: unknown = {}, session = 'a') =>
    capture.add({ session, request_id: `r${id}`, answer_chars: 6 }, args, 'answer')
  add(0)
  t.equal(capture.state, null)
  capture.start('a')
  for (let id = 1; id <= 101; id++) add(id)
  t.same(capture.state, { session: 'a', until_ms: 601_000, calls: 100 })
  t.equal(capture.find('r1'), undefined, 'the oldest is replaced')
  t.same(capture.find('r2'), { arguments: { chars: 2, json: '{}' }, answer: { chars: 8, json: '"answer"' } })
  add(102, 'x'.repeat(100_000))
  t.same(capture.find('r102')?.arguments, { chars: 100_002 })
  const unread = { toJSON: () => t.fail('a long answer is not converted') }
  capture.add({ session: 'a', request_id: 'long', answer_chars: 100_001 }, {}, unread)
  t.same(capture.find('long')?.answer, { chars: 100_001 })
  capture.start('b')
  t.same(capture.state, { session: 'b', until_ms: 601_000, calls: 0 })
  t.equal(capture.find('r102'), undefined, 'a new capture starts empty')
  add(103, {}, 'b')
  now = 601_000
  t.equal(capture.find('r103'), undefined)
  t.equal(capture.state, null)
  add(104, {}, 'b')
  t.equal(capture.state, null)
})

verifies('console:health:figures', async (t) => {
  const totals = { calls: 0, errors: 0 }
  const history = new HealthHistory({
    now: () => 1000,
    readMemoryBytes: () => 7,
    readTotals: () => ({ ...totals }),
    intervalMs: 2 ** 30,
  })
  t.teardown(() => history.close())
  for (const delay of [3, 40, 5]) history.recordDelay(delay)
  totals.calls = 12
  totals.errors = 2
  history.sample()
  history.sample()
  t.match(history.samples, [
    { at_ms: 1000, delay_ms: 40, memory_bytes: 7, calls: 12, errors: 2 },
    { delay_ms: 0, calls: 0, errors: 0 },
  ])
  for (let count = 0; count < 300; count++) history.sample()
  t.equal(history.samples.length, 180, 'it covers 15 minutes')
  const wire = await openWire(t)
  const stream = await wire.events(undefined, get('/calls/events'))
  const { json } = await wire.send(undefined, get('/figures'))
  t.same(json.streams, { calls: 1, logs: 0 })
  stream.hangUp()
  while ((await wire.send(undefined, get('/figures'))).json.streams.calls > 0)
    await new Promise((resolve) => setImmediate(resolve))
  const store = json.stores.find(({ path }: { path: string }) => path === 'server.db')
  t.ok(store.size_bytes > 0)
  t.notMatch(JSON.stringify(json), t.testdirName, 'paths are relative to the data folder')
})

verifies('console:logs', async (t) => {
  const folder = '/data/of "the" test'
  const tail = new LogTail(folder)
  const write = (level: number, msg: string, more = {}) =>
    tail.write(`${JSON.stringify({ level, time: 1, ...more, msg })}\n`)
  write(30, 'ready', { data_dir: folder })
  write(40, `cannot read ${folder}/x`)
  write(50, 'FAILED call', { request_id: 'r1', err: { message: 'm', stack: 'Error: m\n    at x' } })
  write(50, 'long', { err: { stack: 'x'.repeat(20_000) } })
  const messages = (level: number, text: string) => tail.find({ level, text }, 10).map(({ msg }) => msg)
  t.same(messages(40, ''), ['cannot read <data folder>/x', 'FAILED call', 'long'])
  t.same(messages(10, 'failed'), ['FAILED call'])
  t.notMatch(JSON.stringify(tail.find({ level: 10, text: '' }, 10)), folder)
  t.same(tail.find({ level: 50, text: 'failed' }, 1)[0]?.err, { message: 'm' }, 'without the stack')
  t.same(
    tail.find({ level: 50, text: '' }, 1).map(({ msg, is_cut }) => ({ msg, is_cut })),
    [{ msg: 'long', is_cut: true }],
    'the newest lines within the limit; long ones are cut',
  )
})

verifies('console:viewer-url', async (t) => {
  const env = { CAUSEWAY_RECORDING_ROOTS: recordings }
  const wire = await openWire(t, { apps: [replay], env, aliases: [{ app: 'replay', port: 0 }] })
  const args = { recording: 'slide_at_45', frame_id: 45 }
  const call = async (name: string, given: object, sending = {}) =>
    (await wire.send(toolCall(name, given), sending)).json.result
  const result = await call('Replay__explain_frame', args)
  const expected = `${wire.http.url}/replay/slide_at_45#frame=45&pair=1-2147483650`
  t.equal(result.structuredContent.viewer_url, expected)
  t.same(JSON.parse(result.content[0].text), result.structuredContent, 'the text has it too')
  const unknown = await call('Replay__get_frame', { ...args, recording: 'a\ud83d' })
  t.match(JSON.stringify(unknown._meta), /RECORDING_NOT_FOUND/, 'an id that no URL can contain')
  const frame = await call('Replay__get_body_state', { ...args, body_id: 1 })
  t.match(frame.structuredContent.viewer_url, /#frame=45&body=1$/)
  const host = `localhost:${wire.http.port}`
  const named = await call('Replay__get_metadata', { recording: 'drop' }, { headers: { host } })
  t.equal(named.structuredContent.viewer_url, `http://${host}/replay/drop`, 'built from the Host header')
  const [alias] = wire.http.aliases
  const own = await fetch(`http://127.0.0.1:${alias?.port}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-forwarded-host': 'evil.example' },
    body: JSON.stringify(toolCall('get_metadata', { recording: 'drop' })),
  })
  const answer = (await own.json()) as { result: { structuredContent: { viewer_url: string } } }
  t.equal(
    answer.result.structuredContent.viewer_url,
    `${wire.http.url}/replay/drop`,
    'the port of the console',
  )
})

verifies('console:viewer-url', 'a configured URL replaces the address of the request', async (t) => {
  const env = { CAUSEWAY_RECORDING_ROOTS: recordings }
  const wire = await openWire(t, { apps: [replay], env, publicUrl: 'https://causeway.example/' })
  const { json } = await wire.send(toolCall('Replay__get_metadata', { recording: 'drop' }))
  t.equal(json.result.structuredContent.viewer_url, 'https://causeway.example/replay/drop')
})
