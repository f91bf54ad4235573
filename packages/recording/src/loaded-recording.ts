import { CausewayError } from '@causeway/protocol'
import { type CallOptions, CallQueue, SharedWorker } from '@causeway/worker'
import { answerKey } from './answers-file.ts'
import { resolveBodyId } from './domain/body-id.ts'
import { type KeptAnswers, keptAnswers } from './kept-answers.ts'
import { askSql } from './query/query.ts'
import type {
  AnalyseCall,
  BodyId,
  Foreseen,
  Recording,
  RecordingIdentity,
  RecordingSummary,
} from './types.ts'
import type { RecordingWorker } from './worker-link.ts'
import type { WorkerAnswer, WorkerArgs, WorkerMethod, WorkerMethods } from './worker-methods.ts'

/** A private copy that is loaded, or that can be loaded again at the next call. */
export interface LoadedRecording {
  readonly key: string
  /** private copy */
  readonly file: string
  readonly recording: Recording
  /** Renews `recording` with what its file holds by now: runs of our own grow while they are read. */
  reread(): Promise<void>
  /** False where the indexes of a large copy are still to be built. */
  readonly isIndexed: boolean
  /** True while calls are in hand. */
  readonly isBusy: boolean
  /** True while a worker holds the copy open. */
  readonly isOpen: boolean
  /** bytes of its worker's memory, 0 where none is open */
  bytes(): Promise<number>
  /** the answers that are kept of it */
  readonly answers: Pick<KeptAnswers, 'bytes' | 'shrink'>
  /** Makes the worker use the indexes and columns that were made behind. */
  refresh(): Promise<void>
  /** Keeps the answer that `find` gives, unless one is kept; who asks meanwhile waits for it. */
  keep(question: Foreseen, find: (options: CallOptions) => Promise<unknown>): Promise<void>
  /** Refuses further calls for a reason of its own, for example damage that was found behind. */
  fail(error: CausewayError): void
  /** Ends the worker once its calls are done; the next call starts another. */
  release(): Promise<void>
}

/** A private copy to load: where it stands, what it is a copy of, and how another worker for it is started. */
export interface CopyToLoad {
  readonly key: string
  readonly file: string
  readonly identity: RecordingIdentity
  readonly startWorker: () => RecordingWorker
}

/** Loads a private copy in a worker, which it then owns. Throws what reading it throws; no worker is then left. */
export async function loadRecording(
  first: RecordingWorker,
  { key, file, identity, startWorker }: CopyToLoad,
  options: CallOptions = {},
): Promise<LoadedRecording> {
  const open = { file, path: identity.path }
  const { summary, isIndexed } = await opened(first, open, options)
  const worker = new SharedWorker<WorkerMethods>(async () => {
    const next = startWorker()
    await opened(next, open, {})
    return next
  }, first)
  let failure: CausewayError | undefined

  const call = async <Method extends WorkerMethod>(
    method: Method,
    args: WorkerArgs<Method>,
    options: CallOptions = {},
  ): Promise<WorkerAnswer<Method>> => {
    if (failure) throw failure
    return worker.call(method, args, options)
  }

  const queries = new CallQueue(queryLimits)
  const query: Recording['query'] = (question, caller) =>
    queries.run(() => askSql(file, question, caller?.signal), caller)
  let answers = keptAnswers()
  let recording = makeRecording(identity, summary, { call, query, answers })
  return {
    key,
    file,
    isIndexed,
    get recording() {
      return recording
    },
    async reread() {
      const next = await call('reread', undefined)
      answers = keptAnswers()
      recording = makeRecording(identity, next, { call, query, answers })
    },
    get isBusy() {
      return worker.isBusy
    },
    get isOpen() {
      return worker.link !== undefined
    },
    bytes: async () => (await worker.link?.bytes()) ?? 0,
    get answers() {
      return answers
    },
    refresh: async () => {
      await worker.link?.call('refresh', undefined)
    },
    async keep(question, find) {
      await answers.of(answerKey(question), find, {})
    },
    fail: (error) => {
      failure = error
    },
    release: () => worker.stop(),
  }
}

async function opened(
  link: RecordingWorker,
  args: WorkerArgs<'open'>,
  options: CallOptions,
): Promise<WorkerAnswer<'open'>> {
  options.signal?.throwIfAborted()
  const kill = () => void link.kill()
  options.signal?.addEventListener('abort', kill, { once: true })
  try {
    return await link.call('open', args)
  } catch (error) {
    await link.stop()
    options.signal?.throwIfAborted()
    throw error
  } finally {
    options.signal?.removeEventListener('abort', kill)
  }
}

/** Each query is a process. */
const queryLimits = { name: 'queries of this recording', maxRunning: 2, maxWaiting: 16, maxWaitMs: 10_000 }

type Call = <Method extends WorkerMethod>(
  method: Method,
  args: WorkerArgs<Method>,
  options?: CallOptions,
) => Promise<WorkerAnswer<Method>>

interface Sources {
  readonly call: Call
  readonly query: Recording['query']
  readonly answers: KeptAnswers
}

function makeRecording(
  identity: RecordingIdentity,
  summary: RecordingSummary,
  { call, query, answers }: Sources,
): Recording {
  const dynamic: ReadonlySet<BodyId> = new Set(
    [...summary.bodies, ...summary.appearances].map(({ body_id }) => body_id),
  )
  const environment: ReadonlySet<BodyId> = new Set(summary.environment_bodies.map(({ body_id }) => body_id))
  const resolveBody = (written: number): BodyId => {
    const id = resolveBodyId(written, dynamic, environment)
    if (id !== null) return id
    throw new CausewayError('BODY_NOT_FOUND', `the recording has no body ${written}`, {
      data: { body_id: written, bodies: [...dynamic, ...environment].sort((a, b) => a - b) },
    })
  }
  return {
    identity,
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
      { isKept = false, ...options }: AnalyseCall = {},
    ) => {
      const ask = (options: CallOptions) => call('analyse', { name, args, isKept }, options)
      return (await (isKept ? answers.of(answerKey({ name, args }), ask, options) : ask(options))) as Result
    },
    query,
    tables: () => call('tables', undefined),
    resolveBody,
  }
}
