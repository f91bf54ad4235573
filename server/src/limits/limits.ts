import { type CallToolResult, CausewayError, limitData, reviseError } from '@causeway/protocol'
import type { Caller } from '../dispatch/caller.ts'
import type { Operation } from '../dispatch/operation.ts'
import { InFlightCall } from './in-flight-calls.ts'
import { InFlightList } from './in-flight-list.ts'
import { RateLimiter, type Rates } from './rate-limiter.ts'

/** Limits by app path; `*` applies to all other apps. Default: no limit. */
type NumberByApp = Readonly<Record<string, number>>

interface LimitSettings {
  readonly rateLimits: Rates
  readonly deadlinesMs: NumberByApp
  readonly concurrency: NumberByApp
  readonly answerLimitChars: number
}

/** Maximum delay until a passed deadline takes effect. */
const deadlineCheckIntervalMs = 50

const overloadRetryAfterMs = 500

export class Limits {
  readonly #settings: LimitSettings
  readonly #rateLimiter: RateLimiter
  readonly #runningByApp = new Map<string, number>()
  readonly #callsWithDeadline = new InFlightList<InFlightCall>()
  readonly #timer: NodeJS.Timeout

  constructor(settings: LimitSettings) {
    this.#settings = settings
    this.#rateLimiter = new RateLimiter(settings.rateLimits)
    this.#timer = setInterval(() => this.#checkDeadlines(), deadlineCheckIntervalMs).unref()
  }

  get runningByApp(): ReadonlyMap<string, number> {
    return this.#runningByApp
  }

  /** Throws `RATE_LIMITED` or `OVERLOADED`. The caller's deadline can only shorten the app's. */
  start(app: string, caller: Caller, { kind, rateClass }: Operation): InFlightCall {
    this.#rateLimiter.take(caller.clientKey ?? caller.sessionKey, kind === 'tool' ? app : '*', rateClass)
    if (kind === 'channel') return new InFlightCall(caller.cancellation)
    const { concurrency, deadlinesMs } = this.#settings
    const runningCount = this.#runningByApp.get(app) ?? 0
    const max = concurrency[app] ?? concurrency['*']
    if (max !== undefined && runningCount >= max)
      throw new CausewayError('OVERLOADED', `${runningCount} calls of ${app} are running`, {
        data: { retry_after_ms: overloadRetryAfterMs, app, running: runningCount },
      })
    this.#runningByApp.set(app, runningCount + 1)
    const appDeadlineMs = deadlinesMs[app] ?? deadlinesMs['*'] ?? Number.POSITIVE_INFINITY
    const deadlineMs = Math.min(appDeadlineMs, caller.deadlineMs ?? Number.POSITIVE_INFINITY)
    const call = new InFlightCall(caller.cancellation, deadlineMs, () => {
      this.#callsWithDeadline.remove(call)
      this.#runningByApp.set(app, (this.#runningByApp.get(app) ?? 1) - 1)
    })
    if (deadlineMs !== Number.POSITIVE_INFINITY) this.#callsWithDeadline.add(call)
    return call
  }

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

  limitError(error: CausewayError): CausewayError {
    // Message and data share the limit, and each is sent twice.
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
      running: Object.fromEntries(this.#runningByApp),
      busy_clients: this.#rateLimiter.busyClients,
      rate_limited: this.#rateLimiter.rejectedCount,
    }
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #checkDeadlines(): void {
    const now = performance.now()
    for (const call of this.#callsWithDeadline) if (call.expiresAt <= now) call.expire()
  }
}

/** Returns the length of a tool result's JSON; `null` for other values. */
export function getTextLength(result: unknown): number | null {
  const [first] = (result as Partial<CallToolResult> | undefined)?.content ?? []
  return first?.type === 'text' ? first.text.length : null
}
