import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { WebSocket } from 'ws'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { verifies } from '../../../test/verifies.ts'
import { openTokens } from '../../src/access/token-file.ts'
import { apps } from '../../src/apps.ts'
import type { HostedApp } from '../../src/core.ts'
import { readTokens, type Scope, scopeOf, scopeOfMethod } from '../../src/domain/access.ts'
import { isLoopback } from '../../src/http/admission.ts'
import { both, modern, openWire, rpc, toolCall } from '../http/open-wire.ts'
import { captureLog, soon } from '../test-core.ts'

t.setTimeout(300_000)

/**
 * The table of access over the apps of the product: their routes, sockets, tools, resources and prompts. A route or a
 * socket without a row fails here, and so does one whose scope is another than its row says.
 */

/** The scope that each route of an app wants, by `<app> <method> <path>`. Nothing is public: health wants a token too. */
const routes: Readonly<Record<string, Scope>> = {
  'causeway GET /audit': 'read',
  'causeway GET /audit.jsonl': 'read',
  'debrief GET /plots/{filename}/events': 'read',
  'debrief GET /plots/{filename}/features': 'read',
  'debrief POST /': 'write',
  'debrief POST /api/command': 'write',
  'replay DELETE /recordings/{name}': 'write',
  'replay GET /recordings/{name}': 'read',
  'replay GET /recordings/{name}/export': 'read',
  'replay POST /recordings/{name}/finish': 'write',
  'replay POST /recordings/{name}/frames': 'write',
  'replay POST /recordings/{name}/import': 'write',
  'toolvault GET /api/samples/{file}': 'read',
  'toolvault GET /api/tools/{tool}': 'read',
  'toolvault GET /api/tools/{tool}/samples/{file}': 'read',
  'toolvault GET /index.json': 'read',
  'toolvault GET /tools/list': 'read',
  'toolvault POST /tools/call': 'read',
}

/** The same of sockets, by `<app> <path>`. */
const sockets: Readonly<Record<string, Scope>> = { 'debrief /': 'write' }

const tokens = {
  all: 'token-that-may-everything',
  reader: 'token-that-may-only-read',
  stranger: 'token-of-an-app-that-is-not',
} as const

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const names = ['causeway', ...apps.map(({ name }) => name.toLowerCase())]

/** A server with every app, on ports of their own too. */
async function openProduct(t: Test) {
  const dir = t.testdir({ data: {} })
  const file = `${dir}/tokens`
  const lines = `${tokens.all}\n${tokens.reader} reader *:read\n${tokens.stranger} stranger wire:read,write,execute\n`
  writeFileSync(file, lines, { mode: 0o600 })
  const wire = await openWire(t, {
    dir: `${dir}/data`,
    apps,
    aliases: names.map((app) => ({ app, port: 0 })),
    tokens: openTokens(file, { log: captureLog().log }),
    env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RATE_LIMITS: 'off' },
  })
  const own = new Map(wire.http.aliases.map(({ app, port }) => [app, `http://127.0.0.1:${port}`]))
  return { wire, own, hosted: wire.core.apps().filter(({ path }) => names.includes(path)) }
}

/** One for all: opening every app takes longer than the checks. */
const { wire, own, hosted } = await openProduct(t)

const intruders: readonly {
  readonly status: number
  readonly code: string
  readonly fields: Record<string, string>
}[] = [
  {
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { origin: 'https://evil.example' },
  },
  {
    status: 403,
    code: 'FORBIDDEN_ORIGIN',
    fields: { 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors', ...bearer(tokens.all) },
  },
  { status: 403, code: 'FORBIDDEN_HOST', fields: { host: 'evil.example', ...bearer(tokens.all) } },
  { status: 401, code: 'UNAUTHORIZED', fields: {} },
  { status: 401, code: 'UNAUTHORIZED', fields: bearer('token-of-nobody-at-all') },
]

async function ask(url: string, method: string, headers: Record<string, string>) {
  const hasBody = method === 'POST'
  const answer = await request(url, {
    method: method as 'POST',
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: '{}' } : {}),
  })
  return { status: answer.statusCode, text: await answer.body.text() }
}

