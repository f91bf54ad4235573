import {
  type Call,
  type CallOptions,
  type MethodArgs,
  type MethodResult,
  resolveWorkerFile,
  WorkerError,
  WorkerLink,
} from '@causeway/worker'
import { createPlotMemory } from './plot-memory.ts'
import type { PlotMethods } from './plot-methods.ts'
import type { Query, QueryResults } from './plot-query.ts'

/** File size above which a worker holds the plot. */
export const workerBytes = 2 ** 20

/** Holds a plot in memory, in this thread or in a worker. */
export abstract class PlotHolder {
  abstract readonly isWorker: boolean
  /** Returns the memory of the worker, or 0 in this thread. */
  abstract bytes(): Promise<number>
  /** Rejects with the method's error, with `CANCELLED` after an abort, and with `WORKER_LOST`. */
  abstract call<Name extends keyof PlotMethods & string>(
    method: Name,
    args: MethodArgs<PlotMethods, Name>,
    options?: CallOptions,
  ): Promise<MethodResult<PlotMethods, Name>>
  abstract stop(): Promise<void>

  async read<Q extends Query>(query: Q): Promise<QueryResults[Q['kind']]> {
    return (await this.call('read', query)) as never // determined by the kind of the query
  }
}

export const createHolder = (bytes: number, isWorkerForced = false): PlotHolder =>
  isWorkerForced || bytes > workerBytes ? new WorkerHolder() : new ThreadHolder()

class ThreadHolder extends PlotHolder {
  readonly isWorker = false
  #memory: ReturnType<typeof createPlotMemory> | undefined = createPlotMemory()

  async bytes(): Promise<number> {
    return 0
  }

  async call<Name extends keyof PlotMethods & string>(
    method: Name,
    args: MethodArgs<PlotMethods, Name>,
    options: CallOptions = {},
  ): Promise<MethodResult<PlotMethods, Name>> {
    if (this.#memory === undefined) throw new WorkerError('WORKER_LOST', 'the plot was released')
    const run = this.#memory[method] as (args: unknown, call: Call) => unknown
    const { signal = new AbortController().signal, progress = () => {} } = options
    return run(args, { signal, progress }) as never // the result of this method
  }

  async stop(): Promise<void> {
    this.#memory = undefined
  }
}

class WorkerHolder extends PlotHolder {
  readonly isWorker = true
  readonly #link = new WorkerLink<PlotMethods>(resolveWorkerFile('plot-worker', import.meta.url), {
    name: 'the worker that holds the plot',
    remedy: 'call again: the plot is read from its file, with all changes',
  })

  bytes(): Promise<number> {
    return this.#link.bytes()
  }

  call<Name extends keyof PlotMethods & string>(
    method: Name,
    args: MethodArgs<PlotMethods, Name>,
    options?: CallOptions,
  ): Promise<MethodResult<PlotMethods, Name>> {
    return this.#link.call(method, args, options)
  }

  stop(): Promise<void> {
    return this.#link.stop()
  }
}
