import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { AgingClock, type Migration, openDatabase } from '@causeway/store'
import { DebriefError } from '../errors.ts'
import { maxPatchLength } from '../memory/packed-patch.ts'
import type { ChangedEntry, StoredEntry } from '../memory/plot-methods.ts'

export interface PlotRow {
  readonly path: string
  readonly filename: string
  readonly is_open: 0 | 1
  readonly rev: number
  readonly saved_rev: number
  /** Hash of the content last read or written. */
  readonly sha256: string
  /** Hash of the content of a save in progress. */
  readonly saving_sha256: string | null
  readonly saving_rev: number | null
  /** Name (a path if stored by an earlier release) of the copy with changes that could not be written to the file. */
  readonly rescue: string | null
  readonly rescue_rev: number | null
  readonly selection: readonly string[]
}

type StoredPlotRow = Omit<PlotRow, 'selection'> & { readonly selection: string }

interface Transaction {
  readonly path: string
  readonly rev: number
  readonly request: string
  readonly actor: string
  readonly kind: string
  readonly label: string
  readonly ids: readonly string[]
  readonly patch: string | null
  readonly entries: readonly ChangedEntry[]
  readonly droppedEntries: readonly number[]
  readonly selection: readonly string[]
}

/** Published migrations never change. */
export const journalMigrations: readonly Migration[] = [
  {
    name: 'plots',
    up: `
      CREATE TABLE plot (
        path TEXT PRIMARY KEY, filename TEXT NOT NULL, is_open INTEGER NOT NULL, rev INTEGER NOT NULL,
        saved_rev INTEGER NOT NULL, sha256 TEXT NOT NULL, saving_sha256 TEXT, saving_rev INTEGER,
        rescue TEXT, rescue_rev INTEGER, selection TEXT NOT NULL
      ) STRICT;
      CREATE TABLE change (
        path TEXT NOT NULL, rev INTEGER NOT NULL, patch TEXT, PRIMARY KEY (path, rev)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE entry (
        path TEXT NOT NULL, seq INTEGER NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, actor TEXT NOT NULL,
        at_ms INTEGER NOT NULL, patch TEXT NOT NULL, is_undone INTEGER NOT NULL, PRIMARY KEY (path, seq)
      ) STRICT, WITHOUT ROWID;
      CREATE TABLE audit (
        id INTEGER PRIMARY KEY, path TEXT NOT NULL, rev_before INTEGER NOT NULL, rev_after INTEGER NOT NULL,
        request TEXT NOT NULL, actor TEXT NOT NULL, kind TEXT NOT NULL, label TEXT NOT NULL, ids TEXT NOT NULL,
        made_ms INTEGER NOT NULL
      ) STRICT;
      CREATE INDEX audit_path ON audit (path, id);
      CREATE TABLE answer (request TEXT PRIMARY KEY, answer TEXT NOT NULL, made_ms INTEGER NOT NULL) STRICT;
      CREATE INDEX answer_made ON answer (made_ms);
    `,
  },
  // Prevents earlier releases, which cannot read packed patches, from opening the file.
  { name: 'packed patches', up: 'SELECT 1;' },
]

/** How long a repeated request returns the first result. */
const resultTtlMs = 600_000
const maxAuditRows = 20_000

type Database = ReturnType<typeof openDatabase>

