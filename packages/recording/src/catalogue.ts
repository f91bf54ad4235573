import { createHash } from 'node:crypto'
import { basename, dirname, extname, join, sep } from 'node:path'
import { type Migration, openDatabase } from '@causeway/store'
import type { RunStatus } from './recorder/run-schema.ts'

/** What was found when a file was looked at in one state. */
export interface Verdict {
  /** error code, or null for a recording */
  readonly reason: string | null
  readonly total_frames: number | null
}

/** A private copy of one state of one file. */
export interface Snapshot {
  readonly key: string
  /** real path of the user's file */
  readonly path: string
  readonly bytes: number
  /** last use, epoch ms */
  readonly used_ms: number
}

/** A run that we record, as it was when it was last opened or closed. */
export interface RunEntry {
  readonly name: string
  readonly status: RunStatus
  readonly total_frames: number
  readonly first_frame: number | null
  readonly last_frame: number | null
  readonly bytes: number
  /** epoch ms */
  readonly updated_ms: number
}

/** Names of recordings, verdicts on files and the list of private copies. One transaction a method. */
export interface Catalogue {
  /** The id of a real path; a new path gets one. */
  idOf(path: string): string
  /** The ids of many paths, in one transaction. */
  idsOf(paths: readonly string[]): ReadonlyMap<string, string>
  pathOf(id: string): string | undefined
  /** What was found in this state of the file, if it was looked at. */
  verdict(path: string, key: string): Verdict | undefined
  setVerdicts(verdicts: readonly (Verdict & { readonly path: string; readonly key: string })[]): void
  /** Copies, least recently used first. */
  snapshots(): readonly Snapshot[]
  snapshot(key: string): Snapshot | undefined
  addSnapshot(snapshot: Snapshot): void
  resizeSnapshot(key: string, bytes: number): void
  touchSnapshot(key: string, usedMs: number): void
  removeSnapshot(key: string): void
  /** Runs that we record, the one written longest ago first; what is live stood so when it was put here. */
  runs(): readonly RunEntry[]
  run(name: string): RunEntry | undefined
  putRun(run: RunEntry): void
  removeRun(name: string): void
  close(): void
}

/** Schema of `recordings.db`, in order; a published step is never changed. */
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
]

/** How the path of a file below the folder of the catalogue begins; every other path is absolute. */
const here = './'

/** Opens the catalogue file, throws as `openDatabase` does. */
export function openCatalogue(file: string, now: () => number): Catalogue {
  const db = openDatabase(file, { migrations: catalogueMigrations, now })
  // Files beside the catalogue are named from its folder, which may be moved: `./recordings/drop.db`.
  const folder = dirname(file) + sep
  const stored = (path: string): string => (path.startsWith(folder) ? here + path.slice(folder.length) : path)
  const real = (path: string): string =>
    path.startsWith(here) ? join(folder, path.slice(here.length)) : path
  db.prepare('UPDATE OR REPLACE recording SET path = ? || substr(path, ?) WHERE substr(path, 1, ?) = ?').run(
    here,
    folder.length + 1,
    folder.length,
    folder,
  )
  const findId = db.prepare<[string], string>('SELECT id FROM recording WHERE path = ?').pluck()
  const findPath = db.prepare<[string], string>('SELECT path FROM recording WHERE id = ?').pluck()
  const addName = db.prepare<[string, string]>('INSERT INTO recording (id, path) VALUES (?, ?)')
  const findVerdict = db.prepare<[string, string], Verdict>(
    'SELECT reason, total_frames FROM verdict WHERE path = ? AND key = ?',
  )
  const putVerdict = db.prepare('INSERT OR REPLACE INTO verdict VALUES (@path, @key, @reason, @total_frames)')
  const listSnapshots = db.prepare<[], Snapshot>(
    'SELECT key, path, bytes, used_ms FROM snapshot ORDER BY used_ms, key',
  )
  const findSnapshot = db.prepare<[string], Snapshot>(
    'SELECT key, path, bytes, used_ms FROM snapshot WHERE key = ?',
  )
  const putSnapshot = db.prepare('INSERT OR REPLACE INTO snapshot VALUES (@key, @path, @bytes, @used_ms)')
  const resize = db.prepare('UPDATE snapshot SET bytes = @bytes WHERE key = @key')
  const touch = db.prepare('UPDATE snapshot SET used_ms = @usedMs WHERE key = @key')
  const remove = db.prepare('DELETE FROM snapshot WHERE key = ?')

  const runColumns = 'name, status, total_frames, first_frame, last_frame, bytes, updated_ms'
  const listRuns = db.prepare<[], RunEntry>(`SELECT ${runColumns} FROM run ORDER BY updated_ms, name`)
  const findRun = db.prepare<[string], RunEntry>(`SELECT ${runColumns} FROM run WHERE name = ?`)
  const putRun = db.prepare(
    `INSERT OR REPLACE INTO run (${runColumns})
     VALUES (@name, @status, @total_frames, @first_frame, @last_frame, @bytes, @updated_ms)`,
  )
  const removeRun = db.prepare('DELETE FROM run WHERE name = ?')

  const idOf = (path: string): string => {
    const known = findId.get(stored(path))
    if (known !== undefined) return known
    const id = candidates(path).find((candidate) => findPath.get(candidate) === undefined) ?? digest(path)
    addName.run(id, stored(path))
    return id
  }
  return {
    idOf: db.transaction(idOf).immediate,
    idsOf: db.transaction((paths: readonly string[]) => new Map(paths.map((path) => [path, idOf(path)])))
      .immediate,
    pathOf(id) {
      const path = findPath.get(id)
      return path === undefined ? undefined : real(path)
    },
    verdict: (path, key) => findVerdict.get(path, key),
    setVerdicts: db.transaction((verdicts: Parameters<Catalogue['setVerdicts']>[0]) => {
      for (const verdict of verdicts) putVerdict.run(verdict)
    }).immediate,
    snapshots: () => listSnapshots.all(),
    snapshot: (key) => findSnapshot.get(key),
    addSnapshot: (snapshot) => void putSnapshot.run(snapshot),
    resizeSnapshot: (key, bytes) => void resize.run({ key, bytes }),
    touchSnapshot: (key, usedMs) => void touch.run({ key, usedMs }),
    removeSnapshot: (key) => void remove.run(key),
    runs: () => listRuns.all(),
    run: (name) => findRun.get(name),
    putRun: (run) => void putRun.run(run),
    removeRun: (name) => void removeRun.run(name),
    close: () => void db.close(),
  }
}

const digest = (path: string): string => createHash('sha256').update(path).digest('hex')

/** Ids to try: the file's name, then with some of the hash of its path, so that the same file gets the same id. */
function candidates(path: string): readonly string[] {
  const name = basename(path, extname(path)).replace(/[^A-Za-z0-9._~-]+/g, '-')
  const readable = /^[.-]*$/.test(name) ? 'recording' : name
  return [readable, `${readable}~${digest(path).slice(0, 6)}`, `${readable}~${digest(path).slice(0, 16)}`]
}
