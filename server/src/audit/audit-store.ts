import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Facts } from '@causeway/app-kit'
import {
  type CallCondition,
  type CallFilter,
  isFailedOnly,
  type TextField,
} from '@causeway/protocol/call-filter'
import type { Database, Statement } from 'better-sqlite3'
import type { AuditEntry } from './audit-entry.ts'

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

/** Replaces `audit_failed`, which SQLite did not use because queries compare its first column with parameters. */
export const auditFailuresMigration = {
  name: 'audit-failures',
  up: `
    DROP INDEX audit_failed;
    CREATE INDEX audit_failures ON audit (id) WHERE code <> 'ok';`,
}

export interface AuditQuery {
  readonly app?: string | undefined
  readonly tool?: string | undefined
  readonly subject?: string | undefined
  readonly client?: string | undefined
  readonly request_id?: string | undefined
  readonly trace_id?: string | undefined
  /** `ok`, an error code, or `failed` for any error code. */
  readonly code?: string | undefined
  readonly since_ms?: number | undefined
  readonly until_ms?: number | undefined
  /** With a filter, a page examines at most `maxFilteredRows` entries. */
  readonly filter?: CallFilter | undefined
  /** Selects entries with smaller ids. */
  readonly before?: number | undefined
  readonly limit: number
}

export type StoredEntry = AuditEntry & { readonly id: number }

export interface AuditPage {
  readonly entries: readonly StoredEntry[]
  readonly next: number | undefined
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

const rowsPerTurn = 5000

const maxFilteredRows = 100_000

const placeholders = `(${columns.map(() => '?').join(', ')})`

/** Inserting this many rows at once takes a third less time than single rows. */
const rowsPerInsert = 25

const toValues = (entry: AuditEntry): unknown[] =>
  columns.map((name) => (name === 'facts' ? entry.facts && JSON.stringify(entry.facts) : entry[name]))

const conditions: Readonly<Record<keyof Omit<AuditQuery, 'limit' | 'before' | 'filter'>, string>> = {
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

type Guard = (write: () => void) => Promise<void>

export class AuditStore {
  readonly #db: Database
  readonly #guard: Guard
  readonly #append
  readonly #trim
  readonly #bounds
  readonly #selects = new Map<string, Statement<[PageQuery], Row>>()

  constructor(db: Database, guard: Guard) {
    this.#db = db
    this.#guard = guard
    const prepareInsert = (rows: number) =>
      db.prepare(
        `INSERT INTO audit (${columns.join(', ')}) VALUES ${Array(rows).fill(placeholders).join(', ')}`,
      )
    const [insertOne, insertMany] = [prepareInsert(1), prepareInsert(rowsPerInsert)]
    this.#append = db.transaction((entries: readonly AuditEntry[]) => {
      let i = 0
      for (; i + rowsPerInsert <= entries.length; i += rowsPerInsert)
        insertMany.run(entries.slice(i, i + rowsPerInsert).flatMap(toValues))
      for (const entry of entries.slice(i)) insertOne.run(toValues(entry))
    })
    this.#trim = db.prepare<{ beforeMs: number; keep: number; limit: number }>(
      `DELETE FROM audit WHERE id IN (
         SELECT id FROM (SELECT id, at_ms FROM audit ORDER BY id LIMIT @limit)
         WHERE at_ms < @beforeMs OR id <= (SELECT max(id) FROM audit) - @keep)`,
    )
    this.#bounds = db.prepare<[], { first: number | null; last: number | null }>(
      'SELECT (SELECT min(id) FROM audit) AS first, (SELECT max(id) FROM audit) AS last',
    )
  }

  append(entries: readonly AuditEntry[]): Promise<void> {
    return this.#guard(() => this.#append(entries))
  }

  /** Reads the newest entries first. Yields to the event loop, because most conditions have no index. */
  async readPage({ filter, ...query }: AuditQuery): Promise<AuditPage> {
    const { first, last } = this.#bounds.get() ?? {}
    const { conditions: filterConditions, parameters } = toFilterSql(filter ?? [])
    const select = this.#prepareSelect(query, filterConditions)
    const rows: Row[] = []
    let to = Math.min(query.before ?? Number.POSITIVE_INFINITY, (last ?? 0) + 1)
    const end = Math.max(first ?? 1, filter === undefined ? 0 : to - maxFilteredRows)
    while (to > end && rows.length < query.limit) {
      const from = Math.max(to - rowsPerTurn, end)
      rows.push(...select.all({ ...query, ...parameters, from, to, limit: query.limit - rows.length }))
      to = from
      await nextTurn()
    }
    const isFull = rows.length === query.limit
    return {
      entries: rows.map(({ facts, ...row }) => ({
        ...row,
        facts: facts === null ? null : (JSON.parse(facts) as Facts),
      })),
      next: isFull ? rows.at(-1)?.id : to > (first ?? 1) ? to : undefined,
    }
  }

  /** Deletes those of the oldest `limit` entries that are older than `beforeMs` or not among the newest `keep`. */
  async trim(limits: {
    readonly beforeMs: number
    readonly keep: number
    readonly limit: number
  }): Promise<number> {
    return this.#trim.run(limits).changes
  }

  #prepareSelect(query: AuditQuery, extraConditions: readonly string[]): Statement<[PageQuery], Row> {
    const names = Object.keys(conditions) as (keyof typeof conditions)[]
    const usedNames = names.filter((name) => query[name] !== undefined)
    const failedOnly = query.code === undefined || query.code === 'ok' ? [] : ["code <> 'ok'"]
    const where = [
      'id >= @from AND id < @to',
      ...usedNames.map((name) => conditions[name]),
      ...failedOnly,
      ...extraConditions,
    ]
      .map((condition) => `(${condition})`)
      .join(' AND ')
    const cachedSelect = this.#selects.get(where)
    if (cachedSelect !== undefined) return cachedSelect
    const select = this.#db.prepare<[PageQuery], Row>(
      `SELECT id, ${columns.join(', ')} FROM audit WHERE ${where} ORDER BY id DESC LIMIT @limit`,
    )
    // Statements with filters are not cached, because the number of distinct statements is unbounded.
    if (extraConditions.length === 0) this.#selects.set(where, select)
    return select
  }
}

