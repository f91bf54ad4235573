import { createCancelledError } from './messages.ts'
import type { CallOptions } from './worker-link.ts'

interface SharedCall<Result> {
  readonly promise: Promise<Result>
  readonly controller: AbortController
  readonly listeners: Set<NonNullable<CallOptions['progress']>>
  callerCount: number
}

/** Runs work once for all concurrent callers of a key. */
export class SharedCalls<Result> {
  readonly #calls = new Map<string, SharedCall<Result>>()

  /** Joins the running work of a key or starts `work`. Cancels it when the last caller aborts. */
  async run(
    key: string,
    work: (options: Required<CallOptions>) => Promise<Result>,
    { signal, progress }: CallOptions,
  ): Promise<Result> {
    if (signal?.aborted) throw createCancelledError()
    const call = this.#calls.get(key) ?? this.#start(key, work)
    const { promise: cancellation, reject } = Promise.withResolvers<never>()
    const cancel = () => reject(createCancelledError())
    signal?.addEventListener('abort', cancel, { once: true })
    if (progress) call.listeners.add(progress)
    call.callerCount += 1
    try {
      return await Promise.race([call.promise, cancellation])
    } finally {
      call.callerCount -= 1
      if (progress) call.listeners.delete(progress)
      signal?.removeEventListener('abort', cancel)
      if (call.callerCount === 0) {
        // A later caller must not join cancelled work.
        this.#remove(key, call)
        call.controller.abort(createCancelledError())
      }
    }
  }

  has(key: string): boolean {
    return this.#calls.has(key)
  }

  async stop(): Promise<void> {
    const calls = [...this.#calls.values()]
    for (const { controller } of calls) controller.abort(createCancelledError())
    await Promise.allSettled(calls.map(({ promise }) => promise))
  }

  #start(key: string, work: (options: Required<CallOptions>) => Promise<Result>): SharedCall<Result> {
    const controller = new AbortController()
    const listeners: SharedCall<Result>['listeners'] = new Set()
    const promise = work({
      signal: controller.signal,
      progress: (...progressArguments) => {
        for (const listener of listeners) listener(...progressArguments)
      },
    }).finally(() => this.#remove(key, call))
    const call: SharedCall<Result> = { promise, controller, listeners, callerCount: 0 }
    // The callers handle failures.
    promise.catch(() => undefined)
    this.#calls.set(key, call)
    return call
  }

  #remove(key: string, call: SharedCall<Result>): void {
    if (this.#calls.get(key) === call) this.#calls.delete(key)
  }
}