const prepareStatements = (db: Database) => ({
  openPlots: db.prepare<[], StoredPlotRow>('SELECT * FROM plot WHERE is_open = 1 ORDER BY filename'),
  plot: db.prepare<[string], StoredPlotRow>('SELECT * FROM plot WHERE path = ?'),
  beginPlot: db.prepare(
    `INSERT INTO plot (path, filename, is_open, rev, saved_rev, sha256, selection) VALUES (?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET filename = excluded.filename, rev = excluded.rev, saved_rev = excluded.saved_rev,
     sha256 = excluded.sha256, selection = excluded.selection, saving_sha256 = NULL, saving_rev = NULL, rescue = NULL,
     rescue_rev = NULL`,
  ),
  setOpen: db.prepare('UPDATE plot SET is_open = ? WHERE path = ?'),
  advance: db.prepare('UPDATE plot SET rev = rev + 1, selection = ? WHERE path = ? AND rev = ?'),
  markSaving: db.prepare('UPDATE plot SET saving_rev = ?, saving_sha256 = ? WHERE path = ?'),
  markSaved: db.prepare(
    `UPDATE plot SET saved_rev = ?, sha256 = ?, saving_rev = NULL, saving_sha256 = NULL, rescue = NULL, rescue_rev = NULL
     WHERE path = ?`,
  ),
  markRescued: db.prepare('UPDATE plot SET rescue = ?, rescue_rev = ? WHERE path = ?'),
  result: db
    .prepare<[string, number], string>('SELECT answer FROM answer WHERE request = ? AND made_ms > ?')
    .pluck(),
  putResult: db.prepare('INSERT OR REPLACE INTO answer (request, answer, made_ms) VALUES (?, ?, ?)'),
  expireResults: db.prepare('DELETE FROM answer WHERE made_ms <= ?'),
  putChange: db.prepare('INSERT OR REPLACE INTO change (path, rev, patch) VALUES (?, ?, ?)'),
  patches: db
    .prepare<[string, number], string | null>(
      'SELECT patch FROM change WHERE path = ? AND rev > ? ORDER BY rev',
    )
    .pluck(),
  deleteChanges: db.prepare('DELETE FROM change WHERE path = ? AND rev <= ?'),
  putEntry: db.prepare(
    `INSERT OR REPLACE INTO entry (path, seq, kind, label, actor, at_ms, patch, is_undone)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  setUndone: db.prepare('UPDATE entry SET is_undone = ? WHERE path = ? AND seq = ?'),
  entries: db.prepare<[string], Omit<StoredEntry, 'isUndone'> & { readonly isUndone: 0 | 1 }>(
    'SELECT seq, kind, label, actor, at_ms AS atMs, patch, is_undone AS isUndone FROM entry WHERE path = ? ORDER BY seq',
  ),
  deleteEntry: db.prepare('DELETE FROM entry WHERE path = ? AND seq = ?'),
  deleteEntries: db.prepare('DELETE FROM entry WHERE path = ?'),
  putAudit: db.prepare(
    `INSERT INTO audit (path, rev_before, rev_after, request, actor, kind, label, ids, made_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  ),
  trimAudit: db.prepare('DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?'),
})

/** Stores in `debrief.db` what plot files do not contain. Each method is one transaction. */
export class Journal {
  readonly #db: Database
  readonly #clock: AgingClock
  readonly #statements: ReturnType<typeof prepareStatements>

  /** Throws the errors of `openDatabase`. */
  constructor(dir: string, { now, monotonicNow }: Pick<Env, 'now' | 'monotonicNow'>) {
    this.#db = openDatabase(join(dir, 'debrief.db'), { migrations: journalMigrations, now })
    this.#clock = new AgingClock(this.#db, {
      columns: ['answer.made_ms'],
      keepMs: resultTtlMs,
      now,
      monotonicNow,
    })
    this.#statements = prepareStatements(this.#db)
  }

  async listOpenPlots(): Promise<readonly PlotRow[]> {
    return this.#statements.openPlots.all().map(parseRow)
  }

  async getPlot(path: string): Promise<PlotRow | undefined> {
    const row = this.#statements.plot.get(path)
    return row && parseRow(row)
  }

  /** Begins a new history for a plot that is new or whose file was replaced. */
  async beginPlot({
    path,
    filename,
    rev,
    sha256,
    selection,
  }: Pick<PlotRow, 'path' | 'filename' | 'rev' | 'sha256' | 'selection'>): Promise<void> {
    this.#transact(() => {
      this.#statements.beginPlot.run(path, filename, rev, rev, sha256, JSON.stringify(selection))
      this.#statements.deleteEntries.run(path)
      this.#statements.deleteChanges.run(path, Number.MAX_SAFE_INTEGER)
    })
  }

  async setOpen(path: string, isOpen: boolean): Promise<void> {
    this.#statements.setOpen.run(isOpen ? 1 : 0, path)
  }

  async getResult(request: string): Promise<unknown> {
    const result = this.#statements.result.get(request, this.#clock.now() - resultTtlMs)
    return result === undefined ? undefined : (JSON.parse(result) as unknown)
  }

  async putResult(request: string, result: unknown): Promise<void> {
    this.#transact(() => this.#putResult(request, result))
  }

  /** Stores a transaction with its result and increments the revision. Throws `REV_MISMATCH`. */
  async commit(transaction: Transaction, result: unknown): Promise<void> {
    const { path, rev, request, actor, kind, label } = transaction
    const statements = this.#statements
    this.#transact(() => {
      if (statements.advance.run(JSON.stringify(transaction.selection), path, rev).changes === 0)
        throw new DebriefError('REV_MISMATCH', 'another server has changed the plot')
      statements.putChange.run(path, rev + 1, transaction.patch)
      for (const seq of transaction.droppedEntries) statements.deleteEntry.run(path, seq)
      for (const entry of transaction.entries) this.#putEntry(path, entry)
      const ids = JSON.stringify(transaction.ids)
      statements.putAudit.run(path, rev, rev + 1, request, actor, kind, label, ids, this.#clock.now())
      statements.trimAudit.run(maxAuditRows)
      this.#putResult(request, result)
    })
  }

  async listEntries(path: string): Promise<readonly StoredEntry[]> {
    return this.#statements.entries.all(path).map((row) => ({ ...row, isUndone: row.isUndone === 1 }))
  }

  /** Returns patches up to the first gap: a patch that was too large to store. */
  async listPatches(path: string, afterRev: number): Promise<readonly string[]> {
    const patches = this.#statements.patches.all(path, afterRev)
    const firstGap = patches.indexOf(null)
    return (firstGap < 0 ? patches : patches.slice(0, firstGap)).filter((patch) => patch !== null)
  }

  async markSaving(path: string, rev: number, sha256: string): Promise<void> {
    this.#statements.markSaving.run(rev, sha256, path)
  }

  async markSaved(path: string, rev: number, sha256: string): Promise<void> {
    this.#transact(() => {
      this.#statements.markSaved.run(rev, sha256, path)
      this.#statements.deleteChanges.run(path, rev)
    })
  }

  async markRescued(path: string, rev: number, file: string): Promise<void> {
    this.#statements.markRescued.run(file, rev, path)
  }

  close(): void {
    this.#db.close()
  }

  #transact(work: () => void): void {
    this.#db.transaction(work).immediate()
  }

  #putResult(request: string, result: unknown): void {
    this.#statements.expireResults.run(this.#clock.now() - resultTtlMs)
    this.#statements.putResult.run(request, JSON.stringify(result), this.#clock.now())
  }

  #putEntry(path: string, entry: ChangedEntry): void {
    const { seq, kind, label, actor, atMs, patch } = entry
    const isUndone = entry.isUndone ? 1 : 0
    if (patch === null) this.#statements.setUndone.run(isUndone, path, seq)
    // Deletes all entries, because earlier entries could not be undone after a restart without this one.
    else if (patch.length > maxPatchLength) this.#statements.deleteEntries.run(path)
    else this.#statements.putEntry.run(path, seq, kind, label, actor, atMs, patch, isUndone)
  }
}

const parseRow = ({ selection, ...row }: StoredPlotRow): PlotRow => ({
  ...row,
  selection: JSON.parse(selection) as string[],
})
