import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FolderLock } from '@causeway/store'
import t, { type Test } from 'tap'
import { apps } from '../../server/src/apps.ts'
import { listParts, restore } from '../../server/src/backup/backup.ts'
import { findBackupRule } from '../../server/src/backup/data-part.ts'
import { listDatabases, readRows } from '../../server/test/backup/data-rows.ts'
import { runHere } from '../../server/test/cli/run-here.ts'
import { modern, rpc, toolCall } from '../../server/test/http/open-wire.ts'
import { until } from '../e2e/condition.ts'
import { postJson } from '../e2e/http.ts'
import { fromSource, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkAll,
  checkFiles,
  createWorks,
  mergeSettings,
  type RunResult,
  readPromised,
  runWorks,
} from './all-works.ts'
import { tool } from './work.ts'

t.setTimeout(600_000)

const parts = listParts(apps)

/** Tables that a restore changes on purpose. */
const restoredTables = [
  'recordings.db: recording',
  'recordings.db: run',
  'recordings.db: snapshot',
  'help.db: lease',
]

verifies('backup:running', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const [dir, fresh] = [join(root, 'data'), join(root, 'fresh')]
  const works = createWorks(root)
  const env = mergeSettings(works)
  for (const work of works) work.before?.()
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  const enough = new AbortController()
  let running: Promise<RunResult> | undefined
  await new Promise<void>((resolve, reject) => {
    running = runWorks(works, { url, dir }, { signal: enough.signal, atWork: resolve })
    running.then(() => resolve(), reject)
  })

  const promised = readPromised(works)
  const made = await tool(url, ['causeway', 'make_backup'], { name: 'under-load' })
  t.notSame(readPromised(works), promised, 'the works made progress during the backup')
  enough.abort()
  t.same((await running)?.failures, [])
  await t.rejects(restore(made.folder, dir, parts, { replace: true }), { code: 'DATA_IN_USE' })
  await server.stop()

  await restore(made.folder, fresh, parts)
  checkFiles(t, fresh)
  const copies = listDatabases(join(made.folder, 'data'))
  t.same(listDatabases(fresh), copies)
  for (const path of copies) {
    const [copied, restored] = [readRows(join(made.folder, 'data', path)), readRows(join(fresh, path))]
    for (const [table, rows] of Object.entries(copied))
      if (!restoredTables.includes(`${path}: ${table}`)) t.same(restored[table], rows, `${path}: ${table}`)
  }
  t.same(readRows(join(fresh, 'server.db')).secret, [], 'the backup contains no secret')
  t.same(
    readdirSync(fresh, { recursive: true, encoding: 'utf8' }).filter(
      (path) => findBackupRule(path.replaceAll('\\', '/'), parts).kind === 'passing',
    ),
    ['server.lock'],
  )
  const again = await startServer(t, { dir: fresh, env })
  await checkAll(t, works, { url: again.url, dir: fresh }, promised, 'later')
  await again.server.stop()
})

verifies('backup:running', 'idle data is restored row by row', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const [dir, fresh] = [join(root, 'data'), join(root, 'fresh')]
  const works = createWorks(root)
  const env = mergeSettings(works)
  for (const work of works) work.before?.()
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  for (const work of works) await work.step({ url, dir })
  const made = await tool(url, ['causeway', 'make_backup'], { name: 'at-rest' })
  await server.stop()
  await restore(made.folder, fresh, parts)
  for (const path of listDatabases(fresh)) {
    // After the backup the audit grows, the search continues indexing, and stopping ends the run.
    if (path === 'server.db' || path.startsWith('help')) continue
    const [before, after] = [readRows(join(dir, path)), readRows(join(fresh, path))]
    for (const [table, rows] of Object.entries(before))
      if (![...restoredTables, 'recordings/living.db: run'].includes(`${path}: ${table}`))
        t.same(after[table], rows, `${path}: ${table}`)
  }
})

/** Creates a data folder with a file that is large enough to kill the server during the copy. */
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
  const send = async (message: ReturnType<typeof rpc>) => {
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
  const task = await send(toolCall('Causeway__make_backup', { name: 'behind' }))
  t.match(task, { resultType: 'task', status: 'working' })
  const done = await until(
    () => send(rpc('tasks/get', { taskId: task.taskId })),
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
  t.ok(existsSync(join(backups, 'cut.part')), 'the incomplete copy exists')

  // Another process, here this test, makes a backup in the same folder.
  mkdirSync(join(backups, 'other.part'))
  const other = new FolderLock(join(backups, 'other.part'))
  t.teardown(() => other.release())
  const again = await startServer(t, { dir, env })
  t.match(await again.server.saw('incomplete backups were removed'), { removed: ['cut.part'] })
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
  t.ok(existsSync(`${fresh}.restoring`), 'the incomplete copy exists')
  t.match(await runHere(t, ['serve', '--data-dir', fresh, '--port', '0']), {
    code: 1,
    stderr: /RESTORE_UNFINISHED/,
  })
  t.match(await runHere(t, restore), { code: 0, stderr: '' })
  t.same(readdirSync(join(fresh, '..')).sort(), ['backup', 'data', 'fresh'])
  await startServer(t, { dir: fresh, env: { CAUSEWAY_APPS: 'Causeway' } })
})
