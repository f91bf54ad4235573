import type { Input, Log, ToolContext } from '@causeway/app-kit'
import type { Logger } from 'pino'
import { formatTrace } from '../audit/trace.ts'
import type { Caller, Cancellation } from './caller.ts'

interface CallContextOptions extends Pick<ToolContext, 'store' | 'session' | 'now' | 'note'> {
  readonly cancellation: Cancellation
  readonly log: Logger
  readonly logFields: object
}

/** Creates `signal` on first access. Copies of the context contain the signal itself. */
export function createCallContext(caller: Caller, options: CallContextOptions): ToolContext {
  const {
    sharedSession,
    progress,
    notify,
    input = noInput,
    client,
    requestId,
    access,
    trace,
    project,
  } = caller
  const { clientKey = caller.sessionKey } = caller
  const { cancellation, store, session, now, note, log, logFields } = options
  const context: Omit<ToolContext, 'signal'> & { [cancellationKey]: Cancellation } = {
    [cancellationKey]: cancellation,
    store,
    session,
    sharedSession,
    log: new CallLog(log, logFields),
    progress,
    notify,
    input,
    now,
    client,
    clientKey,
    ...(access === undefined ? {} : { hasToken: true }),
    ...(access === undefined || access.name === '' ? {} : { holder: access.name }),
    ...(project === undefined ? {} : { project }),
    ...(trace === undefined ? {} : { traceparent: formatTrace(trace) }),
    requestId,
    note,
  }
  return Object.defineProperty(context, 'signal', signalProperty) as typeof context & Cancellation
}

export const noInput: Input = Object.freeze({ replies: {}, kept: undefined, can: () => false })

const cancellationKey = Symbol('cancellation')

/**
 * Shared by all contexts: V8 creates a hidden class for each literal with its own getter, which takes 10 to 30 %
 * of a call's time.
 */
const signalProperty: PropertyDescriptor & ThisType<{ readonly [cancellationKey]: Cancellation }> = {
  get() {
    return this[cancellationKey].signal
  },
  enumerable: true,
}

/** Creates the child logger on first use, because most calls log nothing. */
class CallLog implements Log {
  readonly #parent: Logger
  readonly #fields: object
  #child: Logger | undefined

  constructor(parent: Logger, fields: object) {
    this.#parent = parent
    this.#fields = fields
  }

  get #log(): Logger {
    this.#child ??= this.#parent.child(this.#fields)
    return this.#child
  }

  debug(fields: object, message: string): void {
    this.#log.debug(fields, message)
  }

  info(fields: object, message: string): void {
    this.#log.info(fields, message)
  }

  warn(fields: object, message: string): void {
    this.#log.warn(fields, message)
  }

  error(fields: object, message: string): void {
    this.#log.error(fields, message)
  }
}
