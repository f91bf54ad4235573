import { cpSync, readdirSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { codes, errorMetaKey } from '@causeway/protocol'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { openRunWriter } from '../../packages/recording/src/recorder/run-writer.ts'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { until } from '../e2e/condition.ts'
import { getJson } from '../e2e/http.ts'
import { spawnServer, startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import { checkAll, everyWork, promisesOf, settingsOf } from './lives.ts'
import { copyRelease, findOwner, storeCalls } from './released.ts'
import { type Place, Refused, tool, type Work } from './work.ts'

t.setTimeout(540_000)

/** A data folder in use for a while, harmed in one place while no server runs: what the next server says and does. */

/** What is harmed, and who suffers. */
interface Harm {
  readonly harm: (place: Pick<Place, 'dir'> & { readonly root: string }) => void
  /** Works that are not as they were; every other one is checked. */
  readonly suffers: readonly string[]
  /** What the server then says; gets the works that suffer. */
  readonly after?: (
    t: Test,
    place: Place & { readonly root: string },
    works: readonly Work[],
  ) => Promise<void>
}

/** The code of a call that is refused. */
async function codeOf(asked: Promise<unknown>): Promise<string> {
  try {
    await asked
    return 'none'
  } catch (error) {
    if (error instanceof Refused) return error.answer.json.code
    throw error
  }
}

const trmOf = (works: readonly Work[]): Work => {
  const trm = works.find(({ name }) => name === 'trm')
  if (trm === undefined) throw new Error('no work on Trm')
  return trm
}

/** Takes the session of the refinement back to its beginning. */
const resetTo = (url: string, works: readonly Work[]): Promise<unknown> => {
  const { sid } = trmOf(works).promised() as { readonly sid: string }
  return tool(url, ['trm', 'reset'], { sid })
}

const overwrite = (file: string, keep = 0): void => {
  const bytes = readFileSync(file)
  writeFileSync(file, Buffer.concat([bytes.subarray(0, keep), Buffer.alloc(bytes.length - keep, 'harm')]))
}

const indexOf = (dir: string): string => {
  const names = readdirSync(join(dir, 'help')).filter((name) => /^index-\d+\.db$/.test(name))
  const newest = names.sort((a, b) => Number(/\d+/.exec(b)) - Number(/\d+/.exec(a)))[0]
  return join(dir, 'help', newest ?? '')
}

/** Waits until a question is answered that the index answered before. */
const indexedAgain = async (t: Test, { url }: Place): Promise<void> => {
  const ask = () => codeOf(tool(url, ['help', 'find_help_topics'], { text: 'quokka', source: 'mine' }))
  t.match(await ask(), /^(DATA_DAMAGED|none)$/)
  t.equal(await until(ask, (code) => code === 'none'), 'none', 'the index is made anew')
}

const harms: Readonly<Record<string, Harm>> = {
  'the index of Help is no database': {
    harm: ({ dir }) => overwrite(indexOf(dir)),
    suffers: [],
    after: indexedAgain,
  },
  'the index of Help has holes': {
    harm: ({ dir }) => overwrite(indexOf(dir), 8192),
    suffers: [],
    after: indexedAgain,
  },
  'the index of Help is gone': {
    harm: ({ dir }) => rmSync(indexOf(dir)),
    suffers: [],
    after: indexedAgain,
  },
  'the plot file of a user was cut off': {
    harm({ root }) {
      const file = join(root, 'plots/sample.plot.json')
      writeFileSync(file, readFileSync(file).subarray(0, 200))
    },
    suffers: ['debrief'],
    async after(t, { url, root }) {
      const filename = 'sample.plot.json'
      t.equal(await codeOf(tool(url, ['debrief', 'get_features'], { filename })), 'INVALID_PLOT')
      t.match(await tool(url, ['debrief', 'list_plots'], {}), { summary: String })
      t.equal(readFileSync(join(root, 'plots', filename)).length, 200, 'and nobody writes over it')
    },
  },
  'the snapshots of Trm are no repository': {
    harm({ dir }) {
      writeFileSync(join(dir, 'trm/shadow.git/HEAD'), 'harm')
      rmSync(join(dir, 'trm/shadow.git/refs'), { recursive: true })
    },
    suffers: [],
    async after(t, { url, dir }, works) {
      t.equal(await codeOf(resetTo(url, works)), 'SNAPSHOT_NOT_FOUND')
      t.equal(await codeOf(trmOf(works).step({ url, dir })), 'DATA_DAMAGED', 'nor is a new step begun')
    },
  },
  'the snapshots of Trm have lost contents': {
    harm({ dir }) {
      for (const folder of readdirSync(join(dir, 'trm/shadow.git/objects')))
        if (/^[0-9a-f]{2}$/.test(folder))
          rmSync(join(dir, 'trm/shadow.git/objects', folder), { recursive: true })
    },
    suffers: [],
    async after(t, { url }, works) {
      t.equal(await codeOf(resetTo(url, works)), 'SNAPSHOT_NOT_FOUND')
    },
  },
}

const root = t.testdir({ data: {}, plots: {}, projects: {}, copies: {} })
const works = everyWork(root)
const env = settingsOf(works)

t.before(async () => {
  for (const work of works) work.before?.()
})

t.test('a server is in use for a while', async (t) => {
  const dir = join(root, 'data')
  const { url, server } = await startServer(t, { dir, env })
  for (const work of works) await work.begin({ url, dir })
  for (let i = 0; i < 3; i++) for (const work of works) await work.step({ url, dir })
  await server.stop()
  for (const name of ['data', 'plots', 'projects'])
    cpSync(join(root, name), join(root, 'copies', name), { recursive: true })
})

/** Everything as it was when the server had stopped. */
function layBack(): string {
  for (const name of ['data', 'plots', 'projects']) {
    rmSync(join(root, name), { recursive: true, force: true })
    cpSync(join(root, 'copies', name), join(root, name), { recursive: true })
  }
  return join(root, 'data')
}

for (const [name, { harm, suffers, after }] of Object.entries(harms))
  verifies('fault:harmed', name, async (t) => {
    const dir = layBack()
    harm({ dir, root })
    const { url, server } = await startServer(t, { dir, env })
    const place = { url, dir, root }
    await after?.(t, place, works)
    const others = works.filter((work) => !suffers.includes(work.name))
    await checkAll(t, others, place, promisesOf(works))
    for (const work of others) t.ok(work)
    t.equal((await getJson(url, '/health')).status, 200)
    t.same(await server.stop(), { code: 0, signal: null })
  })

verifies('fault:harmed', 'the data of the server itself', async (t) => {
  const dir = layBack()
  overwrite(join(dir, 'server.db'))
  const bad = readFileSync(join(dir, 'server.db'))
  const server = spawnServer(t, { dir, env })
  t.match(await server.exited, { code: 1 })
  t.match(
    server.stderr,
    new RegExp(`^causeway: DATA_DAMAGED: .*server\\.db; ${codes.DATA_DAMAGED.remedy}`, 'm'),
  )
  t.ok(readFileSync(join(dir, 'server.db')).equals(bad))
  // Sessions and the audit are gone with it, and nothing else.
  for (const name of readdirSync(dir)) if (name.startsWith('server.db')) rmSync(join(dir, name))
  const again = await startServer(t, { dir, env })
  const others = works.filter(({ name }) => name !== 'server')
  await checkAll(t, others, { url: again.url, dir }, promisesOf(works))
})

/** Databases that are damaged, emptied or removed, while the server is stopped and while it runs: for every store. */

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
