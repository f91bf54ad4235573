import { type App, type Ask, addMember, type Facts, isAsk, type ToolContext } from '@causeway/app-kit'
import {
  asCausewayError,
  type CallToolResult,
  CausewayError,
  isObject,
  toErrorObject,
  toFileLimitError,
} from '@causeway/protocol'
import { toDataError } from '@causeway/store'
import type { Logger } from 'pino'
import type { Access } from '../access/access.ts'
import type { CallActivity } from '../activity/call-activity.ts'
import type { CallCapture } from '../activity/call-capture.ts'
import type { Audit } from '../audit/audit.ts'
import { type AuditEntry, findSubject, truncateFacts } from '../audit/audit-entry.ts'
import { type AppInstance, getStore } from '../host/app-host.ts'
import type { ClientStates } from '../host/client-states.ts'
import type { ErrorCatalog } from '../host/error-catalog.ts'
import type { InFlightCall } from '../limits/in-flight-calls.ts'
import { getTextLength, type Limits } from '../limits/limits.ts'
import type { Metrics } from '../monitoring/metrics.ts'
import type { StorageHealth } from '../monitoring/storage-health.ts'
import type { ToolEntry } from '../registry/mount.ts'
import { createCallContext } from './call-context.ts'
import type { Caller } from './caller.ts'
import { createToolOperation, type Operation } from './operation.ts'

interface CallRequest {
  readonly instance: AppInstance
  readonly caller: Caller
  readonly operation: Operation
}

interface CallRunnerOptions {
  readonly errors: ErrorCatalog
  readonly states: ClientStates
  readonly limits: Limits
  readonly audit: Audit
  readonly activity: CallActivity
  readonly capture: CallCapture
  readonly metrics: Metrics
  readonly storage: StorageHealth
  readonly log: Logger
  readonly now: () => number
}

/** Checks access and limits, provides the client's state, and records the outcome. */
export class CallRunner {
  readonly #options: CallRunnerOptions

  constructor(options: CallRunnerOptions) {
    this.#options = options
  }

  async run<T>(request: CallRequest, work: (ctx: ToolContext) => Promise<T>): Promise<T> {
    const { errors, states, limits, storage } = this.#options
    const { instance, caller, operation } = request
    const { app, path } = instance
    const call = new Call(this.#options, request)
    try {
      checkAccess(caller.access, path, operation)
      const store = getStore(instance)
      storage.requireFiles(instance)
      const inFlight = limits.start(path, caller, operation)
      const outcome = states.use(caller.sessionKey, app, (session) =>
        work(call.createContext(store, session, inFlight)),
      )
      const result = await inFlight.settle(outcome)
      // Checks again, because rows that were written to a removed file are lost.
      storage.requireFiles(instance)
      limits.checkResult(operation, result)
      if (isAsk(result)) checkCanAnswer(result, caller)
      call.finish('ok', result)
      return result
    } catch (cause) {
      const failure = errors.define(toCausewayError(cause, app.name, caller))
      storage.record(app.name, failure)
      const error = limits.limitError(failure)
      call.finish(error.code, undefined, error)
      throw error
    }
  }

  callTool({ instance, tool }: ToolEntry, args: unknown, caller: Caller): Promise<CallToolResult | Ask> {
    const operation = createToolOperation(tool, args)
    return this.run({ instance, caller, operation }, async (ctx) => {
      const result = await tool.call(args, ctx)
      if (isAsk(result) || caller.address === undefined) return result
      const view = findView(instance.app, args, result)
      return view === undefined ? result : addMember(result, 'viewer_url', `${caller.address.baseUrl}${view}`)
    })
  }
}

function findView(app: App, args: unknown, result: unknown): string | undefined {
  const { structuredContent = {} } = (result ?? {}) as Partial<CallToolResult>
  return app.view?.({ args: isObject(args) ? args : {}, data: structuredContent })
}

/** `app`: a path. Throws `FORBIDDEN_SCOPE`. */
export function checkAccess(
  access: Access | undefined,
  app: string,
  { name, scope }: Pick<Operation, 'name' | 'scope'>,
): void {
  if (access === undefined || access.allows(app, scope)) return
  throw new CausewayError('FORBIDDEN_SCOPE', `the token does not give ${scope} on ${app}: ${name}`, {
    data: { app, needs: scope },
  })
}

/** Errors that are defects of the server. Their cause is logged. */
const defects: ReadonlySet<string> = new Set(['INTERNAL', 'WORKER_LOST'])

const limitErrors: ReadonlySet<string> = new Set(['RATE_LIMITED', 'OVERLOADED', 'DEADLINE_EXCEEDED'])

class Call {
  readonly #options: CallRunnerOptions
  readonly #request: CallRequest
  readonly #startedAt = performance.now()
  #facts: Facts | undefined

