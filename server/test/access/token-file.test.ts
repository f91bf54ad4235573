import fs, { chmodSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { getMethodScope, getToolScope, parseTokens } from '../../src/access/access.ts'
import { TokenFile } from '../../src/access/token-file.ts'
import { isLoopback } from '../../src/http/security/admission.ts'
import { captureLog } from '../test-core.ts'

const [first, second] = ['first-token-of-this-test', 'second-token-of-this-test']
const bearer = (token: string) => `Bearer ${token}`

function tokenFile(t: Test, text: string, mode = 0o600): string {
  const file = `${t.testdir()}/tokens`
  writeFileSync(file, text, { mode })
  return file
}

t.test('parseTokens parses names and scopes, and grants all scopes by default', async (t) => {
  const { lines, problems } = parseTokens(
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
    'grants for an app replace those for all apps',
  )
})

verifies('access:file', 'parseTokens reports each invalid line without its token', async (t) => {
  const invalid = [
    'short',
    `${first} na/me`,
    `${first} laptop debrief:fly`,
    `${first} laptop debrief:`,
    `${first} laptop other`,
    `${first}\n${first}`,
  ]
  for (const text of invalid) {
    const { problems } = parseTokens(text)
    t.equal(problems.length, 1, text)
    t.notMatch(JSON.stringify(problems), first)
  }
})

verifies('access:file', async (t) => {
  const { log } = captureLog()
  const open = (text: string, mode?: number) => () => new TokenFile(tokenFile(t, text, mode), { log })
  if (process.platform !== 'win32')
    t.throws(open(first, 0o644), { code: 'INVALID_SETTING', remedy: /^run chmod 600 / })
  t.throws(open('# nothing\n'), { code: 'INVALID_SETTING' })
  t.throws(open('short'), { code: 'INVALID_SETTING', message: /line 1/ })
  t.throws(() => new TokenFile(`${t.testdir()}/missing`, { log }), { code: 'INVALID_SETTING' })
  t.throws(() => new TokenFile(t.testdir(), { log }), { code: 'INVALID_SETTING' })
})

verifies('access:rotation', async (t) => {
  const { log, lines } = captureLog()
  const clock = { now: 0 }
  const file = tokenFile(t, `${first} laptop`)
  const tokens = new TokenFile(file, { log, nowMs: () => clock.now })
  t.equal(tokens.authenticate(bearer(first)).name, 'laptop')
  writeFileSync(`${file}.new`, `${second} desk`, { mode: 0o600 })
  renameSync(`${file}.new`, file)
  t.equal(tokens.authenticate(bearer(second)).name, 'desk', 'accepts the new token immediately')
  t.throws(() => tokens.authenticate(bearer(first)), { code: 'UNAUTHORIZED' })

  chmodSync(file, 0o644)
  clock.now += 1000
  if (process.platform !== 'win32')
    t.throws(() => tokens.authenticate(bearer(second)), { code: 'UNAUTHORIZED' })
  t.match(lines.at(-1), { level: process.platform === 'win32' ? 30 : 50 })
  chmodSync(file, 0o600)
  t.equal(tokens.authenticate(bearer(second)).name, 'desk', 'accepts the corrected file')
  rmSync(file)
  clock.now += 1000
  t.throws(
    () => tokens.authenticate(bearer(second)),
    { code: 'UNAUTHORIZED' },
    'rejects every token without the file',
  )
  t.notMatch(JSON.stringify(lines), /-token-of-this-test/)
})

/** Makes every file read fail with EIO until the returned function is called. */
function breakReads(): () => void {
  const { readFileSync } = fs
  fs.readFileSync = () => {
    throw Object.assign(new Error('EIO: i/o error, read'), { code: 'EIO' })
  }
  syncBuiltinESMExports()
  return () => {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  }
}

verifies('access:rotation', 'an unreadable file rejects every call until it is readable again', async (t) => {
  const { log, lines } = captureLog()
  const clock = { now: 0 }
  const file = tokenFile(t, `${first} laptop`)
  const tokens = new TokenFile(file, { log, nowMs: () => clock.now })
  const rejects = (message: string): void => {
    for (let call = 0; call < 3; call += 1) {
      clock.now += 1000
      t.throws(() => tokens.authenticate(bearer(first)), { code: 'UNAUTHORIZED' }, message)
    }
  }
  writeFileSync(file, `${first} laptop\n${second} desk`)
  const restoreReads = breakReads()
  t.teardown(restoreReads)
  rejects('an I/O error')
  t.equal(lines.filter(({ level }) => level === 50).length, 1, 'logged once')
  t.throws(() => new TokenFile(file, { log }), {
    code: 'INVALID_SETTING',
    message: /^cannot read the token file/,
  })
  restoreReads()
  t.equal(tokens.authenticate(bearer(second)).name, 'desk', 'reads the unchanged file again')

  renameSync(file, `${file}.old`)
  symlinkSync(file, file)
  rejects('a loop of links')
  renameSync(`${file}.old`, file)
  t.equal(tokens.authenticate(bearer(first)).name, 'laptop')
})

t.test('authenticate rejects everything but a valid bearer token', async (t) => {
  const tokens = new TokenFile(tokenFile(t, first), { log: captureLog().log })
  for (const header of [
    undefined,
    '',
    first,
    `Basic ${first}`,
    'Bearer',
    `Bearer ${first} x`,
    `Bearer ${first}x`,
  ])
    t.throws(() => tokens.authenticate(header), { code: 'UNAUTHORIZED' }, String(header))
  t.ok(tokens.authenticate(`bearer ${first}`))
})

t.test('scopes depend on the hints of a tool and the method of a route', async (t) => {
  t.equal(getToolScope({ readOnlyHint: true, openWorldHint: true }), 'read')
  t.equal(getToolScope({ readOnlyHint: false, openWorldHint: true }), 'execute')
  t.equal(getToolScope({ readOnlyHint: false, openWorldHint: false }), 'write')
  t.same(['GET', 'POST', 'DELETE'].map(getMethodScope), ['read', 'write', 'write'])
})

t.test('isLoopback accepts only localhost and loopback addresses', async (t) => {
  for (const host of ['localhost', '127.0.0.1', '127.1.2.3', '::1', '[::1]']) t.ok(isLoopback(host), host)
  for (const host of ['0.0.0.0', '::', '192.168.1.5', 'example.com']) t.notOk(isLoopback(host), host)
})
