/** The table of the audit in `server.db`. */
import { setImmediate } from 'node:timers/promises'
import type { Facts } from '@causeway/app-kit'
import type { Database, Statement } from 'better-sqlite3'
import type { AuditEntry } from '../domain/audit-entry.ts'

/** The migration that makes the table. */
export const auditMigration = {
  name: 'audit',
  up: `
    CREATE TABLE audit (
      id INTEGER PRIMARY KEY, at_ms INTEGER NOT NULL, app TEXT NOT NULL, service TEXT NOT NULL, tool TEXT NOT NULL,
      channel TEXT NOT NULL, client TEXT NOT NULL, client_version TEXT NOT NULL, session TEXT NOT NULL,
      request_id TEXT NOT NULL, trace_id TEXT, ms REAL NOT NULL, code TEXT NOT NULL, request_bytes INTEGER,
      answer_chars INTEGER, subject TEXT, facts TEXT
    ) STRICT;
    CREATE INDEX audit_subject ON audit (subject, id) WHERE subject IS NOT NULL;
    CREATE INDEX audit_failed ON audit (code, id) WHERE code <> 'ok';`,
}

/** Which entries; a member that is left out does not matter. */
export interface AuditQuery {
  readonly app?: string | undefined
  readonly tool?: string | undefined
  readonly subject?: string | undefined
  readonly client?: string | undefined
  readonly request_id?: string | undefined
  readonly trace_id?: string | undefined
  /** `ok`, a code, or `failed` for every code but `ok`. */
  readonly code?: string | undefined
  readonly since_ms?: number | undefined
  readonly until_ms?: number | undefined
  /** Entries older than the one of this id. */
  readonly before?: number | undefined
  readonly limit: number
}

/** An entry with its place in the table. */
export type StoredEntry = AuditEntry & { readonly id: number }

/** `append` and `trim` are one transaction each. */
export interface AuditStore {
  append(entries: readonly AuditEntry[]): Promise<void>
  /** Newest first. Others have their turn while it searches, since most conditions have no index. */
  query(query: AuditQuery): Promise<readonly StoredEntry[]>
  /** Of the oldest `limit` entries, removes those from before `beforeMs` or beyond the newest `keep`; gives their number. */
  trim(limits: { readonly beforeMs: number; readonly keep: number; readonly limit: number }): Promise<number>
  /** Entries that are kept. */
  count(): Promise<number>
}

const columns = [
  'at_ms',
  'app',
  'service',
  'tool',
  'channel',
  'client',
  'client_version',
  'session',
  'request_id',
  'trace_id',
  'ms',
  'code',
  'request_bytes',
  'answer_chars',
  'subject',
  'facts',
] as const satisfies readonly (keyof AuditEntry)[]

/** Rows that are searched before others have their turn; some milliseconds. */
const rowsInTurn = 5000

const placeholders = `(${columns.map(() => '?').join(', ')})`

/** Rows of one statement, which is a third cheaper than one at a time. */
const rowsAtOnce = 25

/** In the order of the columns. */
const valuesOf = (entry: AuditEntry): unknown[] => [
  entry.at_ms,
  entry.app,
  entry.service,
  entry.tool,
  entry.channel,
  entry.client,
  entry.client_version,
  entry.session,
  entry.request_id,
  entry.trace_id,
  entry.ms,
  entry.code,
  entry.request_bytes,
  entry.answer_chars,
  entry.subject,
  entry.facts && JSON.stringify(entry.facts),
]

/** Conditions of a query, by the member that asks for them. */
const conditions: Readonly<Record<keyof Omit<AuditQuery, 'limit' | 'before'>, string>> = {
  app: 'app = @app COLLATE NOCASE',
  tool: 'tool = @tool',
  subject: 'subject = @subject',
  client: 'client = @client',
  request_id: 'request_id = @request_id',
  trace_id: 'trace_id = @trace_id',
  code: "code = @code OR (@code = 'failed' AND code <> 'ok')",
  since_ms: 'at_ms >= @since_ms',
  until_ms: 'at_ms < @until_ms',
}

/** Over a file that has the table. */
export function auditStore(db: Database): AuditStore {
  const insert = (rows: number) =>
    db.prepare(
      `INSERT INTO audit (${columns.join(', ')}) VALUES ${Array(rows).fill(placeholders).join(', ')}`,
    )
  const [one, many] = [insert(1), insert(rowsAtOnce)]
  const appendAll = db.transaction((entries: readonly AuditEntry[]) => {
    let at = 0
    for (; at + rowsAtOnce <= entries.length; at += rowsAtOnce)
      many.run(entries.slice(at, at + rowsAtOnce).flatMap(valuesOf))
    for (const entry of entries.slice(at)) one.run(valuesOf(entry))
  })
  const trim = db.prepare<{ beforeMs: number; keep: number; limit: number }>(
    `DELETE FROM audit WHERE id IN (
       SELECT id FROM (SELECT id, at_ms FROM audit ORDER BY id LIMIT @limit)
       WHERE at_ms < @beforeMs OR id <= (SELECT max(id) FROM audit) - @keep)`,
  )
  const ends = db.prepare<[], { first: number | null; last: number | null }>(
    'SELECT (SELECT min(id) FROM audit) AS first, (SELECT max(id) FROM audit) AS last',
  )
  const count = db.prepare<[], number>('SELECT count(*) FROM audit').pluck()
  const selects = new Map<string, Statement<[Turn], Row>>()

  const select = (query: AuditQuery): Statement<[Turn], Row> => {
    const names = Object.keys(conditions) as (keyof typeof conditions)[]
    const asked = names.filter((name) => query[name] !== undefined)
    const where = ['id >= @from AND id < @to', ...asked.map((name) => conditions[name])]
      .map((condition) => `(${condition})`)
      .join(' AND ')
    const known = selects.get(where)
    if (known !== undefined) return known
    const made = db.prepare<[Turn], Row>(
      `SELECT id, ${columns.join(', ')} FROM audit WHERE ${where} ORDER BY id DESC LIMIT @limit`,
    )
    selects.set(where, made)
    return made
  }

  return {
    append: async (entries) => appendAll(entries),
    async query(query) {
      const { first, last } = ends.get() ?? {}
      const found: Row[] = []
      let to = Math.min(query.before ?? Number.POSITIVE_INFINITY, (last ?? 0) + 1)
      while (to > (first ?? 1) && found.length < query.limit) {
        const from = to - rowsInTurn
        found.push(...select(query).all({ ...query, from, to, limit: query.limit - found.length }))
        to = from
        await setImmediate()
      }
      return found.map(({ facts, ...row }) => ({
        ...row,
        facts: facts === null ? null : (JSON.parse(facts) as Facts),
      }))
    },
    trim: async (limits) => trim.run(limits).changes,
    count: async () => count.get() ?? 0,
  }
}

/** A query of the rows of one turn. */
type Turn = AuditQuery & { readonly from: number; readonly to: number }

type Row = Omit<StoredEntry, 'facts'> & { readonly facts: string | null }
