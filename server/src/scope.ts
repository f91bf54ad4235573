/**
 * Runs one call of an app: within its limits, with its store, the client's state and a log with the request's id; and one
 * line and one entry of the audit when it is done.
 */
import { type Ask, type Facts, type Input, isAsk, type ToolContext } from '@causeway/app-kit'
import { asCausewayError, type CallToolResult, CausewayError } from '@causeway/protocol'
import { dataFailure } from '@causeway/store'
import type { Logger } from 'pino'
import type { Audit } from './audit/audit.ts'
import { CallLog } from './call-log.ts'
import type { ClientStates } from './client-state.ts'
import type { Caller } from './core.ts'
import { briefFacts, subjectOf } from './domain/audit-entry.ts'
import { traceText } from './domain/trace.ts'
import { type Hosted, storeOf } from './host.ts'
import { withSignalOf } from './lazy-signal.ts'
import type { Flight } from './limit/flights.ts'
import { answerLength, type Limits } from './limit/limits.ts'
import type { Task } from './limit/task.ts'
import type { Metrics } from './metrics.ts'
import type { StorageHealth } from './storage-health.ts'

/** Opens the scope of one call. */
export interface Scope {
  run<T>(hosted: Hosted, caller: Caller, task: Task, work: (ctx: ToolContext) => Promise<T>): Promise<T>
}

/** Everything that a scope is made of. */
export interface ScopeParts {
  readonly states: ClientStates
  readonly limits: Limits
  readonly audit: Audit
  readonly metrics: Metrics
  readonly storage: Pick<StorageHealth, 'record'>
  readonly log: Logger
  readonly now: () => number
}

/** Makes the scope that every channel's calls run in. */
export function openScope(parts: ScopeParts): Scope {
  return {
    async run(hosted, caller, task, work) {
      const run = new Run(parts, hosted, caller, task)
      try {
        refuseForbidden(hosted.path, caller, task)
        const store = storeOf(hosted)
        const flight = parts.limits.begin(hosted.path, caller, task)
        const working = parts.states.use(caller.sessionKey, hosted.app, (session) =>
          work(run.context(store, session, flight)),
        )
        const answer = await flight.land(working)
        parts.limits.checkAnswer(task, answer)
        if (isAsk(answer)) refuseUnanswerable(answer, caller)
        run.finish('ok', answer)
        return answer
      } catch (error) {
        const failure = codedError(error, hosted.app.name, caller)
        parts.storage.record(hosted.app.name, failure)
        const coded = parts.limits.limitError(failure)
        run.finish(coded.code, undefined, coded)
        throw coded
      }
    },
  }
}

const noInput: Input = Object.freeze({ replies: {}, kept: undefined, can: () => false })

/** Codes that stand for a defect of ours, whose cause belongs into the log. */
const defects: ReadonlySet<string> = new Set(['INTERNAL', 'WORKER_LOST'])

/** Codes of calls that the server held back to protect itself. */
const heldBack: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED', 'DEADLINE_EXCEEDED'])

/** Throws `FORBIDDEN_SCOPE` for what the caller's token does not give. */
export function refuseForbidden(
  app: string,
  { access }: Pick<Caller, 'access'>,
  { needs, what }: Pick<Task, 'needs' | 'what'>,
): void {
  if (access === undefined || access.allows(app, needs)) return
  throw new CausewayError('FORBIDDEN_SCOPE', `the token does not give ${needs} on ${app}: ${what}`, {
    data: { app, needs },
  })
}

/** One call on its way. */
class Run {
  readonly #parts: ScopeParts
  readonly #hosted: Hosted
  readonly #caller: Caller
  readonly #task: Task
  readonly #started = performance.now()
  #facts: Facts | undefined

  constructor(parts: ScopeParts, hosted: Hosted, caller: Caller, task: Task) {
    this.#parts = parts
    this.#hosted = hosted
    this.#caller = caller
    this.#task = task
  }

  /** What the app gets. */
  context(store: unknown, session: unknown, flight: Flight): ToolContext {
    const { now } = this.#parts
    const { sharedSession, progress, notify, input = noInput, client, requestId, access } = this.#caller
    const { clientKey = this.#caller.sessionKey, trace } = this.#caller
    return withSignalOf<Omit<ToolContext, 'signal'>>(flight, {
      store,
      session,
      sharedSession,
      log: new CallLog(this.#parts.log, this.#names()),
      progress,
      notify,
      input,
      now,
      client,
      clientKey,
      ...(access === undefined || access.name === '' ? {} : { holder: access.name }),
      ...(trace === undefined ? {} : { traceparent: traceText(trace) }),
      requestId,
      note: (facts) => {
        this.#facts = { ...this.#facts, ...facts }
      },
    })
  }

  /** Tells log, metrics and audit how it went. */
  finish(code: string, answer: unknown, error?: CausewayError): void {
    const { metrics, log } = this.#parts
    const { app } = this.#hosted
    const { what } = this.#task
    const passedMs = performance.now() - this.#started
    const ms = Math.round(passedMs * 10) / 10
    metrics.call({ app: app.name, what, code, seconds: passedMs / 1000 })
    const fields = Object.assign(this.#names(), { what, ms, code, client: this.#caller.client.name })
    if (defects.has(code)) log.error({ ...fields, err: error?.cause ?? error }, 'call')
    else if (heldBack.has(code)) log.warn(fields, 'call')
    else log.info(fields, 'call')
    if (this.#task.kind === 'tool') this.#record(ms, code, answer)
  }

  #names() {
    const { requestId: request_id, trace } = this.#caller
    const { name } = this.#hosted.app
    return trace === undefined
      ? { app: name, request_id }
      : { app: name, request_id, trace_id: trace.traceId, parent_id: trace.parentId }
  }

  #record(ms: number, code: string, answer: unknown): void {
    const { audit, now } = this.#parts
    const { app, path } = this.#hosted
    const { channel, client, clientKey, sessionKey, requestId, requestBytes, trace } = this.#caller
    const { structuredContent } = (answer ?? {}) as Partial<CallToolResult>
    audit.add({
      at_ms: now(),
      app: app.name,
      service: app.service ?? path,
      tool: this.#task.what,
      channel,
      client: client.name,
      client_version: client.version,
      session: audit.sessionName(clientKey ?? sessionKey),
      request_id: requestId,
      trace_id: trace?.traceId ?? null,
      ms,
      code,
      request_bytes: requestBytes ?? null,
      answer_chars: answerLength(answer),
      subject: subjectOf(structuredContent, this.#task.args),
      facts: this.#facts === undefined ? null : briefFacts(this.#facts),
    })
  }
}

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
function codedError(error: unknown, app: string, { signal }: Caller): CausewayError {
  const { aborted, reason } = signal
  const gaveUp = aborted && (error === reason || (error as Error | undefined)?.name === 'AbortError')
  if (gaveUp) return new CausewayError('CANCELLED', 'the call was cancelled')
  // A full disk meets every statement of every store: it is told as what it is, here, once.
  return asCausewayError(isOfSqlite(error) ? dataFailure(error, `data of ${app}`) : error)
}

const isOfSqlite = (error: unknown): boolean =>
  error instanceof Error && /^SQLITE_/.test(String((error as { code?: unknown }).code))
