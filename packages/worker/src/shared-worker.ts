import { CausewayError, isCausewayError } from '@causeway/protocol'
import type { AnswerOf, ArgsOf, MethodName, MethodTable } from './methods.ts'
import type { CallOptions, WorkerLink } from './start-worker.ts'

/**
 * A worker for calls without side effects that need the same opened data. If a call ends the worker, the other calls that
 * were in hand are repeated, each alone in a worker of its own: no call ends another.
 */
export class SharedWorker<Table extends MethodTable<Table>> {
  readonly #start: () => Promise<WorkerLink<Table>>
  readonly #stopped = new WeakSet<WorkerLink<Table>>()
  #link: WorkerLink<Table> | undefined
  #starting: Promise<WorkerLink<Table>> | undefined
  #repeats: Promise<unknown> = Promise.resolve()
  #sent = 0

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
    return this.#starting !== undefined || (this.#link?.pending ?? 0) > 0
  }

  /** Rejects with what the method throws, `CANCELLED` on abort, and `WORKER_LOST` if this call ended its worker. */
  async call<Name extends MethodName<Table>>(
    method: Name,
    args: ArgsOf<Table, Name>,
    options: CallOptions = {},
  ): Promise<AnswerOf<Table, Name>> {
    let link = this.link ?? (await this.#started())
    // It may be stopped between the two turns.
    while (!link.isAlive) link = await this.#started()
    const isFirst = link.pending === 0
    this.#sent += 1
    const sent = this.#sent
    try {
      return (await link.call(method, args, options)) as AnswerOf<Table, Name>
    } catch (error) {
      const isLost = isCausewayError(error) && error.code === 'WORKER_LOST'
      const wasAlone = isFirst && this.#sent === sent
      if (!isLost || wasAlone || this.#stopped.has(link)) throw error
      if (options.signal?.aborted) throw new CausewayError('CANCELLED', 'the call was cancelled')
      const repeated = await this.#repeat(async () => {
        options.signal?.throwIfAborted()
        const own = await this.#start()
        return own.call(method, args, options).finally(() => own.stop())
      })
      return repeated as AnswerOf<Table, Name>
    }
  }

  /** Stops the worker; a later call starts another. */
  async stop(): Promise<void> {
    if (this.#link === undefined) return
    this.#stopped.add(this.#link)
    await this.#link.stop()
  }

  async #started(): Promise<WorkerLink<Table>> {
    this.#starting ??= this.#start().finally(() => {
      this.#starting = undefined
    })
    this.#link = await this.#starting
    return this.#link
  }

  /** One at a time: each repeat has a worker. */
  #repeat<Result>(work: () => Promise<Result>): Promise<Result> {
    const repeat = this.#repeats.then(work, work)
    this.#repeats = repeat.catch(() => {})
    return repeat
  }
}
