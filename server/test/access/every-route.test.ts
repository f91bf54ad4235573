/** Checks that every route of the server rejects intruders. A route without a row in the table fails the test. */
import { writeFileSync } from 'node:fs'
import type { Test } from 'tap'
import { request } from 'undici'
import { WebSocket } from 'ws'
import { startBridge } from '../../../bridge/test/client.ts'
import { verifies } from '../../../test/verifies.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { both, modern, openWire, rpc, toolCall, until, type Wire } from '../http/open-wire.ts'
import { portApp } from '../http/port-app.ts'
import { captureLog, soon } from '../test-core.ts'

const all = 'token-with-every-scope'
const none = 'token-for-another-app'
const reader = 'token-with-read-scope'

interface RouteRequest {
  /** The path with values for its variables. */
  readonly path: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  /** Whether a token without a scope for the app is rejected. */
  readonly isScoped?: boolean
}

const stateless = modern(toolCall('echo', { text: 'x' }))

/** Requests by route pattern. */
const rows: Readonly<Record<string, readonly RouteRequest[]>> = {
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
  '/mcp/p/:profile': [{ path: '/mcp/p/none', body: rpc('tools/list') }],
  '/sse': [{ path: '/sse' }],
  '/sse/:app': [{ path: '/sse/demo' }],
  '/sse/p/:profile': [{ path: '/sse/p/none' }],
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
  '/api/apps/:app/pictures/:picture': [{ path: '/api/apps/demo/pictures/p1', isScoped: true }],
  '/api/apps/:app/*': [{ path: '/api/apps/demo/notes/n1', body: {}, isScoped: true }],
  '/api/hosted': [{ path: '/api/hosted', isScoped: true }],
  '/api/hosted/:name/logs': [{ path: '/api/hosted/none/logs', isScoped: true }],
  '/api/hosted/:name/changes': [{ path: '/api/hosted/none/changes', isScoped: true }],
  '/api/hosted/:name/restart': [{ path: '/api/hosted/none/restart', body: {}, isScoped: true }],
  '/api/hosted/:name/login': [
    { path: '/api/hosted/none/login?state=x', isScoped: true },
    { path: '/api/hosted/none/login', body: {}, isScoped: true },
  ],
  '/api/hosted/:name/logout': [{ path: '/api/hosted/none/logout', body: {}, isScoped: true }],
  '/api/hosted/:name/approve': [{ path: '/api/hosted/none/approve', body: {}, isScoped: true }],
  '/api/registry/refresh': [{ path: '/api/registry/refresh', body: {}, isScoped: true }],
}

/**
 * Routes that need no token. `guard.test.ts` tests the pages and assets of the console. The redirect URI of logins
 * requires a secret state instead; see below.
 */
const publicRoutes =
  /^GET \/(oauth\/callback|assets\/:name|apps(\/:app(\/:tool)?)?|traffic(\/:request)?|sessions|servers(\/:server)?|status|logs|replay(\/:recording(\/compare\/:other)?)?|debrief(\/plots\/:filename)?|minds(\/:mind)?|trm(\/:session)?|help)?$/

async function openGuarded(t: Test) {
  const file = `${t.testdir({ data: {} })}/tokens`
  writeFileSync(
    file,
    `# tokens\n${all}\n${none} stranger wire:read,write,execute\n${reader} reader *:read\n`,
    { mode: 0o600 },
  )
  const tokens = new TokenFile(file, { log: captureLog().log })
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

/** Headers of requests that must be rejected, with the expected response. */
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
    name: 'image of another site',
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', ...bearer(all) },
  },
  {
    name: 'frame of another site',
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
  { name: 'wrong token', status: 401, code: 'UNAUTHORIZED', fields: bearer('token-that-is-unknown') },
  { name: 'token as Basic', status: 401, code: 'UNAUTHORIZED', fields: { authorization: `Basic ${all}` } },
]

