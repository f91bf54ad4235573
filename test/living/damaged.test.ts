/** Databases that are damaged, emptied or removed, while the server is stopped and while it runs: for every store. */
import { readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMetaKey } from '@causeway/protocol'
import Database from 'better-sqlite3'
import t from 'tap'
import { openRunWriter } from '../../packages/recording/src/recorder/run-writer.ts'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { copyRelease, findOwner, storeCalls } from './released.ts'

t.setTimeout(240_000)

// biome-ignore lint/suspicious/noExplicitAny: an answer is whatever the test expects of it
type Data = any

const page = 4096

/** What a disk may have made of a file. */
const damages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is no database': (bytes) => Buffer.alloc(bytes.length, 'no database '),
  'was cut off': (bytes) => bytes.subarray(0, page * 1.5),
  'has holes': (bytes) => Buffer.concat([bytes.subarray(0, page), Buffer.alloc(bytes.length - page)]),
}

for (const [name, damage] of Object.entries(damages))
  verifies('fault:damaged', `each store whose file ${name}`, async (t) => {
    for (const [path, [tool, args]] of Object.entries(storeCalls)) {
      const dir = copyRelease(t)
      const file = join(dir, path)
      const bad = damage(readFileSync(file))
      writeFileSync(file, bad)
      const core = await openTestCore(t, apps, {
        dir: join(dir, '..'),
        log: captureLog('silent').log,
        env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_TRM_ROOTS: dir },
      })
      const { apps: states } = await core.health()
      const ill = Object.entries(states).filter(([, { status }]) => status !== 'ok')
      t.ok(
        ill.every(([app]) => app === findOwner(path)),
        `${path}: no other app is ill`,
      )
      const answer = await call(core, tool, args)
      const { code, remedy, data } = (answer._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
      const said = code === 'APP_UNAVAILABLE' ? data.reason : code
      if (path.includes('/')) t.match(said, /^(RECORDING_DAMAGED|NOT_A_DATABASE)$/, `${path}: it is said`)
      else {
        t.equal(said, 'DATA_DAMAGED', `${path}: it is said`)
        t.match(remedy, /backup/, 'with what to do')
      }
      t.ok(readFileSync(file).equals(bad), 'and the file is left as it is')
      await core.close()
    }
  })

/** What may have become of a file that was initialized. */
const losses: Readonly<Record<string, (file: string) => void>> = {
  'is empty': (file) => truncateSync(file),
  'is missing': (file) => rmSync(file),
  'is a new database': (file) => {
    rmSync(file)
    new Database(file).exec('CREATE TABLE other (x)').close()
  },
}

for (const [name, lose] of Object.entries(losses))
  verifies('fault:missing', `each store whose file ${name}`, async (t) => {
    for (const [path, [tool, args]] of Object.entries(storeCalls)) {
      const dir = copyRelease(t)
      const file = join(dir, path)
      const start = {
        dir: join(dir, '..'),
        log: captureLog('silent').log,
        env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_TRM_ROOTS: dir },
      }
      // Writes the markers: the files are of a version without them. Help opens its file at the first call.
      const before = await openTestCore(t, apps, start)
      await call(before, tool, args)
      await before.close()
      // A run is opened by what records into it, and gets its marker then.
      if (path.includes('/')) openRunWriter(file, Date.now()).close()
      lose(file)
      const core = await openTestCore(t, apps, start)
      const answer = await call(core, tool, args)
      const { apps: states, status } = await core.health()
      const failed = Object.entries(states).filter(([, { status }]) => status !== 'ok')
      t.same(
        failed.map(([app, { reason }]) => [app, reason]),
        path.includes('/') ? [] : [[findOwner(path), 'DATA_MISSING']],
        `${path}: only its app fails`,
      )
      t.equal(status, path.includes('/') ? 'ok' : 'degraded')
      const { code, remedy, data } = (answer._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
      t.equal(answer.isError, true, `${path}: the call fails`)
      if (!path.includes('/')) {
        t.equal(code === 'APP_UNAVAILABLE' ? data.reason : code, 'DATA_MISSING')
        t.match(remedy, /causeway restore/)
      }
      await t.rejects(core.backups.make('lossy', 'lossy', {}), { code: 'DATA_MISSING' }, 'no backup is made')
      t.same(await core.backups.list(), [])
      await core.close()
    }
  })

