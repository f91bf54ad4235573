import type { Test } from 'tap'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Backend, type Got, type Script, startBackend } from './backend.ts'
import { type Client, startBridge } from './client.ts'

t.setTimeout(300_000)

const unreachable = { error: { data: { code: 'SERVER_UNREACHABLE' } } }

const opening = { protocolVersion: '2025-03-26', capabilities: {} }

/** A session of the only version that knows batches. */
async function openBatching(t: Test): Promise<{ backend: Backend; bridge: Client }> {
  const backend = await startBackend(t)
  backend.on('initialize', (got) => got.result(opening, { 'mcp-session-id': 'one' }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call('opened', 'ping')
  return { backend, bridge }
}

/** A batch has no method, so its script has no name. */
const onBatch = (backend: Backend, script: Script): void => backend.on(undefined as unknown as string, script)

const request = (id: number, method: string, params: object = {}) => ({ jsonrpc: '2.0', id, method, params })

const batchesIn = (backend: Backend): number =>
  backend.methods().filter((method) => method === 'batch').length

verifies('bridge:relay:batch', 'a batch is sent again only where all of it may come twice', async (t) => {
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
  'an answer in a batch that nobody waits for is left out, the others keep their bytes',
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
  'what its messages set is said again to a new session, and what its answers tell is known',
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

verifies('bridge:relay:batch', 'one that cancels a call is taken apart', async (t) => {
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
  'an answer that is too long is an error in the form of each request',
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
