import { type CallToolResult, CausewayError, limitData, reviseError } from '@causeway/protocol'
import type { Caller } from '../dispatch/caller.ts'
import type { Operation } from '../dispatch/operation.ts'
import { type ByApp, InFlightCall, InFlightCalls } from './in-flight-calls.ts'
import { RateLimiter, type Rates } from './rate-limiter.ts'

interface LimitSettings {
  readonly rateLimits: Rates
  readonly deadlinesMs: ByApp
  readonly concurrency: ByApp
  readonly answerLimitChars: number
}

export class Limits {
  readonly #settings: LimitSettings
  readonly #rateLimiter: RateLimiter
  readonly #inFlight: InFlightCalls

  constructor(settings: LimitSettings) {
    this.#settings = settings
    this.#rateLimiter = new RateLimiter(settings.rateLimits)
    this.#inFlight = new InFlightCalls(settings)
  }

  get running(): ReadonlyMap<string, number> {
    return this.#inFlight.counts
  }

  /** Throws `RATE_LIMITED` or `OVERLOADED`. */
  start(app: string, caller: Caller, { kind, rateClass }: Operation): InFlightCall {
    // Calls from an app's routes and sockets count too.
    this.#rateLimiter.take(caller.clientKey ?? caller.sessionKey, kind === 'tool' ? app : '*', rateClass)
    if (kind === 'channel') return new InFlightCall(caller.cancellation)
    return this.#inFlight.start(app, caller.cancellation, caller.deadlineMs)
  }

  /** Throws `ANSWER_TOO_LARGE`. */
  checkResult({ kind }: Operation, result: unknown): void {
    if (kind !== 'tool') return
    const length = getTextLength(result)
    const { answerLimitChars } = this.#settings
    if (length === null || length <= answerLimitChars) return
    throw new CausewayError(
      'ANSWER_TOO_LARGE',
      `the answer has ${length} characters, ${answerLimitChars} are sent at most`,
      { data: { size_chars: length, limit_chars: answerLimitChars } },
    )
  }

  /** Shortens message and data to the result limit. */
  limitError(error: CausewayError): CausewayError {
    // Both share the limit, and each is sent twice.
    const limit = Math.floor(this.#settings.answerLimitChars / 4)
    const data = limitData(error.data, limit)
    if (error.message.length <= limit && data === error.data) return error
    return reviseError(error, { message: error.message.slice(0, limit), data, cause: error.cause })
  }

  report(): Readonly<Record<string, unknown>> {
    const { rateLimits, answerLimitChars, deadlinesMs, concurrency } = this.#settings
    return {
      rates: Object.fromEntries(
        Object.entries(rateLimits).map(([name, { perSecond, burst }]) => [
          name,
          { per_second: perSecond, burst },
        ]),
      ),
      answer_chars: answerLimitChars,
      deadlines_ms: deadlinesMs,
      concurrency,
      running: Object.fromEntries(this.#inFlight.counts),
      busy_clients: this.#rateLimiter.busyClients,
      rate_limited: this.#rateLimiter.rejected,
    }
  }

  close(): void {
    this.#inFlight.close()
  }
}

/** Length of the JSON; `null` for values other than tool results. */
export function getTextLength(result: unknown): number | null {
  const [first] = (result as Partial<CallToolResult> | undefined)?.content ?? []
  return first?.type === 'text' ? first.text.length : null
}
