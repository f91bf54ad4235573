/** Runs one call of an app: its store, the client's state, a log with the request's id, and one line when it is done. */
import { type App, type Ask, type Input, isAsk, type Log, type ToolContext } from '@causeway/app-kit'
import { asCausewayError, CausewayError } from '@causeway/protocol'
import type { Logger } from 'pino'
import type { ClientStates } from './client-state.ts'
import type { Caller } from './core.ts'
import { type Hosted, storeOf } from './host.ts'
import type { Metrics } from './metrics.ts'

/** Opens the scope of one call. */
export interface Scope {
  /** `what` names the work for log and metrics: a tool's name, `read`, `prompt`. */
  run<T>(hosted: Hosted, caller: Caller, what: string, work: (ctx: ToolContext) => Promise<T>): Promise<T>
}

/** Everything that a scope is made of. */
export interface ScopeParts {
  readonly states: ClientStates
  readonly metrics: Metrics
  readonly log: Logger
  readonly now: () => number
}

/** Makes the scope that every channel's calls run in. */
export function openScope({ states, metrics, log, now }: ScopeParts): Scope {
  return {
    async run(hosted, caller, what, work) {
      const started = performance.now()
      const { app } = hosted
      const callLog = callLogOf(log, app.name, caller.requestId)
      const finish = (error?: CausewayError): void => {
        const ms = performance.now() - started
        metrics.call({ app: app.name, what, code: error?.code ?? 'ok', seconds: ms / 1000 })
        const fields = {
          app: app.name,
          request_id: caller.requestId,
          what,
          ms: Math.round(ms * 10) / 10,
          code: error?.code ?? 'ok',
          client: caller.client.name,
        }
        if (error?.code === 'INTERNAL' || error?.code === 'WORKER_LOST')
          log.error({ ...fields, err: error.cause ?? error }, 'call')
        else log.info(fields, 'call')
      }
      try {
        const store = storeOf(hosted)
        const answer = await states.use(caller.sessionKey, app, (session) =>
          work(contextOf({ app, store, session, caller, log: callLog, now })),
        )
        if (isAsk(answer)) refuseUnanswerable(answer, caller)
        finish()
        return answer
      } catch (error) {
        const coded = codedError(error, caller.signal)
        finish(coded)
        throw coded
      }
    },
  }
}

/** A log that names the call in each line, made when the first is written: most calls write none of their own. */
function callLogOf(log: Logger, app: string, requestId: string): Log {
  let made: Logger | undefined
  const own = (): Logger => {
    made ??= log.child({ app, request_id: requestId })
    return made
  }
  return {
    debug: (fields, message) => own().debug(fields, message),
    info: (fields, message) => own().info(fields, message),
    warn: (fields, message) => own().warn(fields, message),
    error: (fields, message) => own().error(fields, message),
  }
}

const noInput: Input = Object.freeze({ replies: {}, kept: undefined, can: () => false })

/**
 * Throws `CLIENT_CANNOT_ANSWER` for questions that would never be answered. What a stateless client lacks is told by its
 * channel, under the number that its revision has for it.
 */
function refuseUnanswerable({ questions }: Ask, { input, era }: Caller): void {
  if (input !== undefined && era === 'modern') return
  const needs = Object.values(questions).filter((question) => input?.can(question) !== true)
  if (needs.length === 0) return
  const methods = [...new Set(needs.map(({ method }) => method))]
  throw new CausewayError('CLIENT_CANNOT_ANSWER', `the call needs a reply to ${methods.join(', ')}`, {
    data: { needs: methods },
  })
}

/** Work that gives up when told to throws the signal's reason, which the channel chose, or Node's `AbortError`. */
function codedError(error: unknown, { aborted, reason }: AbortSignal): CausewayError {
  const gaveUp = aborted && (error === reason || (error as Error | undefined)?.name === 'AbortError')
  return gaveUp ? new CausewayError('CANCELLED', 'the call was cancelled') : asCausewayError(error)
}

function contextOf(parts: {
  app: App
  store: unknown
  session: unknown
  caller: Caller
  log: Log
  now: () => number
}): ToolContext {
  const { store, session, caller, log, now } = parts
  return {
    store,
    session,
    sharedSession: caller.sharedSession,
    signal: caller.signal,
    progress: caller.progress,
    notify: caller.notify,
    input: caller.input ?? noInput,
    log,
    now,
    client: caller.client,
    requestId: caller.requestId,
  }
}
