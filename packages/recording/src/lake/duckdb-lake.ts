import { type ChildProcess, fork } from 'node:child_process'
import { mkdir, readdir, rm } from 'node:fs/promises'
import { extname, join } from 'node:path'
import { CausewayError } from '@causeway/protocol'
import { WorkerError } from '@causeway/worker'
import { RecordingError } from '../errors.ts'
import { lakeTables, lakeVersion } from './lake-schema.ts'
import type { LakeAnswer, LakeJob, LakeQuery, LakeReply, LakeRun } from './lake-types.ts'

const processFile = new URL(`./lake-process${extname(import.meta.url)}`, import.meta.url)

const startTimeoutMs = 10_000

const exportTimeoutMsPerRun = 60_000

interface CallOptions {
  readonly signal: AbortSignal
  readonly progress?: (done: number, total: number, message: string) => void
}

export class DuckDbLake {
  readonly #folder: string
  readonly #isShared: boolean

  /** If `isShared`, other users can read the folder if the umask allows it. */
  constructor(folder: string, { isShared = false }: { readonly isShared?: boolean } = {}) {
    this.#folder = folder
    this.#isShared = isShared
  }

  /** Returns the names of exported runs, without incomplete ones. */
  async list(): Promise<ReadonlySet<string>> {
    for (const table of Object.keys(lakeTables))
      await mkdir(join(this.#folder, lakeVersion, table), {
        recursive: true,
        ...(!this.#isShared && { mode: 0o700 }),
      })
    const names = await readdir(join(this.#folder, lakeVersion, 'frame'))
    return new Set(
      names.flatMap((name) => (name.endsWith('.parquet') ? name.slice(0, -'.parquet'.length) : [])),
    )
  }

  /**
   * Exports runs and removes their earlier exports. Throws `PACKAGE_NOT_INSTALLED`, `CANCELLED`, `DEADLINE_EXCEEDED`
   * and `WORKER_LOST`.
   */
  async export(runs: readonly LakeRun[], options: CallOptions): Promise<void> {
    if (runs.length === 0) return
    await runJob(
      { export: runs, folder: this.#folder, isShared: this.#isShared },
      exportTimeoutMsPerRun * runs.length,
      options,
    )
    await this.#removeOlder(runs)
  }

  async #removeOlder(runs: readonly LakeRun[]): Promise<void> {
    const getRun = (name: string): string => name.slice(0, name.lastIndexOf('-'))
    const current = new Map(runs.map(({ name }) => [getRun(name), name]))
    for (const name of await this.list()) {
      const newer = current.get(getRun(name))
      if (newer === undefined || newer === name) continue
      for (const table of Object.keys(lakeTables).toReversed())
        await rm(join(this.#folder, lakeVersion, table, `${name}.parquet`), { force: true })
    }
  }

  /** Throws the errors of `export`, and `INVALID_QUERY` if the query needs too much memory. */
  async runQuery(query: LakeQuery, options: CallOptions): Promise<LakeAnswer> {
    const reply = await runJob({ query, folder: this.#folder }, query.deadlineMs, options)
    if ('answer' in reply) return reply.answer
    throw createLostError(reply)
  }
}

async function runJob(
  job: LakeJob,
  deadlineMs: number,
  { signal, progress }: CallOptions,
): Promise<LakeReply> {
  if (signal.aborted) throw createCancelledError()
  const child = fork(processFile, {
    execArgv: process.execArgv.filter((arg) => arg.startsWith('--conditions')),
    stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
  })
  let isLate = false
  const cancel = () => void child.kill('SIGKILL')
  const timer = setTimeout(() => {
    isLate = true
    cancel()
  }, deadlineMs + startTimeoutMs)
  signal.addEventListener('abort', cancel, { once: true })
  try {
    return toResult(await receiveReply(child, job, progress))
  } catch (error) {
    if (signal.aborted) throw createCancelledError()
    if (isLate)
      throw new CausewayError('DEADLINE_EXCEEDED', `the question took longer than ${deadlineMs} ms`, {
        remedy: 'restrict the scenario or the commit',
        data: { deadline_ms: deadlineMs },
      })
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', cancel)
  }
}

const receiveReply = (
  child: ChildProcess,
  job: LakeJob,
  progress: CallOptions['progress'],
): Promise<LakeReply> =>
  new Promise((resolve, reject) => {
    child.on('error', (error) => reject(createLostError(error)))
    child.on('message', (reply: LakeReply) => {
      if ('done' in reply) progress?.(reply.done, reply.total, 'exporting runs')
      else resolve(reply)
    })
    child.once('close', (code, signal) => reject(createLostError(signal ?? code)))
    child.send(job, (error) => {
      if (error !== null) reject(createLostError(error))
    })
  })

function toResult(reply: LakeReply): LakeReply {
  if ('missing' in reply) {
    const { package: name, command } = reply.missing
    throw new RecordingError('PACKAGE_NOT_INSTALLED', `the package ${name} is not installed`, {
      remedy: `install it: ${command}, then repeat the call`,
      data: reply.missing,
    })
  }
  if ('memory' in reply)
    throw new RecordingError('INVALID_QUERY', 'the question needs too much memory', {
      remedy: 'restrict the scenario or the commit',
    })
  if ('failed' in reply) throw new CausewayError('INTERNAL', 'the lake failed', { cause: reply.failed })
  return reply
}

const createLostError = (cause: unknown): CausewayError =>
  new WorkerError('WORKER_LOST', 'the process of the lake ended unexpectedly', {
    remedy: 'call again',
    cause,
  })

const createCancelledError = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')
