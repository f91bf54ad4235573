import { lockFiles } from '@causeway/store'
import type { OwnedPart } from '../domain/data-part.ts'
import { serverMigrations } from '../server-store.ts'

/** Where backups go that are named and not placed, below the data folder. */
export const backupsFolder = 'backups'

/** What the server itself keeps in the data folder. */
export const ownParts: readonly OwnedPart[] = [
  { path: `${backupsFolder}/`, kind: 'passing' as const },
  { path: 'logs/', kind: 'passing' as const },
  ...Object.values(lockFiles).map((path) => ({ path, kind: 'passing' as const })),
  { path: 'roots.json', kind: 'files' as const },
  {
    path: 'server.db',
    kind: 'database' as const,
    schema: serverMigrations.map(({ name }) => name),
    withoutSecrets: 'DELETE FROM secret',
  },
].map((part) => ({ app: 'Causeway', ...part }))
