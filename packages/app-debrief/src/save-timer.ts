/** When a changed plot is written: a while after its last change, and in good time after its first. */

/** Longest time that a change waits for its save while others follow it, ms; a longer pause is a longer wait. */
const mostWaitMs = 2000
/** A save that failed is tried again after this, ms. */
const againMs = 5000

/** Does something after so many milliseconds; gives what calls it off. */
export type Schedule = (work: () => void, ms: number) => () => void

/** What a timer needs. */
export interface SaveTimerOptions {
  /** ms */
  readonly now: () => number
  /** Pause after the last change, ms. */
  readonly saveAfterMs: number
  readonly save: () => void
  /** By default the timers of the platform, which keep no process alive. */
  readonly schedule?: Schedule
}

/** The save that is to come. */
export interface SaveTimer {
  /** There is something to save, or the last save of it failed: more of it may follow first. */
  soon(hasFailed: boolean): void
  /** No save comes from now on. */
  stop(): void
}

/** Makes a timer; no save waits longer than it has to, however many changes follow. */
export function saveTimer({ now, saveAfterMs, save, schedule = byTimer }: SaveTimerOptions): SaveTimer {
  let callOff: (() => void) | undefined
  let firstMs = 0
  let isStopped = false
  return {
    soon(hasFailed) {
      if (isStopped) return
      if (callOff === undefined) firstMs = now()
      callOff?.()
      const pause = hasFailed ? againMs : saveAfterMs
      const most = hasFailed ? againMs : Math.max(mostWaitMs, saveAfterMs)
      const left = Math.max(0, most - (now() - firstMs))
      callOff = schedule(
        () => {
          callOff = undefined
          save()
        },
        Math.min(pause, left),
      )
    },
    stop() {
      isStopped = true
      callOff?.()
    },
  }
}

const byTimer: Schedule = (work, ms) => {
  const timer = setTimeout(work, ms).unref()
  return () => clearTimeout(timer)
}