const isForbidden = (text: string): boolean => text.includes('"code":"FORBIDDEN_SCOPE"')

verifies('access:every-route', 'the routes of every app, below its path and on its own port', async (t) => {
  const declared = hosted.flatMap((app) => app.routes.map((route) => ({ app, ...route })))
  t.same(
    declared.map(({ app, method, path }) => `${app.path} ${method} ${path}`).sort(),
    Object.keys(routes).sort(),
    'a row for each route, a route for each row',
  )
  for (const { app, method, path } of declared) {
    const scope = routes[`${app.path} ${method} ${path}`]
    const filled = path.replace(/\{[a-z]+\}/g, 'x')
    for (const url of [
      `${wire.http.url}/api/apps/${app.path}${filled.replace(/^\/$/, '')}`,
      `${own.get(app.path)}${filled}`,
    ]) {
      for (const { status, code, fields } of intruders) {
        const got = await ask(url, method, fields)
        t.equal(got.status, status, `${method} ${url}`)
        t.match(got.text, code)
      }
      const stranger = await ask(url, method, bearer(tokens.stranger))
      t.match(stranger, { status: 403, text: /FORBIDDEN_SCOPE/ }, `${method} ${url} to a stranger`)
      const reader = await ask(url, method, bearer(tokens.reader))
      t.equal(isForbidden(reader.text), scope !== 'read', `${method} ${url} to a reader`)
      t.notOk(isForbidden((await ask(url, method, bearer(tokens.all))).text))
    }
  }
})

/** What becomes of an upgrade: its status, or the first frame that comes back for one. */
const upgrade = (t: Test, url: string, fields: Record<string, string>): Promise<number | string> => {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: fields })
  t.teardown(() => socket.terminate())
  socket.on('error', () => {}) // told by the answer
  socket.once('open', () => socket.send('{}'))
  return soon(
    new Promise((resolve) => {
      socket.on('message', (data) => data.toString().includes('error') && resolve(data.toString()))
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    }),
  )
}

verifies('access:every-route', 'the sockets of every app', async (t) => {
  const declared = hosted.flatMap((app) => app.sockets.map(({ path }) => ({ app: app.path, path })))
  t.same(
    declared.map(({ app, path }) => `${app} ${path}`).sort(),
    Object.keys(sockets).sort(),
    'a row for each socket, a socket for each row',
  )
  for (const { app, path } of declared)
    for (const url of [
      `${wire.http.url}/api/apps/${app}${path.replace(/^\/$/, '')}`,
      `${own.get(app)}${path}`,
    ]) {
      for (const { status, fields } of intruders) t.equal(await upgrade(t, url, fields), status, url)
      t.match(await upgrade(t, url, bearer(tokens.stranger)), /FORBIDDEN_SCOPE/)
      t.match(await upgrade(t, url, bearer(tokens.reader)), /FORBIDDEN_SCOPE/)
      t.match(await upgrade(t, url, bearer(tokens.all)), /INVALID_ARGUMENTS/)
    }
})

