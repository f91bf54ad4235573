import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import {
  endReportFd,
  type QueryJob,
  type QueryReply,
  type SqlAnswer,
  type SqlQuestion,
} from './query-types.ts'

/** `.ts` in the sources, `.js` in the build: the compiler does not rewrite this name. */
const processFile = new URL(`./query-process${extname(import.meta.url)}`, import.meta.url)

/** Time for starting the process, in addition to the deadline of the query, ms. */
const startMs = 5000

/**
 * Runs a query on a private copy in its own process, which is killed at the deadline.
 *
 * Throws `INVALID_QUERY` if the statement is not allowed, is not SQL or needs too much memory, `DEADLINE_EXCEEDED`, `CANCELLED`, and
 * `WORKER_LOST` if the process was killed or crashed.
 */
export async function askSql(file: string, question: SqlQuestion, signal?: AbortSignal): Promise<SqlAnswer> {
  if (signal?.aborted) throw cancelled()
  const child = fork(processFile, {
    // Passes the export condition on, but not the hooks of a test runner.
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
  })
  let report = ''
  child.stdio[endReportFd]?.on('data', (chunk: Buffer) => {
    report += chunk.toString()
  })
  const cancel = () => child.kill('SIGKILL')
  const overdue = setTimeout(() => {
    report = 'deadline'
    cancel()
  }, question.deadlineMs + startMs)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const reply = await new Promise<QueryReply>((resolve, reject) => {
      child.on('error', (error) => reject(lost(error)))
      child.once('message', (reply: QueryReply) => resolve(reply))
      // Not `exit`, which may be emitted before the reply and the report are read.
      child.once('close', (code, killed) => reject(ended(killed ?? code, report, question)))
      child.send({ file, ...question } satisfies QueryJob, (error) => {
        if (error !== null) reject(lost(error))
      })
    })
    if ('answer' in reply) return reply.answer
    if ('refused' in reply)
      throw new CausewayError('INVALID_QUERY', reply.refused, { data: { sql: question.sql } })
    throw new CausewayError('INTERNAL', 'the query of the recording failed', { cause: reply.failed })
  } catch (error) {
    if (signal?.aborted) throw cancelled()
    throw error
  } finally {
    clearTimeout(overdue)
    signal?.removeEventListener('abort', cancel)
  }
}

/** The error for a process that ended without a reply; `report` is a `QueryEnd`, or empty if it did not end itself. */
function ended(cause: string | number | null, report: string, { deadlineMs }: SqlQuestion): CausewayError {
  if (report === 'memory')
    return new CausewayError('INVALID_QUERY', 'the query needs more than 512 MB of memory', {
      remedy: 'select fewer rows and shorter values',
    })
  if (report === 'deadline')
    return new CausewayError('DEADLINE_EXCEEDED', `the query took longer than ${deadlineMs} ms`, {
      remedy: 'restrict frame_id, or raise timeout_s up to 30',
      data: { deadline_ms: deadlineMs },
    })
  return cause === 'SIGKILL' ? lost(cause, 'the query process was killed') : lost(cause)
}

/** The error for a process that could not be started, crashed, or was killed from outside. */
const lost = (cause: unknown, message = 'the query process ended unexpectedly'): CausewayError =>
  new CausewayError('WORKER_LOST', message, { remedy: 'call again', cause })

const cancelled = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')
