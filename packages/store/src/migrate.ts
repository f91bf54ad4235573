import { createHash } from 'node:crypto'
import { basename } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { Database } from 'better-sqlite3'

/** One step of a schema. Steps are applied in order, once each; a published step is never changed. */
export interface Migration {
  /** names the step in the file, for example `sessions` */
  readonly name: string
  /** SQL statements, or a function where SQL alone cannot say it */
  readonly up: string | ((db: Database) => void)
}

/** The table of a data file that records which migrations it has; the number of rows is its schema version. */
const migrationTable = 'causeway_migration'

/** Names of the migrations that a file has, in order; none in a new file. Writes nothing. */
export function appliedMigrations(db: Database): readonly string[] {
  if (!hasTable(db, migrationTable)) return []
  return db.prepare<[], string>(`SELECT name FROM ${migrationTable} ORDER BY version`).pluck().all()
}

/**
 * Throws `NEWER_DATA` where the file has a migration that this program does not know, at the place where it stands, and
 * `DATA_SCHEMA_DIFFERS` where it has one of that name with other statements, as a build between two releases may leave.
 * Reads only, so that the file stays as it is.
 */
export function refuseOther(db: Database, migrations: readonly Migration[]): void {
  const applied = appliedMigrations(db)
  const unknown = applied.find((name, i) => migrations[i]?.name !== name)
  if (unknown !== undefined)
    throw new CausewayError('NEWER_DATA', `the data file was written by a newer version: ${db.name}`, {
      data: { file: db.name, migration: unknown },
    })
  const hashes = applied.length === 0 ? [] : appliedHashes(db)
  const changed = applied.find((_, i) => hashes[i] !== hashOf(migrations[i]))
  if (changed === undefined) return
  throw new CausewayError(
    'DATA_SCHEMA_DIFFERS',
    `the data file has other tables than this version: ${db.name}`,
    {
      data: { file: db.name, migration: changed },
    },
  )
}

/** When the first migration was applied, Unix time in milliseconds: identifies the database. `undefined` in a new file. */
export function initializedAt(db: Database): number | undefined {
  if (!hasTable(db, migrationTable)) return undefined
  return db
    .prepare<[], number>(`SELECT applied_ms FROM ${migrationTable} ORDER BY version LIMIT 1`)
    .pluck()
    .get()
}

/** A row of the migration table, as SQLite returns it from a page that may be damaged. */
interface HistoryRow {
  readonly name: unknown
  readonly sql_hash?: unknown
}

/**
 * Throws `DATA_DAMAGED` if no version can have written the migration table. A damaged page may still be readable, and then
 * looks like the history of a newer version or of a new file.
 */
export function requireIntactHistory(db: Database): void {
  if (!hasTable(db, migrationTable)) return
  const problem = db.pragma(`integrity_check('${migrationTable}')`, { simple: true }) as string
  if (problem !== 'ok') throw damaged(db, problem)
  const rows = db.prepare<[], HistoryRow>(`SELECT * FROM ${migrationTable} ORDER BY version`).all()
  const isPlausible = ({ name, sql_hash = '' }: HistoryRow): boolean =>
    typeof name === 'string' && /^([0-9a-f]{64})?$/.test(String(sql_hash))
  if (!rows.every(isPlausible)) throw damaged(db, 'the migration table has an impossible row')
}

/** Throws `DATA_DAMAGED` if a page of the file is damaged. Reads the whole file. */
export function requireIntactPages(db: Database): void {
  const problem = db.pragma('quick_check(1)', { simple: true }) as string
  if (problem !== 'ok') throw damaged(db, problem)
}

function damaged(db: Database, problem: string): CausewayError {
  const file = basename(db.name)
  return new CausewayError('DATA_DAMAGED', `the data file is damaged: ${file}`, {
    data: { file },
    cause: new Error(`${db.name}: ${problem}`),
  })
}

const hasTable = (db: Database, name: string): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(name) !== undefined

/** Hashes of the statements that made a file, in order; none where it is from before they were kept. */
function appliedHashes(db: Database): readonly string[] {
  const hasHashes = db
    .prepare(`SELECT 1 FROM pragma_table_info('${migrationTable}') WHERE name = 'sql_hash'`)
    .get()
  if (hasHashes === undefined) return []
  return db.prepare<[], string>(`SELECT sql_hash FROM ${migrationTable} ORDER BY version`).pluck().all()
}

/** SHA-256 of what a step does, white space aside; a function is known by its name alone. */
const hashOf = ({ name, up }: Migration = { name: '', up: '' }): string =>
  createHash('sha256')
    .update(typeof up === 'string' ? up.replace(/\s+/g, ' ').trim() : name)
    .digest('hex')

/** Brings a file to the newest schema: each missing migration in a transaction of its own, with its record. */
export function migrate(db: Database, migrations: readonly Migration[], now: () => number): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${migrationTable} (version INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sql_hash TEXT NOT NULL, applied_ms INTEGER NOT NULL) STRICT`,
  )
  const isApplied = db.prepare(`SELECT 1 FROM ${migrationTable} WHERE name = ?`)
  const record = db.prepare(
    `INSERT INTO ${migrationTable} (version, name, sql_hash, applied_ms) VALUES (?, ?, ?, ?)`,
  )
  const apply = db.transaction((version: number, migration: Migration) => {
    const { name, up } = migration
    // Asked inside the transaction: another process may have migrated the same file meanwhile.
    if (isApplied.get(name) !== undefined) return
    if (typeof up === 'string') db.exec(up)
    else up(db)
    record.run(version, name, hashOf(migration), now())
  })
  for (const [i, migration] of migrations.entries()) apply.immediate(i + 1, migration)
}
