import { once } from 'node:events'
import { chmodSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage, type RequestListener } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { type AddressInfo, connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Duplex } from 'node:stream'
import t, { type Test } from 'tap'
import { openProtectedServer, visit } from '../../packages/oauth/test/protected-server.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { openCredentials } from '../src/http/credentials.ts'
import { noLog } from '../src/lifecycle/debug-log.ts'
import { createLoginFetch } from '../src/login/login-fetch.ts'
import { startBackend } from './backend.ts'
import { certificate } from './certificate.ts'
import { readPrintedUrl, startBridge } from './client.ts'

/** Echoes the method, as the unscripted backend does. */
const echo: RequestListener = async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const { id, method } = JSON.parse(Buffer.concat(chunks).toString())
  response.writeHead(200, { 'content-type': 'application/json' })
  response.end(JSON.stringify({ jsonrpc: '2.0', id, result: { echo: method, host: request.headers.host } }))
}

async function listen(
  t: Test,
  server: ReturnType<typeof createServer>,
  at: number | string = 0,
): Promise<number> {
  await once(typeof at === 'string' ? server.listen(at) : server.listen(at, '127.0.0.1'), 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return typeof address === 'string' ? 0 : (address as AddressInfo).port
}

/** Starts a proxy that supports only CONNECT. `asked` lists the requested addresses. */
async function startProxy(t: Test): Promise<{ url: string; asked: string[] }> {
  const asked: string[] = []
  const tunnels: Duplex[] = []
  const proxy = createServer((_request, response) => void response.writeHead(501).end())
  proxy.on('connect', (request: IncomingMessage, socket: Duplex) => {
    asked.push(`${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim())
    const [host = '', port = ''] = request.url?.split(':') ?? []
    const tunnel = connect(Number(port), host, () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    tunnels.push(socket, tunnel)
    for (const end of [socket, tunnel]) end.on('error', () => {})
    tunnel.pipe(socket).pipe(tunnel)
  })
  t.teardown(() => {
    for (const end of tunnels) end.destroy()
  })
  return { url: `http://user:pw@127.0.0.1:${await listen(t, proxy)}`, asked }
}

verifies('bridge:connection', 'calls and streams use the configured proxy', async (t) => {
  const backend = await startBackend(t)
  const { url, asked } = await startProxy(t)
  const bridge = startBridge(t, { url: backend.url, args: ['--proxy', url] })
  await bridge.open()
  t.match(await bridge.call(1, 'tools/list'), { result: { echo: 'tools/list' } })
  await backend.saw('GET')
  const address = new URL(backend.url).host
  t.same([...new Set(asked)], [`${address} Basic ${Buffer.from('user:pw').toString('base64')}`])
  t.ok(asked.length >= 2, 'the stream has a connection of its own')
})

verifies('bridge:connection', 'uses the proxy of the environment only with --proxy env', async (t) => {
  const backend = await startBackend(t)
  const { url, asked } = await startProxy(t)
  const direct = startBridge(t, { url: backend.url, env: { HTTP_PROXY: url, http_proxy: url } })
  t.match(await direct.call(1, 'ping'), { result: { echo: 'ping' } })
  t.same(asked, [])
  const env = { http_proxy: url, CAUSEWAY_PROXY: 'env', no_proxy: '' }
  const proxied = startBridge(t, { url: backend.url, env })
  t.match(await proxied.call(1, 'ping'), { result: { echo: 'ping' } })
  t.same(asked.length, 1)
  const spared = startBridge(t, { url: backend.url, env: { ...env, no_proxy: '127.0.0.1' } })
  t.match(await spared.call(1, 'ping'), { result: { echo: 'ping' } })
  t.same(asked.length, 1)
})

verifies('bridge:connection', '--ca trusts a certificate, --insecure skips verification', async (t) => {
  const port = await listen(t, createTlsServer(certificate, echo))
  const url = `https://localhost:${port}/mcp`
  const ca = join(t.testdir(), 'ca.pem')
  writeFileSync(ca, certificate.cert)

  const strict = startBridge(t, { url })
  t.match(await strict.call(1, 'ping'), {
    error: { data: { code: 'SERVER_UNREACHABLE', data: { cause: 'DEPTH_ZERO_SELF_SIGNED_CERT' } } },
  })
  const trusting = startBridge(t, { url, args: ['--ca', ca] })
  t.match(await trusting.call(1, 'ping'), { result: { echo: 'ping' } })
  t.equal(trusting.stderr, '')
  const careless = startBridge(t, { url, args: ['--insecure'] })
  t.match(await careless.call(1, 'ping'), { result: { echo: 'ping' } })
  t.match(careless.stderr, /WARNING: TLS verification is disabled/)
})

verifies('bridge:connection', 'reports an invalid certificate file or proxy', async (t) => {
  const dir = t.testdir({ 'ca.pem': 'nothing' })
  for (const args of [
    ['--ca', join(dir, 'absent')],
    ['--ca', join(dir, 'ca.pem')],
    ['--proxy', 'socks5://a:b@c:1'],
    ['--proxy', 'http://c:1', '--url', 'unix:/x.sock:/mcp'],
  ]) {
    const bridge = startBridge(t, { args })
    t.same(await bridge.exited, { code: 2, signal: null })
    t.match(bridge.stderr, /^causeway-bridge: INVALID_SETTING: [^\n]+\n$/)
    t.notMatch(bridge.stderr, 'a:b')
  }
})

verifies('bridge:connection', 'uses TLS through the tunnel and reports a rejecting proxy', async (t) => {
  const port = await listen(t, createTlsServer(certificate, echo))
  const ca = join(t.testdir(), 'ca.pem')
  writeFileSync(ca, certificate.cert)
  const { url, asked } = await startProxy(t)
  const bridge = startBridge(t, {
    url: `https://localhost:${port}/mcp`,
    args: ['--proxy', url, '--ca', ca],
  })
  t.match(await bridge.call(1, 'ping'), { result: { echo: 'ping' } })
  t.match(asked[0], `localhost:${port}`)

  const refusing = createServer()
  refusing.on('connect', (_request, socket: Duplex) => {
    socket.on('error', () => {}) // the client may reset the connection first
    socket.end('HTTP/1.1 407 No\r\n\r\n')
  })
  const args = ['--proxy', `http://127.0.0.1:${await listen(t, refusing)}`]
  const refused = startBridge(t, { url: 'http://a.invalid/mcp', args })
  t.match(await refused.call(1, 'ping'), { error: { data: { data: { cause: 'PROXY_REFUSED' } } } })
})

verifies('bridge:socket', async (t) => {
  // The path of a socket is limited to about 100 characters.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const path = join(dir, 'a b.sock')
  await listen(t, createServer(echo), path)
  const bridge = startBridge(t, { url: `unix:${path}:/mcp` })
  t.match(await bridge.call(1, 'ping'), { result: { echo: 'ping', host: 'localhost' } })
  const absent = startBridge(t, { url: `unix:${path}.not:/mcp`, args: ['--wait', '0'] })
  t.match(await absent.call(1, 'ping'), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
})

verifies('bridge:setting:app', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url, env: { CAUSEWAY_APP: 'Replay' } })
  await bridge.call(1, 'ping')
  t.equal(backend.got.all[0]?.path, '/mcp/replay')
})

const none = { header: [], headerFile: undefined, tokenFile: undefined }

/** Creates a file that only its owner can read. */
function secret(dir: string, name: string, text: string): string {
  const path = join(dir, name)
  writeFileSync(path, text, { mode: 0o600 })
  return path
}

verifies('bridge:credentials', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const headerFile = secret(dir, 'headers', '# ours\nX-Team: physics\r\n\nX-Empty:\n')
  const env = { CAUSEWAY_TOKEN_FILE: secret(dir, 'token', 'first\n') }
  const args = ['--header', 'X-One: a: b', '--header-file', headerFile]
  const bridge = startBridge(t, { url: backend.url, args, env })
  await bridge.call(1, 'ping')
  t.match(backend.got.all[0]?.headers, {
    'x-one': 'a: b',
    'x-team': 'physics',
    'x-empty': '',
    authorization: 'Bearer first',
  })
  renameSync(secret(dir, 'new', 'Bearer second'), env.CAUSEWAY_TOKEN_FILE)
  await bridge.call(2, 'ping')
  t.equal(backend.got.all[1]?.headers.authorization, 'Bearer second', 'the file was read again')
})

verifies('bridge:credentials', 'rejects a token file that other users can read', async (t) => {
  const path = secret(t.testdir(), 'token', 'hidden-value')
  chmodSync(path, 0o640)
  const bridge = startBridge(t, { args: ['--token-file', path] })
  t.same(await bridge.exited, { code: 2, signal: null })
  t.match(bridge.stderr, /INVALID_SETTING: other users can read --token-file.*; run chmod 600 /)
  t.notMatch(bridge.stderr, 'hidden-value')
})

t.test('openCredentials logs an invalid token file and uses the last valid token', async (t) => {
  const path = secret(t.testdir(), 'token', 'good')
  const log: string[] = []
  const fields = openCredentials({ ...none, tokenFile: path }, (text) => log.push(text))
  chmodSync(path, 0o644)
  t.same(fields(), { authorization: 'Bearer good' })
  fields()
  t.equal(log.length, 1, 'said once for one change')
  rmSync(path)
  t.same(fields(), { authorization: 'Bearer good' })
  secret(t.testdirName, 'token', 'better')
  t.same(fields(), { authorization: 'Bearer better' })
})

t.test('openCredentials rejects an invalid header with an error that omits its value', async (t) => {
  const dir = t.testdir()
  const refused = (sources: object, name: string) => {
    try {
      openCredentials({ ...none, ...sources }, noLog)
      t.fail(`not refused: ${name}`)
    } catch (error) {
      t.match(error, { code: 'INVALID_SETTING' }, name)
      t.notMatch(String(error), 'hidden')
    }
  }
  for (const field of [
    'no colon',
    'Bad Name: hidden',
    'X: a\r\nY: hidden',
    'Content-Length: 1',
    'Mcp-Session-Id: hidden',
  ])
    refused({ header: [field] }, field)
  refused({ tokenFile: join(dir, 'absent') }, 'no file')
  refused({ tokenFile: dir }, 'a folder')
  refused({ tokenFile: secret(dir, 'empty', ' \n') }, 'an empty file')
  refused({ tokenFile: secret(dir, 't', 'x'), header: ['Authorization: hidden'] }, 'two of a kind')
})

verifies(
  'bridge:login',
  'a login and the refreshes of its token use the proxy',
  inCI(async (t) => {
    const fixture = await openProtectedServer(t)
    const { url: proxy, asked } = await startProxy(t)
    const env = { CAUSEWAY_DATA_DIR: t.testdir() }
    const start = (...args: string[]) =>
      startBridge(t, { url: fixture.mcpUrl, env, args: ['--proxy', proxy, ...args] })
    const login = start('--login')
    t.match(await visit(await readPrintedUrl(login)), { status: 200 })
    t.same(await login.exited, { code: 0, signal: null }, login.stderr)
    const requests = fixture.requests.filter((request) => !request.includes('authorize')).length
    t.equal(asked.length, requests, 'all requests but those of the browser')
    const bridge = start()
    await bridge.open()
    fixture.expireTokens()
    const before = asked.length
    t.match(await bridge.call(1, 'tools/list'), { result: { tools: [{ name: 'echo' }, { name: 'admin' }] } })
    t.equal(fixture.refreshes, 1)
    t.ok(asked.length > before)
  }),
)

verifies('bridge:login', 'login requests trust the certificate of --ca', async (t) => {
  const port = await listen(
    t,
    createTlsServer(certificate, async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      response.writeHead(401, { 'content-type': 'text/plain', 'www-authenticate': 'Bearer' })
      response.end(`${request.method} ${request.headers['content-type']} ${Buffer.concat(chunks)}`)
    }),
  )
  const url = `https://localhost:${port}/token?a=b`
  const ca = join(t.testdir(), 'ca.pem')
  writeFileSync(ca, certificate.cert)
  const { url: proxy, asked } = await startProxy(t)
  const none = { proxy: undefined, ca: undefined, insecure: false }
  t.equal(createLoginFetch(none, {}), undefined)
  for (const connection of [
    { ...none, ca },
    { ...none, ca, proxy },
    { ...none, insecure: true },
  ]) {
    const send = createLoginFetch(connection, {})
    const response = await send?.(url, { method: 'POST', body: new URLSearchParams({ code: 'x y' }) })
    t.equal(response?.status, 401)
    t.equal(response?.headers.get('www-authenticate'), 'Bearer')
    t.equal(await response?.text(), 'POST application/x-www-form-urlencoded;charset=UTF-8 code=x+y')
  }
  t.same(asked.length, 1)
  const untrusting = createLoginFetch({ ...none, proxy }, {}) as typeof fetch
  await t.rejects(() => untrusting(url) as Promise<unknown> as Promise<void>, {
    message: 'fetch failed',
    cause: { code: 'DEPTH_ZERO_SELF_SIGNED_CERT' },
  })
})
