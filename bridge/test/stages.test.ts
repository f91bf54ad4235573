import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMetaKey, type Id } from '@causeway/protocol'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { PendingCalls } from '../src/calls/pending-calls.ts'
import { Stats } from '../src/calls/stats.ts'
import { staleMetaKey } from '../src/stages/offline-list.ts'
import type { ClientMessage } from '../src/stdio/message.ts'
import { type Backend, startBackend, type Wire } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

const events = (path: string): Wire[] =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))

verifies('bridge:record', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => {
    const stream = got.stream({ 'set-cookie': 'hidden-value' })
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { data: 'ä' } })
    stream.send({ jsonrpc: '2.0', id: got.message.id, result: { content: [] } })
    stream.end()
  })
  const path = join(t.testdir(), 'traffic.jsonl')
  const args = ['--record', path, '--header', 'Authorization: Bearer hidden-value']
  const bridge = startBridge(t, { url: `${backend.url}?key=hidden-value`, args })
  await bridge.open()
  await bridge.call(1, 'tools/call', { name: 'x' })
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  bridge.end()
  await bridge.exited

  t.equal(statSync(path).mode & 0o777, 0o600)
  const text = readFileSync(path, 'utf8')
  t.notMatch(text, 'hidden-value', 'no secret of a header, cookie or query')
  const all = events(path)
  for (const { time } of all) t.match(time, /^\d{4}-\d\d-\d\dT[\d:.]+Z$/)
  const of = (event: string) => all.filter((line) => line.event === event)
  t.same(
    of('from_client').map(({ message, text }) => message?.method ?? text),
    ['initialize', 'notifications/initialized', 'tools/call', 'not JSON'],
  )
  t.same(
    of('to_client').map(({ message }) => message.id ?? message.method ?? null),
    ['open', 'notifications/message', 1, null],
  )
  const request = of('request').find(({ message }) => message?.method === 'tools/call')
  t.match(request, { method: 'POST', url: backend.url, headers: { authorization: '[redacted]' } })
  t.match(request.headers['mcp-session-id'], /^\[redacted [0-9a-f]{8}\]$/)
  const within = all.filter(({ exchange }) => exchange === request.exchange)
  t.match(within[1], { event: 'response', status: 200, headers: { 'set-cookie': '[redacted]' } })
  t.match(within.map(({ text }) => text ?? '').join(''), '"data":"ä"')
  t.equal(within.at(-1).event, 'end')
  t.ok(of('request').some(({ method }) => method === 'DELETE'))
})

