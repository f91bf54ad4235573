import { CallQueue } from './call-queue.ts'
import { WorkerError } from './errors.ts'
import { createCancelledError, type MethodArgs, type MethodResult, type MethodTable } from './messages.ts'
import type { CallOptions, WorkerLink } from './worker-link.ts'
import { createWorkerMemory, type WorkerMemory } from './worker-memory.ts'

const maxStarts = 3

/**
 * A worker for calls without side effects. If a call crashes it, each of the other pending calls is repeated in
 * a worker of its own.
 */
export class SharedWorker<Table extends MethodTable<Table>> {
  readonly #start: () => Promise<WorkerLink<Table>>
  readonly #retryQueue = new CallQueue({
    name: 'repeated calls',
    maxRunning: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
  })
  #link: WorkerLink<Table> | undefined
  #startPromise: Promise<WorkerLink<Table>> | undefined
  #retryWorker: Promise<WorkerLink<Table>> | undefined
  #sentCount = 0
  #stopCount = 0

  /** `start` also opens the worker's data. */
  constructor(start: () => Promise<WorkerLink<Table>>, link?: WorkerLink<Table>) {
    this.#start = start
    this.#link = link
  }

  get link(): WorkerLink<Table> | undefined {
    return this.#link?.isAlive ? this.#link : undefined
  }

  get isBusy(): boolean {
    return (
      this.#startPromise !== undefined || this.#retryWorker !== undefined || (this.#link?.pending ?? 0) > 0
    )
  }

  get memory(): WorkerMemory {
    return createWorkerMemory(() => [this.link])
  }

  /**
   * Rejects with the method's error, `CANCELLED`, or `WORKER_LOST` if this call crashed its worker or every new worker
   * ends immediately.
   */
  async call<Name extends keyof Table & string>(
    method: Name,
    args: MethodArgs<Table, Name>,
    options: CallOptions = {},
  ): Promise<MethodResult<Table, Name>> {
    const stopCount = this.#stopCount
    let link = this.link
    // The memory guard may have stopped the worker.
    for (let startCount = 0; !link?.isAlive; startCount += 1) {
      if (startCount === maxStarts)
        throw new WorkerError('WORKER_LOST', 'new workers end before they are used')
      link = await this.#startOnce()
      if (stopCount !== this.#stopCount) throw createCancelledError()
    }
    const wasIdle = link.pending === 0
    this.#sentCount += 1
    const sentCount = this.#sentCount
    try {
      return (await link.call(method, args, options)) as MethodResult<Table, Name>
    } catch (error) {
      if (!WorkerError.is(error, 'WORKER_LOST')) throw error
      if (stopCount !== this.#stopCount) throw createCancelledError()
      const wasAlone = wasIdle && this.#sentCount === sentCount
      if (wasAlone) throw error
      return this.#retryQueue.run(async () => {
        if (stopCount !== this.#stopCount) throw createCancelledError()
        this.#retryWorker = this.#start()
        try {
          const retryWorker = await this.#retryWorker
          const isCancelled = stopCount !== this.#stopCount || options.signal?.aborted
          const result = isCancelled
            ? Promise.reject(createCancelledError())
            : retryWorker.call(method, args, options)
          return (await result.finally(() => retryWorker.stop())) as MethodResult<Table, Name>
        } finally {
          this.#retryWorker = undefined
        }
      }, options)
    }
  }

  /** Stops the workers. A later call starts a new one. */
  async stop(): Promise<void> {
    this.#stopCount += 1
    const workers = [this.#startPromise ?? this.#link, this.#retryWorker]
    this.#startPromise = undefined
    this.#link = undefined
    const results = await Promise.allSettled(workers)
    await Promise.all(
      results.map((result) => (result.status === 'fulfilled' ? result.value?.stop() : undefined)),
    )
  }

  #startOnce(): Promise<WorkerLink<Table>> {
    const stopCount = this.#stopCount
    this.#startPromise ??= this.#start()
      .then((link) => {
        if (stopCount === this.#stopCount) this.#link = link
        return link
      })
      .finally(() => {
        if (stopCount === this.#stopCount) this.#startPromise = undefined
      })
    return this.#startPromise
  }
}
