import { createHash } from 'node:crypto'
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
  const exists = db
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`)
    .get(migrationTable)
  if (exists === undefined) return []
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
