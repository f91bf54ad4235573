import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openWire, rpc, toolCall, until } from './open-wire.ts'

/** Scripts without a handshake: the original curl commands, batches, and rejected messages. */

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

t.test('lenient: a failing tool returns isError, and an unknown method is -32601', async (t) => {
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

t.test('lenient: a missing resource is -32002', async (t) => {
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
