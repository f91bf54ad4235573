import { appendFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { verifies } from '../../../test/verifies.ts'
import { followLines, lastLines } from '../../src/cli/log-tail.ts'
import { listLogFiles, logNames } from '../../src/log-files.ts'
import { runHere } from './run-here.ts'

const line = (msg: string): string => `${JSON.stringify({ level: 30, time: 0, msg })}\n`

verifies('command:logs', async (t) => {
  const dir = t.testdir({
    logs: {
      'server.9.log': line('one') + line('two'),
      'server.10.log': line('three'),
      'error.1.log': line('bad'),
      'server.log.bak': line('not of them'),
    },
    state: { causeway: { 'server-3100.log': '' } },
  })
  const logs = (...words: string[]) =>
    runHere(t, ['logs', '--data-dir', dir, ...words], { env: { XDG_STATE_HOME: join(dir, 'no-state') } })
  const raw = await logs('--json', '-n', '2')
  t.same(raw.stdout, line('two') + line('three'), 'numbers, not names, give the order')
  t.match((await logs()).stdout, /INFO.*: one\n.*: two\n.*: three\n$/s)
  t.match((await logs('errors')).stdout, /: bad/)
  t.equal((await logs('--path')).stdout, `${join(dir, 'logs/server.10.log')}\n`)
  const none = await logs('audit')
  t.match(none, { code: 1, stdout: '' })
  t.match(none.stderr, /NO_LOG_FILES.*CAUSEWAY_LOG_FILES=true/)
  const env = { XDG_STATE_HOME: join(dir, 'state') }
  const autostarted = await runHere(t, ['logs', '--data-dir', join(dir, 'none')], { env })
  t.match(autostarted.stderr, join(dir, 'state/causeway/server-3100.log'), 'that of a bridge is named')
  t.equal((await logs('everything')).code, 2)
})

verifies('command:logs', 'followed lines go on into the next file, whole lines only', async (t) => {
  const dir = t.testdir({ 'server.1.log': 'past\n' })
  const [first, second] = [join(dir, 'server.1.log'), join(dir, 'server.2.log')]
  const files = () => listLogFiles(dir, logNames.server).map(({ path }) => path)
  const { lines, end } = lastLines(files(), 10)
  t.same(lines, ['past'])
  const stop = new AbortController()
  const following = followLines(files, { file: first, offset: end }, { signal: stop.signal, everyMs: 1 })
  const next = async () => (await following.next()).value

  appendFileSync(first, 'één\nhal')
  t.equal(await next(), 'één')
  appendFileSync(first, 'f\n')
  t.equal(await next(), 'half')
  appendFileSync(first, 'last\n')
  writeFileSync(second, 'new\n')
  t.same([await next(), await next()], ['last', 'new'])
  rmSync(first)
  appendFileSync(second, 'newer\n')
  t.equal(await next(), 'newer')
  stop.abort()
  t.equal(await next(), undefined, 'it ends')
})
