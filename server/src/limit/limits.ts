/** Whether a call may begin, and how long it may take: rates, concurrency and deadlines in one place. */
import type { AppTool } from '@causeway/app-kit'
import type { Caller } from '../core.ts'
import { type Scope, scopeOf } from '../domain/access.ts'
import { type ByApp, type Flight, openFlights } from './flights.ts'
import { openLimiter, type Rates } from './limiter.ts'

/** What a call is, as far as limits go. */
export interface Task {
  /** For log, metrics and audit: a tool's name, `resources/read`, `route`. */
  readonly what: string
  /** Answers and is done (`tool`, `method`), or a connection that lasts as long as its peers want (`channel`). */
  readonly kind: 'tool' | 'method' | 'channel'
  /** What a token must give for it. */
  readonly needs: Scope
  /** The class of the tool, where it counts in one of its own. */
  readonly limit?: string | undefined
  /** The arguments of a tool: the audit looks for the name of what they are about. */
  readonly args?: unknown
}

/** The task of a route or a socket. */
export type ChannelTask = Task & { readonly what: 'route' | 'socket'; readonly kind: 'channel' }

/** The task of serving a route or a socket. */
export const channelTask = (what: 'route' | 'socket', needs: Scope): ChannelTask => ({
  what,
  kind: 'channel',
  needs,
})

/** The task of calling a tool. */
export const toolTask = (
  { name, limit, annotations }: Pick<AppTool, 'name' | 'limit' | 'annotations'>,
  args: unknown,
): Task => ({
  what: name,
  kind: 'tool',
  needs: scopeOf(annotations),
  limit,
  args,
})

/** The task of answering another method of MCP. */
export const methodTask = (what: string): Task => ({ what, kind: 'method', needs: 'read' })

/** The limits of one server. */
export interface Limits {
  /** Throws `RATE_LIMITED` or `OVERLOADED`. */
  begin(app: string, caller: Caller, task: Task): Flight
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
}

/** Makes the limits. */
export function openLimits({ rateLimits, deadlinesMs, concurrency }: LimitSettings): Limits {
  const limiter = openLimiter(rateLimits)
  const flights = openFlights({ concurrency, deadlinesMs })
  return {
    begin(app, caller, { kind, limit }) {
      // The figures of an app are those of its tools, also when a route or a socket calls them.
      limiter.take(caller.clientKey ?? caller.sessionKey, kind === 'tool' ? app : '*', limit)
      return kind === 'channel' ? endless(caller) : flights.begin(app, caller.signal, caller.deadlineMs)
    },
    report: () => ({
      rates: rateLimits,
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

const endless = ({ signal }: Caller): Flight => ({ signal, land: (work) => work })
