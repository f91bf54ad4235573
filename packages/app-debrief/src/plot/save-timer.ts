/** Maximum time from the first change to a save, unless `saveAfterMs` is longer. */
const maxWaitMs = 2000
const retryMs = 5000

type Schedule = (work: () => void, ms: number) => () => void

interface SaveTimerOptions {
  /** Unix time in milliseconds. */
  readonly now: () => number
  readonly saveAfterMs: number
  readonly save: () => void
  /** By default, timers that do not keep the process running. */
  readonly schedule?: Schedule
}

export class SaveTimer {
  readonly #options: Required<SaveTimerOptions>
  #cancel: (() => void) | undefined
  #firstChangeMs = 0
  #isStopped = false

  constructor(options: SaveTimerOptions) {
    this.#options = { schedule: scheduleTimeout, ...options }
  }

  schedule(hasFailed: boolean): void {
    if (this.#isStopped) return
    const { now, saveAfterMs, save, schedule } = this.#options
    if (this.#cancel === undefined) this.#firstChangeMs = now()
    this.#cancel?.()
    const delayMs = hasFailed ? retryMs : saveAfterMs
    const maxDelayMs = hasFailed ? retryMs : Math.max(maxWaitMs, saveAfterMs)
    const remainingMs = Math.max(0, maxDelayMs - (now() - this.#firstChangeMs))
    this.#cancel = schedule(
      () => {
        this.#cancel = undefined
        save()
      },
      Math.min(delayMs, remainingMs),
    )
  }

  stop(): void {
    this.#isStopped = true
    this.#cancel?.()
  }
}

const scheduleTimeout: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}
