import { CausewayError } from '@causeway/protocol'
import type { Cancellation } from '../dispatch/caller.ts'

/** By app path; `*` for other apps. Unlimited without a value. */
export type ByApp = Readonly<Record<string, number>>

/** Maximum delay of a deadline. */
const deadlineCheckIntervalMs = 50

const overloadRetryAfterMs = 500

export class InFlightCalls {
  readonly #concurrency: ByApp
  readonly #deadlinesMs: ByApp
  readonly #counts = new Map<string, number>()
  readonly #withDeadline = new Set<InFlightCall>()
  readonly #timer: NodeJS.Timeout

  constructor({ concurrency, deadlinesMs }: { concurrency: ByApp; deadlinesMs: ByApp }) {
    this.#concurrency = concurrency
    this.#deadlinesMs = deadlinesMs
    this.#timer = setInterval(() => this.#checkDeadlines(), deadlineCheckIntervalMs).unref()
  }

  get counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  /** Throws `OVERLOADED`. `deadlineMs` can only shorten the app's deadline. */
  start(app: string, caller: Cancellation, deadlineMs = Number.POSITIVE_INFINITY): InFlightCall {
    const count = this.#counts.get(app) ?? 0
    const max = this.#concurrency[app] ?? this.#concurrency['*']
    if (max !== undefined && count >= max)
      throw new CausewayError('OVERLOADED', `${count} calls of ${app} are running`, {
        data: { retry_after_ms: overloadRetryAfterMs, app, running: count },
      })
    this.#counts.set(app, count + 1)
    const appDeadlineMs = this.#deadlinesMs[app] ?? this.#deadlinesMs['*'] ?? Number.POSITIVE_INFINITY
    const call = new InFlightCall(caller, Math.min(appDeadlineMs, deadlineMs), () => {
      this.#withDeadline.delete(call)
      this.#counts.set(app, (this.#counts.get(app) ?? 1) - 1)
    })
    if (call.expiresAt !== Number.POSITIVE_INFINITY) this.#withDeadline.add(call)
    return call
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #checkDeadlines(): void {
    const now = performance.now()
    for (const call of this.#withDeadline) if (call.expiresAt <= now) call.expire()
  }
}

/** Its signal aborts when the caller cancels or the deadline passes. */
export class InFlightCall implements Cancellation {
  /** On the clock of `performance.now()`. */
  readonly expiresAt: number
  readonly #caller: Cancellation
  readonly #deadlineMs: number
  readonly #onSettled: () => void
  #controller: AbortController | undefined
  #stopForwarding: (() => void) | undefined
  #timeout: CausewayError | undefined
  #reject: ((error: CausewayError) => void) | undefined

  constructor(caller: Cancellation, deadlineMs = Number.POSITIVE_INFINITY, onSettled = () => {}) {
    this.#caller = caller
    this.#deadlineMs = deadlineMs
    this.#onSettled = onSettled
    this.expiresAt = performance.now() + deadlineMs
  }

  get signal(): AbortSignal {
    if (this.#deadlineMs === Number.POSITIVE_INFINITY) return this.#caller.signal
    this.#controller ??= this.#createController()
    return this.#controller.signal
  }

  /** Rejects with `DEADLINE_EXCEEDED`. The call counts as running until `work` settles. */
  settle<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      work.then(
        (result) => {
          this.#release()
          resolve(result)
        },
        (error: unknown) => {
          this.#release()
          reject(error)
        },
      )
    })
  }

  expire(): void {
    if (this.#timeout !== undefined) return
    this.#timeout = new CausewayError(
      'DEADLINE_EXCEEDED',
      `the call took longer than ${this.#deadlineMs} ms`,
      { data: { deadline_ms: this.#deadlineMs } },
    )
    this.#reject?.(this.#timeout)
    this.#controller?.abort(this.#timeout)
  }

  #createController(): AbortController {
    const controller = new AbortController()
    const { signal } = this.#caller
    const forward = (): void => controller.abort(signal.reason)
    if (this.#timeout !== undefined) controller.abort(this.#timeout)
    else if (signal.aborted) forward()
    else {
      signal.addEventListener('abort', forward, { once: true })
      this.#stopForwarding = () => signal.removeEventListener('abort', forward)
    }
    return controller
  }

  #release(): void {
    this.#stopForwarding?.()
    this.#onSettled()
  }
}
