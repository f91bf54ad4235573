import type { DataPart } from '@causeway/app-kit'
import { catalogueMigrations, runMigrations } from '@causeway/recording'
import { notebookMigrations } from './notebook.ts'

const namesOf = (migrations: readonly { readonly name: string }[]) => migrations.map(({ name }) => name)

/** What Replay keeps in the data folder. */
export const replayData: readonly DataPart[] = [
  { path: 'snapshots/', kind: 'passing' },
  { path: 'exports/', kind: 'passing' },
  { path: 'recordings/*-columns', kind: 'passing' },
  { path: 'recordings/*-answers', kind: 'passing' },
  { path: 'recordings/*.db', kind: 'database', schema: namesOf(runMigrations) },
  {
    path: 'recordings.db',
    kind: 'database',
    schema: namesOf(catalogueMigrations),
    paths: ['recording.path'],
    // Private copies are not there, and what is said of runs is read from their files again.
    restored: `DELETE FROM snapshot; UPDATE run SET status = 'live';`,
  },
  { path: 'replay.db', kind: 'database', schema: namesOf(notebookMigrations) },
]
