import type { Database } from 'better-sqlite3'
import type { ClientTask } from './client-task.ts'

export const taskMigration = {
  name: 'tasks',
  up: `
    CREATE TABLE task (
      id TEXT PRIMARY KEY, mount TEXT NOT NULL, status TEXT NOT NULL, created_ms INTEGER NOT NULL,
      updated_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL, outcome TEXT
    ) STRICT, WITHOUT ROWID;`,
}

export type TaskStore = ReturnType<typeof openTaskStore>

type Row = Omit<ClientTask, 'outcome'> & { readonly outcome: string | null }

/** `write` runs a change; `now` returns Unix milliseconds. */
export function openTaskStore(
  db: Database,
  { write, now }: { write: (change: () => void) => Promise<void>; now: () => number },
) {
  const upsert = db.prepare<[Row]>(
    `INSERT INTO task (id, mount, status, created_ms, updated_ms, ttl_ms, outcome, owner)
     VALUES (@id, @mount, @status, @createdMs, @updatedMs, @ttlMs, @outcome, @owner)
     ON CONFLICT DO UPDATE SET status = excluded.status, updated_ms = excluded.updated_ms, outcome = excluded.outcome`,
  )
  const get = db.prepare<[string], Row>(
    `SELECT id, mount, owner, status, created_ms AS createdMs, updated_ms AS updatedMs, ttl_ms AS ttlMs, outcome
     FROM task WHERE id = ?`,
  )
  const fail = db.prepare<[string, number]>(
    "UPDATE task SET status = 'failed', outcome = ?, updated_ms = ? WHERE status IN ('working', 'input_required')",
  )
  const deleteExpired = db.prepare<[number]>(
    "DELETE FROM task WHERE updated_ms + ttl_ms < ? AND status NOT IN ('working', 'input_required')",
  )
  return {
    put: ({ outcome, ...task }: ClientTask): Promise<void> =>
      write(
        () => void upsert.run({ ...task, outcome: outcome === undefined ? null : JSON.stringify(outcome) }),
      ),
    async get(id: string): Promise<ClientTask | undefined> {
      const row = get.get(id)
      return row && { ...row, outcome: row.outcome === null ? undefined : JSON.parse(row.outcome) }
    },
    async failUnfinished(outcome: object, nowMs: number): Promise<void> {
      fail.run(JSON.stringify(outcome), nowMs)
    },
    async deleteExpired(): Promise<void> {
      deleteExpired.run(now())
    },
  }
}
