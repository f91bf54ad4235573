import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { errorMetaKey } from '@causeway/protocol'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openRunWriter } from '../../packages/recording/src/recorder/run-writer.ts'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, createWorks, mergeSettings, readPromised } from './all-works.ts'
import { copyRelease, findOwner, storeCalls } from './released.ts'
import { CallError, type Place, tool, type Work } from './work.ts'

t.setTimeout(540_000)

/** Damage to a used data folder while no server runs, and the expected behaviour of the next server. */
interface Damage {
  readonly apply: (place: Pick<Place, 'dir'> & { readonly root: string }) => void
  /** Names of works whose data is lost. All others are checked. */
  readonly lost: readonly string[]
  /** Checks the server's behaviour. */
  readonly after?: (
    t: Test,
    place: Place & { readonly root: string },
    works: readonly Work[],
  ) => Promise<void>
}

/** Returns the error code of a call, or `none` if it succeeds. */
async function readErrorCode(call: Promise<unknown>): Promise<string> {
  try {
    await call
    return 'none'
  } catch (error) {
    if (error instanceof CallError) return error.response.json.code
    throw error
  }
}

const findTrmWork = (works: readonly Work[]): Work => {
  const trm = works.find(({ name }) => name === 'trm')
  if (trm === undefined) throw new Error('no work on Trm')
  return trm
}

/** Resets the Trm session to its first step. */
const resetSession = (url: string, works: readonly Work[]): Promise<unknown> => {
  const { sid } = findTrmWork(works).promised() as { readonly sid: string }
  return tool(url, ['trm', 'reset'], { sid })
}

const overwrite = (file: string, keep = 0): void => {
  const bytes = readFileSync(file)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, keep), Buffer.alloc(bytes.length - keep, 'harm')]))
}

const findIndexFile = (dir: string): string => {
  const names = readdirSync(join(dir, 'help')).filter((name) => /^index-\d+\.db$/.test(name))
  const newest = names.sort((a, b) => Number(/\d+/.exec(b)) - Number(/\d+/.exec(a)))[0]
  return join(dir, 'help', newest ?? '')
}

/** Waits until a search succeeds again. */
const checkReindexed = async (t: Test, { url }: Place): Promise<void> => {
  const search = () =>
    readErrorCode(tool(url, ['help', 'find_help_topics'], { text: 'quokka', source: 'mine' }))
  t.match(await search(), /^(DATA_DAMAGED|none)$/)
  t.equal(await until(search, (code) => code === 'none'), 'none', 'the index is rebuilt')
}

const damages: Readonly<Record<string, Damage>> = {
  'the index of Help is not a database': {
    apply: ({ dir }) => overwrite(findIndexFile(dir)),
    lost: [],
    after: checkReindexed,
  },
  'the index of Help is partly overwritten': {
    apply: ({ dir }) => overwrite(findIndexFile(dir), 8192),
    lost: [],
    after: checkReindexed,
  },
  'the index of Help is missing': {
    apply: ({ dir }) => rmSync(findIndexFile(dir)),
    lost: [],
    after: checkReindexed,
  },
  "a user's plot file is truncated": {
    apply({ root }) {
      const file = join(root, 'plots/sample.plot.json')
      writeFileSync(file, readFileSync(file).subarray(0, 200))
    },
    lost: ['debrief'],
    async after(t, { url, root }) {
      const filename = 'sample.plot.json'
      t.equal(await readErrorCode(tool(url, ['debrief', 'get_features'], { filename })), 'INVALID_PLOT')
      t.match(await tool(url, ['debrief', 'list_plots'], {}), { summary: String })
      t.equal(readFileSync(join(root, 'plots', filename)).length, 200, 'the file is not overwritten')
    },
  },
  'the lists of Trm snapshots are lost': {
    apply({ dir }) {
      const db = new Database(join(dir, 'trm.db'))
      db.exec('DELETE FROM snapshot')
      db.close()
    },
    lost: [],
    async after(t, { url, dir }, works) {
      t.equal(await readErrorCode(resetSession(url, works)), 'SNAPSHOT_NOT_FOUND')
      // A step compares the project with the snapshot of the start.
      t.equal(
        await readErrorCode(findTrmWork(works).step({ url, dir })),
        'SNAPSHOT_NOT_FOUND',
        'no new step starts',
      )
    },
  },
}

