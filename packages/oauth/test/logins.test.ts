import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { AuthFile, CallbackListener, Logins, type RemoteServer } from '../src/index.ts'
import {
  approve,
  openProtectedServer,
  type ProtectedServerOptions,
  type Route,
  visit,
} from './protected-server.ts'

const redirectUrl = 'http://127.0.0.1:9/oauth/callback'
const forever = new AbortController().signal

async function openLogins(t: Test, options: ProtectedServerOptions = {}) {
  const fixture = await openProtectedServer(t, options)
  const dir = t.testdir({})
  const clock = { ms: Date.now() }
  const create = (): Logins =>
    new Logins({
      file: new AuthFile(dir),
      now: () => clock.ms,
      formatLoginCommand: ({ name }) => `causeway mcp login ${name}`,
    })
  const logins = create()
  const server: RemoteServer = { name: 'docs', url: fixture.mcpUrl, oauth: {} }
  /** Logs in without a callback. */
  const logIn = async (): Promise<void> => {
    const { authorizationUrl } = await logins.begin(server, redirectUrl)
    await logins.finishManually(server, await approve(authorizationUrl.href))
  }
  return { fixture, dir, clock, create, logins, server, logIn, path: `${dir}/auth.json` }
}

const json =
  (body: unknown, status = 200): Route =>
  (_request, response) =>
    void response.status(status).json(body)

verifies(
  'gateway:login',
  'a login uses PKCE, a resource indicator, client registration and a callback',
  async (t) => {
    const { fixture, logins, server, path } = await openLogins(t)
    const listener = await CallbackListener.open(logins)
    t.teardown(() => listener.close())
    t.equal(await logins.getToken(server), undefined)
    t.same(await logins.preview(server), { issuer: fixture.issuer, scope: 'read', registersClient: true })
    t.equal(fixture.count(/register/), 0)

    const { authorizationUrl, state } = await logins.begin(server, listener.redirectUrl)
    const query = Object.fromEntries(authorizationUrl.searchParams)
    t.match(query, {
      code_challenge_method: 'S256',
      resource: fixture.mcpUrl,
      redirect_uri: listener.redirectUrl,
      scope: 'read',
      state,
    })
    const done = logins.wait(state, forever)
    const page = await visit(authorizationUrl.href)
    t.match(page, { status: 200, text: /Causeway can use docs now/ })
    await done
    await logins.wait(state, forever)
    const token = await logins.getToken(server)
    t.equal(fixture.access.get(String(token))?.resource, fixture.mcpUrl)
    t.equal(statSync(path).mode & 0o777, 0o600)
    t.match(logins.describe(server), { state: 'logged_in', issuer: fixture.issuer, scope: 'read' })
    for (const secret of fixture.secrets)
      t.notMatch(JSON.stringify(logins.describe(server)) + page.text, secret)

    await logins.begin(server, listener.redirectUrl)
    t.equal(fixture.count(/register/), 1, 'reuses the registration for the same redirect URI')
    const rebound = request(`${listener.redirectUrl}?${new URLSearchParams({ state })}`, {
      headers: { host: 'evil.example' },
    }).end()
    t.match(await once(rebound, 'response'), [{ statusCode: 404 }])
    t.equal((await fetch(listener.redirectUrl.replace('callback', 'other'))).status, 404)
  },
)

verifies('gateway:login', 'a configured client is not registered', async (t) => {
  const { fixture, logins, server } = await openLogins(t, { registers: false })
  await t.rejects(logins.begin(server, redirectUrl), {
    code: 'CLIENT_ID_REQUIRED',
    data: { redirect_uri: redirectUrl },
  })
  fixture.clients.set('mine', { client_id: 'mine', client_secret: 'hush', redirect_uris: [redirectUrl] })
  const configured = { ...server, oauth: { clientId: 'mine', clientSecret: 'hush', scope: 'read admin' } }
  const { authorizationUrl } = await logins.begin(configured, redirectUrl)
  t.equal(authorizationUrl.searchParams.get('client_id'), 'mine')
  const location = new URL(await approve(authorizationUrl.href))
  await logins.finishManually(configured, ` ${location.searchParams.get('code')} `)
  t.match(logins.describe(configured), { scope: 'read admin' })
  t.notMatch(readFileSync(`${t.testdirName}/auth.json`, 'utf8'), /hush|mine/)
  await logins.refresh(configured, await logins.getToken(configured))
  t.equal(fixture.refreshes, 1)
})

