import type { Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Backend, handshake, type Stream, startBackend, type Wire } from './backend.ts'
import { startBridge } from './client.ts'

/** A server of 2024-11-05: refuses every POST to its own URL, and answers on the stream of a GET. */
async function startOlder(t: Test, endpoint = '/messages?sessionId=1') {
  const backend = await startBackend(t)
  const streams: Stream[] = []
  backend.on('GET', (got) => {
    const stream = got.stream()
    streams.push(stream)
    stream.raw(`event: endpoint\ndata: ${endpoint}\n\n`)
  })
  const answer = (method: string, result: (message: Wire) => Wire) =>
    backend.on(method, (got) => {
      if (got.path !== '/messages?sessionId=1') return got.status(405)
      got.status(202, 'Accepted')
      if (got.message.id === undefined) return
      streams.at(-1)?.send({ jsonrpc: '2.0', id: got.message.id, result: result(got.message) })
    })
  answer('initialize', () => ({ ...handshake, protocolVersion: '2024-11-05' }))
  answer('notifications/initialized', () => ({}))
  answer('tools/list', () => ({ tools: [{ name: 'old' }] }))
  answer('tools/call', ({ params }) => ({ content: [{ type: 'text', text: params.name }] }))
  return { backend, streams }
}

const posts = (backend: Backend, path: string) => backend.got.all.filter((got) => got.path === path)

verifies('bridge:older-server', async (t) => {
  const { backend, streams } = await startOlder(t)
  const bridge = startBridge(t, { url: backend.url })
  const opened = await bridge.open()
  t.equal(opened.result.protocolVersion, '2024-11-05')
  t.same((await bridge.call(1, 'tools/list')).result, { tools: [{ name: 'old' }] })
  const calls = [2, 3, 4].map((id) => bridge.call(id, 'tools/call', { name: `tool ${id}` }))
  t.same(
    (await Promise.all(calls)).map(({ result }) => result.content[0].text),
    ['tool 2', 'tool 3', 'tool 4'],
  )
  streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  await bridge.saw('notifications/tools/list_changed')
  t.equal(posts(backend, '/mcp').filter(({ method }) => method === 'POST').length, 1, 'asked once')
})

verifies('bridge:older-server', 'a stream that ends is opened again, and the session with it', async (t) => {
  const { backend, streams } = await startOlder(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call(1, 'tools/list')
  const first = await backend.saw('GET')
  streams[0]?.break()
  await backend.saw('GET', (got) => got !== first)
  t.match(await bridge.call(2, 'tools/call', { name: 'again' }), { result: { content: [{ text: 'again' }] } })
})

verifies('bridge:older-server', 'messages are not led away to another origin', async (t) => {
  const elsewhere = await startBackend(t)
  const { backend } = await startOlder(t, elsewhere.url)
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call(0, 'initialize', {}), { error: { data: { data: { http_status: 405 } } } })
  t.same(elsewhere.methods(), [])
})

verifies('bridge:older-server', 'a server that refuses both ways is told as before', async (t) => {
  const backend = await startBackend(t)
  backend.on('initialize', (got) => got.status(404, 'not here'))
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call(0, 'initialize', {}), { error: { data: { data: { http_status: 404 } } } })
})