const root = t.testdir({ data: {}, plots: {}, projects: {}, copies: {} })
const works = createWorks(root)
const env = mergeSettings(works)

t.before(async () => {
  for (const work of works) work.before?.()
})

t.test('a server does the work of every store', async (t) => {
  const dir = join(root, 'data')
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  for (let i = 0; i < 3; i++) for (const work of works) await work.step({ url, dir })
  await server.stop()
  for (const name of ['data', 'plots', 'projects'])
    cpSync(join(root, name), join(root, 'copies', name), { recursive: true })
})

/** Restores the folders to their state after the first server stopped. */
function restoreFolders(): string {
  for (const name of ['data', 'plots', 'projects']) {
    rmSync(join(root, name), { recursive: true, force: true })
    cpSync(join(root, 'copies', name), join(root, name), { recursive: true })
  }
  return join(root, 'data')
}

for (const [name, { apply, lost, after }] of Object.entries(damages))
  verifies('fault:harmed', name, async (t) => {
    const dir = restoreFolders()
    apply({ dir, root })
    const { url, server } = await startServer(t, { dir, env })
    const place = { url, dir, root }
    await after?.(t, place, works)
    const others = works.filter((work) => !lost.includes(work.name))
    await checkAll(t, others, place, readPromised(works))
    for (const work of others) t.ok(work)
    t.equal((await getJson(url, '/health')).status, 200)
    t.same(await server.stop(), { code: 0, signal: null })
  })

verifies('fault:harmed', "the server's own data", async (t) => {
  const dir = restoreFolders()
  overwrite(join(dir, 'server.db'))
  const bad = readFileSync(join(dir, 'server.db'))
  const server = spawnServer(t, { dir, env })
  t.match(await server.exited, { code: 1 })
  t.match(
    server.stderr,
    new RegExp(
      `^causeway: .*server\\.db \\[DATA_DAMAGED\\]\n.*${errorDefinitions.DATA_DAMAGED?.remedy}`,
      'm',
    ),
  )
  t.ok(readFileSync(join(dir, 'server.db')).equals(bad))
  // Only sessions and the audit are lost with the file.
  for (const name of readdirSync(dir)) if (name.startsWith('server.db')) rmSync(join(dir, name))
  const again = await startServer(t, { dir, env })
  const others = works.filter(({ name }) => name !== 'server')
  await checkAll(t, others, { url: again.url, dir }, readPromised(works))
})

// Databases that are damaged, emptied or removed, while the server is stopped and while it runs.

// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
type Data = any

const page = 4096

/** Damage to a file. */
const fileDamages: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  'is not a database': (bytes) => Buffer.alloc(bytes.length, 'no database '),
  'is truncated': (bytes) => bytes.subarray(0, page * 1.5),
  'has zeroed pages': (bytes) => Buffer.concat([bytes.subarray(0, page), Buffer.alloc(bytes.length - page)]),
}

for (const [name, damage] of Object.entries(fileDamages))
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
      const failed = Object.entries(states).filter(([, { status }]) => status !== 'ok')
      t.ok(
        failed.every(([app]) => app === findOwner(path)),
        `${path}: no other app fails`,
      )
      const result = await call(core, tool, args)
      const { code, remedy, data } = (result._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
      const reason = code === 'APP_UNAVAILABLE' ? data.reason : code
      if (path.includes('/'))
        t.match(reason, /^(RECORDING_DAMAGED|NOT_A_DATABASE)$/, `${path}: the call fails`)
      else {
        t.equal(reason, 'DATA_DAMAGED', `${path}: the call fails`)
        t.match(remedy, /backup/, 'the remedy is a backup')
      }
      t.ok(readFileSync(file).equals(bad), 'the file is unchanged')
      await core.close()
    }
  })

