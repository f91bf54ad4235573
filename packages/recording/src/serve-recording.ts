import { rename, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { MessagePort } from 'node:worker_threads'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { copyDatabase, removeCopy } from './copy.ts'
import { stateKey } from './file-state.ts'
import { finishCopy, prepareCopy } from './prepare.ts'
import { openReader } from './reader.ts'
import type { Reader } from './reader-contract.ts'
import { recorderMethods } from './recorder/recorder-methods.ts'
import { recordingFailure } from './recording-failure.ts'
import type { RecordingSummary } from './types.ts'
import type { Windows } from './windows.ts'
import type { AnswerOf, ArgsOf, CarriedError, Reply, Request, WorkerMethod } from './worker-protocol.ts'

/** What a call may use beside its arguments. */
interface Call {
  readonly signal: AbortSignal
  readonly progress: (done: number, total: number, message: string) => void
}

type Methods = {
  readonly [Method in WorkerMethod]: (
    args: ArgsOf<Method>,
    call: Call,
  ) => AnswerOf<Method> | Promise<AnswerOf<Method>>
}

/** What an analysis works with: it runs in the worker that has the recording open. */
export interface AnalysisContext extends Call {
  readonly summary: RecordingSummary
  readonly reader: Pick<
    Reader,
    'frame' | 'pairHistory' | 'systemEnergy' | 'bodyEnergy' | 'solver' | 'extents'
  >
  /** Columns of the whole recording, read when they are first needed. */
  readonly windows: Windows
}

/** Analyses by name. Arguments and answers are structured-cloneable; what one throws reaches the caller of `analyse`. */
export type Analyses = Readonly<
  Record<string, (args: never, context: AnalysisContext) => unknown | Promise<unknown>>
>

/**
 * Serves one recording to the library that started this worker; the entry file of a worker calls it once, with the
 * port that it got as `workerData.port`. The worker copies or reads one recording at a time.
 */
export function serveRecording(port: MessagePort, analyses: Analyses = {}): void {
  serve(port, methods(analyses))
}

function methods(analyses: Analyses): Methods {
  let reader: Reader | undefined
  let summary: RecordingSummary | undefined
  let windows: Windows | undefined
  let path = ''
  const reading = <Answer>(read: (reader: Reader) => Answer): Answer => {
    if (!reader) throw new Error('no private copy is open in this worker')
    return readable(path, () => read(reader as Reader))
  }
  return {
    ...recorderMethods(),
    copy: ({ source, folder, indexAtOnceBytes }, call) =>
      copyAndPrepare(source, folder, indexAtOnceBytes, call),
    open(args) {
      path = args.path
      return readable(path, () => {
        reader = openReader(args.file)
        summary = reader.summary()
        return { summary, isIndexed: reader.isIndexed() }
      })
    },
    reread: () =>
      reading((open) => {
        windows = undefined
        summary = open.summary()
        return summary
      }),
    finish: ({ file, path }) => readable(path, () => void finishCopy(file)),
    refresh: () => reading((open) => void open.refresh()),
    frame: ({ frame }) => reading((open) => open.frame(frame)),
    systemEnergy: ({ range }) => reading((open) => open.systemEnergy(range)),
    bodyEnergy: ({ body, range }) => reading((open) => open.bodyEnergy(body, range)),
    solver: ({ range }) => reading((open) => open.solver(range)),
    pairHistory: ({ pair, range, limit }) => reading((open) => open.pairHistory(pair, range, limit)),
    async analyse({ name, args }, call) {
      const analysis = analyses[name] as
        | ((args: unknown, context: AnalysisContext) => unknown | Promise<unknown>)
        | undefined
      if (analysis === undefined || reader === undefined || summary === undefined)
        throw new Error(`this worker has no analysis ${name} or no recording`)
      windows ??= reader.windows(summary)
      try {
        return await analysis(args, { ...call, summary, reader, windows })
      } catch (error) {
        throw recordingFailure(error, path)
      }
    },
    stop: () => {
      reader?.close()
      reader = undefined
    },
  }
}

async function copyAndPrepare(source: string, folder: string, indexAtOnceBytes: number, call: Call) {
  const part = join(folder, `${crypto.randomUUID()}.part`)
  try {
    const state = await copyDatabase(source, part, {
      signal: call.signal,
      progress: (done, total) => call.progress(done, total, 'copying'),
    })
    prepareCopy(part, state.size > indexAtOnceBytes)
    const key = stateKey(source, state)
    const file = join(folder, `${key}.db`)
    // Renamed when whole and closed: a file of this name is never half a copy.
    await rename(part, file)
    const { size } = await stat(file)
    return { key, bytes: size }
  } catch (error) {
    await removeCopy(part)
    throw recordingFailure(error, source)
  }
}

function readable<Answer>(path: string, read: () => Answer): Answer {
  try {
    return read()
  } catch (error) {
    throw recordingFailure(error, path)
  }
}

/** Answers requests in the order in which they come; a cancel reaches the call that it names. */
function serve(port: MessagePort, table: Methods): void {
  const running = new Map<number, AbortController>()
  const send = (reply: Reply, transfer: readonly ArrayBuffer[] = []) => port.postMessage(reply, [...transfer])
  port.on('message', async (request: Request) => {
    const { id } = request
    if ('cancel' in request) {
      running.get(id)?.abort(stopped())
      return
    }
    // What is under way would read from a copy that is closed.
    if (request.method === 'stop') for (const other of running.values()) other.abort(stopped())
    const controller = new AbortController()
    running.set(id, controller)
    try {
      const run = table[request.method] as (args: unknown, call: Call) => unknown
      const answer = await run(request.args, {
        signal: controller.signal,
        progress: (...progress) => send({ id, progress }),
      })
      send({ id, answer }, buffersOf(answer))
    } catch (error) {
      send({ id, error: carry(error, controller.signal) })
    } finally {
      running.delete(id)
      if (request.method === 'stop') port.close()
    }
  })
}

const stopped = (): CausewayError => new CausewayError('CANCELLED', 'the call was cancelled')

/** Columns are moved and not cloned. */
function buffersOf(answer: unknown): readonly ArrayBuffer[] {
  const data = (answer as { readonly data?: unknown } | undefined)?.data
  return data instanceof Float64Array && data.buffer instanceof ArrayBuffer ? [data.buffer] : []
}

function carry(error: unknown, signal: AbortSignal): CarriedError {
  // A wait that was aborted throws an AbortError of its own.
  const thrown = signal.aborted ? signal.reason : error
  if (isCausewayError(thrown)) {
    const { code, message, remedy, data } = thrown
    return { code, message, remedy, data }
  }
  const text = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown)
  return { code: null, message: 'reading the recording failed', data: {}, text }
}
