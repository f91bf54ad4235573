import type { CausewayError } from '@causeway/protocol'
import { type CallOptions, CallQueue, SharedWorker } from '@causeway/worker'
import { resolveBodyId } from '../domain/body-id.ts'
import { RecordingError } from '../errors.ts'
import { getAnswerKey } from '../formats/answers-file.ts'
import { runQuery } from '../reader/query/query.ts'
import type { RecordingWorker } from '../reader/start-recording-worker.ts'
import type { WorkerAnswer, WorkerArgs, WorkerMethod, WorkerMethods } from '../reader/worker-methods.ts'
import type {
  AnalyseOptions,
  AnalysisRequest,
  BodyId,
  Recording,
  RecordingIdentity,
  RecordingSummary,
} from '../types.ts'
import { ResultCache } from './result-cache.ts'

interface CopyToLoad {
  readonly key: string
  readonly file: string
  readonly identity: RecordingIdentity
  readonly startWorker: () => RecordingWorker
}

/** Queries are limited, because each one is a process. */
const queryLimits = { name: 'queries of this recording', maxRunning: 2, maxWaiting: 16, maxWaitMs: 10_000 }

type Call = <Method extends WorkerMethod>(
  method: Method,
  args: WorkerArgs<Method>,
  options?: CallOptions,
) => Promise<WorkerAnswer<Method>>

export async function loadRecording(
  first: RecordingWorker,
  copy: CopyToLoad,
  options: CallOptions = {},
): Promise<LoadedRecording> {
  const opened = await openCopy(first, copy, options)
  return new LoadedRecording(first, copy, opened)
}

/** A recording with a worker. If the worker was stopped, the next call starts another. */
export class LoadedRecording {
  readonly key: string
  readonly file: string
  readonly isIndexed: boolean
  readonly #identity: RecordingIdentity
  readonly #worker: SharedWorker<WorkerMethods>
  readonly #queries = new CallQueue(queryLimits)
  #results = new ResultCache()
  #recording: Recording
  #failure: CausewayError | undefined

  constructor(first: RecordingWorker, copy: CopyToLoad, { summary, isIndexed }: WorkerAnswer<'open'>) {
    this.key = copy.key
    this.file = copy.file
    this.isIndexed = isIndexed
    this.#identity = copy.identity
    this.#worker = new SharedWorker<WorkerMethods>(async () => {
      const next = copy.startWorker()
      await openCopy(next, copy, {})
      return next
    }, first)
    this.#recording = this.#createRecording(summary)
  }

  get recording(): Recording {
    return this.#recording
  }

  get results(): Pick<ResultCache, 'bytes' | 'shrink'> {
    return this.#results
  }

  get isBusy(): boolean {
    return this.#worker.isBusy
  }

  get isOpen(): boolean {
    return this.#worker.link !== undefined
  }

  async reread(): Promise<void> {
    const summary = await this.#call('reread', undefined)
    this.#results = new ResultCache()
    this.#recording = this.#createRecording(summary)
  }

  async countWorkerBytes(): Promise<number> {
    return (await this.#worker.link?.bytes()) ?? 0
  }

  async refresh(): Promise<void> {
    await this.#worker.link?.call('refresh', undefined)
  }

  async cacheResult(
    request: AnalysisRequest,
    work: (options: CallOptions) => Promise<unknown>,
  ): Promise<void> {
    await this.#results.get(getAnswerKey(request), work, {})
  }

  fail(error: CausewayError): void {
    this.#failure = error
  }

  release(): Promise<void> {
    return this.#worker.stop()
  }

  readonly #call: Call = async <Method extends WorkerMethod>(
    method: Method,
    args: WorkerArgs<Method>,
    options: CallOptions = {},
  ): Promise<WorkerAnswer<Method>> => {
    if (this.#failure) throw this.#failure
    return this.#worker.call(method, args, options)
  }

  #createRecording(summary: RecordingSummary): Recording {
    const [call, results] = [this.#call, this.#results]
    const dynamicIds = new Set([...summary.bodies, ...summary.appearances].map(({ body_id }) => body_id))
    const environmentIds = new Set(summary.environment_bodies.map(({ body_id }) => body_id))
    const resolveBody = (bodyId: number): BodyId => {
      const id = resolveBodyId(bodyId, dynamicIds, environmentIds)
      if (id !== null) return id
      throw new RecordingError('BODY_NOT_FOUND', `the recording has no body ${bodyId}`, {
        data: { body_id: bodyId, bodies: [...dynamicIds, ...environmentIds].sort((a, b) => a - b) },
      })
    }
    return {
      identity: this.#identity,
      summary,
      frame: (frame) => call('frame', { frame }),
      systemEnergy: (range) => call('systemEnergy', { range }),
      bodyEnergy: async (body, range) => call('bodyEnergy', { body: resolveBody(body), range }),
      solver: (range) => call('solver', { range }),
      pairHistory: async ([a, b], range, limit) =>
        call('pairHistory', { pair: [resolveBody(a), resolveBody(b)], range, limit }),
      analyse: async <Result>(
        name: string,
        args: unknown,
        { isCached = false, ...options }: AnalyseOptions = {},
      ) => {
        const run = (options: CallOptions) => call('analyse', { name, args, isCached }, options)
        const result = isCached ? results.get(getAnswerKey({ name, args }), run, options) : run(options)
        return (await result) as Result
      },
      query: (query, caller) => this.#queries.run(() => runQuery(this.file, query, caller?.signal), caller),
      tables: () => call('tables', undefined),
      resolveBody,
    }
  }
}

/** Kills the worker on abort; stops it if opening fails. */
async function openCopy(
  link: RecordingWorker,
  { file, identity }: CopyToLoad,
  { signal }: CallOptions,
): Promise<WorkerAnswer<'open'>> {
  signal?.throwIfAborted()
  const kill = () => void link.kill()
  signal?.addEventListener('abort', kill, { once: true })
  try {
    return await link.call('open', { file, path: identity.path })
  } catch (error) {
    await link.stop()
    signal?.throwIfAborted()
    throw error
  } finally {
    signal?.removeEventListener('abort', kill)
  }
}
