import Database from 'better-sqlite3'
import { RecordingError } from '../errors.ts'
import { frameTable, isRecordingSchema, makeEraMap, readSchema, type Schema } from '../formats/schema-era.ts'
import { buildIndexes } from '../reader/cpp/indexes.ts'

/**
 * Rolls back an open transaction, checkpoints the log, and checks the schema. Indexes a small copy; `finishCopy`
 * indexes a large one.
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
    // A failed copy is deleted, so durability is not needed.
    db.pragma('journal_mode = OFF')
    db.pragma('synchronous = OFF')
    requireIntact(db)
    buildIndexes(db, makeEraMap(schema))
  } finally {
    db.close()
  }
}

/** Checks and indexes a large copy while others read it. */
export function finishCopy(file: string): void {
  const db = new Database(file, { fileMustExist: true })
  try {
    db.pragma('synchronous = NORMAL')
    requireIntact(db)
    buildIndexes(db, makeEraMap(readSchema(db)))
    // Closing does not checkpoint a log that the reader has open.
    db.pragma('wal_checkpoint(TRUNCATE)')
  } finally {
    db.close()
  }
}

function requireRecording(schema: Schema): void {
  if (isRecordingSchema(schema)) return
  throw new RecordingError(
    'NOT_A_RECORDING',
    `the database has no table ${frameTable} with a simulation_time`,
    {
      data: { absent: `${frameTable}.simulation_time` },
    },
  )
}

function requireIntact(db: Database.Database): void {
  const problem = db.pragma('quick_check(1)', { simple: true })
  if (problem !== 'ok')
    throw new RecordingError('RECORDING_DAMAGED', 'the recording is damaged', { data: { problem } })
}
