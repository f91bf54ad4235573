import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { legacyVersions } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { foundTool } from '../demo-app.ts'
import { both, modern, openWire, respond, rpc, toolCall, until, type Wire } from './open-wire.ts'

const run = promisify(execFile)

/** Runs a curl command of the original document; only the port differs. */
const curl = async (port: number, body: string): Promise<{ jsonrpc: string; id: number; result: never }> => {
  const { stdout } = await run('curl', [
    '-sS',
    '-X',
    'POST',
    `http://localhost:${port}/mcp`,
    '-H',
    'Content-Type: application/json',
    '-d',
    body,
  ])
  return JSON.parse(stdout)
}

verifies('wire:lenient:curl-initialize', async (t) => {
  const { http } = await openWire(t)
  const answer = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"clientInfo": {"name": "test"}}
  }`,
  )
  t.match(answer, {
    jsonrpc: '2.0',
    id: 1,
    result: { protocolVersion: '2025-03-26', serverInfo: { name: 'causeway' }, capabilities: { tools: {} } },
  })
})

verifies('wire:lenient:curl-list', async (t) => {
  const { http } = await openWire(t)
  const { id, result } = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 2,
    "method": "tools/list",
    "params": {}
  }`,
  )
  t.equal(id, 2)
  const names = (result as { tools: { name: string }[] }).tools.map(({ name }) => name)
  t.ok(names.includes('Demo__echo'))
  t.notOk(names.includes('OldDemo__echo'), 'aliases can be called but are not listed')
})

verifies('wire:lenient:curl-call', async (t) => {
  const { http } = await openWire(t)
  const answer = await curl(
    http.port,
    `{
    "jsonrpc": "2.0",
    "id": 3,
    "method": "tools/call",
    "params": {
      "name": "OldDemo__echo",
      "arguments": {"text": "test query"}
    }
  }`,
  )
  t.match(answer, {
    id: 3,
    result: {
      content: [{ type: 'text', text: '{"text":"test query","client":"curl"}' }],
      structuredContent: { text: 'test query', client: 'curl' },
    },
  })
})

t.test(
  'lenient: the response is one JSON body without a session, regardless of the Accept header',
  async (t) => {
    const { send } = await openWire(t)
    for (const accept of ['', '*/*', 'application/json', 'application/json, text/event-stream']) {
      const answer = await send(rpc('tools/list'), { headers: { accept } })
      t.equal(answer.status, 200)
      t.match(answer.headers['content-type'], /^application\/json/)
      t.equal(answer.headers['mcp-session-id'], undefined)
    }
    const opened = await send(rpc('initialize'), { headers: { accept: 'application/json' } })
    t.equal(opened.headers['mcp-session-id'], undefined, 'initialize without a stream opens no session')
  },
)

t.test('lenient: a batch is answered by an array without entries for its notifications', async (t) => {
  const { send } = await openWire(t)
  const { status, json } = await send(
    [
      rpc('ping', undefined, 'a'),
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      toolCall('Wire__identify'),
      { nonsense: true },
      rpc('tools/list', { cursor: 'wrong' }, 0),
    ],
    { headers: { 'causeway-request': 'bridge-1' } },
  )
  t.equal(status, 200)
  t.match(json, [
    { id: 'a', result: {} },
    { id: 1, result: { structuredContent: { request: 'bridge-1.1' } } },
    { id: null, error: { code: -32600 } },
    { id: 0, error: { code: -32602, data: { code: 'INVALID_CURSOR' } } },
  ])
  t.equal(json.length, 4)
})

t.test('lenient: notifications and responses are accepted with 202 and an empty body', async (t) => {
  const { send } = await openWire(t)
  for (const body of [
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 4, result: {} },
    [{ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } }],
  ]) {
    const { status, text } = await send(body)
    t.same({ status, text }, { status: 202, text: '' })
  }
})

t.test('lenient: the response id has the type of the request id', async (t) => {
  const { send } = await openWire(t)
  for (const id of [0, -1, 1.5, '', 'x', 2 ** 53])
    t.equal((await send(rpc('ping', undefined, id))).json.id, id)
})

