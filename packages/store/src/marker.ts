/**
 * Markers of initialized databases: `minds.db.initialized` next to `minds.db`. A database that was initialized and is now
 * missing, empty or replaced by another one has lost its data; without a marker it looks like a first start.
 */
import { closeSync, fsyncSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import type { Database } from 'better-sqlite3'
import { initializedAt } from './migrate.ts'

/** Suffix of the marker's name after the name of its database. */
const markerSuffix = '.initialized'

/**
 * Suffixes of the files that belong to a database and are removed with it. The marker comes first: without it, what a crash
 * leaves of a removed database is not taken for a loss.
 */
export const sidecars = [markerSuffix, '-wal', '-shm', '-journal'] as const

/**
 * Throws `DATA_MISSING` if the database was initialized and its file is missing or empty. Call it before SQLite opens the
 * file: SQLite deletes the write-ahead log of an empty database.
 */
export function requireInitialized(file: string): void {
  const problem = findLoss(file)
  if (problem !== undefined) throw dataMissing(file, problem)
}

/** Throws `DATA_MISSING` if the open database is not the one that its marker describes. */
export function requireSameDatabase(db: Database): void {
  const expected = readMarker(db.name)
  if (expected === undefined || expected === initializedAt(db)) return
  throw dataMissing(db.name, 'was replaced by another one')
}

/**
 * Writes the marker of an open, migrated database if it has none. The database is flushed to the disk first, so that after a
 * power failure no marker exists without its database.
 */
export function markInitialized(db: Database): void {
  const initialized = initializedAt(db)
  if (initialized === undefined || readMarker(db.name) !== undefined) return
  const [checkpoint] = db.pragma('wal_checkpoint(PASSIVE)') as [{ log: number; checkpointed: number }]
  // Another connection uses the log: the next start writes the marker.
  if (checkpoint.log !== checkpoint.checkpointed) return
  const marker = openSync(`${db.name}${markerSuffix}`, 'w', 0o600)
  try {
    writeSync(marker, `${JSON.stringify({ initialized_ms: initialized })}\n`)
    fsyncSync(marker)
  } finally {
    closeSync(marker)
  }
  syncFolder(dirname(db.name))
}

/** Whether a database was initialized and its file is now missing or empty. Reads names and sizes only. */
export const isMissing = (file: string): boolean => findLoss(file) !== undefined

function findLoss(file: string): 'is missing' | 'is empty' | undefined {
  const wasInitialized = (): boolean =>
    sizeOf(`${file}${markerSuffix}`) !== undefined || sizeOf(`${file}-wal`) !== undefined
  // In this order, because another process may initialize the file: marker and log appear after its first page.
  if (!wasInitialized()) return undefined
  const size = sizeOf(file)
  if (size !== undefined && size > 0) return undefined
  // Again, because another process may remove the database: marker and log go first.
  if (!wasInitialized()) return undefined
  return size === undefined ? 'is missing' : 'is empty'
}

/** When the database was initialized, according to its marker; `undefined` without a marker or with an unreadable one. */
function readMarker(file: string): number | undefined {
  try {
    const { initialized_ms } = JSON.parse(readFileSync(`${file}${markerSuffix}`, 'utf8')) as {
      readonly initialized_ms?: unknown
    }
    return typeof initialized_ms === 'number' ? initialized_ms : undefined
  } catch (error) {
    // A crash may leave a marker without content. It still records that the database was initialized.
    if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

/** Bytes of a file; `undefined` if it does not exist. */
const sizeOf = (file: string): number | undefined => statSync(file, { throwIfNoEntry: false })?.size

function dataMissing(path: string, problem: string): CausewayError {
  const [file, marker] = [basename(path), `${basename(path)}${markerSuffix}`]
  return new CausewayError('DATA_MISSING', `the data file ${problem}: ${file}`, {
    remedy:
      'stop the server and run "causeway restore <backup folder> --replace"; ' +
      `to start over without its data, remove every file whose name starts with ${file}`,
    data: { file, marker },
    cause: new Error(path),
  })
}

/** Flushes the entries of a folder to the disk. */
function syncFolder(folder: string): void {
  // Windows cannot flush a folder.
  if (process.platform === 'win32') return
  const handle = openSync(folder, 'r')
  try {
    fsyncSync(handle)
  } finally {
    closeSync(handle)
  }
}
