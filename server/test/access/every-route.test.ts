/**
 * Every route and every channel, and who must not come in by it. The rows are compared with the routes that the server
 * has: a new route without a row fails here.
 */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { request } from 'undici'
import { WebSocket } from 'ws'
import { startBridge } from '../../../bridge/test/client.ts'
import { verifies } from '../../../test/verifies.ts'
import { openTokens } from '../../src/access/token-file.ts'
import { both, modern, openWire, rpc, toolCall, until, type Wire } from '../http/open-wire.ts'
import { portApp } from '../http/port-app.ts'
import { captureLog, soon } from '../test-core.ts'

const all = 'token-that-may-everything'
const none = 'token-of-another-app-only'
const reader = 'token-that-may-only-read'

/** How a route is called, and what its token must give. */
interface Row {
  /** The path, its variables filled in. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** True where a token without a scope on the app is refused. */
  readonly isScoped?: boolean
}

const stateless = modern(toolCall('echo', { text: 'x' }))

/** By the pattern of the route. */
const rows: Readonly<Record<string, readonly Row[]>> = {
  '/mcp': [
    { path: '/mcp', body: rpc('tools/list') },
    { path: '/mcp', body: toolCall('Demo__count'), isScoped: true },
    { path: '/mcp', body: rpc('resources/read', { uri: 'demo://notes/a' }), isScoped: true },
  ],
  '/mcp/:app': [
    { path: '/mcp/demo', body: toolCall('count'), headers: both, isScoped: true },
    { path: '/mcp/demo', body: stateless.body, headers: stateless.headers, isScoped: true },
    {
      path: '/mcp/demo',
      body: rpc('prompts/get', { name: 'greet', arguments: { who: 'x' } }),
      isScoped: true,
    },
  ],
  '/sse': [{ path: '/sse' }],
  '/sse/:app': [{ path: '/sse/demo' }],
  '/messages': [{ path: '/messages?sessionId=x', body: rpc('ping') }],
  '/health': [{ path: '/health' }],
  '/health/:app': [{ path: '/health/demo' }],
  '/metrics': [{ path: '/metrics' }],
  '/openapi.json': [{ path: '/openapi.json' }],
  '/api/apps': [{ path: '/api/apps' }],
  '/api/apps/:app': [{ path: '/api/apps/demo' }, { path: '/api/apps/port', body: {}, isScoped: true }],
  '/api/apps/:app/tools/:tool': [
    { path: '/api/apps/demo/tools/count', body: {}, isScoped: true },
    { path: '/api/apps/port/tools/call', body: {}, isScoped: true },
  ],
  '/api/apps/:app/*': [{ path: '/api/apps/demo/notes/n1', body: {}, isScoped: true }],
  '/api/registry/refresh': [{ path: '/api/registry/refresh', body: {}, isScoped: true }],
}

async function openGuarded(t: Test) {
  const file = `${t.testdir({ data: {} })}/tokens`
  writeFileSync(
    file,
    `# tokens\n${all}\n${none} stranger wire:read,write,execute\n${reader} reader *:read\n`,
    { mode: 0o600 },
  )
  const tokens = openTokens(file, { log: captureLog().log })
  const { app } = portApp()
  const wire = await openWire(t, {
    dir: `${t.testdirName}/data`,
    apps: [app],
    aliases: [
      { app: 'demo', port: 0 },
      { app: 'port', port: 0 },
    ],
    tokens,
  })
  const [demo, port] = wire.http.aliases.map((alias) => `http://127.0.0.1:${alias.port}`) as [string, string]
  return { wire, demo, port }
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

/** Fields that must not get in, with what they are answered. */
const intruders: readonly { name: string; status: number; code: string; fields: Record<string, string> }[] = [
  {
    name: 'Origin',
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { origin: 'https://evil.example' },
  },
  {
    name: 'opaque Origin',
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { origin: 'null' },
  },
  {
    name: 'an image of another site',
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', ...bearer(all) },
  },
  {
    name: 'a frame of another site',
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'iframe',
      ...bearer(all),
    },
  },
  { name: 'Host', status: 403, code: 'FORBIDDEN_HOST', fields: { host: 'evil.example', ...bearer(all) } },
  { name: 'no token', status: 401, code: 'UNAUTHORIZED', fields: {} },
  { name: 'wrong token', status: 401, code: 'UNAUTHORIZED', fields: bearer('token-of-nobody-at-all') },
  { name: 'token as Basic', status: 401, code: 'UNAUTHORIZED', fields: { authorization: `Basic ${all}` } },
]

