import { once } from 'node:events'
import { connect } from 'node:net'
import { type App, defineApp } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import t from 'tap'
import { z } from 'zod'
import { verifies } from '../../../test/verifies.ts'
import { addErrorCode } from '../../src/http/mcp/sdk-errors.ts'
import { Subscriptions } from '../../src/http/mcp/subscriptions.ts'
import { testCaller } from '../test-core.ts'
import { both, modern, openWire, rpc, toolCall } from './open-wire.ts'
import { portApp } from './port-app.ts'

verifies('wire:error:invalid-json', async (t) => {
  const { send } = await openWire(t)
  for (const body of ['{"jsonrpc":', 'nonsense', '', '{"a":1}{']) {
    const { status, json } = await send(body)
    t.match({ status, json }, { status: 400, json: { jsonrpc: '2.0', id: null, error: { code: -32700 } } })
  }
  t.match(await send(undefined), { status: 400, json: { error: { code: -32700 } } }, 'no body')
  t.match(await send('{', { path: '/api/apps/demo/tools/echo' }), {
    status: 400,
    json: { code: 'PARSE_ERROR', remedy: /^send a JSON object/ },
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
    'the response has the id of the message',
  )
  const many = Array.from({ length: 101 }, (_, id) => rpc('ping', undefined, id))
  t.match(await send(many), { status: 400, json: { error: { code: -32600 } } })
})

verifies('wire:error:content-type', async (t) => {
  const { send } = await openWire(t)
  for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
    const response = await send(JSON.stringify(rpc('ping')), { headers: { 'content-type': type } })
    t.match(response, {
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
  t.equal((await send(rpc('ping'))).status, 200, 'the server still responds')
})

t.test('an unknown path gets status 404, and an unsupported method 405 with Allow', async (t) => {
  const { send } = await openWire(t)
  t.match(await send(undefined, { path: '/nothing', method: 'GET' }), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND', remedy: /./ },
  })
  t.match(await send(rpc('ping'), { path: '/mcp/nothing' }), {
    status: 404,
    json: {
      id: 1,
      error: { data: { code: 'ROUTE_NOT_FOUND', data: { mounts: ['/mcp', '/mcp/core', '/mcp/causeway'] } } },
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

t.test('every response has a request id, chosen by the client or generated', async (t) => {
  const { send } = await openWire(t)
  const chosen = await send(toolCall('Wire__identify'), { headers: { 'causeway-request': 'bridge-7:1' } })
  t.equal(chosen.headers['causeway-request'], 'bridge-7:1')
  t.match(chosen.json, { result: { structuredContent: { request: 'bridge-7:1' } } })
  const generated = [await send(rpc('ping')), await send(undefined, { path: '/nothing', method: 'GET' })]
  for (const { headers } of generated) t.match(headers['causeway-request'], /^[0-9a-f-]{36}$/)
  t.match(await send(rpc('ping'), { headers: { 'causeway-request': 'with space' } }), { status: 400 })
})

t.test(
  'an unexpected error is logged with its stack and request id, and returned without them',
  async (t) => {
    const { core, send, logged } = await openWire(t)
    core.health = () => Promise.reject(new Error('secret path /home/user'))
    const { status, json, text, headers } = await send(undefined, { path: '/health', method: 'GET' })
    t.match({ status, json }, { status: 500, json: { code: 'INTERNAL' } })
    t.notMatch(text, /home|stack/)
    t.match(
      logged.lines.filter(({ level }) => level === 50),
      [{ request_id: headers['causeway-request'], err: { message: /home.user/, stack: /failure\.test/ } }],
    )
  },
)

t.test('malformed HTTP does not stop the server', async (t) => {
  const { http, send } = await openWire(t)
  const socket = connect(http.port, '127.0.0.1')
  socket.resume().write('NONSENSE\r\n\r\n')
  await new Promise((resolve) => socket.once('close', resolve))
  t.equal((await send(rpc('ping'))).status, 200)
})

const failing: App = defineApp(
  { name: 'Failing', about: 'Fails.', open: () => ({}), session: () => ({}) },
  (app) => {
    app.tool('fail', {
      about: 'Fail with a code.',
      input: { code: z.enum(['RATE_LIMITED', 'CANCELLED']).describe('error code') },
      output: {},
      example: { args: { code: 'CANCELLED' } },
      run({ code }) {
        throw new CausewayError(code, 'it failed', { data: { retry_after_ms: 5 } })
      },
    })
  },
)

const call = (code: string) => rpc('tools/call', { name: 'fail', arguments: { code } })

verifies('wire:legacy-errors', async (t) => {
  const open = (legacyErrors: boolean, dir: string) =>
    openWire(t, { dir, apps: [failing], aliases: [{ app: 'failing', port: 0 }], legacyErrors })
  const dirs = t.testdir({ on: {}, off: {} })
  const [on, off] = [await open(true, `${dirs}/on`), await open(false, `${dirs}/off`)]
  const post = async ({ http }: typeof on, body: object, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${http.aliases[0]?.port}/mcp`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(body),
    })
    return response.text()
  }
  t.match(JSON.parse(await post(on, call('RATE_LIMITED'))), {
    id: 1,
    error: {
      code: -32005,
      message: 'it failed',
      data: { code: 'RATE_LIMITED', retry_after_ms: 5, retryable: true },
    },
  })
  t.match(
    JSON.parse(await post(on, call('CANCELLED'))),
    { result: { isError: true } },
    'the code has no legacy number',
  )
  t.match(JSON.parse(await post(off, call('RATE_LIMITED'))), { result: { isError: true } })
  t.match((await on.send(call('RATE_LIMITED'), { path: '/mcp/failing' })).json, { result: { isError: true } })
  const id = await on.initialize({ path: '/mcp/failing' })
  t.match(
    await post(on, call('RATE_LIMITED'), { ...both, 'mcp-session-id': id }),
    'isError',
    'a client with a session',
  )
})

/** Sends bytes and returns the response when the server closes the connection. */
async function sendRaw(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  socket.end(text.replaceAll('\n', '\r\n'), 'latin1')
  await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

verifies('wire:error:no-http', async (t) => {
  const { http } = await openWire(t, { aliases: [{ app: 'demo', port: 0 }] })
  const head = `GET /health HTTP/1.1\nHost: 127.0.0.1\n`
  const malformed: readonly (readonly [string, string])[] = [
    ['\u0000\u0001\u0002\n\n', 'INVALID_REQUEST'],
    ['GET / HTTP/9.9\n\n', 'INVALID_REQUEST'],
    [`${head}Content-Length: 1\nTransfer-Encoding: chunked\n\n0\n\n`, 'INVALID_REQUEST'],
    [`${head}X: ${'x'.repeat(20_000)}\n\n`, 'INVALID_REQUEST'],
    ['GET /health HTTP/1.1\n\n', 'FORBIDDEN_HOST'],
  ]
  for (const port of [http.port, http.aliases[0]?.port ?? 0])
    for (const [text, code] of malformed) {
      const [lines = '', body = ''] = (await sendRaw(port, text)).split('\r\n\r\n')
      t.match(lines, /^HTTP\/1\.1 40[03] .*content-type: application\/json/is, text.slice(0, 40))
      t.match(JSON.parse(body), { code, remedy: String })
    }
})

verifies('wire:error:no-http', 'an invalid WebSocket handshake gets an error object', async (t) => {
  const { http } = await openWire(t, { apps: [portApp().app] })
  const text = await sendRaw(
    http.port,
    'GET /api/apps/port HTTP/1.1\nHost: 127.0.0.1\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n\n',
  )
  t.match(text, /^HTTP\/1\.1 400 .*"code":"INVALID_REQUEST"/s)
})

verifies(
  'wire:error:no-http',
  'a client that disconnects during its request is not logged as an error',
  async (t) => {
    const { http, logged, send } = await openWire(t)
    const socket = connect({ host: '127.0.0.1', port: http.port })
    socket.on('error', () => {})
    await once(socket, 'connect')
    const head = 'POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nContent-Length: 99\n'
    socket.write(`${head}Expect: 100-continue\n\n{`.replaceAll('\n', '\r\n'))
    // The server has read the head and waits for the rest.
    await once(socket, 'data')
    socket.resetAndDestroy()
    await once(socket, 'close')
    t.equal((await send(rpc('ping'))).status, 200)
    t.notOk(logged.lines.some(({ msg }) => msg === 'a request failed unexpectedly'))
  },
)

verifies('wire:error:sdk', async (t) => {
  const { send, initialize, stream } = await openWire(t)
  const wrong = rpc('tools/call', { name: 'Demo__echo', arguments: ['x'] })
  const expected = { code: -32602, data: { code: 'INVALID_PARAMS', remedy: String, retryable: false } }
  const stateless = modern(wrong)
  t.match((await send(stateless.body, { headers: stateless.headers })).json.error, expected)
  const session = await initialize()
  const { messages } = await stream(wrong, { headers: { ...both, 'mcp-session-id': session } })
  const { value } = await messages.next()
  t.match(value.error, expected)
  t.notMatch(value.error.message, /\n/)
  const { 'mcp-method': _, ...headers } = stateless.headers
  t.match((await send(stateless.body, { headers })).json.error.data, {
    code: 'HEADER_MISMATCH',
    remedy: String,
  })
})

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

verifies('limits:error', 'the length limit of results also applies to errors', async (t) => {
  const { send } = await openWire(t, { env: { CAUSEWAY_ANSWER_LIMIT_CHARS: '2000' } })
  const names = Object.fromEntries(
    Array.from({ length: 30 }, (_, index) => [`${'k'.repeat(150)}${index}`, 1]),
  )
  const { text, json } = await send(toolCall('Demo__echo', names))
  t.match(json.result, { isError: true, _meta: { 'causeway/error': { data: { truncated: true } } } })
  t.ok(json.result.content[0].text.length <= 2000)
  t.ok(text.length < 4000)
})

t.test('addErrorCode lists validation problems of any length in one line', async (t) => {
  const problems = [{ path: ['a', 'b'], message: 'x'.repeat(200_000) }]
  const message = `Invalid params: ${JSON.stringify(problems, null, 2)}`
  t.match(addErrorCode({ error: { code: -32602, message } }), {
    error: { message: /^Invalid params: a\.b: xxx/, data: { code: 'INVALID_PARAMS' } },
  })
  for (const text of [': [{', 'a: [{]', 'a: [ ] b: [']) {
    const plain = addErrorCode({ error: { code: -32602, message: text } })
    t.equal(plain.error.message, text, 'text that is not a list of problems')
  }
})

verifies('limits:subscriptions', async (t) => {
  const saved: (readonly string[])[] = []
  let requested = 0
  const subscriptions: Subscriptions = new Subscriptions(
    {
      findResourceOwner: () => 'demo',
      subscribe: () => {
        requested += 1
        return () => {
          requested -= 1
        }
      },
    },
    { onChange: async () => void saved.push(subscriptions.uris) },
  )
  const subscribe = async (uri: string) => subscriptions.handle('resources/subscribe', { uri }, testCaller())
  await t.rejects(subscribe('x'.repeat(256 * 1024 + 1)), { code: 'INVALID_PARAMS' })
  for (let number = 0; number < 1000; number += 1) await subscribe(`demo://notes/${number}`)
  await t.rejects(subscribe('demo://notes/1000'), { code: 'INVALID_PARAMS', remedy: /^unsubscribe/ })
  await subscribe('demo://notes/0')
  t.equal(saved.length, 1000, 'only changes are saved')
  await subscriptions.handle('resources/unsubscribe', { uri: 'demo://notes/0' }, testCaller())
  await subscribe('demo://notes/1000')
  t.equal(subscriptions.uris.length, 1000)
  t.equal(requested, 1000, 'each is requested from its app once')
  subscriptions.close()
  t.equal(requested, 0)
})

t.test('a DELETE request without a body may have a JSON content type', async (t) => {
  const { initialize, send } = await openWire(t)
  for (const path of ['/mcp', '/mcp/demo']) {
    const headers = { ...both, 'mcp-session-id': await initialize({ path }) }
    const typed = { ...headers, 'content-type': 'application/json' }
    t.equal((await send(undefined, { path, method: 'DELETE', headers: typed })).status, 200, path)
    t.equal((await send(rpc('ping'), { path, headers })).status, 404, path)
  }
})
