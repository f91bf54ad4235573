import type { DataPart } from '@causeway/app-kit'
import { migrations } from './store/schema.ts'

/** What Minds keeps in the data folder. */
export const mindsData: readonly DataPart[] = [
  { path: 'minds.db', kind: 'database', schema: migrations.map(({ name }) => name) },
]
