/** A marker such as `minds.db.initialized` distinguishes a lost database from a first start. */
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import type { CausewayError } from '@causeway/protocol'
import type { Database } from 'better-sqlite3'
import { StoreError } from './errors.ts'
import { readInitializedMs } from './migrate.ts'
import { syncFolderSync } from './platform-files.ts'

const markerSuffix = '.initialized'

/** Suffixes of files to remove with a database. The marker is first, so that a crash in between does not look like lost data. */
export const sidecars = [markerSuffix, '-wal', '-shm', '-journal'] as const

/**
 * Throws `DATA_MISSING` if an initialized database is missing or empty. Must run before SQLite opens the file
 * and deletes an empty database's log.
 */
export function requireInitialized(file: string): void {
  const problem = findLoss(file)
  if (problem !== undefined) throw createMissingError(file, problem)
}

/** Throws `DATA_MISSING` if the marker belongs to another database. */
export function requireSameDatabase(db: Database): void {
  const expected = readMarker(db.name)
  if (expected === undefined || expected === readInitializedMs(db)) return
  throw createMissingError(db.name, 'was replaced by another one')
}

/** Flushes the database before it writes the marker: a power failure must not leave only the marker. */
export function markInitialized(db: Database): void {
  const initializedMs = readInitializedMs(db)
  if (initializedMs === undefined || readMarker(db.name) !== undefined) return
  const [checkpoint] = db.pragma('wal_checkpoint(PASSIVE)') as [{ log: number; checkpointed: number }]
  // Another connection uses the log. The next start writes the marker.
  if (checkpoint.log !== checkpoint.checkpointed) return
  const marker = openSync(`${db.name}${markerSuffix}`, 'w', 0o600)
  try {
    writeSync(marker, `${JSON.stringify({ initialized_ms: initializedMs })}\n`)
    fsyncSync(marker)
  } finally {
    closeSync(marker)
  }
  syncFolderSync(dirname(db.name))
}

function findLoss(file: string): 'is missing' | 'is empty' | undefined {
  const wasInitialized = (): boolean =>
    readSize(`${file}${markerSuffix}`) !== undefined || readSize(`${file}-wal`) !== undefined
  // Checked before the size: a new file gets its first page before it has a marker or log.
  if (!wasInitialized()) return undefined
  const size = readSize(file)
  if (size !== undefined && size > 0) return undefined
  // Checked again: a removal deletes the marker and log before the database.
  if (!wasInitialized()) return undefined
  return size === undefined ? 'is missing' : 'is empty'
}

function readMarker(file: string): number | undefined {
  try {
    const { initialized_ms } = JSON.parse(readFileSync(`${file}${markerSuffix}`, 'utf8')) as {
      readonly initialized_ms?: unknown
    }
    return typeof initialized_ms === 'number' ? initialized_ms : undefined
  } catch (error) {
    // A crash may leave an empty marker.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const readSize = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size

/** `problem` completes "the data file …". */
export function createMissingError(path: string, problem: string): CausewayError {
  const [file, marker] = [basename(path), `${basename(path)}${markerSuffix}`]
  return new StoreError('DATA_MISSING', `the data file ${problem}: ${file}`, {
    remedy:
      'stop the server and run "causeway restore <backup folder> --replace"; ' +
      `to start over without its data, remove every file whose name starts with ${file}`,
    data: { file, marker },
    cause: new Error(path),
  })
}
