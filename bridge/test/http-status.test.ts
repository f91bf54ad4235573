import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Got, startBackend } from './backend.ts'
import { startBridge } from './client.ts'

t.setTimeout(300_000)

verifies(
  'bridge:http-status',
  'what the server says is kept, up to 2 KiB, and each has its remedy',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('ping', (got) =>
      got.status(got.message.id, `€${'x'.repeat(5000)}`, { 'content-type': 'text/plain' }),
    )
    const bridge = startBridge(t, { url: backend.url, args: ['--wait', '0'] })
    const remedies = new Set<string>()
    for (const [status, number, code] of [
      [400, -32600, 'INVALID_REQUEST'],
      [406, -32603, 'SERVER_ANSWER_INVALID'],
      [408, -32603, 'DEADLINE_EXCEEDED'],
      [415, -32603, 'SERVER_ANSWER_INVALID'],
    ] as const) {
      const { error } = await bridge.call(status, 'ping')
      t.match(error.data, { code, data: { http_status: status } })
      if (status === 400) t.equal(error.code, number)
      t.match(error.data.data.body, /^€x+$/)
      t.equal(Buffer.byteLength(error.data.data.body), 2048)
      t.notMatch(error.data.remedy, 'MCP_SERVER_URL')
      remedies.add(error.data.remedy)
    }
    t.equal(remedies.size, 3)
  },
)

verifies('bridge:http-status', 'a redirect within the server is followed once', async (t) => {
  const backend = await startBackend(t)
  const move = (to: (got: Got) => string) => (got: Got) =>
    got.path === '/mcp' || got.message.params.endless
      ? got.status(307, 'moved', { location: to(got) })
      : got.result({ at: got.path, params: got.message.params })
  backend.on(
    'ping',
    move(() => '/mcp/'),
  )
  const bridge = startBridge(t, { url: backend.url })
  t.same((await bridge.call(1, 'ping', { a: 1 })).result, { at: '/mcp/', params: { a: 1 } })
  const location = backend.url.replace(/$/, '/')
  t.match((await bridge.call(2, 'ping', { endless: true })).error.data, {
    data: { http_status: 307, location },
    remedy: location,
  })
  t.equal(backend.got.all.length, 4)

  backend.on(
    'ping',
    move(() => 'http://127.0.0.1:1/mcp'),
  )
  const refused = await bridge.call(3, 'ping')
  t.match(refused.error.data, { data: { http_status: 307, location: 'http://127.0.0.1:1/mcp' } })
  t.equal(backend.got.all.length, 5, 'another origin is named, not asked')
})
