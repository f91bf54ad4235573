/** Every data file with migrations, and the migrations. */
import { createHash } from 'node:crypto'
import { journalMigrations } from '../../packages/app-debrief/src/journal.ts'
import { helpMigrations } from '../../packages/app-help/src/sqlite/sqlite-storage.ts'
import { migrations as mindsMigrations } from '../../packages/app-minds/src/store/schema.ts'
import { notebookMigrations } from '../../packages/app-replay/src/notebook.ts'
import { migrations as trmMigrations } from '../../packages/app-trm/src/schema.ts'
import { catalogueMigrations } from '../../packages/recording/src/catalogue.ts'
import { runMigrations } from '../../packages/recording/src/recorder/run-schema.ts'
import type { Migration } from '../../packages/store/src/migrate.ts'
import { serverMigrations } from '../../server/src/server-store.ts'

/** Path of a data file below the data folder -> its migrations; `recordings/living.db` stands for every run. */
export const stores: Readonly<Record<string, readonly Migration[]>> = {
  'server.db': serverMigrations,
  'recordings.db': catalogueMigrations,
  'recordings/living.db': runMigrations,
  'replay.db': notebookMigrations,
  'help.db': helpMigrations,
  'minds.db': mindsMigrations,
  'debrief.db': journalMigrations,
  'trm.db': trmMigrations,
}

/** A migration as it was released: its name and the hash of what it does, spaces and comments of no account. */
export interface ReleasedMigration {
  readonly name: string
  readonly sha256: string
}

/** What is released of each store. */
export const releasedOf = (migrations: readonly Migration[]): readonly ReleasedMigration[] =>
  migrations.map(({ name, up }) => ({
    name,
    sha256: createHash('sha256')
      .update(plain(`${up}`))
      .digest('hex'),
  }))

const plain = (text: string): string =>
  text
    .replaceAll(/--.*$/gm, '')
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/ ?([(),]) ?/g, '$1')
    .trim()
