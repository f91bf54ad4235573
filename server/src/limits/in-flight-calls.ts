import { CausewayError } from '@causeway/protocol'
import type { Cancellation } from '../dispatch/caller.ts'

/** A call whose signal aborts when the caller cancels or the deadline passes. */
export class InFlightCall implements Cancellation {
  index = 0
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

  /** Rejects with `DEADLINE_EXCEEDED` at the deadline. The call counts as running until `work` settles. */
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
