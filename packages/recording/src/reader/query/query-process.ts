/** Runs one SQL query in a separate process, which can be interrupted and limits its memory. */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { makeEraMap, readSchema } from '../../formats/schema-era.ts'
import { isRun } from '../run/run-reader.ts'
import { createRunViews } from '../run/run-views.ts'
import { createViews } from './friendly-views.ts'
import type { QueryJob, QueryReply, SqlResult, SqlValue } from './query-types.ts'
import { prepareReading, StatementError } from './statement-gate.ts'

const maxTextLength = 4000

process.once('message', (job: QueryJob) => {
  // SQLite blocks the main thread, so another thread enforces the limits.
  const watch = new Worker(new URL(`./query-watch${extname(import.meta.url)}`, import.meta.url), {
    workerData: { deadlineMs: job.deadlineMs, parent: process.ppid },
  })
  watch.once('online', () => {
    const reply = createReply(job)
    process.send?.(reply, () => process.exit(0))
  })
})

function createReply(job: QueryJob): QueryReply {
  try {
    return { answer: execute(job) }
  } catch (error) {
    if (error instanceof StatementError) return { refused: error.message }
    return { failed: (error as Error).message }
  }
}

function execute({ file, sql, params, limit, bytes }: QueryJob): SqlResult {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  // Temporary data stays in memory, because disk use is not limited.
  db.pragma('temp_store = MEMORY')
  db.pragma('trusted_schema = OFF')
  if (isRun(db)) createRunViews(db, file)
  else createViews(db, makeEraMap(readSchema(db)))
  db.pragma('query_only = ON')
  const statement = prepareReading(db, sql, params)
  const rows: SqlValue[][] = []
  let remaining = bytes
  let cutBy: SqlResult['cut_by'] = null
  for (const row of iterate(statement, params)) {
    const sqlValues = row.map(toSqlValue)
    remaining -= Buffer.byteLength(JSON.stringify(sqlValues)) + 1
    if (rows.length === limit) cutBy = 'rows'
    else if (remaining < 0) cutBy = 'bytes'
    if (cutBy !== null) break
    rows.push(sqlValues)
  }
  return { columns: statement.columns().map(({ name }) => name), rows, cut_by: cutBy }
}

function* iterate(
  statement: ReturnType<typeof prepareReading>,
  params: QueryJob['params'],
): Generator<readonly unknown[]> {
  try {
    yield* Array.isArray(params) ? statement.iterate(...params) : statement.iterate(params)
  } catch (error) {
    throw new StatementError((error as Error).message)
  }
}

function toSqlValue(value: unknown): SqlValue {
  if (value instanceof Uint8Array) return `<blob of ${value.byteLength} bytes>`
  if (typeof value === 'string' && value.length > maxTextLength) return `${value.slice(0, maxTextLength)}…`
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' ? value : null
}
