import { fork } from 'node:child_process'
import { extname } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { lowerProcessPriority, WorkerError } from '@causeway/worker'
import { RecordingError } from '../../errors.ts'
import { endReportFd, type QueryJob, type QueryReply, type SqlQuery, type SqlResult } from './query-types.ts'

/** Uses this file's extension, because the compiler does not rewrite the name. */
const processFile = new URL(`./query-process${extname(import.meta.url)}`, import.meta.url)

const startTimeoutMs = 5000

/**
 * Queries a private copy in a separate process. Throws `INVALID_QUERY` if the statement is not allowed, is malformed
 * or needs too much memory.
 */
export async function runQuery(file: string, query: SqlQuery, signal?: AbortSignal): Promise<SqlResult> {
  if (signal?.aborted) throw createCancelledError()
  const child = fork(processFile, {
    // Keeps the export condition, but not a test runner's hooks.
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', 'pipe'],
  })
  lowerProcessPriority(child)
  let report = ''
  child.stdio[endReportFd]?.on('data', (chunk: Buffer) => {
    report += chunk.toString()
  })
  const cancel = () => child.kill('SIGKILL')
  const timer = setTimeout(() => {
    report = 'deadline'
    cancel()
  }, query.deadlineMs + startTimeoutMs)
  signal?.addEventListener('abort', cancel, { once: true })
  try {
    const reply = await new Promise<QueryReply>((resolve, reject) => {
      child.on('error', (error) => reject(createLostError(error)))
      child.once('message', (reply: QueryReply) => resolve(reply))
      // `exit` may come before the reply and the report.
      child.once('close', (code, signalName) => reject(createEndError(signalName ?? code, report, query)))
      child.send({ file, ...query } satisfies QueryJob, (error) => {
        if (error !== null) reject(createLostError(error))
      })
    })
    if ('answer' in reply) return reply.answer
    if ('refused' in reply)
      throw new RecordingError('INVALID_QUERY', reply.refused, { data: { sql: query.sql } })
    throw new CausewayError('INTERNAL', 'the query of the recording failed', { cause: reply.failed })
  } catch (error) {
    if (signal?.aborted) throw createCancelledError()
    throw error
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', cancel)
  }
}

function createEndError(
  cause: string | number | null,
  report: string,
  { deadlineMs }: SqlQuery,
): CausewayError {
  if (report === 'memory')
    return new RecordingError('INVALID_QUERY', 'the query needs more than 512 MB of memory', {
      remedy: 'select fewer rows and shorter values',
    })
  if (report === 'deadline')
    return new CausewayError('DEADLINE_EXCEEDED', `the query took longer than ${deadlineMs} ms`, {
      remedy: 'restrict frame_id, or raise timeout_s up to 30',
      data: { deadline_ms: deadlineMs },
    })
  return cause === 'SIGKILL' ? createLostError(cause, 'the query process was killed') : createLostError(cause)
}

const createLostError = (cause: unknown, message = 'the query process ended unexpectedly'): CausewayError =>
  new WorkerError('WORKER_LOST', message, { remedy: 'call again', cause })

const createCancelledError = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')