t.test('lenient: closing the connection aborts the handler', async (t) => {
  const { send, wire } = await openWire(t)
  const hangUp = new AbortController()
  const call = send(toolCall('Wire__work', { steps: 0 }), { signal: hangUp.signal })
  await until(() => wire.begun.length === 1)
  hangUp.abort()
  await t.rejects(call)
  await until(() => wire.begun[0]?.aborted === true)
})

t.test('lenient: a failing tool returns isError, and calling an unknown method -32601', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(toolCall('Demo__fail', { code: 'NO_RECORDING' })), {
    status: 200,
    json: {
      result: { isError: true, _meta: { 'causeway/error': { code: 'NO_RECORDING', legacy_code: -32000 } } },
    },
  })
  t.match((await send(rpc('no/such'))).json, { error: { code: -32601, data: { code: 'METHOD_NOT_FOUND' } } })
  t.match((await send(rpc('resources/subscribe', { uri: 'demo://notes/a' }))).json, {
    error: { code: -32601 },
  })
})

t.test('lenient: reading a missing resource returns -32002', async (t) => {
  const { send } = await openWire(t)
  t.match((await send(rpc('resources/read', { uri: 'demo://nothing/here' }))).json, {
    error: { code: -32002, data: { code: 'RESOURCE_NOT_FOUND' } },
  })
})

t.test('lenient: initialize with a member of the wrong type returns -32602', async (t) => {
  const { send } = await openWire(t)
  for (const params of [
    { clientInfo: 5 },
    { protocolVersion: 1 },
    { capabilities: [] },
    { clientInfo: { name: 1 } },
  ])
    t.match((await send(rpc('initialize', params))).json, { error: { code: -32602 } })
  t.match((await send(rpc('initialize', { protocolVersion: '1999-01-01' }))).json, {
    result: { protocolVersion: '2025-11-25' },
  })
})

const names = (result: { tools: { name: string }[] }): string[] => result.tools.map(({ name }) => name)

const list = (wire: Wire, path: string, era: 'modern' | 'legacy') =>
  respond(wire, { path, era, message: rpc('tools/list') })

t.test(
  'the fast path and the SDK return the same tools/list result on every mount and page size',
  async (t) => {
    for (const env of [{}, { CAUSEWAY_PAGE_SIZE: '2' }]) {
      const dir = t.testdir({ fast: {}, sdk: {} })
      const fast = await openWire(t, { dir: `${dir}/fast`, env })
      const sdk = await openWire(t, { dir: `${dir}/sdk`, env, hasFastPath: false })
      for (const path of fast.core.registry.lists.keys())
        for (const era of ['modern', 'legacy'] as const)
          t.same(await list(fast, path, era), await list(sdk, path, era), `${path} ${era}`)
      await Promise.all([fast.http.close(0), sdk.http.close(0)])
      await Promise.all([fast.core.close(), sdk.core.close()])
    }
  },
)

verifies('wire:list:deterministic', 'every transport lists the same tools in the same order', async (t) => {
  const wire = await openWire(t)
  for (const path of ['/mcp', '/mcp/demo']) {
    const lists = [
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await wire.send(rpc('tools/list'), { path })).json.result.tools,
      (await list(wire, path, 'modern')).result.tools,
      (await list(wire, path, 'legacy')).result.tools,
    ]
    for (const list of lists) t.same(list, lists[0])
  }
})

verifies('wire:list:cache-hints', async (t) => {
  const wire = await openWire(t)
  t.match((await list(wire, '/mcp', 'modern')).result, { ttlMs: 300_000, cacheScope: 'public' })
  t.equal((await list(wire, '/mcp', 'legacy')).result.ttlMs, undefined)
})

