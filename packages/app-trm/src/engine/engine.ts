import {
  type Caller,
  CallQueue,
  resolveWorkerFile,
  WorkerLink,
  type WorkerMemory,
  WorkerPool,
} from '@causeway/worker'
import type { EngineMethods } from './methods.ts'

interface CallOptions extends Caller {
  /** Whether to wait for a worker regardless of the queue length, because rejection would end an evaluation. */
  readonly isEvaluation?: boolean
}

interface EngineOptions {
  /** Maximum milliseconds of a call. The worker of a longer call is stopped. Evaluations have their own limits. */
  readonly limitMs?: number
  /** Maximum number of characters and bytes that the main thread processes, which takes a few milliseconds. */
  readonly maxInlineSize?: number
}

/**
 * Limits for each call of an evaluation. Processor time does not depend on the machine's load. The duration
 * detects a blocked worker.
 */
const evaluationLimits = { processorLimitMs: 10_000, limitMs: 600_000 }

const limits = { name: 'calls that read code', maxRunning: 2 }

/** Runs small calls on this thread, and all others in workers that start on demand. */
export class Engine {
  readonly #pool: WorkerPool<EngineMethods>
  /** Evaluations are excluded, because their number is already limited. */
  readonly #queue = new CallQueue(limits)
  readonly #maxInlineSize: number

  constructor({ limitMs = 5000, maxInlineSize = 2000 }: EngineOptions = {}) {
    this.#maxInlineSize = maxInlineSize
    this.#pool = new WorkerPool<EngineMethods>(
      () =>
        new WorkerLink<EngineMethods>(resolveWorkerFile('engine-worker', import.meta.url), {
          name: 'the worker that reads code',
          remedy: 'call again, with less text',
          resourceLimits: { maxOldGenerationSizeMb: 512 },
        }),
      { ...limits, maxWaiting: Number.POSITIVE_INFINITY, limitMs },
    )
  }

  get memory(): WorkerMemory {
    return this.#pool.memory
  }

  async call<Name extends keyof EngineMethods & string>(
    method: Name,
    args: Parameters<EngineMethods[Name]>[0],
    { isEvaluation = false, ...options }: CallOptions = {},
  ): Promise<ReturnType<EngineMethods[Name]>> {
    type Result = ReturnType<EngineMethods[Name]>
    if (measureSize(args, this.#maxInlineSize) <= this.#maxInlineSize) {
      // Loaded on the first call, because the parsers take 6 MB.
      const { engineMethods } = await import('./methods.ts')
      // The table's type does not relate a method to its own argument.
      const callMethod = engineMethods[method] as (args: unknown) => Result
      return callMethod(args)
    }
    const run = (extraOptions = {}) =>
      this.#pool.call(method, args as never, { ...options, ...extraOptions }) as Promise<Result>
    return isEvaluation ? run(evaluationLimits) : this.#queue.run(() => run(), options)
  }

  close(): Promise<void> {
    return this.#pool.stop()
  }
}

function measureSize(data: unknown, limit: number): number {
  if (typeof data === 'string' || data instanceof Uint8Array) return data.length
  if (typeof data !== 'object' || data === null) return 0
  const members = data instanceof Map || data instanceof Set ? data : Object.values(data)
  let size = 0
  for (const member of members) {
    size += 1 + measureSize(member, limit - size)
    if (size > limit) break
  }
  return size
}