verifies('fault:missing', 'the data of the server itself', async (t) => {
  const dir = copyRelease(t)
  const { server } = await startServer(t, { dir, env: { CAUSEWAY_APPS: 'Causeway' } })
  await server.stop()
  truncateSync(join(dir, 'server.db'))
  const again = spawnServer(t, { dir })
  t.match(await again.exited, { code: 1 })
  t.match(again.stderr, /^causeway: DATA_MISSING: the data file is empty: server\.db; .*causeway restore/m)
  t.equal(statSync(join(dir, 'server.db')).size, 0, 'the file is left as it is')
})

/** Zeroes every page of a closed database but those that are read to open it: the schema and the migrations. */
function damageRows(file: string): void {
  const db = new Database(file, { readonly: true })
  const size = db.pragma('page_size', { simple: true }) as number
  const kept = db
    .prepare<[], number>(`SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'causeway_migration'`)
    .pluck()
    .all()
  db.close()
  const bytes = readFileSync(file)
  for (let number = 2; number <= bytes.length / size; number++)
    if (!kept.includes(number)) bytes.fill(0, (number - 1) * size, number * size)
  writeFileSync(file, bytes)
}

verifies('fault:damaged:working', async (t) => {
  const bookmark = ['Replay__bookmark', { recording: 'living' }] as const
  for (const [path, [tool, args]] of Object.entries({ ...storeCalls, 'replay.db': bookmark })) {
    if (path.includes('/')) continue
    const dir = copyRelease(t)
    damageRows(join(dir, path))
    const core = await openTestCore(t, apps, {
      dir: join(dir, '..'),
      log: captureLog('silent').log,
      env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_TRM_ROOTS: dir },
    })
    const answer = await call(core, tool, args)
    const { code, remedy, data } = (answer._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
    t.equal(code === 'APP_UNAVAILABLE' ? data.reason : code, 'DATA_DAMAGED', `${path}: the call fails`)
    t.match(remedy, /causeway restore/)
    const { status, apps: states } = await core.health()
    t.equal(status, 'degraded')
    const failed = Object.entries(states).filter(([, { status }]) => status !== 'ok')
    t.match(failed, [[findOwner(path), { reason: 'DATA_DAMAGED', remedy: /causeway restore/ }]], path)
    await core.close()
  }
})

/** Zeroes the first page of a table of a closed database. */
function damageTable(file: string, table: string): void {
  const db = new Database(file, { readonly: true })
  const size = db.pragma('page_size', { simple: true }) as number
  const root = db.prepare<[string], number>('SELECT rootpage FROM sqlite_schema WHERE name = ?').pluck()
  const page = root.get(table) ?? 0
  db.close()
  const bytes = readFileSync(file)
  writeFileSync(file, bytes.fill(0, (page - 1) * size, page * size))
}

verifies('fault:damaged:working', 'the audit of the server', async (t) => {
  const dir = copyRelease(t)
  const file = join(dir, 'server.db')
  damageTable(file, 'audit')
  const core = await openTestCore(t, apps, {
    dir: join(dir, '..'),
    log: captureLog('silent').log,
    env: { CAUSEWAY_APPS: 'Causeway' },
  })
  await call(core, 'Causeway__list_apps')
  await t.rejects(core.audit({ limit: 1 }))
  t.match(await core.health(), {
    status: 'degraded',
    apps: { Causeway: { status: 'failed', reason: 'DATA_DAMAGED' } },
  })
})

verifies('fault:missing', 'a file that disappears while the server works', async (t) => {
  const dir = t.testdir({ data: {} })
  const core = await openTestCore(t, apps, { dir, log: captureLog('silent').log })
  t.match(await core.health(), { apps: { Minds: { status: 'ok' } } })
  rmSync(join(dir, 'data/minds.db'))
  t.match(await core.health(), {
    status: 'degraded',
    apps: { Minds: { status: 'failed', reason: 'DATA_MISSING' }, Trm: { status: 'ok' } },
  })
})
