import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../test/verifies.ts'
import { startBackend, type Wire } from './backend.ts'
import { startBridge } from './client.ts'

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
  t.notMatch(text, 'hidden-value', 'neither header, cookie nor query')
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
  t.match(await bridge.answer('last'), { result: {} }, 'a batch, and a last line without its end')
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies(
  'bridge:replay',
  'a file that holds no traffic, or a place that cannot be written, is told',
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
