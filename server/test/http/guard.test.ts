import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { matchPath } from '../../src/http/app-routes/match-route.ts'
import { readBody } from '../../src/http/request-body.ts'
import { captureLog } from '../test-core.ts'
import { both, initializeMessage, openWire, rpc, type Sending, toolCall, type Wire } from './open-wire.ts'

const routes: readonly (Sending & { body?: unknown })[] = [
  { path: '/mcp', body: rpc('tools/list') },
  { path: '/mcp', method: 'GET', headers: { accept: 'text/event-stream' } },
  { path: '/mcp', method: 'DELETE' },
  { path: '/mcp/demo', body: rpc('tools/list') },
  { path: '/health', method: 'GET' },
  { path: '/metrics', method: 'GET' },
  { path: '/openapi.json', method: 'GET' },
  { path: '/api/apps', method: 'GET' },
  { path: '/api/apps/demo/tools/echo', body: { text: 'x' } },
  { path: '/api/apps/wire/drip', method: 'GET' },
  { path: '/api/registry/refresh', method: 'POST' },
  { path: '/nothing/here', method: 'GET' },
  { path: '/health', method: 'DELETE' },
  { path: '/mcp', method: 'OPTIONS' },
]

async function rejectsAll(t: Test, wire: Wire, headers: Record<string, string>, code: string): Promise<void> {
  for (const { body, ...route } of routes) {
    const { status, text } = await wire.send(body, { ...route, headers: { ...route.headers, ...headers } })
    t.equal(status, 403, `${route.method ?? 'POST'} ${route.path}`)
    t.match(text, code)
  }
}

verifies('wire:guard:host', async (t) => {
  const wire = await openWire(t)
  await rejectsAll(t, wire, { host: 'evil.example:3100' }, 'FORBIDDEN_HOST')
})

verifies('wire:guard:origin', async (t) => {
  const wire = await openWire(t)
  await rejectsAll(t, wire, { origin: 'http://evil.example' }, 'FORBIDDEN_ORIGIN')
})

t.test('a followed link opens, but other sites cannot embed resources', async (t) => {
  const wire = await openWire(t)
  const status = async (mode: string, dest: string, site = 'cross-site') =>
    (
      await wire.send(undefined, {
        method: 'GET',
        path: '/health',
        headers: { 'sec-fetch-site': site, 'sec-fetch-mode': mode, 'sec-fetch-dest': dest },
      })
    ).status
  t.equal(await status('navigate', 'document'), 200)
  t.equal(await status('cors', 'empty', 'same-origin'), 200)
  t.equal(await status('navigate', 'document', 'none'), 200)
  for (const [mode, dest] of [
    ['no-cors', 'image'],
    ['no-cors', 'script'],
    ['navigate', 'iframe'],
  ] as const)
    t.equal(await status(mode, dest), 403, dest)
})

t.test(
  'loopback and allowed hosts are accepted in any notation with any port, and others are rejected',
  async (t) => {
    const { send } = await openWire(t, { allowedHosts: ['Causeway.Internal', '[fd00::1]'] })
    const accepted = [
      'localhost',
      'LOCALHOST:1',
      '127.0.0.1:3100',
      '127.8.9.1',
      '[::1]:80',
      '[0:0:0:0:0:0:0:1]',
      '[::ffff:127.0.0.1]',
      'causeway.internal:8080',
      '[FD00:0::1]',
    ]
    for (const host of accepted) t.equal((await send(rpc('ping'), { headers: { host } })).status, 200, host)
    const rejected = [
      'localhost.evil.example',
      'evil.example',
      '128.0.0.1',
      '[::2]',
      'localhost@evil.example',
      'evil.example#localhost',
      'localhost/x',
      '127.0.0.1.evil.example',
      'localhost:80:80',
      '0.0.0.0',
    ]
    for (const host of rejected) t.equal((await send(rpc('ping'), { headers: { host } })).status, 403, host)
  },
)

/** Sends every request with these headers and returns the distinct statuses. */
async function statuses(wire: Wire, headers: Record<string, string>): Promise<readonly number[]> {
  const found = new Set<number>()
  for (const { body, ...route } of routes) {
    const response = await wire.events(body, { ...route, headers: { ...route.headers, ...headers } })
    found.add(response.status)
    response.hangUp()
  }
  return [...found]
}

