/**
 * What an app keeps in the data folder, as plain data: enough to copy it, to check a copy, and to say whose it is.
 *
 * A file that no app names is copied too: one called `*.db` as a database, any other as it is.
 */
export interface DataPart {
  /** Below the data folder, divided by `/`: a file, a folder (`snapshots/`), or files of one folder (`recordings/*.db`). */
  readonly path: string
  /**
   * `database`: files that SQLite has open, copied by it alone; `files`: replaced by rename, never changed in place;
   * `passing`: made again when it is missing, and so in no backup.
   */
  readonly kind: 'database' | 'files' | 'passing'
  /** Names of the migrations of a database, in order; the newest schema that this program can read. */
  readonly schema?: readonly string[]
  /** Columns, as `table.column`, with absolute paths below the data folder: they follow it to another place. */
  readonly paths?: readonly string[]
  /** SQL that takes secrets out of the copy of a database. */
  readonly withoutSecrets?: string
  /** SQL that is run once in a database that came out of a backup: forgets what was left behind. */
  readonly restored?: string
}
