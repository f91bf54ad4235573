import { verifies } from '../../../test/verifies.ts'
import { both, modern, openWire, rpc, toolCall } from './open-wire.ts'

verifies('limits:message', async (t) => {
  const { send, initialize } = await openWire(t)
  const session = { ...both, 'mcp-session-id': await initialize() }
  const long = 'x'.repeat(70_000)
  const list = Array(40_000).fill(1)
  const params: readonly (readonly [string, object])[] = [
    ['resources/read', { uri: `demo://${long}` }],
    ['tools/list', { cursor: long }],
    [
      'initialize',
      { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', icons: list } },
    ],
    ['tools/call', { name: long }],
    ['tools/call', { name: 'Demo__echo', arguments: { text: 'x' }, _meta: { progressToken: long } }],
    ['subscriptions/listen', { notifications: {}, _meta: { progressToken: long } }],
  ]
  const rejected = { error: { data: { code: 'INVALID_PARAMS', data: { limit_chars: 65_536 } } } }
  for (const [method, args] of params) {
    const message = rpc(method, args)
    t.match((await send(message)).json, rejected, method)
    t.match((await send(message, { headers: session })).json, rejected, `${method} in a session`)
    const { body, headers } = modern(message)
    const named = { ...headers, 'mcp-name': 'x' }
    t.match((await send(body, { headers: named })).json, rejected, `${method}, stateless`)
  }
  const text = 'x'.repeat(100_000)
  t.match((await send(toolCall('Demo__echo', { text }))).json, { result: { structuredContent: { text } } })
})

verifies(
  'limits:message',
  'a message that is too long is rejected with its id before it is parsed',
  async (t) => {
    const { send } = await openWire(t)
    const long = 'x'.repeat(70_000)
    const rejection = (id: unknown) => ({
      status: 400,
      json: { id, error: { data: { code: 'INVALID_PARAMS', data: { limit_chars: 65_536 } } } },
    })
    const bodies: readonly (readonly [string, unknown])[] = [
      [`{"jsonrpc":"2.0","id":7,"method":"tools/list","params":{"cursor":"${long}"`, 7],
      [`{"params":{"cursor":"${long}"},"method":"tools\\/list" , "id" : "\\u0061b"`, 'ab'],
      [`{"id":7,"params":{"arguments":{"text":"${long}"},"name":"${long}"},"method":"tools/call"`, 7],
      [`{"id":7,"params":{"arguments":{"text":"${long}"}},"method":"tools/list"`, 7],
      [`{"id":7,"method":"ping","m":"${long}"`, 7],
      [`{"id":"${long}","method":"ping"`, null],
      [`{"id":"${long}","method":"tools/call"`, null],
      [`{"id":7,"\\u006d\\u0065\\u0074\\u0068\\u006f\\u0064":"${long}"`, 7],
    ]
    for (const [body, id] of bodies) t.match(await send(body), rejection(id), body.slice(0, 60))
    const call = `{"jsonrpc":"2.0","params":{"arguments":{"text":"${long}"},"name":"Demo__echo"},"method":"tools\\/call","id":7}`
    t.match(await send(call), { status: 200, json: { id: 7, result: { structuredContent: { text: long } } } })
    const reply = { jsonrpc: '2.0', id: 7, result: { text: long } }
    t.match(await send(reply), { status: 202 })
  },
)

verifies('limits:message', 'an array of more than 100 messages is rejected on every transport', async (t) => {
  const { send, initialize } = await openWire(t)
  const batch = Array(101).fill(rpc('ping'))
  const error = { code: 'INVALID_REQUEST', message: 'the array holds more than 100 messages' }
  const session = { ...both, 'mcp-session-id': await initialize() }
  for (const headers of [{}, both, session])
    t.match(await send(batch, { headers }), { status: 400, json: { error: { data: error } } })
})