verifies('wire:guard:own-origin', async (t) => {
  const wire = await openWire(t, { allowedHosts: ['causeway.internal'], aliases: [{ app: 'demo', port: 0 }] })
  const ports = [wire.http.port, wire.http.aliases[0]?.port]
  for (const port of ports)
    for (const name of ['localhost', '127.0.0.1', '[::1]', 'causeway.internal'])
      t.notOk((await statuses(wire, { origin: `http://${name}:${port}` })).includes(403), `${name}:${port}`)
  for (const origin of [
    'http://localhost:5173',
    'http://localhost',
    `https://localhost:${wire.http.port}`,
    `http://127.0.0.2:${wire.http.port}`,
    `http://localhost.evil.example:${wire.http.port}`,
    `http://x@localhost:${wire.http.port}`,
    `ftp://localhost:${wire.http.port}`,
    'http://causeway.internal',
    'null',
    'file://',
    '',
  ])
    t.same(await statuses(wire, { origin }), [403], origin)
})

verifies('wire:guard:own-origin', 'requests without a body are rejected without a preflight', async (t) => {
  const wire = await openWire(t)
  const path = '/api/apps/demo/tools/count'
  const headers = { origin: 'http://localhost:5173' }
  t.equal((await wire.send(undefined, { path, headers })).status, 403)
  t.match((await wire.send(undefined, { path })).json, { count: 1 }, 'the tool did not run')
})

verifies(
  'wire:guard:own-origin',
  'pages on other ports cannot embed resources without an Origin',
  async (t) => {
    const wire = await openWire(t)
    t.same(await statuses(wire, { 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'no-cors' }), [403])
  },
)

/** The origin of the MCP Inspector in a browser. */
const inspector = 'http://localhost:6274'

verifies('wire:guard:allowed-origin', async (t) => {
  const wire = await openWire(t, { allowedOrigins: [inspector] })
  const preflight = await wire.send(undefined, {
    method: 'OPTIONS',
    headers: {
      origin: inspector,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'content-type,mcp-protocol-version,mcp-session-id',
    },
  })
  t.match(preflight, {
    status: 204,
    text: '',
    headers: {
      'access-control-allow-origin': inspector,
      'access-control-allow-methods': /POST.*DELETE/,
      'access-control-allow-headers': 'content-type,mcp-protocol-version,mcp-session-id',
      vary: /Origin/,
    },
  })
  const page = { ...both, origin: inspector, 'sec-fetch-site': 'same-site', 'sec-fetch-mode': 'cors' }
  const opened = await wire.send(initializeMessage(), { headers: page })
  t.equal(opened.status, 200)
  t.equal(opened.headers['access-control-allow-origin'], inspector)
  t.match(opened.headers['access-control-expose-headers'], /Mcp-Session-Id/)
  const inSession = { ...page, 'mcp-session-id': opened.headers['mcp-session-id'] as string }
  const called = await wire.stream(toolCall('Demo__echo', { text: 'x' }), { headers: inSession })
  t.match((await called.messages.next()).value, { result: { structuredContent: { text: 'x' } } })
  t.equal(called.headers['access-control-allow-origin'], inspector)
  const stream = await wire.events(undefined, { method: 'GET', headers: inSession })
  t.match(stream, { status: 200, headers: { 'access-control-allow-origin': inspector } })
  stream.hangUp()
  const unknown = await wire.send(rpc('ping'), { headers: { ...page, 'mcp-session-id': 'gone' } })
  t.match(
    unknown,
    { status: 404, headers: { 'access-control-allow-origin': inspector } },
    'the page can read errors',
  )
  t.equal((await wire.send(undefined, { method: 'DELETE', headers: inSession })).status, 200)
})

verifies('wire:guard:allowed-origin', 'origins that are not allowed get no CORS headers', async (t) => {
  const wire = await openWire(t, { allowedOrigins: [inspector] })
  for (const origin of ['http://localhost:6275', 'http://127.0.0.1:6274', `${inspector}.evil.example`]) {
    const preflight = { origin, 'access-control-request-method': 'POST' }
    for (const headers of [preflight, { origin }]) {
      const { status, headers: received } = await wire.send(undefined, { method: 'OPTIONS', headers })
      t.equal(status, 403, origin)
      t.notOk('access-control-allow-origin' in received)
    }
  }
  const { headers } = await wire.send(rpc('ping'))
  t.equal(headers.vary, 'Origin', 'a cached response is not shared between origins')
  t.notOk('access-control-allow-origin' in headers, 'requests without an Origin get no CORS headers')
})

t.test('matchPath decodes each variable segment', async (t) => {
  const pattern = '/recordings/{name}/frames/{frame_id}'
  t.same(matchPath(pattern, '/recordings/a%2Fb%20c/frames/7'), { name: 'a/b c', frame_id: '7' })
  t.same(matchPath('/plain', '/plain'), {})
})