verifies('wire:list:pages', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_PAGE_SIZE: '4' } })
  const found: string[] = []
  let cursor: string | undefined
  do {
    const { result } = (await send(rpc('tools/list', cursor === undefined ? {} : { cursor }))).json
    t.ok(result.tools.length <= 4)
    found.push(...names(result))
    cursor = result.nextCursor
  } while (cursor !== undefined)
  t.equal(new Set(found).size, found.length)
  t.ok(found.includes('Wire__work') && found.includes('Demo__echo') && found.includes('Causeway__get_health'))
  const { body, headers } = modern(rpc('tools/list', { cursor: 'made-up' }))
  t.match((await send(body, { headers })).json, { error: { code: -32602, data: { code: 'INVALID_CURSOR' } } })
})

verifies('wire:list:changed', async (t) => {
  const wire = await openWire(t)
  const listen = modern(rpc('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const id = await wire.initialize({ path: '/mcp/demo' })
  const other = await wire.initialize({ path: '/mcp/wire' })
  const open = (path: string, session: string) =>
    wire.stream(undefined, { path, method: 'GET', headers: { 'mcp-session-id': session } })
  const streams = [
    await wire.stream(listen.body, { headers: listen.headers }),
    await wire.stream(listen.body, { path: '/mcp/demo', headers: listen.headers }),
    await open('/mcp/demo', id),
  ]
  const otherMount = await open('/mcp/wire', other)
  // Skips the acknowledgements of the subscriptions.
  for (const stream of streams.slice(0, 2)) await stream.messages.next()
  wire.demo.discovered = [foundTool('late')]
  wire.demo.announce('tools')
  for (const stream of streams)
    t.match((await stream.messages.next()).value, { method: 'notifications/tools/list_changed' })
  t.ok(names((await wire.send(rpc('tools/list'))).json.result).includes('Demo__late'))
  await wire.http.close(1000)
  t.same(
    await otherMount.messages.next(),
    { done: true, value: undefined },
    'clients of another mount are not notified',
  )
})

verifies('wire:name:full', async (t) => {
  const { send } = await openWire(t)
  t.ok(names((await send(rpc('tools/list'))).json.result).includes('Demo__echo'))
  const call = async (name: string) => (await send(toolCall(name, { text: 'x' }))).json
  t.match(await call('Demo__echo'), { result: { structuredContent: { text: 'x' } } })
  t.match(await call('echo'), { error: { code: -32602, data: { code: 'UNKNOWN_TOOL' } } })
})

verifies('wire:name:bare', async (t) => {
  const { send } = await openWire(t)
  const listed = names((await send(rpc('tools/list'), { path: '/mcp/demo' })).json.result)
  t.ok(listed.includes('demo.echo') && listed.includes('count'))
  t.notOk(listed.some((name) => name.includes('__')))
  const call = async (name: string, path: string) =>
    (await send(toolCall(name, { text: 'x' }), { path })).json
  for (const name of ['echo', 'demo.echo'])
    t.match(await call(name, '/mcp/demo'), { result: { structuredContent: { text: 'x' } } })
  t.match(
    await call('identify', '/mcp/demo'),
    { error: { data: { code: 'UNKNOWN_TOOL' } } },
    'a tool of another app',
  )
})

verifies('wire:name:limits', async (t) => {
  const { send } = await openWire(t)
  for (const name of names((await send(rpc('tools/list'))).json.result))
    t.match(name, /^[A-Za-z0-9_-]{1,49}$/)
})

t.test('the fast path rejects the tools/list requests that the SDK rejects', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(rpc('tools/list'))
  const { 'mcp-method': _, ...withoutMethod } = headers
  t.match(await send(body, { headers: withoutMethod }), { status: 400, json: { error: { code: -32020 } } })
  t.match(await send(body, { headers: { ...headers, 'mcp-method': 'tools/call' } }), { status: 400 })
  t.match(await send(body, { headers: { ...headers, 'mcp-protocol-version': legacyVersions[0] } }), {
    status: 400,
  })
  const { _meta } = body.params
  const invalid = {
    ...body,
    params: { _meta: { ..._meta, 'io.modelcontextprotocol/clientCapabilities': 5 } },
  }
  t.match(await send(invalid, { headers }), { status: 400, json: { error: { code: -32602 } } })
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