verifies('gateway:login', 'a client id metadata document replaces the registration', async (t) => {
  const clientId = 'https://example.com/causeway/client.json'
  const { fixture, logins, server } = await openLogins(t, { metadataDocuments: true })
  // A real authorization server would fetch the document.
  fixture.clients.set(clientId, { client_id: clientId, redirect_uris: [redirectUrl] })
  const configured = { ...server, oauth: { clientId } }
  const { authorizationUrl } = await logins.begin(configured, redirectUrl)
  t.equal(authorizationUrl.searchParams.get('client_id'), clientId)
  await logins.finishManually(configured, await approve(authorizationUrl.href))
  await logins.refresh(configured, await logins.getToken(configured))
  t.equal(fixture.refreshes, 1)
  t.equal(fixture.count(/register/), 0)

  const other = await openLogins(t)
  const known = { ...other.server, oauth: { clientId } }
  t.match(await other.logins.preview(known), { registersClient: true })
  const request = await other.logins.begin(known, redirectUrl)
  t.not(
    request.authorizationUrl.searchParams.get('client_id'),
    clientId,
    'registers a client without support for metadata documents',
  )
  await other.logins.finishManually(known, await approve(request.authorizationUrl.href))
  await other.logins.refresh(known, await other.logins.getToken(known))
  t.equal(other.fixture.count(/register/), 1)
  t.equal(other.fixture.refreshes, 1)
})

verifies('gateway:login:response', async (t) => {
  const { fixture, logins, server, clock } = await openLogins(t)
  const begin = async () => {
    const request = await logins.begin(server, redirectUrl)
    return { ...request, response: new URL(await approve(request.authorizationUrl.href)) }
  }
  const first = await begin()
  const wrong = new URLSearchParams(first.response.searchParams)
  wrong.set('state', 'x'.repeat(first.state.length))
  for (const params of [wrong, new URLSearchParams('code=x'), new URLSearchParams()])
    await t.rejects(logins.finish(params), { code: 'LOGIN_UNKNOWN' })
  t.equal(fixture.count(/token/), 0, 'sends no code')

  await logins.finish(first.response.searchParams)
  await t.rejects(
    logins.finish(first.response.searchParams),
    { code: 'LOGIN_UNKNOWN' },
    'rejects a repeated code',
  )

  const late = await begin()
  const waiting = logins.wait(late.state, forever)
  clock.ms += 10 * 60_000
  await t.rejects(logins.finish(late.response.searchParams), { code: 'LOGIN_UNKNOWN' })
  await t.rejects(waiting, { code: 'LOGIN_UNKNOWN' })

  const mixed = await begin()
  mixed.response.searchParams.set('iss', 'https://other.example')
  const requests = fixture.count(/token/)
  await t.rejects(logins.finish(mixed.response.searchParams), { code: 'LOGIN_FAILED' })
  t.equal(fixture.count(/token/), requests, 'does not send the code of another issuer')

  const denied = await begin()
  const refusal = { state: denied.state, error: 'access_denied', error_description: '<b>token-1</b>' }
  await t.rejects(logins.finish(new URLSearchParams(refusal)), {
    code: 'LOGIN_FAILED',
    data: { reason: 'access_denied' },
    message: /^[^<]*$/,
  })
  const aborted = AbortSignal.abort(new Error('stop'))
  await t.rejects(logins.wait((await begin()).state, aborted), { message: 'stop' })
})

