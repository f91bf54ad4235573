/** Whether a call may begin, and how long it may take: rates, concurrency and deadlines in one place. */
import { type CallToolResult, CausewayError, limitData } from '@causeway/protocol'
import type { Caller } from '../core.ts'
import { type ByApp, type Flight, openFlights } from './flights.ts'
import { openLimiter, type Rates } from './limiter.ts'
import type { Task } from './task.ts'

/** The limits of one server. */
export interface Limits {
  /** Throws `RATE_LIMITED` or `OVERLOADED`. */
  begin(app: string, caller: Caller, task: Task): Flight
  /** Throws `ANSWER_TOO_LARGE` for an answer that nobody should have to hold. */
  checkAnswer(task: Task, answer: unknown): void
  /** Returns the error with its message and data shortened to the limit of an answer. */
  limitError(error: CausewayError): CausewayError
  /** For `/health`: the settings, and how near the server is to them. */
  report(): Readonly<Record<string, unknown>>
  /** Calls that run now, by app. */
  readonly running: ReadonlyMap<string, number>
  close(): void
}

/** The settings that matter here. */
export interface LimitSettings {
  readonly rateLimits: Rates
  readonly deadlinesMs: ByApp
  readonly concurrency: ByApp
  readonly answerLimitChars: number
}

/** Makes the limits. */
export function openLimits({
  rateLimits,
  deadlinesMs,
  concurrency,
  answerLimitChars,
}: LimitSettings): Limits {
  const limiter = openLimiter(rateLimits)
  const flights = openFlights({ concurrency, deadlinesMs })
  return {
    begin(app, caller, { kind, limit }) {
      // The figures of an app are those of its tools, also when a route or a socket calls them.
      limiter.take(caller.clientKey ?? caller.sessionKey, kind === 'tool' ? app : '*', limit)
      return kind === 'channel' ? endless(caller) : flights.begin(app, caller, caller.deadlineMs)
    },
    checkAnswer({ kind }, answer) {
      if (kind !== 'tool') return
      const length = answerLength(answer)
      if (length === null || length <= answerLimitChars) return
      throw new CausewayError(
        'ANSWER_TOO_LARGE',
        `the answer has ${length} characters, ${answerLimitChars} are sent at most`,
        { data: { size_chars: length, limit_chars: answerLimitChars } },
      )
    },
    limitError(error) {
      // Message and data are sent twice: as text and as an object.
      const limit = Math.floor(answerLimitChars / 4)
      const data = limitData(error.data, limit)
      if (error.message.length <= limit && data === error.data) return error
      const { code, message, remedy, cause } = error
      return new CausewayError(code, message.slice(0, limit), { data, remedy, cause })
    },
    report: () => ({
      rates: Object.fromEntries(
        Object.entries(rateLimits).map(([name, { perSecond, burst }]) => [
          name,
          { per_second: perSecond, burst },
        ]),
      ),
      answer_chars: answerLimitChars,
      deadlines_ms: deadlinesMs,
      concurrency,
      running: Object.fromEntries(flights.running),
      busy_clients: limiter.clients,
      rate_limited: limiter.refused,
    }),
    running: flights.running,
    close: () => flights.close(),
  }
}

/** Characters of an answer as JSON; null for what is no answer of a tool. */
export function answerLength(answer: unknown): number | null {
  const [first] = (answer as Partial<CallToolResult> | undefined)?.content ?? []
  return first?.type === 'text' ? first.text.length : null
}

const endless = ({ signal }: Caller): Flight => ({ signal, land: (work) => work })
