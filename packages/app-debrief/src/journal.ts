/**
 * What is kept of plots beside their files, in `debrief.db`: revisions, selections, the history, the changes that a file
 * does not have yet, an audit of transactions, and the answers of the last ten minutes.
 */
import { join } from 'node:path'
import type { Env } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { agingNow, type Migration, openDatabase } from '@causeway/store'
import type { ChangedEntry, EntryRow } from './plot-methods.ts'

/** A plot that was opened at least once. */
export interface PlotRow {
  readonly path: string
  readonly filename: string
  readonly is_open: 0 | 1
  readonly rev: number
  /** revision that the file has */
  readonly saved_rev: number
  /** SHA-256 of the bytes that we last read or wrote */
  readonly sha256: string
  /** what a save was about to write when it was noted; it tells its success from an edit of somebody else */
  readonly saving_sha256: string | null
  readonly saving_rev: number | null
  /** name of a copy of ours with the changes that could not be written, and its revision; once a whole path */
  readonly rescue: string | null
  readonly rescue_rev: number | null
  readonly selection: readonly string[]
}

/** One transaction on a plot. */
export interface Transaction {
  readonly path: string
  /** revision before it; another one there means that somebody else was faster */
  readonly rev: number
  readonly request: string
  readonly actor: string
  readonly kind: string
  readonly label: string
  /** the first twenty ids */
  readonly ids: readonly string[]
  readonly patch: string | null
  readonly entries: readonly ChangedEntry[]
  readonly droppedEntries: readonly number[]
  readonly selection: readonly string[]
}

/** A row of the audit. */
export interface AuditRow {
  readonly path: string
  readonly rev_before: number
  readonly rev_after: number
  readonly request: string
  readonly actor: string
  readonly kind: string
  readonly label: string
  readonly ids: string
  readonly made_ms: number
}

/** The data file. Each method is one transaction. */
export interface Journal {
  openPlots(): Promise<readonly PlotRow[]>
  plot(path: string): Promise<PlotRow | undefined>
  /** A plot that is opened for the first time, or whose file is another one than it was. */
  begin(row: Pick<PlotRow, 'path' | 'filename' | 'rev' | 'sha256' | 'selection'>): Promise<void>
  setOpen(path: string, isOpen: boolean): Promise<void>
  /** The answer of this very request, if it was given in the last ten minutes. */
  answered(request: string): Promise<unknown>
  /** Keeps an answer that came with no change. */
  answer(request: string, answer: unknown): Promise<void>
  /** Stores a transaction with its answer; the revision is then one more. Throws `REV_MISMATCH`. */
  commit(transaction: Transaction, answer: unknown): Promise<void>
  entries(path: string): Promise<readonly EntryRow[]>
  /** Changes after a revision, up to the first one that was too large to keep. */
  patches(path: string, afterRev: number): Promise<readonly string[]>
  saving(path: string, rev: number, sha256: string): Promise<void>
  /** The file has this revision: what was kept of earlier changes can go. */
  saved(path: string, rev: number, sha256: string): Promise<void>
  rescued(path: string, rev: number, file: string): Promise<void>
  audit(path: string): Promise<readonly AuditRow[]>
  close(): void
}

/** Schema of `debrief.db`, in order; a published step is never changed. */
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
  // Tables stay as they are; a server that cannot read packed patches must not open what has some.
  { name: 'packed patches', up: 'SELECT 1;' },
]

/** How long a repeated request gets the answer of the first, ms. */
const repeatMs = 600_000
const mostAuditRows = 20_000
/** A patch above this does not outlive the process: an undo of it ends with the process, characters. */
export const mostEntry = 2 ** 20

