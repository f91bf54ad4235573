/** Who holds a plot: this thread for small ones, a worker for large ones; asked in the same way. */
import { CausewayError } from '@causeway/protocol'
import {
  type AnswerOf,
  type ArgsOf,
  type Call,
  type CallOptions,
  type MethodName,
  startWorker,
  workerFile,
} from '@causeway/worker'
import { plotMemory } from './plot-memory.ts'
import type { PlotMethods } from './plot-methods.ts'
import type { Answers, Query } from './plot-query.ts'

/** Files above this are held by a worker, bytes: reading them would hold up everybody else. */
export const workerBytes = 2 ** 20

/** A plot that somebody holds. */
export interface PlotHolder {
  readonly isWorker: boolean
  /** Bytes of a worker's memory; 0 in this thread, where nobody counts them apart. */
  bytes(): Promise<number>
  /** Rejects with what the method throws, with `CANCELLED` on abort, and with `WORKER_LOST`. */
  call<Name extends MethodName<PlotMethods>>(
    method: Name,
    args: ArgsOf<PlotMethods, Name>,
    options?: CallOptions,
  ): Promise<AnswerOf<PlotMethods, Name>>
  read<Asked extends Query>(query: Asked): Promise<Answers[Asked['kind']]>
  stop(): Promise<void>
}

/** Makes a holder for a file of this size, or a worker in any case. */
export function holdPlot(bytes: number, isForced = false): PlotHolder {
  return isForced || bytes > workerBytes ? inWorker() : inThread()
}

function inThread(): PlotHolder {
  const held: { memory?: ReturnType<typeof plotMemory> } = { memory: plotMemory() }
  const call: PlotHolder['call'] = async (method, args, options = {}) => {
    if (held.memory === undefined) throw new CausewayError('WORKER_LOST', 'the plot was let go of')
    const run = held.memory[method] as (args: unknown, call: Call) => unknown
    const { signal = new AbortController().signal, progress = () => {} } = options
    return run(args, { signal, progress }) as never // the answer of this method
  }
  return {
    isWorker: false,
    bytes: async () => 0,
    call,
    read: reader(call),
    async stop() {
      delete held.memory
    },
  }
}

function inWorker(): PlotHolder {
  const link = startWorker<PlotMethods>(workerFile('plot-worker', import.meta.url), {
    name: 'the worker that holds the plot',
    remedy: 'call again: the plot is read from its file, with the changes that were made',
  })
  const call: PlotHolder['call'] = (method, args, options) => link.call(method, args, options)
  return { isWorker: true, bytes: () => link.bytes(), call, read: reader(call), stop: () => link.stop() }
}

/** The kind of a question decides the kind of its answer. */
const reader =
  (call: PlotHolder['call']): PlotHolder['read'] =>
  async (query) =>
    (await call('read', query)) as never