verifies('gateway:login:metadata', async (t) => {
  const metadata = (url: string, changes: object = {}) => ({
    issuer: `${url}/`,
    authorization_endpoint: `${url}/authorize`,
    token_endpoint: `${url}/token`,
    registration_endpoint: `${url}/register`,
    response_types_supported: ['code'],
    code_challenge_methods_supported: ['S256'],
    ...changes,
  })
  const server =
    (changes: object): Route =>
    (request, response) =>
      void response.json(metadata(`http://${request.headers.host}`, changes))
  const resource =
    (changes: object): Route =>
    (request, response) => {
      const url = `http://${request.headers.host}`
      response.json({ resource: `${url}/mcp`, authorization_servers: [`${url}/`], ...changes })
    }
  const [asPath, prPath] = [
    '/.well-known/oauth-authorization-server',
    '/.well-known/oauth-protected-resource/mcp',
  ]
  const invalid: Readonly<Record<string, Readonly<Record<string, Route>>>> = {
    'an issuer of another origin': { [asPath]: server({ issuer: 'https://other.example/' }) },
    'a token endpoint without TLS': { [asPath]: server({ token_endpoint: 'http://192.0.2.1/token' }) },
    'a registration endpoint without TLS': {
      [asPath]: server({ registration_endpoint: 'http://192.0.2.1/register' }),
    },
    'an authorization page that is a script': {
      [asPath]: server({ authorization_endpoint: 'javascript:alert(1)' }),
    },
    'an authorization page that is a file': {
      [asPath]: server({ authorization_endpoint: 'file:///etc/passwd' }),
    },
    'an authorization server without TLS': {
      [prPath]: resource({ authorization_servers: ['http://192.0.2.1/'] }),
    },
    'the metadata of another resource': { [prPath]: resource({ resource: 'https://other.example/mcp' }) },
    'huge metadata': { [asPath]: server({ service_documentation: `https://x/${'x'.repeat(300_000)}` }) },
    'huge resource metadata': { [prPath]: resource({ resource_name: 'x'.repeat(300_000) }) },
    'a redirect loop': { [asPath]: (_request, response) => response.redirect(asPath) },
    'a redirect to another origin': {
      [prPath]: (_request, response) => response.redirect('https://other.example/'),
    },
    'metadata that is not JSON': { [asPath]: (_request, response) => void response.send('<html>') },
    'a failing metadata route': { [prPath]: json({}, 500) },
  }
  for (const [name, routes] of Object.entries(invalid))
    await t.test(name, async (t) => {
      const { fixture, logins, server } = await openLogins(t, { routes })
      await t.rejects(logins.begin(server, redirectUrl), { code: 'AUTHORIZATION_SERVER_INVALID' })
      t.equal(fixture.count(/register|authorize|token/), 0)
      t.ok(fixture.requests.length < 12, 'limits redirects')
    })
  await t.test('a remote MCP server cannot use a loopback token endpoint', async (t) => {
    const { checkEndpoint } = await import('../src/safe-fetch.ts')
    const remote = new URL('https://mcp.example.org/mcp')
    t.throws(() => checkEndpoint('http://127.0.0.1:3100/token', 'token endpoint', remote), {
      code: 'AUTHORIZATION_SERVER_INVALID',
    })
    t.equal(checkEndpoint('https://auth.example.org/token', 'token endpoint', remote).port, '')
  })
  await t.test('an authorization server that is not running is reported as unavailable', async (t) => {
    const closed = createServer().listen(0, '127.0.0.1')
    await once(closed, 'listening')
    const { port } = closed.address() as AddressInfo
    await new Promise((resolve) => closed.close(resolve))
    const { logins, server } = await openLogins(t, {
      routes: { [prPath]: resource({ authorization_servers: [`http://127.0.0.1:${port}/`] }) },
    })
    await t.rejects(logins.begin(server, redirectUrl), { code: 'AUTHORIZATION_SERVER_UNAVAILABLE' })
  })
})

verifies('gateway:login:refresh', async (t) => {
  const { fixture, logins, create, server, logIn, clock, path } = await openLogins(t)
  await logIn()
  const first = await logins.getToken(server)
  t.equal(await logins.getToken(server), first)
  clock.ms += 3590_000
  const others = [create(), create()]
  const tokens = await Promise.all(
    Array.from({ length: 20 }, (_, at) => (others[at % 3] ?? logins).getToken(server)),
  )
  t.equal(fixture.refreshes, 1, 'shares one refresh between 20 calls of three instances')
  t.equal(new Set(tokens).size, 1)
  t.not(tokens[0], first)
  t.equal(await logins.refresh(server, first), tokens[0], 'returns the token that replaced the rejected one')
  t.equal(fixture.refreshes, 1)
  t.same(
    readdirSync(t.testdirName).filter((name) => name !== 'auth.json'),
    [],
    'removes the lock and the temporary file',
  )

  fixture.refusesRefresh = true
  const refused = await Promise.all(
    Array.from({ length: 20 }, () => logins.refresh(server, tokens[0]).catch((error) => error)),
  )
  for (const error of refused)
    t.match(error, { code: 'NEEDS_LOGIN', remedy: 'run causeway mcp login docs', message: /^docs requires/ })
  t.equal(fixture.refreshes, 2)
  await t.rejects(logins.refresh(server, tokens[0]), { code: 'NEEDS_LOGIN' })
  t.equal(await logins.getToken(server), undefined)
  t.equal(fixture.refreshes, 2, 'does not send a rejected token again')
  for (const secret of fixture.secrets)
    t.notMatch(readFileSync(path, 'utf8') + String(refused[0]?.stack), secret)
})