t.test('matchPath rejects other paths, empty variables and malformed encodings', async (t) => {
  for (const path of ['/notes', '/notes/1/2', '/other/1', '/notes/', '/notes/%ff', 'notes/1'])
    t.equal(matchPath('/notes/{id}', path), undefined, path)
})

const mebibyte = 2 ** 20

t.test('a client that sends everything before it reads receives 413', async (t) => {
  const server = createServer((request, response) => {
    readBody(request, { bytes: mebibyte }).then(
      () => response.end('accepted'),
      ({ code }) => response.writeHead(413).end(code),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  // Larger than the socket buffers of the system.
  const size = 64 * mebibyte
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`)
  await new Promise<unknown>((resolve) => socket.write(Buffer.alloc(size), resolve))
  const [response] = await once(socket, 'data')
  t.match(String(response), /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s)
})

const html = { accept: 'text/html,application/xhtml+xml,*/*;q=0.8' }
const built = {
  'index.html': '<title>Causeway</title>',
  assets: { 'index-a1.js': 'export {}', 'a.txt': 'x' },
}
const get = (path: string, headers: Readonly<Record<string, string>> = html) =>
  ({ method: 'GET', path, headers }) as const

verifies('console:pages:served', async (t) => {
  const folder = t.testdir({ pages: built, data: {} })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  for (const path of ['/', '/apps', '/apps/demo', '/apps/demo/echo']) {
    const page = await send(undefined, get(path))
    t.match(page, {
      status: 200,
      text: '<title>Causeway</title>',
      headers: { 'content-type': 'text/html; charset=utf-8', 'x-content-type-options': 'nosniff' },
    })
    const policy = String(page.headers['content-security-policy'])
    t.match(policy, /^default-src 'none'; script-src 'self'; style-src 'self';/)
    t.match(policy, /frame-ancestors 'none'/)
    t.notMatch(policy, /unsafe|http/)
  }
  t.match(await send(undefined, get('/assets/index-a1.js')), {
    status: 200,
    text: 'export {}',
    headers: { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': /immutable/ },
  })
})

verifies('console:pages:served', 'unknown paths, files and formats get an error', async (t) => {
  const folder = t.testdir({ pages: built, data: {}, 'outside.js': 'x' })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  const missing = { status: 404, json: { code: 'ROUTE_NOT_FOUND' } }
  t.match(await send(undefined, get('/nothing', { accept: '*/*' })), missing)
  // The console shows its own page for an unknown address.
  t.match(await send(undefined, get('/nothing')), { status: 404, text: '<title>Causeway</title>' })
  for (const path of [
    '/api/nothing',
    '/assets/none.js',
    '/assets/a.txt',
    `/assets/${encodeURIComponent('../../outside.js')}`,
  ])
    t.match(await send(undefined, get(path)), missing, path)
  t.match(await send(undefined, get('/', { accept: '*/*' })), {
    status: 404,
    json: { code: 'ROUTE_NOT_FOUND', remedy: /^open it in a browser.*\/mcp/ },
  })
  t.match(await send({}, { path: '/', headers: html }), missing, 'POST')
})

verifies('console:pages:not-built', async (t) => {
  const folder = t.testdir({ data: {} })
  const { send } = await openWire(t, { dir: `${folder}/data`, consolePages: `${folder}/pages` })
  t.match(await send(undefined, get('/')), {
    status: 503,
    text: /npm run build/,
    headers: { 'content-type': 'text/html; charset=utf-8', 'content-security-policy': /default-src 'none'/ },
  })
})

verifies('console:pages:public', async (t) => {
  const folder = t.testdir({ pages: built, data: {} })
  const file = `${folder}/tokens`
  writeFileSync(file, 'token-of-the-console-test-0123456789abcdef console *:read\n', { mode: 0o600 })
  const { send } = await openWire(t, {
    dir: `${folder}/data`,
    consolePages: `${folder}/pages`,
    tokens: new TokenFile(file, { log: captureLog().log }),
  })
  for (const path of ['/', '/assets/index-a1.js']) {
    t.match(await send(undefined, get(path)), { status: 200 }, path)
    const foreign = [
      { host: 'evil.example' },
      { origin: 'https://evil.example' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' },
      { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate', 'sec-fetch-dest': 'iframe' },
    ]
    for (const headers of foreign)
      t.match(
        await send(undefined, get(path, { ...html, ...headers })),
        { status: 403 },
        JSON.stringify(headers),
      )
  }
  t.match(await send(undefined, get('/api/apps')), { status: 401 }, 'data still requires a token')
})
