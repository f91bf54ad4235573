import { chmodSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { WebSocket } from 'ws'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { verifies } from '../../../test/verifies.ts'
import { getToolScope, type Scope } from '../../src/access/access.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { apps } from '../../src/apps.ts'
import type { HostedApp } from '../../src/registry/registry.ts'
import { both, modern, openWire, rpc, toolCall } from '../http/open-wire.ts'
import { captureLog, soon } from '../test-core.ts'

t.setTimeout(300_000)

/** The scope that each app route requires, by `<app> <method> <path>`. A route without a row fails the test. */
const routes: Readonly<Record<string, Scope>> = {
  'causeway GET /audit': 'read',
  'causeway GET /audit.jsonl': 'read',
  'causeway DELETE /capture': 'write',
  'causeway DELETE /sessions/{session}': 'write',
  'causeway GET /calls/errors': 'read',
  'causeway GET /calls/events': 'read',
  'causeway GET /capture/calls/{request}': 'write',
  'causeway GET /figures': 'read',
  'causeway GET /logs': 'write',
  'causeway GET /logs/events': 'write',
  'causeway GET /sessions': 'read',
  'causeway POST /sessions/{session}/capture': 'write',
  'debrief GET /coast': 'read',
  'debrief GET /plots/{filename}/events': 'read',
  'debrief GET /plots/{filename}/features': 'read',
  'debrief POST /': 'write',
  'debrief POST /api/command': 'write',
  'minds GET /minds/{mind_id}/decisions': 'read',
  'minds GET /minds/{mind_id}/places': 'read',
  'replay DELETE /recordings/{name}': 'write',
  'replay GET /recordings/{name}': 'read',
  'replay GET /recordings/{name}/export': 'read',
  'replay GET /recordings/{recording}/poses': 'read',
  'replay GET /recordings/{recording}/scene': 'read',
  'replay POST /recordings/{name}/finish': 'write',
  'replay POST /recordings/{name}/frames': 'write',
  'replay POST /recordings/{name}/import': 'write',
  'replay PUT /recordings/{name}': 'write',
  'toolvault GET /api/samples/{file}': 'read',
  'toolvault GET /api/tools/{tool}': 'read',
  'toolvault GET /api/tools/{tool}/samples/{file}': 'read',
  'toolvault GET /index.json': 'read',
  'toolvault GET /tools/list': 'read',
  'toolvault POST /tools/call': 'read',
  'trm GET /sessions/{sid}/evaluations/{position}/diff': 'read',
  'trm GET /sessions/{sid}/tests': 'read',
}

/** The scope that each app socket requires, by `<app> <path>`. */
const sockets: Readonly<Record<string, Scope>> = { 'debrief /': 'write' }

const tokens = {
  all: 'token-with-every-scope',
  reader: 'token-with-read-scope',
  stranger: 'token-for-an-unknown-app',
} as const

const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

const names = ['causeway', ...apps.map(({ name }) => name.toLowerCase())]

/** Opens a server with every app, each also on its own port. */
async function openProduct(t: Test) {
  const dir = t.testdir({ data: {} })
  const file = `${dir}/tokens`
  const lines = `${tokens.all}\n${tokens.reader} reader *:read\n${tokens.stranger} stranger wire:read,write,execute\n`
  writeFileSync(file, lines, { mode: 0o600 })
  const wire = await openWire(t, {
    dir: `${dir}/data`,
    apps,
    aliases: names.map((app) => ({ app, port: 0 })),
    tokens: new TokenFile(file, { log: captureLog().log }),
    env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_RATE_LIMITS: 'off' },
  })
  const own = new Map(wire.http.aliases.map(({ app, port }) => [app, `http://127.0.0.1:${port}`]))
  return { wire, own, hosted: wire.core.registry.apps.filter(({ path }) => names.includes(path)) }
}

// All tests share one server: opening every app takes longer than the checks.
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
  { status: 401, code: 'UNAUTHORIZED', fields: bearer('token-that-is-unknown') },
]

async function send(url: string, method: string, headers: Record<string, string>) {
  const hasBody = method === 'POST'
  const response = await request(url, {
    method: method as 'POST',
    headers: { ...(hasBody ? { 'content-type': 'application/json' } : {}), ...headers },
    ...(hasBody ? { body: '{}' } : {}),
  })
  // An event stream does not end, so its body is not read.
  if (String(response.headers['content-type']).startsWith('text/event-stream')) {
    response.body.destroy()
    return { status: response.statusCode, text: '' }
  }
  return { status: response.statusCode, text: await response.body.text() }
}

const isForbidden = (text: string): boolean => text.includes('"code":"FORBIDDEN_SCOPE"')

verifies(
  'access:every-route',
  'every app route requires its scope, below the path of the app and on the port of the app',
  async (t) => {
    const declared = hosted.flatMap((app) => app.routes.map((route) => ({ app, ...route })))
    t.same(
      declared.map(({ app, method, path }) => `${app.path} ${method} ${path}`).sort(),
      Object.keys(routes).sort(),
      'the table lists every route',
    )
    for (const { app, method, path } of declared) {
      const scope = routes[`${app.path} ${method} ${path}`]
      const examplePath = path.replace(/\{[a-z]+\}/g, 'x')
      for (const url of [
        `${wire.http.url}/api/apps/${app.path}${examplePath.replace(/^\/$/, '')}`,
        `${own.get(app.path)}${examplePath}`,
      ]) {
        for (const { status, code, fields } of intruders) {
          const got = await send(url, method, fields)
          t.equal(got.status, status, `${method} ${url}`)
          t.match(got.text, code)
        }
        const stranger = await send(url, method, bearer(tokens.stranger))
        t.match(
          stranger,
          { status: 403, text: /FORBIDDEN_SCOPE/ },
          `${method} ${url} with a token for another app`,
        )
        const reader = await send(url, method, bearer(tokens.reader))
        t.equal(isForbidden(reader.text), scope !== 'read', `${method} ${url} with a read token`)
        t.notOk(isForbidden((await send(url, method, bearer(tokens.all))).text))
      }
    }
  },
)

