import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { openDatabase } from '@causeway/store'
import Database from 'better-sqlite3'
import t from 'tap'
import { listReleased, stores } from '../fixtures/generate/released-stores.ts'
import { runMigrations } from '../packages/recording/src/formats/run-schema.ts'
import { openRunWriter } from '../packages/recording/src/recorder/run-writer.ts'
import { documented } from '../scripts/docs/makers.ts'
import { apps } from '../server/src/apps.ts'
import { sharedMount, toListedTool } from '../server/src/registry/mount.ts'
import { openTestCore } from '../server/test/test-core.ts'
import { copyReleasedFiles, releasedFolder, releasedVersions } from './living/released.ts'
import { repository } from './tree.ts'
import { verifies } from './verifies.ts'

t.setTimeout(600_000)

verifies('app:size:listing', async (t) => {
  for (const app of documented) {
    const sizes = app.tools
      .filter(({ unlisted }) => unlisted !== true)
      .map((tool) => ({
        name: tool.name,
        bytes: Buffer.byteLength(JSON.stringify(toListedTool(sharedMount, app, tool))),
      }))
    t.same(
      sizes.filter(({ bytes }) => bytes > 2000),
      [],
      `${app.name}: each tool lists in 2 kB`,
    )
    const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0)
    t.ok(total <= 25_000, `${app.name} lists in 25 kB: ${total} bytes`)
  }
})

/** Data files of every released version, opened by this one. */

/** Tables that a start changes by design: runs and copies are scanned again, and a lease expires. */
const renewed = [
  'recordings.db: run',
  'recordings.db: snapshot',
  'recordings/living.db: run',
  'help.db: lease',
]

/** Returns the rows of each table except SQLite's own, by its columns. */
function rowsIn(file: string, listColumns: (table: string, db: Database.Database) => readonly string[]) {
  const db = new Database(file, { readonly: true })
  try {
    const tables = db
      .prepare<[], string>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE '%\\_fts%' ESCAPE '\\' AND name NOT LIKE 'sqlite%'`,
      )
      .pluck()
      .all()
    return new Map(
      tables.map((table) => {
        const columns = listColumns(table, db)
        const sql = `SELECT ${columns.map((name) => `"${name}"`).join(', ')} FROM "${table}"`
        return [
          table,
          {
            columns,
            rows: db
              .prepare<[], unknown[]>(sql)
              .raw()
              .all()
              .map((row) => JSON.stringify(row)),
          },
        ]
      }),
    )
  } finally {
    db.close()
  }
}

const ownColumns = (table: string, db: Database.Database): readonly string[] =>
  (db.pragma(`table_info("${table}")`) as { readonly name: string }[]).map(({ name }) => name)

verifies('migration:released', async (t) => {
  t.ok(releasedVersions.length > 0)
  for (const version of releasedVersions) {
    const released = JSON.parse(readFileSync(join(releasedFolder, version, 'migrations.json'), 'utf8'))
    for (const [path, migrations] of Object.entries(stores))
      t.same(
        listReleased(migrations).slice(0, released[path].length),
        released[path],
        `${version}: the steps of ${path} are as they were released; a change of the schema is a new step`,
      )
  }
})

verifies('migration:downgrade', async (t) => {
  const guide = readFileSync(`${repository}/docs/upgrading.md`, 'utf8')
  const released = JSON.parse(readFileSync(join(releasedFolder, '0.1.0', 'migrations.json'), 'utf8'))
  const dir = t.testdir({})
  for (const [path, migrations] of Object.entries(stores)) {
    const file = join(dir, path)
    openDatabase(file, { migrations }).close()
    const before = readFileSync(file)
    const old = migrations.slice(0, released[path].length)
    const open = () => openDatabase(file, { migrations: old }).close()
    if (old.length === migrations.length) open()
    else t.throws(open, { code: 'NEWER_DATA' }, path)
    t.ok(readFileSync(file).equals(before), `${path} is unchanged`)
    const outcome = old.length === migrations.length ? 'opens it' : '`NEWER_DATA`'
    const name = path.replace('living', '<name>')
    t.ok(guide.includes(`| \`${name}\` | ${outcome} |`), `docs/upgrading.md: ${name} ${outcome}`)
  }
})

verifies('migration:opens', async (t) => {
  for (const version of releasedVersions) {
    const dir = t.testdir({ data: {} })
    const data = join(dir, 'data')
    const before = new Map(
      copyReleasedFiles(version, data).map((path) => [path, rowsIn(join(data, path), ownColumns)]),
    )
    // The clock of the files: what is old by then is forgotten by design.
    const made = before.get('server.db')?.get('audit')?.rows.length ?? 0
    t.ok(made > 0, 'the files have been at work')
    const db = new Database(join(data, 'server.db'), { readonly: true })
    const nowMs = db.prepare<[], number>('SELECT max(at_ms) FROM audit').pluck().get() ?? 0
    db.close()
    const core = await openTestCore(t, apps, { dir, now: () => nowMs, env: { CAUSEWAY_HELP_BUILD: 'false' } })
    const health = await core.health()
    t.same(
      Object.entries(health.apps).filter(([name, { status }]) => status !== 'ok' && name !== 'Help'),
      [],
    )
    await core.close()
    for (const [path, tables] of before) {
      const file = join(data, path)
      const columns = (table: string) => tables.get(table)?.columns ?? []
      // A run is read as it is, and brought to the newest schema by what records into it.
      if (stores[path] === runMigrations) openRunWriter(file, nowMs).close()
      const known = new Database(file, { readonly: true })
      const applied = known.prepare('SELECT name FROM causeway_migration ORDER BY version').pluck().all()
      t.same(
        applied,
        stores[path]?.map(({ name }) => name),
        `${path} has the newest schema`,
      )
      t.equal(known.pragma('integrity_check', { simple: true }), 'ok')
      known.close()
      const after = rowsIn(file, (table, db) => (tables.has(table) ? columns(table) : ownColumns(table, db)))
      for (const [table, { rows }] of tables) {
        if (renewed.includes(`${path}: ${table}`)) continue
        const found = new Set(after.get(table)?.rows)
        t.same(
          rows.filter((row) => !found.has(row)),
          [],
          `${version}: every row of ${path}: ${table} is there`,
        )
      }
    }
  }
})
