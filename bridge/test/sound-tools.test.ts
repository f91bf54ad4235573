import { verifies } from '../../test/verifies.ts'
import { startBackend } from './backend.ts'
import { modern, startBridge } from './client.ts'

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
  t.equal(bridge.stderr.match(/the tool faulty is left out: x-mcp-header of town/g)?.length, 1, 'told once')
})

verifies('bridge:headers:faulty-tool', 'an older revision gives the annotation no meaning', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/list', (got) => got.result({ tools: [faulty] }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  t.same((await bridge.call(1, 'tools/list')).result, { tools: [faulty] })
})
