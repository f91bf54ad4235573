/** The error that may reach a client, and what a client sees of it. */
import { codes, type ErrorCode, rowOf } from './errors.ts'

/** Plain data that goes with an error; it is shown to clients. */
export type ErrorData = Readonly<Record<string, unknown>>

/** What a client gets as `_meta['causeway/error']` of a failed call and as the body of a REST answer. */
export interface ErrorObject {
  readonly code: ErrorCode
  readonly message: string
  readonly remedy: string
  readonly data: ErrorData
  /** The number of the original designs, where they promised one, else null. */
  readonly legacy_code: number | null
  readonly retryable: boolean
}

/** Where an error object stands in the `_meta` of a result. */
export const errorMetaKey = 'causeway/error'

/**
 * The one error that may reach a client.
 *
 * `message` says what is wrong: lower case, no period, paths and values last. `remedy` replaces the remedy of the
 * table where the place that throws knows better. `cause` is for the log alone.
 */
export class CausewayError extends Error {
  readonly code: ErrorCode
  readonly remedy: string
  readonly data: ErrorData

  constructor(
    code: ErrorCode,
    message: string,
    { data = {}, remedy, cause }: { data?: ErrorData; remedy?: string; cause?: unknown } = {},
  ) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CausewayError'
    this.code = code
    this.remedy = remedy ?? codes[code].remedy
    this.data = data
  }
}

/** True for a CausewayError, also for one made by another copy of this module. */
export function isCausewayError(error: unknown): error is CausewayError {
  return (
    error instanceof Error &&
    error.name === 'CausewayError' &&
    Object.hasOwn(codes, (error as { code?: PropertyKey }).code ?? '')
  )
}

/** Any thrown value as a CausewayError; what is not one becomes `INTERNAL` and keeps the original as cause. */
export function asCausewayError(error: unknown): CausewayError {
  if (isCausewayError(error)) return error
  return new CausewayError('INTERNAL', 'the call failed inside the server', { cause: error })
}

/** The error as a client sees it. */
export function errorObject(error: CausewayError): ErrorObject {
  const { retryable, legacy } = rowOf(error.code)
  const { code, message, remedy, data } = error
  return { code, message, remedy, data, legacy_code: legacy ?? null, retryable }
}

/** The one line for people and models: `CODE: what is wrong; what to do`. */
export const errorText = ({
  code,
  message,
  remedy,
}: Pick<ErrorObject, 'code' | 'message' | 'remedy'>): string => `${code}: ${message}; ${remedy}`

/** Most characters of one value in a text. */
const longestValue = 4000

/**
 * The text of a failed call: the line of `errorText`, then a line for each member of the data that the remedy names as
 * `data.<name>`. Clients show a model the text alone, and what it is told to use must be in there.
 */
export function answerText(error: Pick<ErrorObject, 'code' | 'message' | 'remedy' | 'data'>): string {
  const names = [...error.remedy.matchAll(/\bdata\.(\w+)/g)].map(([, name = '']) => name)
  const lines = [...new Set(names)].flatMap((name) => {
    const value = error.data[name]
    return value === undefined || value === null ? [] : [`data.${name}: ${shown(value)}`]
  })
  return [errorText(error), ...lines].join('\n')
}

/** Text as it is, below its name where it has several lines; everything else as JSON. */
function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const whole = text.length <= longestValue ? text : `${text.slice(0, longestValue)}…`
  return whole.includes('\n') ? `\n${whole}` : whole
}
