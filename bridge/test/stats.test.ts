import { once } from 'node:events'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { Histogram } from '../src/histogram.ts'
import { createStats } from '../src/stats.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'

verifies('bridge:stats', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', (got) => got.result({ isError: true, content: [] }))
  backend.on('hang', () => {})
  const bridge = startBridge(t, { url: backend.url, args: ['--stats'] })
  await bridge.open()
  await bridge.call(1, 'tools/call', {})
  bridge.send({ jsonrpc: '2.0', id: 2, method: 'hang' })
  await backend.saw('hang')
  const told = once(bridge.process.stderr as NodeJS.ReadableStream, 'data')
  bridge.process.kill('SIGUSR2')
  await told
  t.match(bridge.stderr, /^causeway-bridge: 3 calls, 1 errors, 1 in flight, p50 [\d.]+ ms, p95 [\d.]+ ms, /)
  t.match(bridge.stderr, /, 0 reconnects, \d+ s\n$/)
  bridge.process.kill('SIGTERM')
  await bridge.exited
  t.match(bridge.stderr.trim().split('\n')[1], /^causeway-bridge: 3 calls, 2 errors, 0 in flight/)
})

t.test('createStats: what passes is counted, cancelled calls are in flight no longer', async (t) => {
  let now = 0
  const stats = createStats(() => now)
  const { toServer, toClient } = stats.stage({ toServer: () => {}, toClient: () => {} })
  const send = (value: object) => toServer(Buffer.from(JSON.stringify(value)))
  const answer = (value: object) => toClient(Buffer.from(JSON.stringify(value)))
  for (const id of [1, '1', 2]) send({ jsonrpc: '2.0', id, method: 'm' })
  now = 100
  answer({ jsonrpc: '2.0', id: 1, result: {} })
  answer({ jsonrpc: '2.0', id: '1', error: { code: 1, message: 'm' } })
  answer({ jsonrpc: '2.0', id: 'unknown', result: {} })
  t.match(stats.line(), /^3 calls, 1 errors, 1 in flight, p50 (9[5-9]|10[0-5])/)
  send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
  t.match(stats.line(), ' 0 in flight')
  for (let opened = 0; opened < 3; opened += 1) stats.sessionOpened()
  t.match(stats.line(), '2 reconnects')
})

t.test('createStats: long answers of every shape are counted', async (t) => {
  const stats = createStats(() => 0)
  const { toServer, toClient } = stats.stage({ toServer: () => {}, toClient: () => {} })
  const result = { text: 'x'.repeat(100_000) }
  const answers = [
    { jsonrpc: '2.0', id: 1, result },
    { result, jsonrpc: '2.0', id: 2 },
    { id: 3, jsonrpc: '2.0', result },
    { jsonrpc: '2.0', id: 'four', result },
    { jsonrpc: '2.0', id: 5, error: { code: 1, message: 'm', data: result } },
    { jsonrpc: '2.0', id: 6, result: { ...result, isError: true } },
  ]
  for (const { id } of answers) toServer(Buffer.from(JSON.stringify({ jsonrpc: '2.0', id, method: 'm' })))
  for (const answer of answers) toClient(Buffer.from(JSON.stringify(answer)))
  // A long request of the server is no answer, whatever its id.
  toServer(Buffer.from('{"jsonrpc":"2.0","id":7,"method":"m"}'))
  toClient(
    Buffer.from(JSON.stringify({ jsonrpc: '2.0', id: 7, method: 'sampling/createMessage', params: result })),
  )
  t.match(stats.line(), /^7 calls, 2 errors, 1 in flight/)
})

t.test('Histogram: quantiles are right to five per cent over seven decades', async (t) => {
  const histogram = new Histogram()
  t.equal(histogram.quantile(0.5), undefined)
  for (let ms = 1; ms <= 1000; ms += 1) histogram.add(ms / 10)
  for (const [share, expected] of [
    [0.5, 50],
    [0.95, 95],
    [1, 100],
  ] as const)
    t.ok(Math.abs((histogram.quantile(share) ?? 0) / expected - 1) < 0.05, `${share}`)
  const edges = new Histogram()
  edges.add(0)
  edges.add(1e9)
  t.ok((edges.quantile(0.5) ?? 1) <= 0.01)
  t.ok((edges.quantile(1) ?? 0) > 1e5)
})