verifies('bridge:replay', async (t) => {
  const backend = await startBackend(t)
  let calls = 0
  backend.on('tools/call', (got) => {
    calls += 1
    got.result({ structuredContent: { calls } })
  })
  const path = join(t.testdir(), 'traffic.jsonl')
  const recording = startBridge(t, { url: backend.url, args: ['--record', path] })
  await recording.open()
  const params = { name: 'x', arguments: { a: 1, b: 2 } }
  await recording.call(1, 'tools/call', params)
  await recording.call(2, 'tools/call', params)
  recording.end()
  await recording.exited
  await backend.stop()

  const bridge = startBridge(t, { args: ['--replay', path] })
  t.match(await bridge.open(), { result: { serverInfo: { name: 'backend' } } })
  const again = { arguments: { b: 2, a: 1 }, name: 'x', _meta: { progressToken: 7 } }
  t.match(await bridge.call('first', 'tools/call', again), { result: { structuredContent: { calls: 1 } } })
  t.match(await bridge.call('second', 'tools/call', again), { result: { structuredContent: { calls: 2 } } })
  t.match(await bridge.call('third', 'tools/call', again), { result: { structuredContent: { calls: 2 } } })
  t.match(await bridge.call(4, 'tools/call', { name: 'y' }), { error: { data: { code: 'NOT_IN_TRAFFIC' } } })
  bridge.raw('not JSON\n')
  t.match(await bridge.answer(null), { error: { code: -32700 } })
  bridge.raw(JSON.stringify([{ jsonrpc: '2.0', id: 'last', method: 'tools/call', params: again }]))
  bridge.end()
  t.match(await bridge.answer('last'), { result: {} }, 'a batch, and a last line without a line feed')
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies(
  'bridge:replay',
  'the bridge exits with 2 if the recording is invalid or cannot be written',
  async (t) => {
    const dir = t.testdir({ 'other.jsonl': '{"a":1}\n' })
    for (const args of [
      ['--replay', join(dir, 'other.jsonl')],
      ['--replay', join(dir, 'absent')],
      ['--record', dir],
      ['--record', join(dir, 'absent', 'x')],
    ]) {
      const bridge = startBridge(t, { args })
      t.same(await bridge.exited, { code: 2, signal: null })
      t.match(bridge.stderr, /^causeway-bridge: INVALID_SETTING: [^\n]+\n$/)
    }
  },
)

verifies('bridge:stats', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => got.result({ isError: true, content: [] }))
  backend.on('hang', () => {})
  const bridge = startBridge(t, { url: backend.url, args: ['--stats'] })
  await bridge.open()
  await bridge.call(1, 'tools/call', {})
  bridge.send({ jsonrpc: '2.0', id: 2, method: 'hang' })
  await backend.saw('hang')
  const printed = once(bridge.process.stderr as NodeJS.ReadableStream, 'data')
  bridge.process.kill('SIGUSR2')
  await printed
  t.match(bridge.stderr, /^causeway-bridge: 3 calls, 1 errors, 1 in flight, p50 [\d.]+ ms, p95 [\d.]+ ms, /)
  t.match(bridge.stderr, /, 0 reconnects, \d+ s\n$/)
  bridge.process.kill('SIGTERM')
  await bridge.exited
  t.match(bridge.stderr.trim().split('\n')[1], /^causeway-bridge: 3 calls, 2 errors, 0 in flight/)
})

const asCall = (id: Id): [ClientMessage] => [
  { bytes: Buffer.alloc(0), kind: 'request', id, method: 'm', params: {}, claimedVersion: undefined },
]
const answer = (value: object) => ({
  json: Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 1, ...value })),
  hasResult: 'result' in value,
})

t.test('Stats counts calls and errors, and does not count cancelled calls as in flight', async (t) => {
  let now = 0
  const stats = new Stats(() => now)
  const calls = new PendingCalls(stats)
  const open = (id: Id) => calls.open(Buffer.alloc(0), asCall(id))
  const [number, text, cancelled] = [open(1), open('1'), open(2)]
  open('causeway-bridge/listen/1')
  now = 100
  calls.answer(number, 1, answer({ result: {} }))
  calls.answer(text, '1', answer({ error: { code: 1, message: 'm' } }))
  t.equal(calls.answer(text, 'unknown', answer({ result: {} })), false)
  t.match(stats.format(calls.listIds()), /^3 calls, 1 errors, 1 in flight, p50 (9[5-9]|10[0-5])/)
  calls.settle(cancelled, 2)
  t.match(stats.format(calls.listIds()), ' 0 in flight')
  for (let opened = 0; opened < 3; opened += 1) stats.countSession()
  t.match(stats.format([]), '2 reconnects')
  const { toServer, toClient } = stats.stage({ toServer() {}, toClient() {} })
  toServer(Buffer.alloc(3))
  toClient(Buffer.alloc(5))
  t.match(stats.format([]), '3 bytes from the client, 5 bytes to the client')
})

t.test('Stats counts long tool results with isError as errors', async (t) => {
  const stats = new Stats(() => 0)
  const result = { text: 'x'.repeat(100_000) }
  stats.countResponse(1, answer({ result }), 0)
  stats.countResponse(2, answer({ result: { ...result, isError: true } }), 0)
  t.match(stats.format([]), ' 1 errors')
})