/** Every way to a tool that has a scope; each answers whether the token was refused it. */
const ways = ({ path, name }: HostedApp, tool: string) => {
  const call = async (
    token: string,
    body: object,
    sending: { path: string; headers?: Record<string, string> },
  ) => {
    const headers = { ...sending.headers, ...bearer(token) }
    return isForbidden((await wire.send(body, { ...sending, headers })).text)
  }
  const stateless = modern(toolCall(`${name}__${tool}`, { no_such_argument: 1 }))
  const wrong = { no_such_argument: 1 }
  return {
    shared: (token: string) => call(token, toolCall(`${name}__${tool}`, wrong), { path: '/mcp' }),
    bare: (token: string) => call(token, toolCall(tool, wrong), { path: `/mcp/${path}`, headers: both }),
    stateless: (token: string) => call(token, stateless.body, { path: '/mcp', headers: stateless.headers }),
    rest: (token: string) => call(token, wrong, { path: `/api/apps/${path}/tools/${tool}` }),
    own: async (token: string) => {
      const answer = await fetch(`${own.get(path)}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: JSON.stringify(toolCall(tool, wrong)),
      })
      return isForbidden(await answer.text())
    },
  }
}

verifies('access:every-route', 'every tool of every app, by each way that leads to it', async (t) => {
  for (const app of hosted)
    for (const { name, annotations } of app.tools)
      for (const [way, refuses] of Object.entries(ways(app, name))) {
        const told = `${way} ${app.path} ${name}`
        t.equal(await refuses(tokens.stranger), true, `${told} to a stranger`)
        t.equal(await refuses(tokens.reader), scopeOf(annotations) !== 'read', `${told} to a reader`)
        t.equal(await refuses(tokens.all), false, told)
      }
})

verifies(
  'access:every-route',
  'resources and prompts: reading, hearing of changes, and what a list shows',
  async (t) => {
    const headers = (token: string) => ({ ...both, ...bearer(token) })
    const uris = [
      'plots://list',
      'minds://list',
      'toolvault://index',
      'help://llms.txt',
      'replay://recordings/x/metadata',
    ]
    const session = await wire.initialize({ headers: bearer(tokens.stranger) })
    for (const uri of uris) {
      const read = rpc('resources/read', { uri })
      t.match((await wire.send(read, { headers: bearer(tokens.stranger) })).text, 'FORBIDDEN_SCOPE', uri)
      t.notMatch((await wire.send(read, { headers: bearer(tokens.reader) })).text, 'FORBIDDEN_SCOPE', uri)
      const inSession = { ...headers(tokens.stranger), 'mcp-session-id': session }
      t.match(
        (await wire.send(rpc('resources/subscribe', { uri }), { headers: inSession })).text,
        'FORBIDDEN_SCOPE',
      )
      const listen = modern(rpc('subscriptions/listen', { notifications: { resourceSubscriptions: [uri] } }))
      const refused = await wire.send(listen.body, {
        headers: { ...listen.headers, ...bearer(tokens.stranger) },
      })
      t.match(refused.text, 'FORBIDDEN_SCOPE')
    }
    const list = async (token: string): Promise<string[]> =>
      (await wire.send(rpc('resources/list'), { headers: bearer(token) })).json.result.resources.map(
        ({ uri }: { uri: string }) => uri,
      )
    const [all, shown] = [await list(tokens.reader), await list(tokens.stranger)]
    t.ok(all.includes('minds://list'))
    t.same(
      shown.filter((uri) => uris.includes(uri)),
      [],
      'a list leaves out what its reader may not read, and shows the rest',
    )
    for (const app of apps)
      for (const { name } of app.prompts) {
        const get = rpc('prompts/get', { name: `${app.name}__${name}`, arguments: {} })
        t.match((await wire.send(get, { headers: bearer(tokens.stranger) })).text, 'FORBIDDEN_SCOPE', name)
      }
  },
)

const [first, second] = ['first-token-of-this-test', 'second-token-of-this-test']
const tokenFileBearer = (token: string) => `Bearer ${token}`

function tokenFile(t: Test, text: string, mode = 0o600): string {
  const file = `${t.testdir()}/tokens`
  writeFileSync(file, text, { mode })
  return file
}

t.test('tokens: a line gives a name and scopes; without them it gives all', async (t) => {
  const { lines, problems } = readTokens(
    `\n# comment\n${first}\n${second}  laptop *:read debrief:read,write trm:execute\n`,
  )
  t.same(problems, [])
  const [one, other] = lines.map(({ access }) => access)
  t.ok(one?.name === '' && one.allows('trm', 'execute'))
  t.equal(other?.name, 'laptop')
  t.same(
    (['read', 'write', 'execute'] as const).map((scope) => [
      other?.allows('help', scope),
      other?.allows('debrief', scope),
      other?.allows('trm', scope),
    ]),
    [
      [true, true, false],
      [false, true, false],
      [false, false, true],
    ],
    'what is granted for one app replaces what is granted for all',
  )
})

verifies('access:file', 'each bad line is named, and no token with it', async (t) => {
  const bad = [
    'short',
    `${first} na/me`,
    `${first} laptop debrief:fly`,
    `${first} laptop debrief:`,
    `${first} laptop other`,
    `${first}\n${first}`,
  ]
  for (const text of bad) {
    const { problems } = readTokens(text)
    t.equal(problems.length, 1, text)
    t.notMatch(JSON.stringify(problems), first)
  }
})

verifies('access:file', async (t) => {
  const { log } = captureLog()
  const open = (text: string, mode?: number) => () => openTokens(tokenFile(t, text, mode), { log })
  if (process.platform !== 'win32')
    t.throws(open(first, 0o644), { code: 'INVALID_SETTING', remedy: /^run chmod 600 / })
  t.throws(open('# nothing\n'), { code: 'INVALID_SETTING' })
  t.throws(open('short'), { code: 'INVALID_SETTING', message: /line 1/ })
  t.throws(() => openTokens(`${t.testdir()}/missing`, { log }), { code: 'INVALID_SETTING' })
  t.throws(() => openTokens(t.testdir(), { log }), { code: 'INVALID_SETTING' })
})

verifies('access:rotation', async (t) => {
  const { log, lines } = captureLog()
  const clock = { now: 0 }
  const file = tokenFile(t, `${first} laptop`)
  const tokens = openTokens(file, { log, nowMs: () => clock.now })
  t.equal(tokens.admit(tokenFileBearer(first)).name, 'laptop')
  writeFileSync(`${file}.new`, `${second} desk`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  t.equal(tokens.admit(tokenFileBearer(second)).name, 'desk', 'at once')
  t.throws(() => tokens.admit(tokenFileBearer(first)), { code: 'UNAUTHORIZED' })

  chmodSync(file, 0o644)
  clock.now += 1000
  if (process.platform !== 'win32')
    t.throws(() => tokens.admit(tokenFileBearer(second)), { code: 'UNAUTHORIZED' })
  t.match(lines.at(-1), { level: process.platform === 'win32' ? 30 : 50 })
  chmodSync(file, 0o600)
  t.equal(tokens.admit(tokenFileBearer(second)).name, 'desk', 'mended')
  rmSync(file)
  clock.now += 1000
  t.throws(() => tokens.admit(tokenFileBearer(second)), { code: 'UNAUTHORIZED' }, 'the file is gone')
  t.notMatch(JSON.stringify(lines), /-token-of-this-test/)
})

t.test('tokens: what is not a bearer token is none', async (t) => {
  const tokens = openTokens(tokenFile(t, first), { log: captureLog().log })
  for (const header of [
    undefined,
    '',
    first,
    `Basic ${first}`,
    'Bearer',
    `Bearer ${first} x`,
    `Bearer ${first}x`,
  ])
    t.throws(() => tokens.admit(header), { code: 'UNAUTHORIZED' }, String(header))
  t.ok(tokens.admit(`bearer ${first}`))
})

t.test('scope: by the hints of a tool, by the method of a route', async (t) => {
  t.equal(scopeOf({ readOnlyHint: true, openWorldHint: true }), 'read')
  t.equal(scopeOf({ readOnlyHint: false, openWorldHint: true }), 'execute')
  t.equal(scopeOf({ readOnlyHint: false, openWorldHint: false }), 'write')
  t.same(['GET', 'POST', 'DELETE'].map(scopeOfMethod), ['read', 'write', 'write'])
})

t.test('loopback: this machine in every notation, and nothing else', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]']) t.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com']) t.notOk(isLoopback(host), host)
})

verifies('access:bind', async (t) => {
  const refused = spawnServer(t, { dir: t.testdir(), env: { CAUSEWAY_HOST: '0.0.0.0' } })
  t.same(await refused.exited, { code: 1, signal: null })
  t.match(refused.stderr, /INVALID_SETTING.*CAUSEWAY_TOKEN_FILE/)
  const dir = t.testdir({ tokens: `${first}\n` })
  chmodSync(`${dir}/tokens`, 0o600)
  const { url } = await startServer(t, {
    dir,
    // Another address of this machine stands for one of the network: nothing of this test leaves it.
    env: { CAUSEWAY_HOST: '127.0.0.2', CAUSEWAY_TOKEN_FILE: `${dir}/tokens` },
  })
  t.equal((await fetch(`${url}/health`)).status, 401)
  t.equal((await fetch(`${url}/health`, { headers: { authorization: tokenFileBearer(first) } })).status, 200)
})
