import { existsSync, globSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { runHere } from '../../server/test/cli/run-here.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { postJson } from './http.ts'
import { startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(300_000)

const dir = t.testdir({ data: {}, other: {} })
const data = join(dir, 'data')
const { server, url } = await startServer(t, { dir: data, env: writeProbeApp(dir).env })
const here = (...argv: string[]) => runHere(t, [...argv, '--data-dir', data])

verifies('command:status', 'of a running server', async (t) => {
  const { code, stdout, stderr } = await here('status')
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, `url      ${url}/mcp\n`)
  t.match(stdout, `pid      ${server.process.pid}\n`)
  t.match(stdout, /^ {2}Replay +ok$/m)
})

verifies('command:status:other-folder', async (t) => {
  const port = new URL(url).port
  const { code, stderr } = await runHere(t, ['status', '--data-dir', join(dir, 'other'), '--port', port])
  t.equal(code, 3)
  t.match(stderr, `causeway status --data-dir ${data}`)
})

/** Every file of the data folder by its path, without what SQLite keeps beside a database that is open. */
const kept = () =>
  globSync('**/*', { cwd: data })
    .filter((path) => !/-(wal|shm)$/.test(path))
    .sort()

verifies('command:backup', async (t) => {
  const made = await here('backup', join(dir, 'backup'))
  t.match(made, { code: 0, stdout: /^backed up: \d+ files, .* [kM]B: / })
  const again = await here('backup', join(dir, 'backup'))
  t.match(again, { code: 1, stderr: /DATA_EXISTS/ })
  t.match(await here('backup'), { code: 2, stderr: /one folder is to be named/ })
  const refused = await here('restore', join(dir, 'backup'), '--replace')
  t.match(refused, { code: 1, stderr: /DATA_IN_USE/ }, 'not under a server that runs')
})

verifies('command:data:asked', 'refused while a server runs', async (t) => {
  t.match(await here('data', 'erase', 'minds', '--yes'), { code: 1, stderr: /DATA_IN_USE/ })
  t.ok(kept().includes('minds.db'))
})

verifies('command:stop', async (t) => {
  const file = join(dir, 'go')
  const answered = postJson(url, '/api/apps/probe/tools/linger', { file })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  const stopping = here('stop')
  await server.saw('stopping')
  writeFileSync(file, '')
  t.equal((await answered).status, 200, 'the call under way ended')
  t.match(await stopping, { code: 0, stdout: `stopped: pid ${server.process.pid}, ${url}\n` })
  t.same(await server.exited, { code: 0, signal: null })
  t.match(await here('stop'), { code: 0, stdout: /^not running/ })
})

verifies('command:data:asked', async (t) => {
  const before = kept()
  t.match(await here('data', 'erase', 'minds'), { code: 1, stderr: /NOT_CONFIRMED.*--yes/s })
  const asked = (answer: string) =>
    runHere(t, ['data', 'erase', 'minds', '--data-dir', data], { answer, cwd: dir })
  t.match(await asked('yes'), { code: 1, stderr: /NOT_CONFIRMED: nothing erased/ })
  const dry = await here('data', 'erase', 'minds', '--dry-run')
  t.match(dry, { code: 0, stderr: `${join(data, 'minds.db')}  ` })
  t.match(await here('data', 'erase', 'mind'), {
    code: 2,
    stderr: /no app is called mind; did you mean minds/,
  })
  t.same(kept(), before)
  t.match(await asked('Minds'), { code: 0, stdout: /^erased: .* of Minds\n/ })
  t.same(
    kept(),
    before.filter((path) => path !== 'minds.db'),
  )
})

verifies('command:data:erase', async (t) => {
  mkdirSync(join(data, 'recordings'), { recursive: true })
  for (const file of ['recordings/run.db', 'recordings/run.db-wal', 'recordings/notes.txt', 'mine.txt'])
    writeFileSync(join(data, file), file)
  const before = kept()
  const { code, stdout, stderr } = await here('data', 'erase', 'REPLAY', '--yes')
  t.match({ code, stdout }, { code: 0, stdout: /^erased: .* of Replay\n/ })
  const gone = before.filter((path) => !kept().includes(path))
  for (const path of gone.filter((path) => !path.startsWith('snapshots'))) t.match(stderr, join(data, path))
  for (const path of ['recordings.db', 'replay.db', 'recordings/run.db']) t.ok(gone.includes(path), path)
  t.notOk(existsSync(join(data, 'recordings/run.db-wal')))
  for (const path of ['recordings/notes.txt', 'mine.txt', 'trm.db', 'server.db'])
    t.ok(kept().includes(path), path)
  t.match(await here('data', 'erase', 'replay', '--yes'), { code: 0, stdout: /^Replay keeps nothing/ })
})

verifies('command:backup', 'and restore', async (t) => {
  t.match(await here('restore', join(dir, 'backup')), { code: 1, stderr: /DATA_EXISTS/ })
  const { code, stdout, stderr } = await here('restore', join(dir, 'backup'), '--replace')
  t.match({ code, stdout }, { code: 0, stdout: `: ${data}\n` })
  const aside = /what was there before is in (.*)/.exec(stderr)?.[1] ?? ''
  t.ok(existsSync(join(aside, 'mine.txt')))
  t.ok(kept().includes('minds.db'), 'what was erased is there again')
  t.match(await here('restore', join(dir, 'none')), { code: 1, stderr: /BACKUP_NOT_FOUND/ })
})
