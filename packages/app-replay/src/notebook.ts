/** What clients wrote down about recordings: bookmarks and baselines, in a data file of Replay's own. */
import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { agingNow, type Migration, openDatabase } from '@causeway/store'

/** A note on a frame. */
export interface Bookmark {
  readonly id: number
  readonly frame_id: number
  readonly note: string
  readonly made_ms: number
}

/** A named set of limits, taken from a recording; `invariants` is plain data. */
export interface Baseline {
  readonly name: string
  readonly recording: string
  readonly invariants: unknown
  readonly made_ms: number
}

/** Notes on recordings. A change is made once for each request, however often it is sent within ten minutes. */
export interface Notebook {
  /** Notes on a recording, by frame. */
  bookmarks(recording: string): Promise<readonly Bookmark[]>
  addBookmark(
    request: string,
    note: Omit<Bookmark, 'id' | 'made_ms'> & { readonly recording: string },
  ): Promise<void>
  /** False where the recording has no such note. */
  removeBookmark(request: string, recording: string, id: number): Promise<boolean>
  /** Replaces one of the same name. */
  saveBaseline(request: string, baseline: Omit<Baseline, 'made_ms'>): Promise<void>
  baseline(name: string): Promise<Baseline | undefined>
  /** Names of all baselines, in order. */
  baselines(): Promise<readonly string[]>
  close(): void
}

/** Schema of `replay.db`, in order; a published step is never changed. */
export const notebookMigrations: readonly Migration[] = [
  {
    name: 'notebook',
    up: `
      CREATE TABLE bookmark (
        id INTEGER PRIMARY KEY, recording TEXT NOT NULL, frame_id INTEGER NOT NULL, note TEXT NOT NULL, made_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX bookmark_recording ON bookmark (recording, frame_id);
      CREATE TABLE baseline (
        name TEXT PRIMARY KEY, recording TEXT NOT NULL, invariants TEXT NOT NULL, made_ms INTEGER NOT NULL
      ) STRICT;
      CREATE TABLE request (id TEXT PRIMARY KEY, answer TEXT NOT NULL, made_ms INTEGER NOT NULL) STRICT;
    `,
  },
]

/** How long a repeated request gets the answer of the first, ms. */
const repeatMs = 600_000

/** Opens `replay.db` in the data folder; throws as `openDatabase` does. */
export function openNotebook(dir: string, { now: clock, steady }: Pick<Env, 'now' | 'steady'>): Notebook {
  const db = openDatabase(join(dir, 'replay.db'), { migrations: notebookMigrations, now: clock })
  const now = agingNow(db, { columns: ['request.made_ms'], keepMs: repeatMs, now: clock, steady })
  const answered = db
    .prepare<[string, number], string>('SELECT answer FROM request WHERE id = ? AND made_ms > ?')
    .pluck()
  const answer = db.prepare('INSERT OR REPLACE INTO request (id, answer, made_ms) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM request WHERE made_ms <= ?')
  const once = <Answer>(request: string, change: () => Answer): Answer =>
    db
      .transaction(() => {
        const earlier = answered.get(request, now() - repeatMs)
        if (earlier !== undefined) return JSON.parse(earlier) as Answer
        forget.run(now() - repeatMs)
        const made = change()
        answer.run(request, JSON.stringify(made ?? null), now())
        return made
      })
      .immediate()

  const listed = db.prepare<[string], Bookmark>(
    'SELECT id, frame_id, note, made_ms FROM bookmark WHERE recording = ? ORDER BY frame_id, id',
  )
  const added = db.prepare('INSERT INTO bookmark (recording, frame_id, note, made_ms) VALUES (?, ?, ?, ?)')
  const removed = db.prepare('DELETE FROM bookmark WHERE recording = ? AND id = ?')
  const saved = db.prepare(
    'INSERT OR REPLACE INTO baseline (name, recording, invariants, made_ms) VALUES (?, ?, ?, ?)',
  )
  const found = db.prepare<[string], Omit<Baseline, 'invariants'> & { readonly invariants: string }>(
    'SELECT name, recording, invariants, made_ms FROM baseline WHERE name = ?',
  )
  const names = db.prepare<[], string>('SELECT name FROM baseline ORDER BY name').pluck()
  return {
    bookmarks: async (recording) => listed.all(recording),
    addBookmark: async (request, { recording, frame_id, note }) =>
      once(request, () => void added.run(recording, frame_id, note, now())),
    removeBookmark: async (request, recording, id) =>
      once(request, () => removed.run(recording, id).changes > 0),
    saveBaseline: async (request, { name, recording, invariants }) =>
      once(request, () => void saved.run(name, recording, JSON.stringify(invariants), now())),
    async baseline(name) {
      const row = found.get(name)
      return row && { ...row, invariants: JSON.parse(row.invariants) as unknown }
    },
    baselines: async () => names.all(),
    close: () => db.close(),
  }
}
