import { isCausewayError } from '@causeway/protocol'
import { RecordingError } from '../errors.ts'
import { openDuckDb, quoteText } from './duckdb-library.ts'
import { exportLakeRun } from './export-lake-run.ts'
import { type Dialect, lakeQuestions, toRow, writeStatement } from './lake-questions.ts'
import { lakeVersion } from './lake-schema.ts'
import type { LakeAnswer, LakeJob, LakeQuery, LakeReply } from './lake-types.ts'

const maxMemoryBytes = 1536 * 1024 ** 2

const checkIntervalMs = 50

const send = (reply: LakeReply): Promise<void> =>
  new Promise((resolve) => {
    if (process.send === undefined) resolve()
    else process.send(reply, () => resolve())
  })

process.once('message', (job: LakeJob) => {
  setInterval(() => {
    if (process.memoryUsage.rss() > maxMemoryBytes) void send({ memory: true }).then(() => process.exit(1))
  }, checkIntervalMs).unref()
  void run(job)
    .then(send)
    .then(() => process.exit(0))
})
process.once('disconnect', () => process.exit(1))

async function run(job: LakeJob): Promise<LakeReply> {
  try {
    const connection = await openDuckDb(job.folder)
    if ('query' in job) return { answer: await runQuery(connection, job.query, job.folder) }
    if (!job.isShared) process.umask(0o077)
    for (const [i, run] of job.export.entries()) {
      await exportLakeRun(connection, run, job.folder)
      await send({ done: i + 1, total: job.export.length })
    }
    return { exported: job.export.length }
  } catch (error) {
    if (isCausewayError(error) && RecordingError.is(error, 'PACKAGE_NOT_INSTALLED'))
      return { missing: error.data as { package: string; version: string; command: string } }
    return { failed: (error as Error).message }
  }
}

async function runQuery(
  connection: Awaited<ReturnType<typeof openDuckDb>>,
  { question: name, filter, threshold, limit }: LakeQuery,
  folder: string,
): Promise<LakeAnswer> {
  const question = lakeQuestions.find((candidate) => candidate.name === name)
  if (question === undefined) throw new Error(`not a question: ${name}`)
  const dialect: Dialect = {
    source: (table) => `read_parquet(${quoteText(`${folder}/${lakeVersion}/${table}/*.parquet`)})`,
    argMax: 'arg_max',
    quantile: (share, column) => `quantile_cont(${column}, ${share})`,
    parameter: (parameter) => `$${parameter}`,
  }
  const { sql, parameters } = writeStatement(question, dialect, { filter, threshold, limit })
  const rows = (await connection.runAndReadAll(sql, parameters)).getRowObjectsJson()
  return { rows: rows.slice(0, limit).map((row) => toRow(question, row)), truncated: rows.length > limit }
}
