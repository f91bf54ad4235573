import { CausewayError, isCausewayError } from '@causeway/protocol'
import { type Caller, CallQueue, type QueueOptions } from './call-queue.ts'
import type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
import { type RestingWorkers, restingWorkers } from './resting-workers.ts'
import type { CallOptions, WorkerLink } from './start-worker.ts'

/** Options for a pool of workers; `maxRunning` is the maximum number of workers. */
export interface PoolOptions extends QueueOptions {
  /** A call that runs longer ends with its worker and `DEADLINE_EXCEEDED`, ms; default no limit. */
  readonly limitMs?: number
  /** A cancelled call that runs on for longer ends with its worker, ms; default 1000. */
  readonly cancelGraceMs?: number
  /** Workers are stopped after this time without a call, ms; default never. */
  readonly idleMs?: number
}

/** Workers of one kind. Each runs one call at a time, so that a call that ends its worker ends no other call. */
export class WorkerPool<Table extends MethodTable<Table>> {
  readonly #start: () => WorkerLink<Table>
  readonly #options: PoolOptions
  readonly #queue: CallQueue
  readonly #busy = new Set<WorkerLink<Table>>()
  #idle: readonly WorkerLink<Table>[] = []
  #idleTimer: NodeJS.Timeout | undefined
  #isStopped = false

  constructor(start: () => WorkerLink<Table>, options: PoolOptions) {
    this.#start = start
    this.#options = options
    this.#queue = new CallQueue(options)
  }

  /** Workers that run. */
  get workers(): readonly WorkerLink<Table>[] {
    return [...this.#busy, ...this.#idle].filter(({ isAlive }) => isAlive)
  }

  /** The memory of the workers. */
  get memory(): RestingWorkers {
    return restingWorkers(() => this.workers)
  }

  /**
   * Calls a method on a worker that has no other call; the waiting calls of different clients alternate. Rejects with what the method throws, `CANCELLED` on abort and after `stop`,
   * `DEADLINE_EXCEEDED` after `limitMs`,
   * `WORKER_LOST` if this call ended its worker, and `OVERLOADED` if too many calls wait.
   */
  call<Name extends MethodName<Table>>(
    method: Name,
    args: ArgsOf<Table, Name>,
    options: CallOptions & Caller = {},
  ): Promise<AnswerOf<Table, Name>> {
    return this.#queue.run(async () => {
      const link = this.#take()
      const end = () => void link.kill()
      const { limitMs, cancelGraceMs = 1000 } = this.#options
      let isLate = false
      const expire = () => {
        isLate = true
        end()
      }
      const limit = limitMs === undefined ? undefined : setTimeout(expire, limitMs)
      let grace: NodeJS.Timeout | undefined
      const cancel = () => {
        grace = setTimeout(end, cancelGraceMs)
      }
      options.signal?.addEventListener('abort', cancel, { once: true })
      try {
        return (await link.call(method, args, options)) as AnswerOf<Table, Name>
      } catch (error) {
        const isLost = isCausewayError(error) && error.code === 'WORKER_LOST'
        if (isLost && (this.#isStopped || options.signal?.aborted))
          throw new CausewayError('CANCELLED', 'the call was cancelled')
        if (isLost && isLate) {
          throw new CausewayError('DEADLINE_EXCEEDED', `the call took longer than ${limitMs} ms`, {
            data: { deadline_ms: limitMs },
          })
        }
        throw error
      } finally {
        clearTimeout(limit)
        clearTimeout(grace)
        options.signal?.removeEventListener('abort', cancel)
        this.#give(link)
      }
    }, options)
  }

  /** Stops the workers. Rejects running, waiting and later calls with `CANCELLED`. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#queue.close()
    clearTimeout(this.#idleTimer)
    await Promise.all(this.workers.map((link) => link.stop()))
  }

  #take(): WorkerLink<Table> {
    clearTimeout(this.#idleTimer)
    const alive = this.#idle.filter(({ isAlive }) => isAlive)
    const link = alive.at(-1) ?? this.#start()
    this.#idle = alive.slice(0, -1)
    this.#busy.add(link)
    return link
  }

  #give(link: WorkerLink<Table>): void {
    this.#busy.delete(link)
    if (link.isAlive) this.#idle = [...this.#idle, link]
    const { idleMs } = this.#options
    if (idleMs === undefined) return
    clearTimeout(this.#idleTimer)
    this.#idleTimer = setTimeout(() => {
      for (const idle of this.#idle) void idle.stop()
    }, idleMs).unref()
  }
}