/** Resolves to the status of a rejected upgrade, or to the first error frame. */
const upgrade = (t: Test, url: string, fields: Record<string, string>): Promise<number | string> => {
  const socket = new WebSocket(url.replace('http', 'ws'), { headers: fields })
  t.teardown(() => socket.terminate())
  // A rejected upgrade emits `error` too.
  socket.on('error', () => {})
  socket.once('open', () => socket.send('{}'))
  return soon(
    new Promise((resolve) => {
      socket.on('message', (data) => data.toString().includes('error') && resolve(data.toString()))
      socket.once('unexpected-response', (_request, response) => resolve(response.statusCode ?? 0))
    }),
  )
}

verifies('access:every-route', 'every app socket requires its scope', async (t) => {
  const declared = hosted.flatMap((app) => app.sockets.map(({ path }) => ({ app: app.path, path })))
  t.same(
    declared.map(({ app, path }) => `${app} ${path}`).sort(),
    Object.keys(sockets).sort(),
    'the table lists every socket',
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

/** The routes to a tool; each function returns whether the token lacks the scope. */
const toolRoutes = ({ path, name }: HostedApp, tool: string) => {
  const call = async (
    token: string,
    body: object,
    options: { path: string; headers?: Record<string, string> },
  ) => {
    const headers = { ...options.headers, ...bearer(token) }
    return isForbidden((await wire.send(body, { ...options, headers })).text)
  }
  const stateless = modern(toolCall(`${name}__${tool}`, { no_such_argument: 1 }))
  const wrong = { no_such_argument: 1 }
  return {
    shared: (token: string) => call(token, toolCall(`${name}__${tool}`, wrong), { path: '/mcp' }),
    bare: (token: string) => call(token, toolCall(tool, wrong), { path: `/mcp/${path}`, headers: both }),
    stateless: (token: string) => call(token, stateless.body, { path: '/mcp', headers: stateless.headers }),
    rest: (token: string) => call(token, wrong, { path: `/api/apps/${path}/tools/${tool}` }),
    own: async (token: string) => {
      const response = await fetch(`${own.get(path)}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...bearer(token) },
        body: JSON.stringify(toolCall(tool, wrong)),
      })
      return isForbidden(await response.text())
    },
  }
}

verifies('access:every-route', 'every tool requires its scope over every route', async (t) => {
  // `call_tool` requires the scope of the tool that it calls.
  for (const app of hosted)
    for (const { name, annotations } of app.tools.filter(({ forward }) => forward === undefined))
      for (const [route, rejects] of Object.entries(toolRoutes(app, name))) {
        const call = `${route} ${app.path} ${name}`
        t.equal(await rejects(tokens.stranger), true, `${call} with a token for another app`)
        t.equal(
          await rejects(tokens.reader),
          getToolScope(annotations) !== 'read',
          `${call} with a read token`,
        )
        t.equal(await rejects(tokens.all), false, call)
      }
})

verifies('access:every-route', 'resources and prompts require the read scope of their app', async (t) => {
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
    const rejected = await wire.send(listen.body, {
      headers: { ...listen.headers, ...bearer(tokens.stranger) },
    })
    t.match(rejected.text, 'FORBIDDEN_SCOPE')
  }
  const list = async (token: string): Promise<string[]> =>
    (await wire.send(rpc('resources/list'), { headers: bearer(token) })).json.result.resources.map(
      ({ uri }: { uri: string }) => uri,
    )
  const [all, listed] = [await list(tokens.reader), await list(tokens.stranger)]
  t.ok(all.includes('minds://list'))
  t.same(
    listed.filter((uri) => uris.includes(uri)),
    [],
    'a list omits resources that the token may not read',
  )
  for (const app of apps)
    for (const { name } of app.prompts) {
      const get = rpc('prompts/get', { name: `${app.name}__${name}`, arguments: {} })
      t.match((await wire.send(get, { headers: bearer(tokens.stranger) })).text, 'FORBIDDEN_SCOPE', name)
    }
})

verifies('access:bind', async (t) => {
  const rejected = spawnServer(t, { dir: t.testdir(), env: { CAUSEWAY_HOST: '0.0.0.0' } })
  t.same(await rejected.exited, { code: 2, signal: null })
  t.match(rejected.stderr, /without a token\n {2}-> .*CAUSEWAY_TOKEN_FILE/)
  const dir = t.testdir({ tokens: `${tokens.all}\n` })
  chmodSync(`${dir}/tokens`, 0o600)
  const { url } = await startServer(t, {
    dir,
    // A second loopback address represents a network address, so that the test stays on this machine.
    env: { CAUSEWAY_HOST: '127.0.0.2', CAUSEWAY_TOKEN_FILE: `${dir}/tokens` },
  })
  t.equal((await fetch(`${url}/health`)).status, 401)
  t.equal((await fetch(`${url}/health`, { headers: bearer(tokens.all) })).status, 200)
})