/** Ways to lose the content of an initialized file. */
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
      // Writes the markers, because the files are of a version without markers. Help opens its file on the first call.
      const before = await openTestCore(t, apps, start)
      await call(before, tool, args)
      await before.close()
      // A run gets its marker when the recorder opens it.
      if (path.includes('/')) openRunWriter(file, Date.now()).close()
      lose(file)
      const core = await openTestCore(t, apps, start)
      const result = await call(core, tool, args)
      const { apps: states, status } = await core.health()
      const failed = Object.entries(states).filter(([, { status }]) => status !== 'ok')
      t.same(
        failed.map(([app, { reason }]) => [app, reason]),
        path.includes('/') ? [] : [[findOwner(path), 'DATA_MISSING']],
        `${path}: only its app fails`,
      )
      t.equal(status, path.includes('/') ? 'ok' : 'degraded')
      const { code, remedy, data } = (result._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
      t.equal(result.isError, true, `${path}: the call fails`)
      if (!path.includes('/')) {
        t.equal(code === 'APP_UNAVAILABLE' ? data.reason : code, 'DATA_MISSING')
        t.match(remedy, /causeway restore/)
      }
      await t.rejects(core.backups.make('lossy', 'lossy', {}), { code: 'DATA_MISSING' }, 'no backup is made')
      t.same(await core.backups.list(), [])
      await core.close()
    }
  })

verifies('fault:missing', "the server's own data", async (t) => {
  const dir = copyRelease(t)
  const { server } = await startServer(t, { dir, env: { CAUSEWAY_APPS: 'Causeway' } })
  await server.stop()
  truncateSync(join(dir, 'server.db'))
  const again = spawnServer(t, { dir })
  t.match(await again.exited, { code: 1 })
  t.match(again.stderr, /^causeway: the data file is empty: server\.db \[DATA_MISSING\]\n.*causeway restore/m)
  t.equal(statSync(join(dir, 'server.db')).size, 0, 'the file is unchanged')
})

/** Zeroes every page of a closed database except the schema and the migrations, which are read on opening. */
function damageRows(file: string): void {
  const db = new Database(file, { readonly: true })
  const size = db.pragma('page_size', { simple: true }) as number
  const excluded = db
    .prepare<[], number>(`SELECT rootpage FROM sqlite_schema WHERE tbl_name = 'causeway_migration'`)
    .pluck()
    .all()
  db.close()
  const bytes = readFileSync(file)
  for (let number = 2; number <= bytes.length / size; number++)
    if (!excluded.includes(number)) bytes.fill(0, (number - 1) * size, number * size)
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
    const result = await call(core, tool, args)
    const { code, remedy, data } = (result._meta as { [errorMetaKey]: Data })?.[errorMetaKey] ?? {}
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

verifies('fault:damaged:working', "the server's audit", async (t) => {
  const dir = copyRelease(t)
  const file = join(dir, 'server.db')
  const start = {
    dir: join(dir, '..'),
    log: captureLog('silent').log,
    env: { CAUSEWAY_APPS: 'Causeway' },
  }
  // Migrates the file: the migrations read the audit.
  await (await openTestCore(t, apps, start)).close()
  damageTable(file, 'audit')
  const core = await openTestCore(t, apps, start)
  await call(core, 'Causeway__list_apps')
  await t.rejects(core.audit.query({ limit: 1 }))
  t.match(await core.health(), {
    status: 'degraded',
    apps: { Causeway: { status: 'failed', reason: 'DATA_DAMAGED' } },
  })
})

verifies('fault:missing', 'a file that is removed while the server runs', async (t) => {
  const dir = t.testdir({ data: {} })
  const core = await openTestCore(t, apps, { dir, log: captureLog('silent').log })
  t.match(await core.health(), { apps: { Minds: { status: 'ok' } } })
  rmSync(join(dir, 'data/minds.db'))
  t.match(await core.health(), {
    status: 'degraded',
    apps: { Minds: { status: 'failed', reason: 'DATA_MISSING' }, Trm: { status: 'ok' } },
  })
})
