import { CausewayError } from '@causeway/protocol'
import { type Caller, CallQueue, type QueueOptions } from './call-queue.ts'
import { WorkerError } from './errors.ts'
import { createCancelledError, type MethodArgs, type MethodResult, type MethodTable } from './messages.ts'
import type { CallOptions, WorkerLink } from './worker-link.ts'
import { createWorkerMemory, type WorkerMemory } from './worker-memory.ts'

export interface PoolOptions extends QueueOptions {
  /** A call that takes longer fails with `DEADLINE_EXCEEDED` and ends its worker. Default: no limit. */
  readonly limitMs?: number
  /** A cancelled call that runs longer ends its worker. Default: 1000. */
  readonly cancelGraceMs?: number
  /** A worker that is idle for longer stops. Default: never. */
  readonly idleMs?: number
}

interface PoolCallOptions extends CallOptions, Caller {
  /** Default: the pool's limit. */
  readonly limitMs?: number
  /** Limit of CPU time, which does not grow while other programs run. Default: no limit. */
  readonly processorLimitMs?: number
}

export class WorkerPool<Table extends MethodTable<Table>> {
  readonly #start: () => WorkerLink<Table>
  readonly #options: PoolOptions
  readonly #queue: CallQueue
  #links: readonly WorkerLink<Table>[] = []
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(start: () => WorkerLink<Table>, options: PoolOptions) {
    this.#start = start
    this.#options = options
    this.#queue = new CallQueue(options)
  }

  get workers(): readonly WorkerLink<Table>[] {
    return this.#links.filter(({ isAlive }) => isAlive)
  }

  get memory(): WorkerMemory {
    return createWorkerMemory(() => this.workers)
  }

  /**
   * Rejects with the method's error, `CANCELLED`, `DEADLINE_EXCEEDED`, `WORKER_LOST` if this call crashed its
   * worker, or `OVERLOADED` if too many calls wait.
   */
  call<Name extends keyof Table & string>(
    method: Name,
    args: MethodArgs<Table, Name>,
    options: PoolCallOptions = {},
  ): Promise<MethodResult<Table, Name>> {
    return this.#queue.run(async () => {
      const link = this.#acquire()
      const { cancelGraceMs = 1000 } = this.#options
      const { limitMs = this.#options.limitMs, processorLimitMs } = options
      let exceededLimit: { readonly ms: number; readonly message: string } | undefined
      const expire = (ms: number, message: string) => {
        exceededLimit = { ms, message }
        void link.kill()
      }
      const limit =
        limitMs === undefined
          ? undefined
          : setTimeout(expire, limitMs, limitMs, `the call took longer than ${limitMs} ms`)
      const stopWatch =
        processorLimitMs === undefined
          ? undefined
          : watchProcessorTime(link, processorLimitMs, (ms) =>
              expire(ms, `the call used more than ${ms} ms of processor time`),
            )
      let graceTimer: NodeJS.Timeout | undefined
      const cancel = () => {
        graceTimer = setTimeout(() => void link.kill(), cancelGraceMs)
      }
      options.signal?.addEventListener('abort', cancel, { once: true })
      try {
        return (await link.call(method, args, options)) as MethodResult<Table, Name>
      } catch (error) {
        if (!WorkerError.is(error, 'WORKER_LOST')) throw error
        if (this.#isStopped || options.signal?.aborted) throw createCancelledError()
        if (exceededLimit === undefined) throw error
        const { ms, message } = exceededLimit
        throw new CausewayError('DEADLINE_EXCEEDED', message, { data: { deadline_ms: ms } })
      } finally {
        clearTimeout(limit)
        stopWatch?.()
        clearTimeout(graceTimer)
        options.signal?.removeEventListener('abort', cancel)
        this.#release()
      }
    }, options)
  }

  /** Rejects running, waiting and later calls with `CANCELLED`. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#queue.close()
    clearTimeout(this.#idleTimer)
    await Promise.all(this.workers.map((link) => link.stop()))
  }

  #acquire(): WorkerLink<Table> {
    clearTimeout(this.#idleTimer)
    const idleWorker = this.workers.findLast(({ pending }) => pending === 0)
    if (idleWorker !== undefined) return idleWorker
    const link = this.#start()
    this.#links = [...this.workers, link]
    return link
  }

  #release(): void {
    const { idleMs } = this.#options
    if (idleMs === undefined) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      for (const link of this.workers) if (link.pending === 0) void link.stop()
    }, idleMs).unref()
  }
}

/**
 * Calls `expire` when the worker has used `limitMs` of CPU time, measured from this call. Returns a function that
 * stops the measurement.
 */
function watchProcessorTime(
  link: { readCpuMs(): Promise<number> },
  limitMs: number,
  expire: (limitMs: number) => void,
): () => void {
  const start = link.readCpuMs()
  let timer = setTimeout(check, limitMs)
  let isEnded = false
  async function check(): Promise<void> {
    const usedMs = (await link.readCpuMs()) - (await start)
    if (isEnded) return
    if (usedMs >= limitMs) expire(limitMs)
    else timer = setTimeout(check, Math.max(limitMs - usedMs, 1))
  }
  return () => {
    isEnded = true
    clearTimeout(timer)
  }
}
