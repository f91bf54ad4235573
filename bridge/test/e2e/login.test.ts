import { readdirSync, readFileSync, statSync } from 'node:fs'
import type { Test } from 'tap'
import {
  openProtectedServer,
  type ProtectedServer,
  visit,
} from '../../../packages/oauth/test/protected-server.ts'
import { verifies } from '../../../test/verifies.ts'
import { type Client, readPrintedUrl, startBridge } from '../client.ts'

async function logIn(t: Test, url: string, env: Readonly<Record<string, string>>): Promise<Client> {
  const login = startBridge(t, { url, env, args: ['--login'] })
  t.match(await visit(await readPrintedUrl(login)), { status: 200, text: /Logged in/ })
  t.same(await login.exited, { code: 0, signal: null }, login.stderr)
  return login
}

const call = (bridge: Client, id: string, name: string) =>
  bridge.call(id, 'tools/call', { name, arguments: name === 'echo' ? { text: id } : {} })

verifies('bridge:login', async (t) => {
  const fixture: ProtectedServer = await openProtectedServer(t)
  const dir = t.testdir({ data: {}, tmp: {} })
  const env = { CAUSEWAY_DATA_DIR: `${dir}/data`, TMPDIR: `${dir}/tmp`, DEBUG: 'true' }
  const url = fixture.mcpUrl
  const start = () => startBridge(t, { url, env })
  const early = start()
  const needsLogin = {
    code: 'NEEDS_LOGIN',
    remedy: `run causeway-bridge --login --url ${url}`,
  }
  t.match(await early.call(0, 'ping'), { error: { data: needsLogin } })
  t.equal(fixture.requests.length, 1, 'the request is not repeated')

  const login = await logIn(t, url, env)
  const bridges = [early, start(), start()]
  for (const bridge of bridges)
    t.match(await bridge.open(), { result: { serverInfo: { name: 'protected' } } })
  fixture.expireTokens()
  const results = await Promise.all(
    Array.from({ length: 21 }, (_, at) => call(bridges[at % 3] as Client, `c${at}`, 'echo')),
  )
  for (const [at, { result }] of results.entries()) t.match(result, { content: [{ text: `c${at}` }] })
  t.equal(fixture.refreshes, 1, 'one refresh for three bridges')
  t.match(await call(early, 's', 'admin'), {
    error: { data: { code: 'SCOPE_MISSING', data: { scope: 'admin' } } },
  })
  t.match(await call(early, 'e', 'echo'), { result: { content: [{ text: 'e' }] } }, 'other calls work')

  fixture.expireTokens()
  fixture.refusesRefresh = true
  const refused = await Promise.all(bridges.map((bridge, at) => call(bridge, `r${at}`, 'echo')))
  for (const answer of refused) t.match(answer, { error: { data: needsLogin } })
  t.equal(fixture.refreshes, 2)
  fixture.refusesRefresh = false
  await logIn(t, url, env)
  t.match(
    await call(early, 'again', 'admin'),
    { result: { content: [{ text: 'done' }] } },
    'with the new scope',
  )

  const logout = startBridge(t, { url, env, args: ['--logout'] })
  t.same(await logout.exited, { code: 0, signal: null })
  t.equal(fixture.access.size, 0, 'the tokens are revoked')
  t.match(await call(early, 'l', 'echo'), { error: { data: needsLogin } })

  t.equal(statSync(`${dir}/data/auth.json`).mode & 0o777, 0o600)
  const logs = readdirSync(`${dir}/tmp`).map((name) => readFileSync(`${dir}/tmp/${name}`, 'utf8'))
  t.ok(logs.length > 0)
  const output = [
    ...logs,
    ...[login, logout, ...bridges].flatMap(({ lines, stderr }) => [...lines, stderr]),
  ].join('\n')
  for (const secret of fixture.secrets) t.notMatch(output, secret)
})

verifies(
  'bridge:login',
  'a configured token takes precedence, and a server without OAuth names the token file',
  async (t) => {
    const fixture = await openProtectedServer(t)
    const dir = t.testdir({ data: {} })
    const env = { CAUSEWAY_DATA_DIR: `${dir}/data` }
    const args = ['--header', 'Authorization: Bearer wrong']
    const bridge = startBridge(t, { url: fixture.mcpUrl, env, args })
    t.match(JSON.stringify(await bridge.call(1, 'ping')), /--token-file/)
    t.match(await startBridge(t, { env, args: ['--login', '--callback-port', '70000'] }).exited, { code: 2 })
  },
)
