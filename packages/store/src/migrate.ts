import { createHash } from 'node:crypto'
import type { Database } from 'better-sqlite3'
import { createDamagedError } from './data-error.ts'
import { StoreError } from './errors.ts'

/** A schema change, applied once and in order. A published migration never changes. */
export interface Migration {
  readonly name: string
  readonly up: string | ((db: Database) => void)
}

const migrationTable = 'causeway_migration'

interface HistoryRow {
  readonly name: unknown
  /** Missing in files of older versions. */
  readonly sql_hash?: unknown
}

export const listMigrations = (db: Database): readonly string[] =>
  readHistory(db).map(({ name }) => String(name))

/** Returns the time of the first migration in Unix milliseconds, which identifies the database. */
export function readInitializedMs(db: Database): number | undefined {
  if (!hasHistory(db)) return undefined
  const sql = `SELECT applied_ms FROM ${migrationTable} ORDER BY version LIMIT 1`
  return db.prepare<[], number>(sql).pluck().get()
}

/** Throws `DATA_DAMAGED` for a damaged table of migrations. */
export function requireIntactHistory(db: Database): void {
  if (!hasHistory(db)) return
  requireNoProblem(db, db.pragma(`integrity_check('${migrationTable}')`, { simple: true }))
  const isPlausible = ({ name, sql_hash = '' }: HistoryRow): boolean =>
    typeof name === 'string' && /^([0-9a-f]{64})?$/.test(String(sql_hash))
  if (!readHistory(db).every(isPlausible)) requireNoProblem(db, 'the migration table has an impossible row')
}

/** Checks the whole file. Throws `DATA_DAMAGED`. */
export function requireIntactPages(db: Database): void {
  requireNoProblem(db, db.pragma('quick_check(1)', { simple: true }))
}

/** Throws `NEWER_DATA` for an unknown migration, and `DATA_SCHEMA_DIFFERS` for changed statements. */
export function requireKnownHistory(db: Database, migrations: readonly Migration[]): void {
  const history = readHistory(db)
  const unknownMigration = history.find(({ name }, i) => migrations[i]?.name !== name)
  if (unknownMigration !== undefined)
    throw new StoreError('NEWER_DATA', `the data file was written by a newer version: ${db.name}`, {
      data: { file: db.name, migration: unknownMigration.name },
    })
  const changedMigration = history.find(({ sql_hash }, i) => sql_hash !== hashMigration(migrations[i]))
  if (changedMigration === undefined) return
  throw new StoreError(
    'DATA_SCHEMA_DIFFERS',
    `the data file has other tables than this version: ${db.name}`,
    { data: { file: db.name, migration: changedMigration.name } },
  )
}

/** Applies each missing migration in its own transaction. */
export function migrate(db: Database, migrations: readonly Migration[], now: () => number): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${migrationTable} (version INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, sql_hash TEXT NOT NULL, applied_ms INTEGER NOT NULL) STRICT`,
  )
  const selectMigration = db.prepare(`SELECT 1 FROM ${migrationTable} WHERE name = ?`)
  const insertMigration = db.prepare(
    `INSERT INTO ${migrationTable} (version, name, sql_hash, applied_ms) VALUES (?, ?, ?, ?)`,
  )
  const apply = db.transaction((version: number, migration: Migration) => {
    const { name, up } = migration
    // Another process may have migrated the file meanwhile.
    if (selectMigration.get(name) !== undefined) return
    if (typeof up === 'string') db.exec(up)
    else up(db)
    insertMigration.run(version, name, hashMigration(migration), now())
  })
  for (const [i, migration] of migrations.entries()) apply.immediate(i + 1, migration)
}

const hasHistory = (db: Database): boolean =>
  db.prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`).get(migrationTable) !==
  undefined

const readHistory = (db: Database): readonly HistoryRow[] =>
  hasHistory(db) ? db.prepare<[], HistoryRow>(`SELECT * FROM ${migrationTable} ORDER BY version`).all() : []

function requireNoProblem(db: Database, problem: unknown): void {
  if (problem !== 'ok') throw createDamagedError(db.name, new Error(`${db.name}: ${problem}`))
}

/** Hashes SQL, except for white space, or the name if `up` is a function. */
const hashMigration = ({ name, up }: Migration = { name: '', up: '' }): string =>
  createHash('sha256')
    .update(typeof up === 'string' ? up.replace(/\s+/g, ' ').trim() : name)
    .digest('hex')