t.test('Stats reports percentiles to within 5 %, and durations from 0.01 ms to over 100 s', async (t) => {
  let now = 0
  const stats = new Stats(() => now)
  t.match(stats.format([]), 'p50 - ms, p95 - ms')
  const success = answer({ result: {} })
  const measure = (id: number, ms: number) => {
    const startedAt = stats.countCalls([id])
    now += ms
    stats.countResponse(id, success, startedAt)
  }
  const read = () => /p50 (\S+) ms, p95 (\S+) ms/.exec(stats.format([]))?.slice(1).map(Number) ?? []
  for (let i = 1; i <= 1000; i += 1) measure(i, i / 10)
  const [p50 = 0, p95 = 0] = read()
  t.ok(Math.abs(p50 / 50 - 1) < 0.05, `p50 ${p50}`)
  t.ok(Math.abs(p95 / 95 - 1) < 0.05, `p95 ${p95}`)
  for (let i = 1; i <= 20_000; i += 1) measure(i, 0)
  t.ok((read()[0] ?? 1) <= 0.01)
  for (let i = 1; i <= 100_000; i += 1) measure(i, 1e9)
  t.ok((read()[0] ?? 0) > 1e5)
})

const folder = (dir: string): string => join(dir, 'causeway')

function start(t: Test, backend: Backend, dir: string): Client {
  const env = { XDG_CACHE_HOME: dir, CAUSEWAY_OFFLINE_LIST: 'true' }
  return startBridge(t, { url: backend.url, env, args: ['--wait', '0'] })
}

async function storeLists(t: Test, backend: Backend, dir: string): Promise<void> {
  const bridge = start(t, backend, dir)
  await bridge.open()
  await bridge.call(1, 'tools/list')
  await bridge.call(2, 'server/discover', modern)
  await bridge.call(3, 'tools/list', modern)
  bridge.end()
  await bridge.exited
}

verifies('bridge:offline-list', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools: [{ name: 'old' }], ttlMs: 9 }))
  const dir = t.testdir()
  await storeLists(t, backend, dir)
  await backend.stop()

  const bridge = start(t, backend, dir)
  const opened = await bridge.open()
  t.match(opened.result, { serverInfo: { name: 'backend' }, _meta: { [staleMetaKey]: { since: /Z$/ } } })
  t.match((await bridge.call(1, 'tools/list')).result, {
    tools: [{ name: 'old' }],
    _meta: { [staleMetaKey]: {} },
  })
  t.match((await bridge.call(2, 'tools/list', modern)).result, { ttlMs: 0, _meta: { [staleMetaKey]: {} } })
  t.match(await bridge.call(3, 'tools/call', {}), { error: {} }, 'only lists are answered from the store')

  backend.got.all.length = 0
  backend.on('tools/list', (got) => got.result({ tools: [{ name: 'new' }] }))
  await backend.start()
  await bridge.saw('notifications/tools/list_changed')
  t.same((await bridge.call(4, 'tools/list')).result, { tools: [{ name: 'new' }] })
  t.match(backend.methods().slice(0, 2), ['initialize', 'notifications/initialized'])
  t.equal(backend.got.all.at(-1)?.headers['mcp-session-id'], 's1', 'the server created the session')
})

verifies(
  'bridge:offline-list',
  'if the server is slow, the stored list is returned, and the client is notified if the new one differs',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('tools/list', (got) => got.result({ tools: [{ name: 'old' }] }))
    const dir = t.testdir()
    await storeLists(t, backend, dir)
    let release = (): void => {}
    backend.on('tools/list', (got) => {
      release = () => got.result({ tools: [{ name: 'new' }] })
    })
    const bridge = start(t, backend, dir)
    await bridge.open()
    t.match((await bridge.call(1, 'tools/list')).result, { tools: [{ name: 'old' }] })
    release()
    await bridge.saw('notifications/tools/list_changed')
    t.equal(bridge.messages.all.filter(({ id }) => id === 1).length, 1, 'one response')
  },
)

