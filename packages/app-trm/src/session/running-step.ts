import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import type { EvalResult } from '../domain/evaluation/result.ts'
import type { StepRow } from '../store/rows.ts'

export interface Progress {
  readonly stage: string
  readonly done: number
  readonly total: number
}

interface WaitOptions {
  readonly waitS: number
  readonly signal: AbortSignal
  readonly onProgress: (progress: Progress) => void
  /** Whether aborting `signal` also cancels the evaluation. */
  readonly cancelOnAbort: boolean
}

interface StepParts {
  readonly step: StepRow
  readonly repo: string
  readonly total: number
  evaluate(signal: AbortSignal): Promise<EvalResult>
}

/** An evaluation, independent of the calls that wait for it. */
export class RunningStep {
  readonly step: StepRow
  /** Real path of the project. */
  readonly repo: string
  readonly completion: Promise<EvalResult>
  readonly #controller = new AbortController()
  readonly #listeners = new Set<(progress: Progress) => void>()
  #progress: Progress

  constructor({ step, repo, total, evaluate }: StepParts) {
    this.step = step
    this.repo = repo
    this.#progress = { stage: 'waiting', done: 0, total }
    this.completion = Promise.resolve().then(() => evaluate(this.#controller.signal))
    this.completion.catch(() => {}) // only calls that wait receive the error
  }

  get progress(): Progress {
    return this.#progress
  }

  report(progress: Progress): void {
    this.#progress = progress
    for (const listener of this.#listeners) listener(progress)
  }

  /** Cancels the evaluation and waits until its files are restored. */
  async cancel(reason?: CausewayError): Promise<void> {
    this.#controller.abort(reason)
    await this.completion.catch(() => {}) // the call that submitted the candidate receives the error
  }

  /** Returns `undefined` if the evaluation has not ended after the wait. Rejects with the evaluation's error. */
  async wait({ waitS, signal, onProgress, cancelOnAbort }: WaitOptions): Promise<EvalResult | undefined> {
    const waitController = new AbortController()
    const pause = sleep(waitS * 1000, undefined, {
      signal: AbortSignal.any([waitController.signal, signal]),
      ref: false,
    })
    this.#listeners.add(onProgress)
    onProgress(this.#progress)
    try {
      return await Promise.race([this.completion, pause])
    } catch (error) {
      if (!signal.aborted) throw error
      if (!cancelOnAbort) throw signal.reason
      await this.cancel(createCancelledError())
      return await this.completion
    } finally {
      waitController.abort()
      this.#listeners.delete(onProgress)
    }
  }
}

export const createCancelledError = (): CausewayError =>
  new CausewayError('CANCELLED', 'the evaluation was cancelled; the files are as before')
