import {
  type Caller,
  CallQueue,
  type RestingWorkers,
  startWorker,
  WorkerPool,
  workerFile,
} from '@causeway/worker'
import type { EngineMethods } from './engine-methods.ts'
import { engineWork } from './engine-work.ts'

/** Work on code, by its methods. */
export interface Engine {
  call<Name extends keyof EngineMethods & string>(
    method: Name,
    args: Parameters<EngineMethods[Name]>[0],
    options?: EngineCallOptions,
  ): Promise<ReturnType<EngineMethods[Name]>>
  /** The memory of the worker. */
  readonly memory: RestingWorkers
  close(): Promise<void>
}

/** Options for a call. */
export interface EngineCallOptions extends Caller {
  /** Uses the worker for small work too. For work whose time does not follow from its size. */
  readonly inWorker?: boolean
  /** Waits for a worker regardless of how many calls wait. For the output of a command, which would have to run again. */
  readonly isCommandOutput?: boolean
}

/** How an engine works. */
export interface EngineOptions {
  /** Maximum duration of a call, ms; a longer call ends with its worker. */
  readonly limitMs?: number
  /** Maximum characters and bytes of work that runs on this thread; parsing these takes a few milliseconds. */
  readonly smallest?: number
}

/** Opens the engine. Small work runs on this thread, the rest in workers that start when needed. */
export function openEngine({ limitMs = 10_000, smallest = 2000 }: EngineOptions = {}): Engine {
  const start = () =>
    startWorker<EngineMethods>(workerFile('engine-worker', import.meta.url), {
      name: 'the worker that reads code',
      remedy: 'call again, with less text',
      resourceLimits: { maxOldGenerationSizeMb: 512 },
    })
  const limits = { name: 'calls that read code', maxRunning: 2 }
  // The number of evaluations limits how many outputs wait in the pool; the queue limits all other calls.
  const pool = new WorkerPool<EngineMethods>(start, {
    ...limits,
    maxWaiting: Number.POSITIVE_INFINITY,
    limitMs,
  })
  const queue = new CallQueue(limits)
  return {
    async call(method, args, { inWorker = false, isCommandOutput = false, ...options } = {}) {
      type Answer = ReturnType<EngineMethods[typeof method]>
      // Each method takes its own argument, which the type of a table cannot say.
      const work = engineWork[method] as (args: unknown) => Answer
      if (!inWorker && weight(args, smallest) <= smallest) return work(args)
      const run = () => pool.call(method, args as never, options) as Promise<Answer>
      return isCommandOutput ? run() : queue.run(run, options)
    },
    memory: pool.memory,
    close: () => pool.stop(),
  }
}

/** Characters and bytes in data, counted until there are more than `enough`. */
function weight(data: unknown, enough: number): number {
  if (typeof data === 'string' || data instanceof Uint8Array) return data.length
  if (typeof data !== 'object' || data === null) return 0
  const parts = data instanceof Map || data instanceof Set ? data : Object.values(data)
  let sum = 0
  for (const part of parts) {
    sum += 1 + weight(part, enough - sum)
    if (sum > enough) break
  }
  return sum
}
