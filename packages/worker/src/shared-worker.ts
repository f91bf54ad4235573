import { CallQueue } from './call-queue.ts'
import { WorkerError } from './errors.ts'
import { cancelledError, type MethodArgs, type MethodResult, type MethodTable } from './messages.ts'
import type { CallOptions, WorkerLink } from './worker-link.ts'
import { createWorkerMemory, type WorkerMemory } from './worker-memory.ts'

const maxStarts = 3

/**
 * A worker for calls without side effects. If a call crashes it, each of the other pending calls is repeated in
 * a worker of its own.
 */
export class SharedWorker<Table extends MethodTable<Table>> {
  readonly #start: () => Promise<WorkerLink<Table>>
  readonly #repeats = new CallQueue({
    name: 'repeated calls',
    maxRunning: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
  })
  #link: WorkerLink<Table> | undefined
  #starting: Promise<WorkerLink<Table>> | undefined
  #repeating: Promise<WorkerLink<Table>> | undefined
  #sent = 0
  #stops = 0

  /** `start` also opens the worker's data. */
  constructor(start: () => Promise<WorkerLink<Table>>, link?: WorkerLink<Table>) {
    this.#start = start
    this.#link = link
  }

  get link(): WorkerLink<Table> | undefined {
    return this.#link?.isAlive ? this.#link : undefined
  }

  get isBusy(): boolean {
    return this.#starting !== undefined || this.#repeating !== undefined || (this.#link?.pending ?? 0) > 0
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
    const stops = this.#stops
    let link = this.link
    // The memory guard may have stopped the worker.
    for (let starts = 0; !link?.isAlive; starts += 1) {
      if (starts === maxStarts) throw new WorkerError('WORKER_LOST', 'new workers end before they are used')
      link = await this.#startOnce()
      if (stops !== this.#stops) throw cancelledError()
    }
    const isFirst = link.pending === 0
    this.#sent += 1
    const sent = this.#sent
    try {
      return (await link.call(method, args, options)) as MethodResult<Table, Name>
    } catch (error) {
      if (!WorkerError.is(error, 'WORKER_LOST')) throw error
      if (stops !== this.#stops) throw cancelledError()
      const wasAlone = isFirst && this.#sent === sent
      if (wasAlone) throw error
      return this.#repeats.run(async () => {
        if (stops !== this.#stops) throw cancelledError()
        this.#repeating = this.#start()
        try {
          const own = await this.#repeating
          const isCancelled = stops !== this.#stops || options.signal?.aborted
          const result = isCancelled ? Promise.reject(cancelledError()) : own.call(method, args, options)
          return (await result.finally(() => own.stop())) as MethodResult<Table, Name>
        } finally {
          this.#repeating = undefined
        }
      }, options)
    }
  }

  /** Stops the workers. A later call starts a new one. */
  async stop(): Promise<void> {
    this.#stops += 1
    const workers = [this.#starting ?? this.#link, this.#repeating]
    this.#starting = undefined
    this.#link = undefined
    const results = await Promise.allSettled(workers)
    await Promise.all(
      results.map((result) => (result.status === 'fulfilled' ? result.value?.stop() : undefined)),
    )
  }

  #startOnce(): Promise<WorkerLink<Table>> {
    const stops = this.#stops
    this.#starting ??= this.#start()
      .then((link) => {
        if (stops === this.#stops) this.#link = link
        return link
      })
      .finally(() => {
        if (stops === this.#stops) this.#starting = undefined
      })
    return this.#starting
  }
}
