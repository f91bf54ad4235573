import type { Database } from 'better-sqlite3'
import type { ClientTask, TaskStatus } from './client-task.ts'

export const taskMigration = {
  name: 'tasks',
  up: `
    CREATE TABLE task (
      id TEXT PRIMARY KEY, mount TEXT NOT NULL, status TEXT NOT NULL, created_ms INTEGER NOT NULL,
      updated_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL, outcome TEXT
    ) STRICT, WITHOUT ROWID;`,
}

/** Table `task` of `server.db`. */
export type TaskStore = ReturnType<typeof openTaskStore>

interface Row {
  readonly id: string
  readonly mount: string
  readonly status: TaskStatus
  readonly created_ms: number
  readonly updated_ms: number
  readonly ttl_ms: number
  readonly outcome: string | null
  readonly owner: string
}

/** `write` runs a change; `now` returns Unix milliseconds. */
export function openTaskStore(
  db: Database,
  { write, now }: { write: (change: () => void) => Promise<void>; now: () => number },
) {
  const put = db.prepare<[Row]>(
    `INSERT INTO task (id, mount, status, created_ms, updated_ms, ttl_ms, outcome, owner)
     VALUES (@id, @mount, @status, @created_ms, @updated_ms, @ttl_ms, @outcome, @owner)
     ON CONFLICT DO UPDATE SET status = excluded.status, updated_ms = excluded.updated_ms, outcome = excluded.outcome`,
  )
  const get = db.prepare<[string], Row>('SELECT * FROM task WHERE id = ?')
  const fail = db.prepare<[string, number]>(
    "UPDATE task SET status = 'failed', outcome = ?, updated_ms = ? WHERE status IN ('working', 'input_required')",
  )
  const deleteExpired = db.prepare<[number]>(
    "DELETE FROM task WHERE updated_ms + ttl_ms < ? AND status NOT IN ('working', 'input_required')",
  )
  return {
    put: (task: ClientTask): Promise<void> => write(() => void put.run(toRow(task))),
    async get(id: string): Promise<ClientTask | undefined> {
      const row = get.get(id)
      return row && parseRow(row)
    },
    async failUnfinished(outcome: object, nowMs: number): Promise<void> {
      fail.run(JSON.stringify(outcome), nowMs)
    },
    async deleteExpired(): Promise<void> {
      deleteExpired.run(now())
    },
  }
}

const toRow = ({ createdMs, updatedMs, ttlMs, outcome, ...task }: ClientTask): Row => ({
  ...task,
  created_ms: createdMs,
  updated_ms: updatedMs,
  ttl_ms: ttlMs,
  outcome: outcome === undefined ? null : JSON.stringify(outcome),
})

const parseRow = ({ created_ms, updated_ms, ttl_ms, outcome, ...task }: Row): ClientTask => ({
  ...task,
  createdMs: created_ms,
  updatedMs: updated_ms,
  ttlMs: ttl_ms,
  outcome: outcome === null ? undefined : JSON.parse(outcome),
})
