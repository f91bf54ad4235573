import { connect } from './postgres/connect.ts'
import { openPostgresStorage } from './postgres/postgres-storage.ts'
import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { HelpStorage } from './types.ts'

/** Location of the documentation; plain data for workers. */
export interface StorageSettings {
  /** Absolute path of the data folder. */
  readonly dir: string
  /** URL of a PostgreSQL server. Default: SQLite in the data folder. */
  readonly databaseUrl?: string | undefined
}

export async function openStorage({ dir, databaseUrl }: StorageSettings): Promise<HelpStorage> {
  return databaseUrl === undefined ? openSqliteStorage(dir) : openPostgresStorage(await connect(databaseUrl))
}