  constructor(options: CallRunnerOptions, request: CallRequest) {
    this.#options = options
    this.#request = request
  }

  createContext(store: unknown, session: unknown, inFlight: InFlightCall): ToolContext {
    const { log, now } = this.#options
    return createCallContext(this.#request.caller, {
      cancellation: inFlight,
      store,
      session,
      now,
      log,
      logFields: this.#logFields(),
      note: (facts) => {
        this.#facts = { ...this.#facts, ...facts }
      },
    })
  }

  finish(code: string, result: unknown, error?: CausewayError): void {
    const { metrics, log } = this.#options
    const { instance, caller, operation } = this.#request
    const { name: operationName, kind } = operation
    const elapsedMs = performance.now() - this.#startedAt
    const ms = Math.round(elapsedMs * 10) / 10
    metrics.recordCall({ app: instance.app.name, operationName, code, seconds: elapsedMs / 1000 })
    const fields = Object.assign(this.#logFields(), {
      what: operationName,
      ms,
      code,
      client: caller.client.name,
    })
    if (defects.has(code)) log.error({ ...fields, err: error?.cause ?? error }, 'call')
    else if (limitErrors.has(code)) log.warn(fields, 'call')
    else log.info(fields, 'call')
    if (kind === 'tool') this.#audit(ms, code, result, error)
  }

  #logFields() {
    const { instance, caller } = this.#request
    const { requestId: request_id, trace } = caller
    const { name } = instance.app
    return trace === undefined
      ? { app: name, request_id }
      : { app: name, request_id, trace_id: trace.traceId, parent_id: trace.parentId }
  }

  #audit(ms: number, code: string, result: unknown, error: CausewayError | undefined): void {
    const { audit, activity, capture, now } = this.#options
    const { instance, caller, operation } = this.#request
    const { app, path } = instance
    const { channel, client, clientKey, sessionKey, requestId, requestBytes, trace } = caller
    const { structuredContent } = (result ?? {}) as Partial<CallToolResult>
    const entry: AuditEntry = {
      at_ms: now(),
      app: app.name,
      service: app.service ?? path,
      tool: operation.name,
      channel,
      client: client.name,
      client_version: client.version,
      session: audit.getSessionName(clientKey ?? sessionKey),
      request_id: requestId,
      trace_id: trace?.traceId ?? null,
      ms,
      code,
      request_bytes: requestBytes ?? null,
      answer_chars: getTextLength(result),
      subject: findSubject(structuredContent, operation.args),
      facts: this.#facts === undefined ? null : truncateFacts(this.#facts),
    }
    audit.add(entry)
    activity.add({ entry, view: findView(app, operation.args, result) })
    capture.add(entry, operation.args, error === undefined ? result : toErrorObject(error))
  }
}

/** Throws `CLIENT_CANNOT_ANSWER`. For stateless clients, the transport sends the error of MCP 2026-07-28 instead. */
function checkCanAnswer({ questions }: Ask, { input, era }: Caller): void {
  if (input !== undefined && era === 'modern') return
  const unsupportedQuestions = Object.values(questions).filter((question) => input?.can(question) !== true)
  if (unsupportedQuestions.length === 0) return
  const methods = [...new Set(unsupportedQuestions.map(({ method }) => method))]
  throw new CausewayError('CLIENT_CANNOT_ANSWER', `the call needs a reply to ${methods.join(', ')}`, {
    data: { needs: methods },
  })
}

function toCausewayError(error: unknown, app: string, { cancellation }: Caller): CausewayError {
  const { aborted, reason } = cancellation.signal
  const isAbort = error === reason || (error as Error | undefined)?.name === 'AbortError'
  if (aborted && isAbort) return new CausewayError('CANCELLED', 'the call was cancelled')
  const fileLimit = toFileLimitError(error)
  if (fileLimit !== undefined) return fileLimit
  // Any statement can fail on a full or damaged disk.
  const isSqlite = error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')
  return asCausewayError(isSqlite ? toDataError(error, `data of ${app}`) : error)
}
