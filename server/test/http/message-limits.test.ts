import { verifies } from '../../../test/verifies.ts'
import { both, modern, openWire, rpc, toolCall } from './open-wire.ts'
import { portApp } from './port-app.ts'

const deep = `${'['.repeat(4_000_000)}${']'.repeat(4_000_000)}`
const manyNames = Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`k${index}`, 1]))
const tooDeep = { code: 'INVALID_REQUEST', data: { limit_depth: 500 } }

verifies('limits:json', 'a body of 4 million levels is rejected by every route', async (t) => {
  const { send } = await openWire(t)
  const message = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":${deep}}`
  t.match(await send(message), { status: 400, json: { error: { data: tooDeep } } })
  t.match(await send(deep), { status: 400, json: { id: null, error: { data: tooDeep } } })
  const { headers } = modern(toolCall('Demo__echo', {}))
  t.match(await send(message, { headers }), { status: 400, json: { error: { data: tooDeep } } })
  t.match(await send(deep, { path: '/api/apps/demo/tools/echo' }), { status: 400, json: tooDeep })
  const session = { ...both, 'mcp-session-id': 'x' }
  t.match(await send(deep, { headers: session }), { status: 400, json: { error: { data: tooDeep } } })
  t.match(await send(deep, { path: '/messages?sessionId=x' }), {
    status: 400,
    json: { error: { data: tooDeep } },
  })
})

verifies('limits:json', 'a route of an app that accepts JSON rejects 4 million levels', async (t) => {
  const { send } = await openWire(t, { apps: [portApp().app] })
  t.match(await send(deep, { path: '/api/apps/port/api/command' }), { status: 400, json: tooDeep })
})

verifies('limits:json', 'a body with 60,000 names is rejected before it is parsed', async (t) => {
  const { send, logged } = await openWire(t)
  t.match(await send(toolCall('Demo__echo', manyNames)), {
    status: 413,
    json: { error: { data: { code: 'BODY_TOO_LARGE', data: { limit_count: 50_000 } } } },
  })
  t.notOk(logged.lines.some(({ what }) => what === 'echo'))
})

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
    ['subscriptions/listen', { notifications: { resourceSubscriptions: list } }],
  ]
  const refused = { error: { data: { code: 'INVALID_PARAMS', data: { limit_chars: 65_536 } } } }
  for (const [method, given] of params) {
    const message = rpc(method, given)
    t.match((await send(message)).json, refused, method)
    t.match((await send(message, { headers: session })).json, refused, `${method} in a session`)
    const { body, headers } = modern(message)
    const named = { ...headers, 'mcp-name': 'x' }
    t.match((await send(body, { headers: named })).json, refused, `${method}, stateless`)
  }
  const text = 'x'.repeat(100_000)
  t.match((await send(toolCall('Demo__echo', { text }))).json, { result: { structuredContent: { text } } })
})

verifies('limits:message', 'an array of more than 100 messages is rejected on every transport', async (t) => {
  const { send, initialize } = await openWire(t)
  const batch = Array(101).fill(rpc('ping'))
  const error = { code: 'INVALID_REQUEST', message: 'the array holds more than 100 messages' }
  const session = { ...both, 'mcp-session-id': await initialize() }
  for (const headers of [{}, both, session])
    t.match(await send(batch, { headers }), { status: 400, json: { error: { data: error } } })
})

verifies('limits:error', 'an error does not repeat a long tool name, method or argument', async (t) => {
  const { send } = await openWire(t)
  const long = 'x'.repeat(60_000)
  const bodies = [
    rpc(long),
    rpc('tools/call', { name: long }),
    toolCall('Demo__echo', { ['y'.repeat(1e6)]: 1 }),
  ]
  for (const body of bodies) t.ok((await send(body)).text.length < 60_000)
  const rest = await send({ [long]: 1 }, { path: '/api/apps/demo/tools/echo' })
  t.match(rest, { status: 400, json: { code: 'INVALID_ARGUMENTS' } })
  t.ok(rest.text.length < 2000)
})

verifies('limits:error', 'the limit of an answer holds for errors too', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_ANSWER_LIMIT_CHARS: '2000' } })
  const names = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`${'k'.repeat(150)}${index}`, 1]),
  )
  const { text, json } = await send(toolCall('Demo__echo', names))
  t.match(json.result, { isError: true, _meta: { 'causeway/error': { data: { truncated: true } } } })
  t.ok(json.result.content[0].text.length <= 2000)
  t.ok(text.length < 4000)
})
