import type { DataPart } from '@causeway/app-kit'
import { migrations } from './schema.ts'

/** What Trm keeps in the data folder: snapshots of projects, and the sessions that name them. */
export const trmData: readonly DataPart[] = [
  { path: 'trm/work/', kind: 'passing' },
  { path: 'trm/shadow.git/', kind: 'files' },
  { path: 'trm.db', kind: 'database', schema: migrations.map(({ name }) => name) },
]