async function answer(url: string, method: string, { body, headers }: Omit<Row, 'path'>) {
  const sent = body === undefined || method === 'GET' || method === 'HEAD' ? undefined : JSON.stringify(body)
  const got = await request(url, {
    method: method as 'POST',
    headers: { ...(sent === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(sent === undefined ? {} : { body: sent }),
  })
  // A stream that was opened has no end to wait for.
  if (String(got.headers['content-type']).startsWith('text/event-stream')) {
    got.body.destroy()
    return { status: got.statusCode, headers: got.headers, text: '' }
  }
  return { status: got.statusCode, headers: got.headers, text: await got.body.text() }
}

verifies('access:every-route', async (t) => {
  const { wire } = await openGuarded(t)
  const patterns = new Set(wire.http.routes.map((route) => route.split(' ')[1] as string))
  t.same([...patterns].sort(), Object.keys(rows).sort(), 'a row for each route, a route for each row')
  for (const route of wire.http.routes) {
    const [method = '', pattern = ''] = route.split(' ')
    for (const { path, ...row } of rows[pattern] ?? [])
      for (const { name, status, code, fields } of intruders) {
        const got = await answer(`${wire.http.url}${path}`, method, {
          ...row,
          headers: { ...row.headers, ...fields },
        })
        t.equal(got.status, status, `${method} ${path}: ${name}`)
        if (method !== 'HEAD') t.match(got.text, code)
        if (status === 401) t.match(got.headers['www-authenticate'], /^Bearer/)
      }
  }
})

verifies('access:every-route', 'a token without the scope gets no further than the lists', async (t) => {
  const { wire } = await openGuarded(t)
  for (const { path, body, headers, isScoped = false } of Object.values(rows).flat()) {
    const method = body === undefined ? 'GET' : 'POST'
    const as = (token: string) =>
      answer(`${wire.http.url}${path}`, method, { body, headers: { ...headers, ...bearer(token) } })
    const stranger = await as(none)
    const isRefused = stranger.text.includes('"code":"FORBIDDEN_SCOPE"')
    t.equal(isRefused, isScoped, `${method} ${path} ${JSON.stringify(body ?? '')}`)
    if (path.startsWith('/api/') && isScoped) t.equal(stranger.status, 403, path)
    const owner = await as(all)
    t.notMatch(owner.text, /"code":"(FORBIDDEN|UNAUTHORIZED)/, path)
    t.not(owner.status, 401, path)
  }
})

verifies('wire:guard:token-origin', async (t) => {
  const { wire, port } = await openGuarded(t)
  const page = { origin: 'https://editor.example' }
  const asked = {
    ...page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  for (const url of [`${wire.http.url}/mcp`, `${port}/api/command`]) {
    const preflight = await answer(url, 'OPTIONS', { headers: asked })
    t.match(preflight, {
      status: 204,
      headers: {
        'access-control-allow-origin': page.origin,
        'access-control-allow-headers': 'authorization',
        vary: /Origin/,
      },
    })
    const calls = async (authorization: object) =>
      answer(url, 'POST', { body: rpc('tools/list'), headers: { ...page, ...authorization } })
    t.match(await calls(bearer(all)), {
      status: 200,
      headers: { 'access-control-allow-origin': page.origin },
    })
    for (const authorization of [{}, bearer('token-of-nobody-at-all')]) {
      const { status, headers } = await calls(authorization)
      t.ok(status === 401 || status === 403)
      t.notOk('access-control-allow-origin' in headers)
    }
  }
  const socket = `${port.replace('http', 'ws')}/`
  t.equal(await upgrade(t, socket, page), 403)
  t.equal(await upgrade(t, socket, { ...page, ...bearer(all) }), 'open')
})

verifies('access:every-route', 'on the ports of single apps too', async (t) => {
  const { demo, port } = await openGuarded(t)
  const places = [
    '/mcp',
    '/sse',
    '/messages',
    '/health',
    '/metrics',
    '/openapi.json',
    '/',
    '/notes/n1',
    '/nowhere',
    '/tools/echo',
  ]
  for (const url of [demo, port])
    for (const path of places)
      for (const method of ['GET', 'POST'])
        for (const { name, status, code, fields } of intruders) {
          const got = await answer(`${url}${path}`, method, { body: {}, headers: fields })
          t.equal(got.status, status, `${method} ${url}${path}: ${name}`)
          t.match(got.text, code)
        }
  t.equal((await answer(`${demo}/health`, 'GET', { headers: bearer(all) })).status, 200)
})

/** What becomes of an upgrade. */
const upgrade = (t: Test, url: string, fields: Record<string, string>): Promise<number | 'open'> => {
  const { host, ...headers } = fields
  const socket = new WebSocket(url, { headers: { ...headers, ...(host === undefined ? {} : { host }) } })
  t.teardown(() => socket.terminate())
  socket.on('error', () => {})
  return soon(
    new Promise((resolve) => {
      socket.once('open', () => resolve('open'))
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    }),
  )
}

const frame = (t: Test, url: string, token: string, text: string): Promise<string> => {
  const socket = new WebSocket(url, { headers: bearer(token) })
  t.teardown(() => socket.terminate())
  socket.once('open', () => socket.send(text))
  return soon(
    new Promise((resolve) =>
      socket.on('message', (data) => data.toString() !== 'welcome' && resolve(String(data))),
    ),
  )
}

verifies('access:every-route', 'by WebSocket too', async (t) => {
  const { wire, port } = await openGuarded(t)
  const urls = [`${wire.http.url}/api/apps/port`, `${port}/`].map((url) => url.replace('http', 'ws'))
  for (const url of urls) {
    for (const { name, status, fields } of intruders)
      t.equal(await upgrade(t, url, fields), status, `${url}: ${name}`)
    t.equal(await upgrade(t, url, bearer(all)), 'open')
    t.equal(await frame(t, url, all, 'x'), 'echo x')
    t.match(JSON.parse(await frame(t, url, none, 'x')), { error: { code: 'FORBIDDEN_SCOPE' } })
  }
})

verifies('access:every-route', 'a session does not outlive the right to it', async (t) => {
  const { wire } = await openGuarded(t)
  const session = await wire.initialize({ headers: bearer(all) })
  const inSession = { ...both, 'mcp-session-id': session }
  t.equal((await wire.send(rpc('ping'), { headers: inSession })).status, 401)
  t.equal((await wire.send(undefined, { method: 'DELETE', headers: inSession })).status, 401)
  t.equal((await wire.send(rpc('ping'), { headers: { ...inSession, ...bearer(all) } })).status, 200)
})

verifies(
  'access:every-route',
  'the bridge gets in by its token file, and says what is wrong without',
  async (t) => {
    const { wire } = await openGuarded(t)
    const url = `${wire.http.url}/mcp`
    const file = `${t.testdirName}/bridge-token`
    writeFileSync(file, `${all}\n`, { mode: 0o600 })
    const params = { name: 'Demo__echo', arguments: { text: 'x' } }
    const inside = startBridge(t, { url, args: ['--token-file', file] })
    await inside.open()
    t.match(await inside.call(1, 'tools/call', params), { result: { structuredContent: { text: 'x' } } })
    const outside = startBridge(t, { url })
    const refused = JSON.stringify(await outside.call(1, 'tools/call', params))
    t.match(refused, /token-file/)
  },
)

verifies('access:rotation', 'what is open is ended when its token is withdrawn', async (t) => {
  const { wire, port } = await openGuarded(t)
  const ends = new Set<string>()
  const note = (name: string) => () => void ends.add(name)
  for (const [token, whose] of [
    [all, 'kept'],
    [reader, 'withdrawn'],
  ] as const) {
    const stream = await fetch(`${wire.http.url}/sse`, { headers: bearer(token) })
    stream.text().then(note(`${whose} stream`), note(`${whose} stream`))
    const socket = new WebSocket(`${port.replace('http', 'ws')}/rooms/x`, { headers: bearer(token) })
    t.teardown(() => socket.terminate())
    socket.once('close', (code) => ends.add(`${whose} socket ${code}`))
    await soon(new Promise((resolve) => socket.once('open', resolve)))
  }
  writeFileSync(`${t.testdirName}/tokens`, `${all}\n`, { mode: 0o600 })
  await until(() => ends.size === 2)
  t.same([...ends].sort(), ['withdrawn socket 1008', 'withdrawn stream'])
})

verifies('access:scope', async (t) => {
  const { wire } = await openGuarded(t)
  const result = async (token: string, name: string, args: object = {}) =>
    (await wire.send(toolCall(name, args), { headers: bearer(token) })).json.result
  t.notOk((await result(reader, 'Demo__echo', { text: 'x' })).isError)
  t.match(await result(reader, 'Demo__count'), {
    isError: true,
    _meta: { 'causeway/error': { code: 'FORBIDDEN_SCOPE', data: { app: 'demo', needs: 'write' } } },
  })
  t.notOk((await result(none, 'Wire__tell')).isError)
  t.match((await result(none, 'Demo__echo', { text: 'x' }))._meta, {
    'causeway/error': { data: { needs: 'read' } },
  })
  t.notOk((await result(all, 'Demo__count')).isError)
})

verifies('access:state', async (t) => {
  const { wire } = await openGuarded(t)
  const file = `${t.testdirName}/tokens`
  writeFileSync(file, `${all} one\n${none} other\n`, { mode: 0o600 })
  const count = async (token: string, session: string) =>
    (await wire.send(toolCall('Demo__count'), { headers: { ...bearer(token), 'causeway-session': session } }))
      .json.result.structuredContent.count
  await soon(renewed(wire, none))
  t.equal(await count(all, 's'), 1)
  t.equal(await count(all, 's'), 2)
  t.equal(await count(none, 's'), 1)
})

/** Resolves when a token may do everything, as the file says now. */
async function renewed(wire: Wire, token: string): Promise<void> {
  for (;;) {
    const { json } = await wire.send(toolCall('Demo__echo', { text: 'x' }), { headers: bearer(token) })
    if (json.result.isError !== true) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
