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
export const migrationTable = 'causeway_migration'

/** Names of the migrations that a file has, in order; none in a new file. Writes nothing. */
export function appliedMigrations(db: Database): readonly string[] {
  const exists = db
    .prepare(`SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?`)
    .get(migrationTable)
  if (exists === undefined) return []
  return db.prepare<[], string>(`SELECT name FROM ${migrationTable} ORDER BY version`).pluck().all()
}

/**
 * Throws `NEWER_DATA` where the file has a migration that this program does not know, at the place where it stands.
 * Reads only, so that a file of a newer version stays as it is.
 */
export function refuseNewer(db: Database, migrations: readonly Migration[]): void {
  const unknown = appliedMigrations(db).find((name, i) => migrations[i]?.name !== name)
  if (unknown === undefined) return
  throw new CausewayError('NEWER_DATA', `the data file was written by a newer version: ${db.name}`, {
    data: { file: db.name, migration: unknown },
  })
}

/** Brings a file to the newest schema: each missing migration in a transaction of its own, with its record. */
export function migrate(db: Database, migrations: readonly Migration[], now: () => number): void {
  db.exec(
    `CREATE TABLE IF NOT EXISTS ${migrationTable} (version INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, applied_ms INTEGER NOT NULL) STRICT`,
  )
  const isApplied = db.prepare(`SELECT 1 FROM ${migrationTable} WHERE name = ?`)
  const record = db.prepare(`INSERT INTO ${migrationTable} (version, name, applied_ms) VALUES (?, ?, ?)`)
  const apply = db.transaction((version: number, { name, up }: Migration) => {
    // Asked inside the transaction: another process may have migrated the same file meanwhile.
    if (isApplied.get(name) !== undefined) return
    if (typeof up === 'string') db.exec(up)
    else up(db)
    record.run(version, name, now())
  })
  for (const [i, migration] of migrations.entries()) apply.immediate(i + 1, migration)
}