verifies('bridge:offline-list', 'the file is private, and a corrupted file is replaced', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  await storeLists(t, backend, dir)
  const [name = '', ...others] = readdirSync(folder(dir))
  t.same(others, [], 'no temporary file remains')
  const path = join(folder(dir), name)
  t.equal(statSync(path).mode & 0o777, 0o600)
  writeFileSync(path, '{"cut')
  await storeLists(t, backend, dir)
  t.match(JSON.parse(readFileSync(path, 'utf8')), {})
})

verifies('bridge:offline-list', 'nothing is stored without --offline-list', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { XDG_CACHE_HOME: dir } })
  await bridge.open()
  bridge.end()
  await bridge.exited
  t.same(readdirSync(dir), [])
})

verifies('bridge:offline-list', 'a cancelled list is not answered from the store', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  await storeLists(t, backend, dir)
  backend.on('tools/list', () => {})
  const bridge = start(t, backend, dir)
  await bridge.open()
  bridge.send(
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
  )
  // The timer of this later request expires after that of the cancelled one.
  t.match((await bridge.call(2, 'tools/list')).result, { _meta: { [staleMetaKey]: {} } })
  t.notOk(bridge.messages.all.some(({ id }) => id === 1))
})

const tools = ['Replay__get_frame', 'Replay__load', 'Help__find', 'Help__get_topic'].map((name) => ({ name }))

verifies('bridge:globs', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools, nextCursor: 'c' }))
  const args = ['--only', '*__get_*,Help__*', '--ignore', 'Help__f?nd']
  const bridge = startBridge(t, { url: backend.url, args })
  await bridge.open()
  const { result } = await bridge.call(1, 'tools/list')
  t.same(result, { tools: [{ name: 'Replay__get_frame' }, { name: 'Help__get_topic' }], nextCursor: 'c' })

  t.match(await bridge.call(2, 'tools/call', { name: 'Help__get_topic' }), { result: { echo: 'tools/call' } })
  const rejected = await bridge.call(3, 'tools/call', { name: 'Help__find' })
  t.match(rejected.result, { isError: true, _meta: { [errorMetaKey]: { code: 'TOOL_HIDDEN' } } })
  t.equal(
    backend.methods().filter((method) => method === 'tools/call').length,
    1,
    'the server did not receive the call',
  )
})

verifies(
  'bridge:globs',
  'only the allowed calls of a batch are sent, and each gets a response',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('tools/list', (got) => got.result({ tools }))
    const bridge = startBridge(t, { url: backend.url, env: { CAUSEWAY_ONLY: 'Help__find' } })
    const call = (id: number, name: string) => ({
      jsonrpc: '2.0',
      id,
      method: 'tools/call',
      params: { name },
    })
    bridge.send([call(1, 'Help__find'), call(2, 'x'), { jsonrpc: '2.0', id: 3, method: 'tools/list' }])
    t.match(await bridge.answer(1), { result: { echo: 'tools/call' } })
    t.match(await bridge.answer(2), { result: { isError: true } })
    t.match(await bridge.answer(3), { result: { tools: [{ name: 'Help__find' }] } })
  },
)

const sound = {
  name: 'sound',
  inputSchema: { properties: { town: { type: 'string', 'x-mcp-header': 'Town' } } },
}
const faulty = {
  name: 'faulty',
  inputSchema: { properties: { town: { type: 'string', 'x-mcp-header': 'a b' } } },
}

verifies('bridge:headers:faulty-tool', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools: [faulty, sound], resultType: 'complete', ttlMs: 0 }))
  const bridge = startBridge(t, { url: backend.url })
  const { result } = await bridge.call(1, 'tools/list', modern)
  t.same(result, { tools: [sound], resultType: 'complete', ttlMs: 0 })
  await bridge.call(2, 'tools/list', modern)
  t.equal(
    bridge.stderr.match(/the tool faulty is removed from the list: x-mcp-header of town/g)?.length,
    1,
    'one warning',
  )
})

verifies('bridge:headers:faulty-tool', 'tools of older protocol revisions are not checked', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools: [faulty] }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  t.same((await bridge.call(1, 'tools/list')).result, { tools: [faulty] })
})