/** Opens `debrief.db` in the data folder; throws as `openDatabase` does. */
export function openJournal(dir: string, { now: clock, steady }: Pick<Env, 'now' | 'steady'>): Journal {
  const db = openDatabase(join(dir, 'debrief.db'), { migrations: journalMigrations, now: clock })
  const now = agingNow(db, { columns: ['answer.made_ms'], keepMs: repeatMs, now: clock, steady })
  const inTransaction = <T>(work: () => T): T => db.transaction(work).immediate()
  const rowOf = ({
    selection,
    ...row
  }: Omit<PlotRow, 'selection'> & { readonly selection: string }): PlotRow => ({
    ...row,
    selection: JSON.parse(selection) as string[], // as it was written
  })
  type StoredRow = Parameters<typeof rowOf>[0]

  const opened = db.prepare<[], StoredRow>('SELECT * FROM plot WHERE is_open = 1 ORDER BY filename')
  const found = db.prepare<[string], StoredRow>('SELECT * FROM plot WHERE path = ?')
  const begun = db.prepare(
    `INSERT INTO plot (path, filename, is_open, rev, saved_rev, sha256, selection) VALUES (?, ?, 1, ?, ?, ?, ?)
     ON CONFLICT (path) DO UPDATE SET filename = excluded.filename, rev = excluded.rev, saved_rev = excluded.saved_rev,
     sha256 = excluded.sha256, selection = excluded.selection, saving_sha256 = NULL, saving_rev = NULL, rescue = NULL,
     rescue_rev = NULL`,
  )
  const noEntries = db.prepare('DELETE FROM entry WHERE path = ?')
  const noChanges = db.prepare('DELETE FROM change WHERE path = ? AND rev <= ?')
  const shown = db.prepare('UPDATE plot SET is_open = ? WHERE path = ?')
  const given = db
    .prepare<[string, number], string>('SELECT answer FROM answer WHERE request = ? AND made_ms > ?')
    .pluck()
  const give = db.prepare('INSERT OR REPLACE INTO answer (request, answer, made_ms) VALUES (?, ?, ?)')
  const forget = db.prepare('DELETE FROM answer WHERE made_ms <= ?')
  const advanced = db.prepare('UPDATE plot SET rev = rev + 1, selection = ? WHERE path = ? AND rev = ?')
  const changed = db.prepare('INSERT OR REPLACE INTO change (path, rev, patch) VALUES (?, ?, ?)')
  const entered = db.prepare(
    `INSERT OR REPLACE INTO entry (path, seq, kind, label, actor, at_ms, patch, is_undone)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const turned = db.prepare('UPDATE entry SET is_undone = ? WHERE path = ? AND seq = ?')
  const dropped = db.prepare('DELETE FROM entry WHERE path = ? AND seq = ?')
  const entries = db.prepare<[string], EntryRow>(
    'SELECT seq, kind, label, actor, at_ms, patch, is_undone FROM entry WHERE path = ? ORDER BY seq',
  )
  const patches = db
    .prepare<[string, number], string | null>(
      'SELECT patch FROM change WHERE path = ? AND rev > ? ORDER BY rev',
    )
    .pluck()
  const audited = db.prepare(
    `INSERT INTO audit (path, rev_before, rev_after, request, actor, kind, label, ids, made_ms)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  )
  const trimmed = db.prepare('DELETE FROM audit WHERE id <= (SELECT max(id) FROM audit) - ?')
  const aboutToSave = db.prepare('UPDATE plot SET saving_rev = ?, saving_sha256 = ? WHERE path = ?')
  const savedNow = db.prepare(
    `UPDATE plot SET saved_rev = ?, sha256 = ?, saving_rev = NULL, saving_sha256 = NULL, rescue = NULL, rescue_rev = NULL
     WHERE path = ?`,
  )
  const rescued = db.prepare('UPDATE plot SET rescue = ?, rescue_rev = ? WHERE path = ?')
  const audit = db.prepare<[string], AuditRow>(
    `SELECT path, rev_before, rev_after, request, actor, kind, label, ids, made_ms FROM audit WHERE path = ? ORDER BY id`,
  )
  const putAnswer = (request: string, answer: unknown): void => {
    forget.run(now() - repeatMs)
    give.run(request, JSON.stringify(answer), now())
  }

  return {
    openPlots: async () => opened.all().map(rowOf),
    async plot(path) {
      const row = found.get(path)
      return row && rowOf(row)
    },
    begin: async ({ path, filename, rev, sha256, selection }) =>
      inTransaction(() => {
        begun.run(path, filename, rev, rev, sha256, JSON.stringify(selection))
        noEntries.run(path)
        noChanges.run(path, Number.MAX_SAFE_INTEGER)
      }),
    setOpen: async (path, isOpen) => void shown.run(isOpen ? 1 : 0, path),
    async answered(request) {
      const answer = given.get(request, now() - repeatMs)
      return answer === undefined ? undefined : (JSON.parse(answer) as unknown)
    },
    answer: async (request, answer) => inTransaction(() => putAnswer(request, answer)),
    commit: async (made, answer) =>
      inTransaction(() => {
        const { path, rev, patch } = made
        if (advanced.run(JSON.stringify(made.selection), path, rev).changes === 0)
          throw new CausewayError('REV_MISMATCH', 'another server has changed this plot meanwhile')
        changed.run(path, rev + 1, patch)
        for (const seq of made.droppedEntries) dropped.run(path, seq)
        for (const entry of made.entries) {
          // What came before an entry that is not kept could not be undone after a restart either.
          if (entry.patch === null) turned.run(entry.is_undone, path, entry.seq)
          else if (entry.patch.length > mostEntry) noEntries.run(path)
          else
            entered.run(
              ...[path, entry.seq, entry.kind, entry.label, entry.actor],
              ...[entry.at_ms, entry.patch, entry.is_undone],
            )
        }
        const ids = JSON.stringify(made.ids)
        audited.run(path, rev, rev + 1, made.request, made.actor, made.kind, made.label, ids, now())
        trimmed.run(mostAuditRows)
        putAnswer(made.request, answer)
      }),
    entries: async (path) => entries.all(path),
    async patches(path, afterRev) {
      const all = patches.all(path, afterRev)
      const gap = all.indexOf(null)
      return (gap < 0 ? all : all.slice(0, gap)).filter((patch) => patch !== null)
    },
    saving: async (path, rev, sha256) => void aboutToSave.run(rev, sha256, path),
    saved: async (path, rev, sha256) =>
      inTransaction(() => {
        savedNow.run(rev, sha256, path)
        noChanges.run(path, rev)
      }),
    rescued: async (path, rev, file) => void rescued.run(file, rev, path),
    audit: async (path) => audit.all(path),
    close: () => db.close(),
  }
}