async function send(url: string, method: string, { body, headers }: Omit<RouteRequest, 'path'>) {
  const text = body === undefined || method === 'GET' || method === 'HEAD' ? undefined : JSON.stringify(body)
  const response = await request(url, {
    method: method as 'POST',
    headers: { ...(text === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(text === undefined ? {} : { body: text }),
  })
  // An event stream does not end, so its body is not read.
  if (String(response.headers['content-type']).startsWith('text/event-stream')) {
    response.body.destroy()
    return { status: response.statusCode, headers: response.headers, text: '' }
  }
  return { status: response.statusCode, headers: response.headers, text: await response.body.text() }
}

verifies('access:every-route', async (t) => {
  const { wire } = await openGuarded(t)
  const routes = wire.http.routes.filter((route) => !publicRoutes.test(route))
  const patterns = new Set(routes.map((route) => route.split(' ')[1] as string))
  t.same([...patterns].sort(), Object.keys(rows).sort(), 'the table lists every route')
  for (const route of routes) {
    const [method = '', pattern = ''] = route.split(' ')
    for (const { path, ...row } of rows[pattern] ?? [])
      for (const { name, status, code, fields } of intruders) {
        const response = await send(`${wire.http.url}${path}`, method, {
          ...row,
          headers: { ...row.headers, ...fields },
        })
        t.equal(response.status, status, `${method} ${path}: ${name}`)
        if (method !== 'HEAD') t.match(response.text, code)
        if (status === 401) t.match(response.headers['www-authenticate'], /^Bearer/)
      }
  }
})

verifies('access:every-route', 'a token without a scope for an app cannot use the app', async (t) => {
  const { wire } = await openGuarded(t)
  for (const { path, body, headers, isScoped = false } of Object.values(rows).flat()) {
    const method = body === undefined ? 'GET' : 'POST'
    const as = (token: string) =>
      send(`${wire.http.url}${path}`, method, { body, headers: { ...headers, ...bearer(token) } })
    const stranger = await as(none)
    const isRejected = stranger.text.includes('"code":"FORBIDDEN_SCOPE"')
    t.equal(isRejected, isScoped, `${method} ${path} ${JSON.stringify(body ?? '')}`)
    if (path.startsWith('/api/') && isScoped) t.equal(stranger.status, 403, path)
    const owner = await as(all)
    t.notMatch(owner.text, /"code":"(FORBIDDEN|UNAUTHORIZED)/, path)
    t.not(owner.status, 401, path)
  }
})

verifies(
  'access:every-route',
  'the redirect URI of logins needs no token, but requires a known state',
  async (t) => {
    const { wire } = await openGuarded(t)
    const url = `${wire.http.url}/oauth/callback`
    const navigation = {
      'sec-fetch-site': 'cross-site',
      'sec-fetch-mode': 'navigate',
      'sec-fetch-dest': 'document',
    }
    for (const query of ['', '?code=x&state=y', '?error=%3Cb%3E&state=', `?state=${'z'.repeat(4000)}`]) {
      const { status, headers, text } = await send(`${url}${query}`, 'GET', { headers: navigation })
      t.equal(status, 400, query.slice(0, 40))
      t.match(headers, { 'content-security-policy': /^default-src 'none'/, 'referrer-policy': 'no-referrer' })
      t.match(text, /no login waits for this response/)
      t.notMatch(text, /<b>|zzzz/)
    }
    for (const { name, status, code, fields } of intruders.filter((intruder) => intruder.status === 403)) {
      const response = await send(`${url}?code=x&state=y`, 'GET', { headers: fields })
      t.equal(response.status, status, name)
      t.match(response.text, code)
    }
  },
)

verifies('wire:guard:token-origin', async (t) => {
  const { wire, port } = await openGuarded(t)
  const page = { origin: 'https://editor.example' }
  const preflightHeaders = {
    ...page,
    'access-control-request-method': 'POST',
    'access-control-request-headers': 'authorization',
  }
  for (const url of [`${wire.http.url}/mcp`, `${port}/api/command`]) {
    const preflight = await send(url, 'OPTIONS', { headers: preflightHeaders })
    t.match(preflight, {
      status: 204,
      headers: {
        'access-control-allow-origin': page.origin,
        'access-control-allow-headers': 'authorization',
        vary: /Origin/,
      },
    })
    const call = async (authorization: object) =>
      send(url, 'POST', { body: rpc('tools/list'), headers: { ...page, ...authorization } })
    t.match(await call(bearer(all)), {
      status: 200,
      headers: { 'access-control-allow-origin': page.origin },
    })
    for (const authorization of [{}, bearer('token-that-is-unknown')]) {
      const { status, headers } = await call(authorization)
      t.ok(status === 401 || status === 403)
      t.notOk('access-control-allow-origin' in headers)
    }
  }
  const socket = `${port.replace('http', 'ws')}/`
  t.equal(await upgrade(t, socket, page), 403)
  t.equal(await upgrade(t, socket, { ...page, ...bearer(all) }), 'open')
})

verifies(
  'access:every-route',
  'the port of an app rejects the same unauthorized requests as the server',
  async (t) => {
    const { demo, port } = await openGuarded(t)
    const paths = [
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
      for (const path of paths)
        for (const method of ['GET', 'POST'])
          for (const { name, status, code, fields } of intruders) {
            const response = await send(`${url}${path}`, method, { body: {}, headers: fields })
            t.equal(response.status, status, `${method} ${url}${path}: ${name}`)
            t.match(response.text, code)
          }
    t.equal((await send(`${demo}/health`, 'GET', { headers: bearer(all) })).status, 200)
  },
)

/** Resolves to the status of a rejected upgrade, or to `open`. */
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

verifies('access:every-route', 'WebSocket upgrades and frames require a token', async (t) => {
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

verifies('access:every-route', 'a session requires its token on every request', async (t) => {
  const { wire } = await openGuarded(t)
  const session = await wire.initialize({ headers: bearer(all) })
  const inSession = { ...both, 'mcp-session-id': session }
  t.equal((await wire.send(rpc('ping'), { headers: inSession })).status, 401)
  t.equal((await wire.send(undefined, { method: 'DELETE', headers: inSession })).status, 401)
  t.equal((await wire.send(rpc('ping'), { headers: { ...inSession, ...bearer(all) } })).status, 200)
})

verifies('access:every-route', 'the bridge uses its token file, and reports a missing token', async (t) => {
  const { wire } = await openGuarded(t)
  const url = `${wire.http.url}/mcp`
  const file = `${t.testdirName}/bridge-token`
  writeFileSync(file, `${all}\n`, { mode: 0o600 })
  const params = { name: 'Demo__echo', arguments: { text: 'x' } }
  const authorized = startBridge(t, { url, args: ['--token-file', file] })
  await authorized.open()
  t.match(await authorized.call(1, 'tools/call', params), { result: { structuredContent: { text: 'x' } } })
  const unauthorized = startBridge(t, { url })
  t.match(JSON.stringify(await unauthorized.call(1, 'tools/call', params)), /token-file/)
})

verifies('access:rotation', 'open streams and sockets close when their token is revoked', async (t) => {
  const { wire, port } = await openGuarded(t)
  const ends = new Set<string>()
  const record = (name: string) => () => void ends.add(name)
  for (const [token, state] of [
    [all, 'valid'],
    [reader, 'revoked'],
  ] as const) {
    const stream = await fetch(`${wire.http.url}/sse`, { headers: bearer(token) })
    stream.text().then(record(`${state} stream`), record(`${state} stream`))
    const socket = new WebSocket(`${port.replace('http', 'ws')}/rooms/x`, { headers: bearer(token) })
    t.teardown(() => socket.terminate())
    socket.once('close', (code) => ends.add(`${state} socket ${code}`))
    await soon(new Promise((resolve) => socket.once('open', resolve)))
  }
  writeFileSync(`${t.testdirName}/tokens`, `${all}\n`, { mode: 0o600 })
  await until(() => ends.size === 2)
  t.same([...ends].sort(), ['revoked socket 1008', 'revoked stream'])
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
  t.notOk((await result(none, 'Wire__identify')).isError)
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
  await soon(waitForAccess(wire, none))
  t.equal(await count(all, 's'), 1)
  t.equal(await count(all, 's'), 2)
  t.equal(await count(none, 's'), 1)
})

/** Resolves when the server has loaded the scopes of a token. */
async function waitForAccess(wire: Wire, token: string): Promise<void> {
  for (;;) {
    const { json } = await wire.send(toolCall('Demo__echo', { text: 'x' }), { headers: bearer(token) })
    if (json.result.isError !== true) return
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}
