/** The table of tasks in `server.db`: what a client was promised to find outlives the server. */
import type { Database } from 'better-sqlite3'
import type { ClientTask, TaskStatus } from './client-task.ts'

/** The migration that makes the table. */
export const taskMigration = {
  name: 'tasks',
  up: `
    CREATE TABLE task (
      id TEXT PRIMARY KEY, mount TEXT NOT NULL, status TEXT NOT NULL, created_ms INTEGER NOT NULL,
      updated_ms INTEGER NOT NULL, ttl_ms INTEGER NOT NULL, outcome TEXT
    ) STRICT, WITHOUT ROWID;`,
}

/** Each method is one transaction. */
export interface TaskStore {
  /** Adds a task, or replaces it by its newer state. */
  put(task: ClientTask): Promise<void>
  get(id: string): Promise<ClientTask | undefined>
  /** Gives an outcome to the tasks that the last server left unfinished. */
  failUnfinished(outcome: object, nowMs: number): Promise<number>
  /** Removes the final ones whose time is over. */
  forgetExpired(nowMs: number): Promise<void>
}

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

/** Prepares the statements. */
export function taskStore(db: Database): TaskStore {
  const put = db.prepare<[Row]>(
    `INSERT INTO task (id, mount, status, created_ms, updated_ms, ttl_ms, outcome, owner)
     VALUES (@id, @mount, @status, @created_ms, @updated_ms, @ttl_ms, @outcome, @owner)
     ON CONFLICT DO UPDATE SET status = excluded.status, updated_ms = excluded.updated_ms, outcome = excluded.outcome`,
  )
  const get = db.prepare<[string], Row>('SELECT * FROM task WHERE id = ?')
  const fail = db.prepare<[string, number]>(
    "UPDATE task SET status = 'failed', outcome = ?, updated_ms = ? WHERE status IN ('working', 'input_required')",
  )
  const forget = db.prepare<[number]>(
    "DELETE FROM task WHERE updated_ms + ttl_ms < ? AND status NOT IN ('working', 'input_required')",
  )
  return {
    async put({ id, mount, owner, status, createdMs, updatedMs, ttlMs, outcome }) {
      put.run({
        id,
        mount,
        status,
        created_ms: createdMs,
        updated_ms: updatedMs,
        ttl_ms: ttlMs,
        outcome: outcome === undefined ? null : JSON.stringify(outcome),
        owner,
      })
    },
    async get(id) {
      const row = get.get(id)
      return row === undefined ? undefined : taskOf(row)
    },
    failUnfinished: async (outcome, nowMs) => fail.run(JSON.stringify(outcome), nowMs).changes,
    forgetExpired: async (nowMs) => void forget.run(nowMs),
  }
}

const taskOf = ({ id, mount, owner, status, created_ms, updated_ms, ttl_ms, outcome }: Row): ClientTask => ({
  id,
  mount,
  owner,
  status,
  createdMs: created_ms,
  updatedMs: updated_ms,
  ttlMs: ttl_ms,
  outcome: outcome === null ? undefined : JSON.parse(outcome),
})
