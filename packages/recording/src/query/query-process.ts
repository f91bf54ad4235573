/**
 * Runs one SQL query in its own process: the driver cannot interrupt SQLite from another thread, and a query must not use
 * the memory or the time of the server.
 */
import { extname } from 'node:path'
import { Worker } from 'node:worker_threads'
import Database from 'better-sqlite3'
import { eraMap, readSchema } from '../era.ts'
import { isRun } from '../recorder/run-reader.ts'
import { createRunViews } from '../recorder/run-views.ts'
import { createViews } from './friendly-views.ts'
import type { QueryJob, QueryReply, SqlAnswer, SqlValue } from './query-types.ts'
import { prepareReading, Refusal } from './statement-gate.ts'

/** Longest text of one value, characters. */
const longestText = 4000

process.once('message', (job: QueryJob) => {
  // SQLite blocks the main thread until the reply; this thread watches it.
  const watch = new Worker(new URL(`./query-watch${extname(import.meta.url)}`, import.meta.url), {
    workerData: { deadlineMs: job.deadlineMs, parent: process.ppid },
  })
  watch.once('online', () => {
    const reply = replyTo(job)
    process.send?.(reply, () => process.exit(0))
  })
})

function replyTo(job: QueryJob): QueryReply {
  try {
    return { answer: answer(job) }
  } catch (error) {
    if (error instanceof Refusal) return { refused: error.message }
    return { failed: (error as Error).message }
  }
}

function answer({ file, sql, params, limit, bytes }: QueryJob): SqlAnswer {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  // Sorting spills into memory, which is watched, and not onto the disk.
  db.pragma('temp_store = MEMORY')
  db.pragma('trusted_schema = OFF')
  if (isRun(db)) createRunViews(db, file)
  else createViews(db, eraMap(readSchema(db)))
  db.pragma('query_only = ON')
  const statement = prepareReading(db, sql, params)
  const rows: SqlValue[][] = []
  let left = bytes
  let cut: SqlAnswer['cut_by'] = null
  for (const row of iterate(statement, params)) {
    const shown = row.map(told)
    left -= Buffer.byteLength(JSON.stringify(shown)) + 1
    if (rows.length === limit) cut = 'rows'
    else if (left < 0) cut = 'bytes'
    if (cut !== null) break
    rows.push(shown)
  }
  return { columns: statement.columns().map(({ name }) => name), rows, cut_by: cut }
}

/** Rows one by one: what SQLite or the binding of parameters refuses is the caller's to correct. */
function* iterate(
  statement: ReturnType<typeof prepareReading>,
  params: QueryJob['params'],
): Generator<readonly unknown[]> {
  try {
    yield* Array.isArray(params) ? statement.iterate(...params) : statement.iterate(params)
  } catch (error) {
    throw new Refusal((error as Error).message)
  }
}

function told(value: unknown): SqlValue {
  if (value instanceof Uint8Array) return `<blob of ${value.byteLength} bytes>`
  if (typeof value === 'string' && value.length > longestText) return `${value.slice(0, longestText)}…`
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  return typeof value === 'string' ? value : null
}