verifies('gateway:login:refresh', 'three processes with an expiring token cause one refresh', async (t) => {
  const { fixture, dir, clock, server, logIn } = await openLogins(t, { lifetimeS: 100 })
  await logIn()
  clock.ms += 99_000
  const program = `
    import { AuthFile, Logins } from ${JSON.stringify(new URL('../src/index.ts', import.meta.url).href)}
    const logins = new Logins({ file: new AuthFile(${JSON.stringify(dir)}), now: () => ${clock.ms}, command: () => '' })
    console.log(await logins.getToken(${JSON.stringify(server)}))`
  const outputs = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const child = spawn(
        process.execPath,
        ['--conditions=@causeway/source', '--input-type=module', '-e', program],
        {
          cwd: fileURLToPath(new URL('../../..', import.meta.url)),
          stdio: ['ignore', 'pipe', 'inherit'],
        },
      )
      let text = ''
      child.stdout.on('data', (chunk) => {
        text += chunk
      })
      await once(child, 'close')
      return text.trim()
    }),
  )
  t.equal(fixture.refreshes, 1)
  t.equal(new Set(outputs).size, 1)
  t.match(outputs[0], /^access-/)
})

verifies(
  'gateway:login:refresh',
  'a valid token is used while the authorization server is unreachable',
  async (t) => {
    const routes = { '/token': json({ error: 'temporarily_unavailable' }, 503) }
    const { fixture, logins, server, clock, path } = await openLogins(t, { routes })
    const file = new AuthFile(t.testdirName)
    file.save({
      resource: server.url,
      issuer: fixture.issuer,
      client: { client_id: 'x' },
      endpoints: { token_endpoint: `${fixture.url}/token` },
      tokens: {
        access_token: 'old',
        refresh_token: 'r',
        expires_at_ms: clock.ms + 1000,
        refresh_at_ms: clock.ms,
      },
    })
    t.equal(await logins.getToken(server), 'old')
    clock.ms += 1000
    await t.rejects(logins.getToken(server), { code: 'AUTHORIZATION_SERVER_UNAVAILABLE' })
    t.match(logins.describe(server), { state: 'logged_in' }, 'preserves the refresh token')

    chmodSync(path, 0o644)
    await t.rejects(logins.getToken(server), { code: 'AUTH_FILE_INVALID', remedy: `run chmod 600 ${path}` })
    for (const text of ['{"access_token":"hush"', '{"logins":[{"resource":1}]}']) {
      writeFileSync(path, text)
      chmodSync(path, 0o600)
      await t.rejects(logins.getToken(server), { code: 'AUTH_FILE_INVALID', message: /^((?!hush).)*$/ })
    }
  },
)

verifies('gateway:logout', async (t) => {
  const { fixture, logins, server, logIn, path } = await openLogins(t)
  t.same(await logins.logout(server), { existed: false, revoked: false })
  await logIn()
  t.same(await logins.logout(server), { existed: true, revoked: true })
  t.equal(fixture.access.size + fixture.refresh.size, 0)
  t.same(JSON.parse(readFileSync(path, 'utf8')), { logins: [] })
  t.same(logins.describe(server), { state: 'logged_out' })
  await logIn()
  t.equal(fixture.count(/register/), 2, 'also deletes the registration')
})

verifies('gateway:logout', 'a refresh in progress does not store a deleted login again', async (t) => {
  const { fixture, logins, create, server, logIn, path } = await openLogins(t)
  await logIn()
  const refresh = logins.refresh(server, await logins.getToken(server))
  const logout = create().logout(server)
  await refresh
  t.same(await logout, { existed: true, revoked: true })
  t.same(JSON.parse(readFileSync(path, 'utf8')), { logins: [] })
  t.equal(fixture.refresh.size, 0, 'revokes the new tokens')
})

verifies('gateway:login:scope', 'a refresh in progress does not remove the required scope', async (t) => {
  const { logins, create, server, logIn } = await openLogins(t)
  await logIn()
  const refresh = logins.refresh(server, await logins.getToken(server))
  await create().requireScope(server, 'admin')
  t.match(logins.describe(server), { missing_scope: 'read admin' })
  t.equal(await logins.getToken(server), await refresh)
})

verifies('gateway:login:scope', 'the next login requests the old and the required scope', async (t) => {
  const { logins, server, logIn } = await openLogins(t)
  await logIn()
  t.match(await logins.requireScope(server, 'admin'), {
    code: 'SCOPE_MISSING',
    data: { server: 'docs', scope: 'admin' },
    remedy: /causeway mcp login docs/,
  })
  t.match(logins.describe(server), { scope: 'read', missing_scope: 'read admin' })
  const { authorizationUrl } = await logins.begin(server, redirectUrl)
  t.equal(authorizationUrl.searchParams.get('scope'), 'read admin')
  await logins.finishManually(server, await approve(authorizationUrl.href))
  t.match(logins.describe(server), { scope: 'read admin', missing_scope: undefined })
})
