import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { AgingClock, type Migration, openDatabase } from '@causeway/store'

export interface Bookmark {
  readonly id: number
  readonly frame_id: number
  readonly note: string
  /** Unix time in milliseconds. */
  readonly made_ms: number
}

export interface Baseline {
  readonly name: string
  readonly recording: string
  readonly invariants: unknown
  readonly made_ms: number
}

/** Released migrations must not change. */
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

export const maxBookmarks = 1000

/** Time during which a repeated request returns the first result, in ms. */
const repeatMs = 600_000

const prepare = (db: ReturnType<typeof openDatabase>) => ({
  findResult: db
    .prepare<[string, number], string>('SELECT answer FROM request WHERE id = ? AND made_ms > ?')
    .pluck(),
  saveResult: db.prepare('INSERT OR REPLACE INTO request (id, answer, made_ms) VALUES (?, ?, ?)'),
  deleteResults: db.prepare('DELETE FROM request WHERE made_ms <= ?'),
  listBookmarks: db.prepare<[string], Bookmark>(
    'SELECT id, frame_id, note, made_ms FROM bookmark WHERE recording = ? ORDER BY frame_id, id',
  ),
  addBookmark: db.prepare('INSERT INTO bookmark (recording, frame_id, note, made_ms) VALUES (?, ?, ?, ?)'),
  countBookmarks: db.prepare<[string], number>('SELECT count(*) FROM bookmark WHERE recording = ?').pluck(),
  removeBookmark: db.prepare('DELETE FROM bookmark WHERE recording = ? AND id = ?'),
  saveBaseline: db.prepare(
    'INSERT OR REPLACE INTO baseline (name, recording, invariants, made_ms) VALUES (?, ?, ?, ?)',
  ),
  findBaseline: db.prepare<[string], Omit<Baseline, 'invariants'> & { readonly invariants: string }>(
    'SELECT name, recording, invariants, made_ms FROM baseline WHERE name = ?',
  ),
  listBaselines: db.prepare<[], string>('SELECT name FROM baseline ORDER BY name').pluck(),
})

/** Bookmarks and baselines in `replay.db`. A change repeated with the same request id is applied once. */
export class Notebook {
  readonly #db: ReturnType<typeof openDatabase>
  readonly #clock: AgingClock
  readonly #statements: ReturnType<typeof prepare>

  constructor(dir: string, { now, monotonicNow }: Pick<Env, 'now' | 'monotonicNow'>) {
    this.#db = openDatabase(join(dir, 'replay.db'), { migrations: notebookMigrations, now })
    this.#clock = new AgingClock(this.#db, {
      columns: ['request.made_ms'],
      keepMs: repeatMs,
      now,
      monotonicNow,
    })
    this.#statements = prepare(this.#db)
  }

  /** Returns the bookmarks in frame order. */
  async listBookmarks(recording: string): Promise<readonly Bookmark[]> {
    return this.#statements.listBookmarks.all(recording)
  }

  /** Resolves to `false` if the recording already has `maxBookmarks` bookmarks. */
  async addBookmark(
    request: string,
    { recording, frame_id, note }: Omit<Bookmark, 'id' | 'made_ms'> & { readonly recording: string },
  ): Promise<boolean> {
    return this.#applyOnce(request, () => {
      if ((this.#statements.countBookmarks.get(recording) ?? 0) >= maxBookmarks) return false
      this.#statements.addBookmark.run(recording, frame_id, note, this.#clock.now())
      return true
    })
  }

  async removeBookmark(request: string, recording: string, id: number): Promise<boolean> {
    return this.#applyOnce(request, () => this.#statements.removeBookmark.run(recording, id).changes > 0)
  }

  /** Replaces an existing baseline with the same name. */
  async saveBaseline(
    request: string,
    { name, recording, invariants }: Omit<Baseline, 'made_ms'>,
  ): Promise<void> {
    this.#applyOnce(request, () => {
      this.#statements.saveBaseline.run(name, recording, JSON.stringify(invariants), this.#clock.now())
    })
  }

  async findBaseline(name: string): Promise<Baseline | undefined> {
    const row = this.#statements.findBaseline.get(name)
    if (row === undefined) return undefined
    // Earlier versions stored infinite limits as null.
    const invariants: unknown = JSON.parse(row.invariants, (_, value) => value ?? undefined)
    return { ...row, invariants }
  }

  async listBaselines(): Promise<readonly string[]> {
    return this.#statements.listBaselines.all()
  }

  close(): void {
    this.#db.close()
  }

  #applyOnce<Result>(request: string, change: () => Result): Result {
    const { findResult, saveResult, deleteResults } = this.#statements
    return this.#db
      .transaction(() => {
        const earlierResult = findResult.get(request, this.#clock.now() - repeatMs)
        if (earlierResult !== undefined) return JSON.parse(earlierResult) as Result
        deleteResults.run(this.#clock.now() - repeatMs)
        const result = change()
        saveResult.run(request, JSON.stringify(result ?? null), this.#clock.now())
        return result
      })
      .immediate()
  }
}
