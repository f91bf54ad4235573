import type { DataPart } from '@causeway/app-kit'
import { journalMigrations } from './journal.ts'

/** What Debrief keeps in the data folder; plots themselves are files of the user, in folders of theirs. */
export const debriefData: readonly DataPart[] = [
  { path: 'debrief-unsaved/', kind: 'files' },
  {
    path: 'debrief.db',
    kind: 'database',
    schema: journalMigrations.map(({ name }) => name),
    paths: ['plot.rescue'],
  },
]
