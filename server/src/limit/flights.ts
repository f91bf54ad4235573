/** The calls that are being worked on: how many of one app at once, and for how long. */
import { CausewayError } from '@causeway/protocol'
import type { Abortable } from '../lazy-signal.ts'
import { Roster } from '../roster.ts'

/** Figures by app path, `*` for the others. Absent: no limit. */
export type ByApp = Readonly<Record<string, number>>

/** One call being worked on. */
export interface Flight {
  /** Aborts as the caller's signal does, and when the deadline passes. */
  readonly signal: AbortSignal
  /** What the work gives, or `DEADLINE_EXCEEDED` when it is late; the call counts as running until the work has ended. */
  land<T>(work: Promise<T>): Promise<T>
}

/** The calls under way. */
export interface Flights {
  /** Throws `OVERLOADED` where as many calls of the app run as may. `deadlineMs` shortens the deadline of the app. */
  begin(app: string, caller: Abortable, deadlineMs?: number): Flight
  /** Calls that run now, by app. */
  readonly running: ReadonlyMap<string, number>
  close(): void
}

/** How often deadlines are looked at, ms: the most that one is told late. */
const sweepMs = 50

/** A caller that was refused for concurrency is told to come again after this time. */
const retryMs = 500

/** Makes the count, at zero. */
export function openFlights({
  concurrency,
  deadlinesMs,
}: {
  concurrency: ByApp
  deadlinesMs: ByApp
}): Flights {
  const running = new Map<string, number>()
  const timed = new Roster<TimedFlight>()
  const sweep = setInterval(() => {
    const now = performance.now()
    for (const flight of timed) if (flight.endsAt <= now) flight.expire()
  }, sweepMs).unref()

  return {
    running,
    begin(app, caller, deadlineMs = Number.POSITIVE_INFINITY) {
      const count = running.get(app) ?? 0
      const most = concurrency[app] ?? concurrency['*']
      if (most !== undefined && count >= most)
        throw new CausewayError('OVERLOADED', `${count} calls of ${app} are running`, {
          data: { retry_after_ms: retryMs, app, running: count },
        })
      running.set(app, count + 1)
      const ms = Math.min(deadlinesMs[app] ?? deadlinesMs['*'] ?? Number.POSITIVE_INFINITY, deadlineMs)
      const flight = new TimedFlight(caller, ms, () => {
        timed.remove(flight)
        running.set(app, (running.get(app) ?? 1) - 1)
      })
      if (ms !== Number.POSITIVE_INFINITY) timed.add(flight)
      return flight
    },
    close: () => clearInterval(sweep),
  }
}

/** Most calls never look at their signal: it is made when they do. */
class TimedFlight implements Flight {
  place = 0
  readonly endsAt: number
  readonly #caller: Abortable
  readonly #ms: number
  readonly #ended: () => void
  #controller: AbortController | undefined
  #pass: (() => void) | undefined
  #late: CausewayError | undefined
  #reject: ((error: CausewayError) => void) | undefined

  constructor(caller: Abortable, ms: number, ended: () => void) {
    this.#caller = caller
    this.#ms = ms
    this.#ended = ended
    this.endsAt = performance.now() + ms
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal
    const caller = this.#caller.signal
    if (this.#ms === Number.POSITIVE_INFINITY) return caller
    const controller = new AbortController()
    this.#controller = controller
    if (this.#late !== undefined) controller.abort(this.#late)
    else if (caller.aborted) controller.abort(caller.reason)
    else {
      this.#pass = () => controller.abort(caller.reason)
      caller.addEventListener('abort', this.#pass, { once: true })
    }
    return controller.signal
  }

  land<T>(work: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      work.then(
        (given) => {
          this.#end()
          resolve(given)
        },
        (error: unknown) => {
          this.#end()
          reject(error)
        },
      )
    })
  }

  /** Tells the caller, and the work, that the time is over. */
  expire(): void {
    if (this.#late !== undefined) return
    const error = new CausewayError('DEADLINE_EXCEEDED', `the call took longer than ${this.#ms} ms`, {
      data: { deadline_ms: this.#ms },
    })
    this.#late = error
    this.#reject?.(error)
    this.#controller?.abort(error)
  }

  #end(): void {
    if (this.#pass !== undefined) this.#caller.signal.removeEventListener('abort', this.#pass)
    this.#ended()
  }
}
