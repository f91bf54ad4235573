import { connect } from './postgres/connect.ts'
import { openPostgresStorage } from './postgres/postgres-storage.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { Edition, HelpStorage } from './types.ts'

export interface StorageSettings {
  readonly dir: string
  /** URL of a PostgreSQL server. Default: SQLite in the data folder. */
  readonly databaseUrl?: string | undefined
  readonly edition?: Edition
}

export async function openStorage(settings: StorageSettings): Promise<HelpStorage> {
  const { dir, databaseUrl, edition = 'public' } = settings
  if (databaseUrl === undefined) return openSqliteStorage(dir, Date.now, edition)
  return openPostgresStorage(await connect(databaseUrl, edition), Date.now, edition)
}

/** Deletes the internal edition, except in PostgreSQL, which other servers may use. */
export async function deleteInternal({ dir, databaseUrl }: StorageSettings): Promise<void> {
  if (databaseUrl !== undefined) return
  const storage = openSqliteStorage(dir, Date.now, 'internal')
  try {
    storage.deleteIndexes()
  } finally {
    await storage.close()
  }
}
