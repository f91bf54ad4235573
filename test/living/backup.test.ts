import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder } from '@causeway/store'
import t, { type Test } from 'tap'
import { apps } from '../../server/src/apps.ts'
import { partsOf, restore } from '../../server/src/backup/backup.ts'
import { treatmentOf } from '../../server/src/domain/data-part.ts'
import { databasesIn, rowsOf } from '../../server/test/backup/data-rows.ts'
import { runHere } from '../../server/test/cli/run-here.ts'
import { modern, rpc, toolCall } from '../../server/test/http/open-wire.ts'
import { until } from '../e2e/condition.ts'
import { postJson } from '../e2e/http.ts'
import { fromSource, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, everyWork, type Lived, live, promisesOf, settingsOf } from './lives.ts'
import { tool } from './work.ts'

t.setTimeout(600_000)

/** A server under load on every store is backed up; the backup is restored and served. */

const parts = partsOf(apps)

/** Tables that a restore changes on purpose. */
const settled = [
  'recordings.db: recording',
  'recordings.db: run',
  'recordings.db: snapshot',
  'help.db: lease',
]

verifies('backup:running', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const [dir, fresh] = [join(root, 'data'), join(root, 'fresh')]
  const works = everyWork(root)
  const env = settingsOf(works)
  for (const work of works) work.before?.()
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  const enough = new AbortController()
  let living: Promise<Lived> | undefined
  await new Promise<void>((resolve, reject) => {
    living = live(works, { url, dir }, { signal: enough.signal, atWork: resolve })
    living.then(() => resolve(), reject)
  })

  const promised = promisesOf(works)
  const made = await tool(url, ['causeway', 'make_backup'], { name: 'under-load' })
  t.notSame(promisesOf(works), promised, 'work was answered while the backup was made')
  enough.abort()
  t.same((await living)?.refusals, [])
  await t.rejects(restore(made.folder, dir, parts, { replace: true }), { code: 'DATA_IN_USE' })
  await server.stop()

  await restore(made.folder, fresh, parts)
  checkFiles(t, fresh)
  const copies = databasesIn(join(made.folder, 'data'))
  t.same(databasesIn(fresh), copies)
  for (const path of copies) {
    const [copied, restored] = [rowsOf(join(made.folder, 'data', path)), rowsOf(join(fresh, path))]
    for (const [table, rows] of Object.entries(copied))
      if (!settled.includes(`${path}: ${table}`)) t.same(restored[table], rows, `${path}: ${table}`)
  }
  t.same(rowsOf(join(fresh, 'server.db')).secret, [], 'no secret is in it')
  t.same(
    readdirSync(fresh, { recursive: true, encoding: 'utf8' }).filter(
      (path) => treatmentOf(path.replaceAll('\\', '/'), parts).kind === 'passing',
    ),
    ['server.lock'],
  )
  const again = await startServer(t, { dir: fresh, env })
  await checkAll(t, works, { url: again.url, dir: fresh }, promised, 'later')
  await again.server.stop()
})

verifies('backup:running', 'what was at rest is the same row for row', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const [dir, fresh] = [join(root, 'data'), join(root, 'fresh')]
  const works = everyWork(root)
  const env = settingsOf(works)
  for (const work of works) work.before?.()
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  for (const work of works) await work.step({ url, dir })
  const made = await tool(url, ['causeway', 'make_backup'], { name: 'at-rest' })
  await server.stop()
  await restore(made.folder, fresh, parts)
  for (const path of databasesIn(fresh)) {
    // Calls are written down after the backup too, the search goes on indexing, and stopping ends the run.
    if (path === 'server.db' || path.startsWith('help')) continue
    const [before, after] = [rowsOf(join(dir, path)), rowsOf(join(fresh, path))]
    for (const [table, rows] of Object.entries(before))
      if (![...settled, 'recordings/living.db: run'].includes(`${path}: ${table}`))
        t.same(after[table], rows, `${path}: ${table}`)
  }
  t.ok(existsSync(join(fresh, 'trm/shadow.git/HEAD')), 'the snapshots of projects are there')
})

/** Backups of a real server that take their time: as tasks, and cut short by a kill. */

