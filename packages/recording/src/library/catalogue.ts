import { createHash } from 'node:crypto'
import { basename, dirname, extname, join, sep } from 'node:path'
import { type Migration, openDatabase } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import type { RunStatus } from '../formats/run-schema.ts'
import type { Era } from '../types.ts'
import { RunSummaries, summaryMigration } from './run-summaries.ts'

export interface FileCheck {
  /** Error code; null if the file is a recording. */
  readonly reason: string | null
  readonly total_frames: number | null
}

interface FileSize {
  readonly bodies: number | null
  readonly duration_s: number | null
  readonly era: Era | null
}

export interface Snapshot {
  readonly key: string
  readonly path: string
  readonly bytes: number
  /** Last use, Unix milliseconds. */
  readonly used_ms: number
}

/** State of a run when it was last opened or closed. */
export interface RunEntry {
  readonly name: string
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame: number | null
  readonly last_frame: number | null
  readonly bytes: number
  /** Unix time in milliseconds. */
  readonly updated_ms: number
}

interface FileImport {
  /** Mapping as JSON. */
  readonly mapping: string | null
  readonly notes: readonly string[]
}

/** Published migrations must not change. */
export const catalogueMigrations: readonly Migration[] = [
  {
    name: 'catalogue',
    up: `
      CREATE TABLE recording (id TEXT PRIMARY KEY, path TEXT NOT NULL UNIQUE) STRICT;
      CREATE TABLE verdict (
        path TEXT PRIMARY KEY, key TEXT NOT NULL, reason TEXT, total_frames INTEGER
      ) STRICT;
      CREATE TABLE snapshot (
        key TEXT PRIMARY KEY, path TEXT NOT NULL, bytes INTEGER NOT NULL, used_ms INTEGER NOT NULL
      ) STRICT;
    `,
  },
  {
    name: 'runs',
    up: `
      CREATE TABLE run (
        name TEXT PRIMARY KEY, status TEXT NOT NULL, total_frames INTEGER NOT NULL, first_frame INTEGER,
        last_frame INTEGER, bytes INTEGER NOT NULL, updated_ms INTEGER NOT NULL
      ) STRICT;
    `,
  },
  summaryMigration,
  {
    name: 'imports',
    up: 'CREATE TABLE import (path TEXT PRIMARY KEY, mapping TEXT, notes TEXT NOT NULL) STRICT;',
  },
  {
    name: 'sizes',
    up: 'ALTER TABLE verdict ADD COLUMN bodies INTEGER; ALTER TABLE verdict ADD COLUMN duration_s REAL;',
  },
  { name: 'eras', up: 'ALTER TABLE verdict ADD COLUMN era TEXT' },
]

/** Prefix of paths relative to the catalogue's folder. All other paths are absolute. */
const relativePrefix = './'

export const unknownSize: FileSize = { bodies: null, duration_s: null, era: null }

const snapshotColumns = 'key, path, bytes, used_ms'
const runColumns = 'name, status, total_frames, first_frame, last_frame, bytes, updated_ms'

const prepareStatements = (db: Database) => ({
  findId: db.prepare<[string], string>('SELECT id FROM recording WHERE path = ?').pluck(),
  findPath: db.prepare<[string], string>('SELECT path FROM recording WHERE id = ?').pluck(),
  addId: db.prepare<[string, string]>('INSERT INTO recording (id, path) VALUES (?, ?)'),
  findCheck: db.prepare<[string, string], FileCheck & FileSize>(
    'SELECT reason, total_frames, bodies, duration_s, era FROM verdict WHERE path = ? AND key = ?',
  ),
  putCheck: db.prepare(
    `INSERT OR REPLACE INTO verdict (path, key, reason, total_frames, bodies, duration_s, era)
     VALUES (@path, @key, @reason, @total_frames, @bodies, @duration_s, @era)`,
  ),
  listSnapshots: db.prepare<[], Snapshot>(`SELECT ${snapshotColumns} FROM snapshot ORDER BY used_ms, key`),
  findSnapshot: db.prepare<[string], Snapshot>(`SELECT ${snapshotColumns} FROM snapshot WHERE key = ?`),
  putSnapshot: db.prepare('INSERT OR REPLACE INTO snapshot VALUES (@key, @path, @bytes, @used_ms)'),
  resizeSnapshot: db.prepare<[number, string]>('UPDATE snapshot SET bytes = ? WHERE key = ?'),
  touchSnapshot: db.prepare<[number, string]>('UPDATE snapshot SET used_ms = ? WHERE key = ?'),
  removeSnapshot: db.prepare<[string]>('DELETE FROM snapshot WHERE key = ?'),
  listRuns: db.prepare<[], RunEntry>(`SELECT ${runColumns} FROM run ORDER BY updated_ms, name`),
  findRun: db.prepare<[string], RunEntry>(`SELECT ${runColumns} FROM run WHERE name = ?`),
  putRun: db.prepare(
    `INSERT OR REPLACE INTO run (${runColumns})
     VALUES (@name, @status, @total_frames, @first_frame, @last_frame, @bytes, @updated_ms)`,
  ),
  removeRun: db.prepare<[string]>('DELETE FROM run WHERE name = ?'),
  findImport: db.prepare<[string], { mapping: string | null; notes: string }>(
    'SELECT mapping, notes FROM import WHERE path = ?',
  ),
  putImport: db.prepare<[string, string | null, string]>(
    `INSERT INTO import VALUES (?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET mapping = coalesce(excluded.mapping, mapping), notes = excluded.notes`,
  ),
})

