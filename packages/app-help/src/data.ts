import type { DataPart } from '@causeway/app-kit'
import { helpMigrations } from './sqlite/sqlite-storage.ts'

/** What Help keeps in the data folder: the indexes, and the file that names the one that answers. */
export const helpData: readonly DataPart[] = [
  { path: 'help/*.db', kind: 'database' },
  {
    path: 'help.db',
    kind: 'database',
    schema: helpMigrations.map(({ name }) => name),
    // A build that was under way is not any more.
    restored: 'DELETE FROM lease',
  },
]
