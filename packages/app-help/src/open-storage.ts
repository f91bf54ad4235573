import { openSqliteStorage } from './sqlite/sqlite-storage.ts'
import type { HelpStorage } from './storage.ts'

/** Where the documentation is kept; plain data, so that a worker can be told. */
export interface StorageSettings {
  /** The data folder, absolute. */
  readonly dir: string
}

/** Opens the store that the settings name. */
export async function openStorage({ dir }: StorageSettings): Promise<HelpStorage> {
  return openSqliteStorage(dir)
}
