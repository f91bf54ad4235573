import { execFileSync } from 'node:child_process'
import { chmodSync, linkSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { openDebugLog, redact } from '../src/debug-log.ts'

const head = { pid: 42, now: () => new Date('2026-01-02T03:04:05.678Z') }

verifies('bridge:setting:debug', 'openDebugLog: each text is one line with time and pid', async (t) => {
  const path = join(t.testdir(), 'mcp_wrapper.log')
  const log = openDebugLog(path, head)
  log('one')
  log('two\nlines')
  openDebugLog(path, { ...head, pid: 43 })('appended')
  t.same(readFileSync(path, 'utf8').trimEnd().split('\n'), [
    '2026-01-02T03:04:05.678Z [42] one',
    '2026-01-02T03:04:05.678Z [42] two lines',
    '2026-01-02T03:04:05.678Z [43] appended',
  ])
  t.equal(statSync(path).mode & 0o777, 0o600)
})

verifies('bridge:setting:debug', 'openDebugLog: a planted link, pipe or folder is refused', async (t) => {
  const dir = t.testdir({ target: 'keep', folder: {} })
  symlinkSync(join(dir, 'target'), join(dir, 'link'))
  linkSync(join(dir, 'target'), join(dir, 'hard'))
  execFileSync('mkfifo', [join(dir, 'pipe')])
  for (const name of ['link', 'hard', 'pipe', 'folder'])
    t.throws(() => openDebugLog(join(dir, name), head), name)
  t.equal(readFileSync(join(dir, 'target'), 'utf8'), 'keep')
})

t.test('openDebugLog: a file that others may read is closed to them', async (t) => {
  const path = join(t.testdir(), 'mcp_wrapper.log')
  writeFileSync(path, '')
  chmodSync(path, 0o644)
  openDebugLog(path, head)
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('redact: secrets go, the rest stays', async (t) => {
  const text =
    '{"api_key":"abc\\"d","n":1,"password":12,"Authorization":"Bearer xyz","plain":"token","accessToken":"cut off'
  const shown = redact(text)
  for (const secret of ['abc', '12', 'xyz', 'cut off']) t.notMatch(shown, secret)
  t.match(shown, '"n":1')
  t.match(shown, '"plain":"token"')
  t.notMatch(redact('authorization: Bearer a.b-c'), 'a.b-c')
  t.notMatch(redact('key sk-abcdefgh12345'), 'abcdefgh')
})
