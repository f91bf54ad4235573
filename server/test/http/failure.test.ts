/** Requests that no leg can read, and what is told of failures. */
import { connect } from 'node:net'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { modern, openWire, rpc, toolCall } from './open-wire.ts'

verifies('wire:error:invalid-json', async (t) => {
  const { send } = await openWire(t)
  for (const body of ['{"jsonrpc":', 'nonsense', '', '{"a":1}{']) {
    const { status, json } = await send(body)
    t.match({ status, json }, { status: 400, json: { jsonrpc: '2.0', id: null, error: { code: -32700 } } })
  }
  t.match(await send(undefined), { status: 400, json: { error: { code: -32700 } } }, 'no body at all')
  t.match(await send('{', { path: '/api/apps/demo/tools/echo' }), {
    status: 400,
    json: { code: 'PARSE_ERROR' },
  })
})

verifies('wire:error:invalid-request', async (t) => {
  const { send } = await openWire(t)
  const bodies = [
    42,
    'text',
    {},
    [],
    { jsonrpc: '1.0', id: 1, method: 'ping' },
    { jsonrpc: '2.0', id: 1, method: 5 },
  ]
  for (const body of bodies)
    t.match(
      await send(JSON.stringify(body)),
      { status: 400, json: { error: { code: -32600 } } },
      JSON.stringify(body),
    )
  t.match(
    (await send({ jsonrpc: '2.0', id: 7, method: 5 })).json,
    { id: 7 },
    'the id is kept where there is one',
  )
  const many = Array.from({ length: 101 }, (_, id) => rpc('ping', undefined, id))
  t.match(await send(many), { status: 400, json: { error: { code: -32600 } } })
})

verifies('wire:error:content-type', async (t) => {
  const { send } = await openWire(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const answer = await send(JSON.stringify(rpc('ping')), { headers: { 'content-type': type } })
    t.match(answer, {
      status: 415,
      json: { id: null, error: { code: -32000, data: { remedy: 'send Content-Type: application/json' } } },
    })
  }
  const { status } = await send(rpc('ping'), {
    headers: { 'content-type': 'application/json; charset=utf-8' },
  })
  t.equal(status, 200)
  const { body, headers } = modern(rpc('tools/list'))
  t.equal(
    (await send(JSON.stringify(body), { headers: { ...headers, 'content-type': 'text/plain' } })).status,
    415,
  )
})

verifies('wire:error:body-limit', async (t) => {
  const { send } = await openWire(t)
  const body = Buffer.from(JSON.stringify(toolCall('Demo__echo', { text: 'x'.repeat(20 * 2 ** 20) })))
  t.match(await send(body), {
    status: 413,
    json: {
      id: null,
      error: { code: -32000, data: { code: 'BODY_TOO_LARGE', data: { limit_bytes: 2 ** 24 } } },
    },
  })
  t.match(await send(body, { path: '/api/apps/demo/tools/echo' }), {
    status: 413,
    json: { code: 'BODY_TOO_LARGE' },
  })
  t.equal((await send(rpc('ping'))).status, 200, 'the server goes on')
})

t.test('failure: an unknown path is 404, another method 405 with Allow', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(undefined, { path: '/nothing', method: 'GET' }), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND', remedy: /./ },
  })
  t.match(await send(rpc('ping'), { path: '/mcp/nothing' }), {
    status: 404,
    json: {
      id: 1,
      error: { data: { code: 'ROUTE_NOT_FOUND', data: { mounts: ['/mcp', '/mcp/causeway'] } } },
    },
  })
  t.match(await send(undefined, { path: '/%zz', method: 'GET' }), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND' },
  })
  const cases = [
    ['/mcp', 'PUT', 'GET, POST, DELETE'],
    ['/health', 'POST', 'GET'],
    ['/api/apps/demo/tools/echo', 'GET', 'POST'],
    ['/api/apps/demo/notes/1', 'GET', 'POST'],
  ] as const
  for (const [path, method, allow] of cases) {
    const { status, headers } = await send(undefined, { path, method })
    t.same({ path, status, allow: headers.allow }, { path, status: 405, allow })
  }
})

t.test('failure: every answer carries the request id, the one that was chosen or a new one', async (t) => {
  const { send } = await openWire(t)
  const chosen = await send(toolCall('Wire__tell'), { headers: { 'causeway-request': 'bridge-7:1' } })
  t.equal(chosen.headers['causeway-request'], 'bridge-7:1')
  t.match(chosen.json, { result: { structuredContent: { request: 'bridge-7:1' } } })
  const made = [await send(rpc('ping')), await send(undefined, { path: '/nothing', method: 'GET' })]
  for (const { headers } of made) t.match(headers['causeway-request'], /^[0-9a-f-]{36}$/)
  t.match(await send(rpc('ping'), { headers: { 'causeway-request': 'with space' } }), { status: 400 })
})

t.test('failure: the unexpected is logged with its stack and request id and told without', async (t) => {
  const { core, send, logged } = await openWire(t)
  core.health = () => Promise.reject(new Error('secret path /home/somebody'))
  const { status, json, text, headers } = await send(undefined, { path: '/health', method: 'GET' })
  t.match({ status, json }, { status: 500, json: { code: 'INTERNAL' } })
  t.notMatch(text, /somebody|stack/)
  t.match(
    logged.lines.filter(({ level }) => level === 50),
    [{ request_id: headers['causeway-request'], err: { message: /somebody/, stack: /failure\.test/ } }],
  )
})

t.test('failure: what is not HTTP does not stop the server', async (t) => {
  const { http, send } = await openWire(t)
  const socket = connect(http.port, '127.0.0.1')
  socket.resume().write('NONSENSE\r\n\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  t.equal((await send(rpc('ping'))).status, 200)
})