/** A data folder with a file that takes so long to copy that a kill comes before its end. */
function slowFolder(t: Test): string {
  const dir = join(t.testdir({ data: { recordings: {} } }), 'data')
  const file = join(dir, 'large.bin')
  writeFileSync(file, '')
  truncateSync(file, 256 * 2 ** 20)
  return dir
}

verifies('backup:task', async (t) => {
  const dir = slowFolder(t)
  const { url } = await startServer(t, { dir, env: { CAUSEWAY_APPS: 'Causeway' } })
  const say = async (message: ReturnType<typeof rpc>) => {
    const { body, headers } = modern(message)
    const { _meta } = body.params as { _meta: Record<string, unknown> }
    _meta['io.modelcontextprotocol/clientCapabilities'] = {
      extensions: { 'io.modelcontextprotocol/tasks': {} },
    }
    const { taskId } = (message.params ?? {}) as { taskId?: string }
    const named = taskId === undefined ? headers : { ...headers, 'mcp-name': taskId }
    const { json } = await postJson(url, '/mcp', body, { headers: named })
    return json.result
  }
  const task = await say(toolCall('Causeway__make_backup', { name: 'behind' }))
  t.match(task, { resultType: 'task', status: 'working' })
  const done = await until(
    () => say(rpc('tasks/get', { taskId: task.taskId })),
    ({ status }) => status !== 'working',
  )
  t.match(done, { status: 'completed', result: { structuredContent: { name: 'behind' } } })
  t.ok(existsSync(join(dir, 'backups/behind/causeway-backup.json')))
  t.same(readdirSync(join(dir, 'backups/behind')).sort(), ['causeway-backup.json', 'data'])
})

verifies('backup:killed', async (t) => {
  const dir = slowFolder(t)
  const env = { CAUSEWAY_APPS: 'Causeway' }
  const backups = join(dir, 'backups')
  const { url, server } = await startServer(t, { dir, env })
  const making = tool(url, ['causeway', 'make_backup'], { name: 'cut' })
  await until(async () => existsSync(join(backups, 'cut.part/data')), Boolean)
  server.process.kill('SIGKILL')
  await t.rejects(making)
  await server.exited
  t.ok(existsSync(join(backups, 'cut.part')), 'what was copied is there')

  // Another program, here this one, makes a backup into the same folder.
  mkdirSync(join(backups, 'other.part'))
  const other = lockFolder(join(backups, 'other.part'))
  t.teardown(() => other.release())
  const again = await startServer(t, { dir, env })
  t.match(await again.server.saw('backups that were never complete were removed'), { gone: ['cut.part'] })
  t.same(readdirSync(backups), ['other.part'])
  t.same((await tool(again.url, ['causeway', 'list_backups'], {})).backups, [])
  await tool(again.url, ['causeway', 'make_backup'], { name: 'cut' })
  t.match(await tool(again.url, ['causeway', 'list_backups'], {}), { backups: [{ name: 'cut' }] })
})

verifies('backup:restore-cut-short', 'killed while it copies', async (t) => {
  const dir = slowFolder(t)
  const [backup, fresh] = [join(dir, '../backup'), join(dir, '../fresh')]
  const { code } = await runHere(t, ['backup', backup, '--data-dir', dir])
  t.equal(code, 0)
  const restore = ['restore', backup, '--data-dir', fresh]
  const killed = spawn(process.execPath, [...fromSource, ...restore], { stdio: 'ignore' })
  const ended = once(killed, 'exit')
  await until(async () => existsSync(`${fresh}.restoring/large.bin`), Boolean)
  killed.kill('SIGKILL')
  t.same(await ended, [null, 'SIGKILL'])
  t.ok(existsSync(`${fresh}.restoring`), 'what was copied is there')
  t.match(await runHere(t, ['serve', '--data-dir', fresh, '--port', '0']), {
    code: 1,
    stderr: /RESTORE_UNFINISHED/,
  })
  t.match(await runHere(t, restore), { code: 0, stderr: '' })
  t.same(readdirSync(join(fresh, '..')).sort(), ['backup', 'data', 'fresh'])
  await startServer(t, { dir: fresh, env: { CAUSEWAY_APPS: 'Causeway' } })
})