type PageQuery = AuditQuery & { readonly from: number; readonly to: number }

type Row = Omit<StoredEntry, 'facts'> & { readonly facts: string | null }

/** SQL expressions for the texts that `matchesCall` compares. */
const texts: Readonly<Record<TextField, string>> = {
  app: 'app',
  tool: 'tool',
  code: 'code',
  client: "iif(client = 'Mozilla', 'browser', client) || ' ' || client_version",
  session: 'session',
  subject: "coalesce(subject, '')",
}

/** Filters contain no line feed, so a match never spans two texts. */
const allTexts = Object.values(texts).join(' || char(10) || ')

function toFilterSql(filter: CallFilter): {
  readonly conditions: readonly string[]
  readonly parameters: Readonly<Record<string, string | number>>
} {
  const parameters: Record<string, string | number> = {}
  const conditions = filter.map((condition, index) => {
    const name = `filter_${index}`
    if (condition.kind !== 'failed')
      parameters[name] = condition.kind === 'ms' ? condition.limit : condition.text
    const sql = toSql(condition, `@${name}`)
    return condition.isNegated ? `NOT (${sql})` : sql
  })
  if (isFailedOnly(filter)) conditions.push("code <> 'ok'")
  return { conditions, parameters }
}

function toSql(condition: CallCondition, parameter: string): string {
  if (condition.kind === 'failed') return "code <> 'ok'"
  if (condition.kind === 'ms') return `ms ${condition.sign} ${parameter}`
  const expression = condition.field === 'any' ? allTexts : texts[condition.field]
  return `instr(lower(${expression}), ${parameter}) > 0`
}
