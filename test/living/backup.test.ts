/** A server under load on every store is backed up; the backup is restored and served. */
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { apps } from '../../server/src/apps.ts'
import { partsOf, restore } from '../../server/src/backup/backup.ts'
import { treatmentOf } from '../../server/src/domain/data-part.ts'
import { databasesIn, rowsOf } from '../../server/test/backup/data-rows.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, checkFiles, everyWork, type Lived, live, promisesOf, settingsOf } from './lives.ts'
import { tool } from './work.ts'

t.setTimeout(300_000)

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
