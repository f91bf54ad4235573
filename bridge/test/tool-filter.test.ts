import { errorMetaKey } from '@causeway/protocol'
import { verifies } from '../../test/verifies.ts'
import { startBackend } from './backend.ts'
import { startBridge } from './client.ts'

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
  const refused = await bridge.call(3, 'tools/call', { name: 'Help__find' })
  t.match(refused.result, { isError: true, _meta: { [errorMetaKey]: { code: 'TOOL_HIDDEN' } } })
  t.equal(backend.methods().filter((method) => method === 'tools/call').length, 1, 'the server was not asked')
})

verifies('bridge:globs', 'of a batch only the allowed calls are sent, each is answered', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools }))
  const bridge = startBridge(t, { url: backend.url, env: { CAUSEWAY_ONLY: 'Help__find' } })
  const call = (id: number, name: string) => ({ jsonrpc: '2.0', id, method: 'tools/call', params: { name } })
  bridge.send([call(1, 'Help__find'), call(2, 'x'), { jsonrpc: '2.0', id: 3, method: 'tools/list' }])
  t.match(await bridge.answer(1), { result: { echo: 'tools/call' } })
  t.match(await bridge.answer(2), { result: { isError: true } })
  t.match(await bridge.answer(3), { result: { tools: [{ name: 'Help__find' }] } })
})
