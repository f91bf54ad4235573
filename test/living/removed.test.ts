/** Databases that are removed or replaced while the server uses them. */
import { linkSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { basename, delimiter, dirname, join } from 'node:path'
import { defineApp } from '@causeway/app-kit'
import { errorMetaKey } from '@causeway/protocol'
import { openDatabase } from '@causeway/store'
import Database from 'better-sqlite3'
import t from 'tap'
import { z } from 'zod'
import { openRunWriter } from '../../packages/recording/src/recorder/run-writer.ts'
import { apps } from '../../server/src/apps.ts'
import { call, captureLog, openTestCore } from '../../server/test/test-core.ts'
import { verifies } from '../verifies.ts'
import { copyRelease, findOwner, storeCalls } from './released.ts'

t.setTimeout(240_000)

/** Removes every file whose name starts with that of the database, as the remedy of `DATA_MISSING` describes. */
function removeAll(file: string): void {
  for (const name of readdirSync(dirname(file)))
    if (name.startsWith(basename(file))) rmSync(join(dirname(file), name))
}

const losses: Readonly<Record<string, (file: string) => void>> = {
  removed: (file) => rmSync(file),
  'removed with its marker and log': removeAll,
  'replaced by another one': (file) => {
    new Database(`${file}.other`).exec('CREATE TABLE other (x)').close()
    renameSync(`${file}.other`, file)
  },
}

// biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
const readError = (result: any) => result._meta?.[errorMetaKey] ?? {}

for (const [name, lose] of Object.entries(losses))
  verifies('fault:missing:working', `each database that is ${name}`, async (t) => {
    const dir = copyRelease(t)
    const core = await openTestCore(t, apps, {
      dir: join(dir, '..'),
      log: captureLog('silent').log,
      env: { CAUSEWAY_HELP_BUILD: 'false', CAUSEWAY_TRM_ROOTS: dir },
    })
    const calls = Object.entries(storeCalls).filter(([path]) => !path.includes('/'))
    const lost = new Set<string>()
    for (const [path, [tool, args]] of calls) {
      const before = readError(await call(core, tool, args))
      if (!lost.has(findOwner(path))) t.not(before.code, 'DATA_MISSING', `${path}: calls work before`)
      lose(join(dir, path))
      lost.add(findOwner(path))
      const files = readdirSync(dir)
      t.match(
        readError(await call(core, tool, args)),
        { code: 'DATA_MISSING', remedy: /causeway restore/ },
        `${path}: the call fails`,
      )
      t.same(readdirSync(dir), files, 'and creates no file')
      const { status, apps: states } = await core.health()
      t.equal(status, 'degraded')
      const failed = Object.entries(states).filter(([, state]) => state.status !== 'ok')
      t.same(new Set(failed.map(([app]) => app)), lost, 'other apps are not affected')
      t.same([...new Set(failed.map(([, { reason }]) => reason))], ['DATA_MISSING'])
    }
  })

verifies('fault:missing:working', "the server's own database", async (t) => {
  const dir = copyRelease(t)
  const core = await openTestCore(t, apps, {
    dir: join(dir, '..'),
    log: captureLog('silent').log,
    env: { CAUSEWAY_APPS: ['Causeway', 'Replay'].join(delimiter) },
  })
  await call(core, 'Replay__list_recordings')
  t.match(await core.audit.query({ limit: 1 }), [{ tool: 'list_recordings' }])
  // Another name of the file shows what is written into it after it is removed.
  linkSync(join(dir, 'server.db'), join(dir, 'removed'))
  linkSync(join(dir, 'server.db-wal'), join(dir, 'removed-wal'))
  const before = readFileSync(join(dir, 'removed-wal'))
  rmSync(join(dir, 'server.db'))

  const open = await call(core, 'Replay__load_recording', { path: 'living' })
  t.match(readError(open), { code: 'DATA_MISSING', data: { file: 'server.db' } }, 'the choice is not stored')
  t.match(readError(await call(core, 'Causeway__query_audit')), { code: 'DATA_MISSING' })
  t.match(readError(await call(core, 'Replay__list_recordings')), {}, 'calls without a change work')
  t.match(await core.health(), {
    status: 'degraded',
    apps: { Causeway: { status: 'failed', reason: 'DATA_MISSING' }, Replay: { status: 'ok' } },
    audit: { waiting: 3 },
  })
  t.ok(readFileSync(join(dir, 'removed-wal')).equals(before), 'nothing is written into the removed file')
})

verifies('fault:missing:working', 'a database that is removed during a call', async (t) => {
  const dir = t.testdir({ data: {} })
  const file = join(dir, 'data/notes.db')
  const app = defineApp(
    {
      name: 'Notes',
      about: 'Stores notes.',
      data: [{ path: 'notes.db', kind: 'database' }],
      open: () => openDatabase(file, { migrations: [{ name: 'notes', up: 'CREATE TABLE note (x)' }] }),
      close: (db) => void db.close(),
      session: () => ({}),
    },
    (registrar) => {
      registrar.tool('add_note', {
        about: 'Stores a note.',
        input: { file_is: z.enum(['removed', 'kept']).describe('What becomes of the file') },
        output: { count: z.int() },
        example: { args: { file_is: 'kept' } },
        run({ file_is }, { store }) {
          const { changes } = store.prepare('INSERT INTO note VALUES (1)').run()
          if (file_is === 'removed') removeAll(file)
          return { count: changes }
        },
      })
    },
  )
  const core = await openTestCore(t, [app], { dir })
  t.match(await call(core, 'Notes__add_note', { file_is: 'kept' }), { structuredContent: { count: 1 } })
  t.match(readError(await call(core, 'Notes__add_note', { file_is: 'removed' })), { code: 'DATA_MISSING' })
  writeFileSync(file, '')
  t.match(readError(await call(core, 'Notes__add_note', { file_is: 'kept' })), { code: 'DATA_MISSING' })
})

verifies('fault:missing:working', 'a recording that is removed during recording', async (t) => {
  const file = join(t.testdir(), 'run.db')
  const writer = openRunWriter(file, 0)
  t.teardown(() => writer.close())
  writer.setStatus('live', 1)
  rmSync(file)
  t.throws(() => writer.setStatus('finished', 2), { code: 'DATA_MISSING', remedy: /causeway restore/ })
  t.match(writer.stored, { status: 'live' })
})
