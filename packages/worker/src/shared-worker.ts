import { CausewayError, isCausewayError } from '@causeway/protocol'
import { CallQueue } from './call-queue.ts'
import type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
import type { CallOptions, WorkerLink } from './start-worker.ts'

/**
 * A worker for calls without side effects that need the same opened data. If a call ends the worker, the other calls that
 * were in hand are repeated, each alone in a worker of its own: no call ends another.
 */
export class SharedWorker<Table extends MethodTable<Table>> {
  readonly #start: () => Promise<WorkerLink<Table>>
  /** One at a time: each repeated call has a worker of its own. */
  readonly #repeats = new CallQueue({
    name: 'repeated calls',
    maxRunning: 1,
    maxWaiting: Number.POSITIVE_INFINITY,
  })
  #link: WorkerLink<Table> | undefined
  #starting: Promise<WorkerLink<Table>> | undefined
  /** The worker of the call that is being repeated. */
  #repeating: Promise<WorkerLink<Table>> | undefined
  #sent = 0
  #stops = 0

  /** `start` starts a worker and opens its data; `link` is one that is open already. */
  constructor(start: () => Promise<WorkerLink<Table>>, link?: WorkerLink<Table>) {
    this.#start = start
    this.#link = link
  }

  /** The worker, if it runs. */
  get link(): WorkerLink<Table> | undefined {
    return this.#link?.isAlive ? this.#link : undefined
  }

  /** Whether the worker is starting or has calls in hand. */
  get isBusy(): boolean {
    return this.#starting !== undefined || this.#repeating !== undefined || (this.#link?.pending ?? 0) > 0
  }

  /** Rejects with what the method throws, `CANCELLED` on abort and on `stop`, and `WORKER_LOST` if this call ended its worker. */
  async call<Name extends MethodName<Table>>(
    method: Name,
    args: ArgsOf<Table, Name>,
    options: CallOptions = {},
  ): Promise<AnswerOf<Table, Name>> {
    const stops = this.#stops
    let link = this.link
    // A worker can also be stopped through its link, to release memory, before the call is sent.
    while (!link?.isAlive) {
      link = await this.#started()
      if (stops !== this.#stops) throw cancelled()
    }
    const isFirst = link.pending === 0
    this.#sent += 1
    const sent = this.#sent
    try {
      return (await link.call(method, args, options)) as AnswerOf<Table, Name>
    } catch (error) {
      const isLost = isCausewayError(error) && error.code === 'WORKER_LOST'
      const wasAlone = isFirst && this.#sent === sent
      if (isLost && stops !== this.#stops) throw cancelled()
      if (!isLost || wasAlone) throw error
      return this.#repeats.run(async () => {
        if (stops !== this.#stops) throw cancelled()
        this.#repeating = this.#start()
        try {
          const own = await this.#repeating
          const isStopped = stops !== this.#stops || options.signal?.aborted
          const result = isStopped ? Promise.reject(cancelled()) : own.call(method, args, options)
          return (await result.finally(() => own.stop())) as AnswerOf<Table, Name>
        } finally {
          this.#repeating = undefined
        }
      }, options)
    }
  }

  /** Stops the workers, also one that is starting; a later call starts another. */
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

  #started(): Promise<WorkerLink<Table>> {
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

const cancelled = () => new CausewayError('CANCELLED', 'the call was cancelled')