/** Each method is one transaction. */
export class Catalogue {
  readonly summaries: RunSummaries
  readonly #db: Database
  readonly #statements: ReturnType<typeof prepareStatements>
  readonly #folder: string

  constructor(file: string, now: () => number) {
    this.#db = openDatabase(file, { migrations: catalogueMigrations, now })
    this.#folder = dirname(file) + sep
    // Earlier versions stored absolute paths.
    this.#db
      .prepare('UPDATE OR REPLACE recording SET path = ? || substr(path, ?) WHERE substr(path, 1, ?) = ?')
      .run(relativePrefix, this.#folder.length + 1, this.#folder.length, this.#folder)
    this.#statements = prepareStatements(this.#db)
    this.summaries = new RunSummaries(this.#db)
  }

  getId(path: string): string {
    return this.getIds([path]).get(path) ?? ''
  }

  getIds(paths: readonly string[]): ReadonlyMap<string, string> {
    const getAll = () => new Map(paths.map((path) => [path, this.#getId(path)]))
    return this.#db.transaction(getAll).immediate()
  }

  findPath(id: string): string | undefined {
    const path = this.#statements.findPath.get(id)
    return path?.startsWith(relativePrefix) ? join(this.#folder, path.slice(relativePrefix.length)) : path
  }

  findCheck(path: string, key: string): (FileCheck & FileSize) | undefined {
    return this.#statements.findCheck.get(path, key)
  }

  putCheck(check: FileCheck & Partial<FileSize> & { readonly path: string; readonly key: string }): void {
    this.#statements.putCheck.run({ ...unknownSize, ...check })
  }

  /** Least recently used first. */
  listSnapshots(): readonly Snapshot[] {
    return this.#statements.listSnapshots.all()
  }

  findSnapshot(key: string): Snapshot | undefined {
    return this.#statements.findSnapshot.get(key)
  }

  addSnapshot(snapshot: Snapshot): void {
    this.#statements.putSnapshot.run(snapshot)
  }

  resizeSnapshot(key: string, bytes: number): void {
    this.#statements.resizeSnapshot.run(bytes, key)
  }

  touchSnapshot(key: string, usedMs: number): void {
    this.#statements.touchSnapshot.run(usedMs, key)
  }

  removeSnapshot(key: string): void {
    this.#statements.removeSnapshot.run(key)
  }

  /** Least recently written first. For live runs, the time at which they were opened counts. */
  listRuns(): readonly RunEntry[] {
    return this.#statements.listRuns.all()
  }

  findRun(name: string): RunEntry | undefined {
    return this.#statements.findRun.get(name)
  }

  putRun(run: RunEntry): void {
    this.#statements.putRun.run(run)
  }

  removeRun(name: string): void {
    this.#statements.removeRun.run(name)
  }

  findImport(path: string): FileImport | undefined {
    const row = this.#statements.findImport.get(path)
    return row && { mapping: row.mapping, notes: JSON.parse(row.notes) as string[] }
  }

  /** Stores the notes, and the mapping unless it is null. */
  putImport(path: string, { mapping, notes }: FileImport): void {
    this.#statements.putImport.run(path, mapping, JSON.stringify(notes))
  }

  close(): void {
    this.#db.close()
  }

  #getId(path: string): string {
    const { findId, findPath, addId } = this.#statements
    const isInside = path.startsWith(this.#folder)
    const storedPath = isInside ? relativePrefix + path.slice(this.#folder.length) : path
    const existingId = findId.get(storedPath)
    if (existingId !== undefined) return existingId
    const id =
      listIdCandidates(path).find((candidate) => findPath.get(candidate) === undefined) ?? hashPath(path)
    addId.run(id, storedPath)
    return id
  }
}

const hashPath = (path: string): string => createHash('sha256').update(path).digest('hex')

/** Returns the file name, then variants with parts of the path's hash. */
function listIdCandidates(path: string): readonly string[] {
  const name = basename(path, extname(path)).replace(/[^A-Za-z0-9._~-]+/g, '-')
  const readableName = /^[.-]*$/.test(name) ? 'recording' : name
  return [
    readableName,
    `${readableName}~${hashPath(path).slice(0, 6)}`,
    `${readableName}~${hashPath(path).slice(0, 16)}`,
  ]
}
