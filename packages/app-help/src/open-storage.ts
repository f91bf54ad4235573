import { connect } from './postgres/connect.ts'
import { openPostgresStorage } from './postgres/postgres-storage.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { HelpStorage } from './storage.ts'

/** Where the documentation is kept; plain data, so that a worker can be told. */
export interface StorageSettings {
  /** The data folder, absolute. */
  readonly dir: string
  /** A PostgreSQL server; without it the documentation is in SQLite in the data folder. */
  readonly databaseUrl?: string | undefined
}

/** Opens the store that the settings name. */
export async function openStorage({ dir, databaseUrl }: StorageSettings): Promise<HelpStorage> {
  return databaseUrl === undefined ? openSqliteStorage(dir) : openPostgresStorage(await connect(databaseUrl))
}
