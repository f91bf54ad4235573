import { CausewayError } from '@causeway/protocol'
import Database from 'better-sqlite3'
import { eraMap, frameTable, isRecordingSchema, readSchema, type Schema } from './era.ts'
import { buildIndexes } from './indexes.ts'

/**
 * Makes a fresh copy of a foreign file readable: rolls back what its writer left open, folds its log in, and checks
 * that it is a sound recording. A copy is checked and indexed here; one that is large is put into WAL mode instead, so
 * that `finishCopy` can do both behind while it is being read.
 *
 * Throws `NOT_A_RECORDING`, `RECORDING_DAMAGED`, and SQLite's own errors.
 */
export function prepareCopy(file: string, isLarge: boolean): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    db.pragma('journal_mode = DELETE')
    const schema = readSchema(db)
    requireRecording(schema)
    if (isLarge) {
      db.pragma('journal_mode = WAL')
      return
    }
    // The copy is thrown away when this fails, so nothing needs to survive a crash.
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    requireSound(db)
    buildIndexes(db, eraMap(schema))
  } finally {
    db.close()
  }
}

/** Checks a large copy and builds its indexes while others read it. Throws `RECORDING_DAMAGED`. */
export function finishCopy(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    db.pragma('synchronous = NORMAL')
    requireSound(db)
    buildIndexes(db, eraMap(readSchema(db)))
    // The reader keeps the copy open, so closing would not fold the log in; its queries are short enough to wait for.
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

function requireRecording(schema: Schema): void {
  if (isRecordingSchema(schema)) return
  throw new CausewayError(
    'NOT_A_RECORDING',
    `the database has no table ${frameTable} with a simulation_time`,
    {
      data: { absent: `${frameTable}.simulation_time` },
    },
  )
}

function requireSound(db: Database.Database): void {
  const problem = db.pragma('quick_check(1)', { simple: true })
  if (problem !== 'ok')
    throw new CausewayError('RECORDING_DAMAGED', 'the recording is damaged', { data: { problem } })
}
