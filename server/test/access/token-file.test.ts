import { chmodSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import t, { type Test } from 'tap'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { verifies } from '../../../test/verifies.ts'
import { openTokens } from '../../src/access/token-file.ts'
import { readTokens, scopeOf, scopeOfMethod } from '../../src/domain/access.ts'
import { isLoopback } from '../../src/http/admission.ts'
import { captureLog } from '../test-core.ts'

const [first, second] = ['first-token-of-this-test', 'second-token-of-this-test']
const bearer = (token: string) => `Bearer ${token}`

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
  t.equal(tokens.admit(bearer(first)).name, 'laptop')
  writeFileSync(`${file}.new`, `${second} desk`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  t.equal(tokens.admit(bearer(second)).name, 'desk', 'at once')
  t.throws(() => tokens.admit(bearer(first)), { code: 'UNAUTHORIZED' })

  chmodSync(file, 0o644)
  clock.now += 1000
  if (process.platform !== 'win32') t.throws(() => tokens.admit(bearer(second)), { code: 'UNAUTHORIZED' })
  t.match(lines.at(-1), { level: process.platform === 'win32' ? 30 : 50 })
  chmodSync(file, 0o600)
  t.equal(tokens.admit(bearer(second)).name, 'desk', 'mended')
  rmSync(file)
  clock.now += 1000
  t.throws(() => tokens.admit(bearer(second)), { code: 'UNAUTHORIZED' }, 'the file is gone')
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
  t.equal((await fetch(`${url}/health`, { headers: { authorization: bearer(first) } })).status, 200)
})
