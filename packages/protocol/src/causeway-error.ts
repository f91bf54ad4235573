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

/** Limits of an error, in characters: it may repeat what a client sent, but not all of it. */
const maxMessageLength = 4000
const maxStringLength = 16_000
const maxDataLength = 64_000
/** Levels of arrays and objects. */
const maxDataDepth = 100

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
    super(shorten(message, maxMessageLength), cause === undefined ? undefined : { cause })
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
  return { code, message, remedy, data: limitData(data), legacy_code: legacy ?? null, retryable }
}

/** Returns data of about `maxLength` characters of JSON at most, with `truncated: true` if some of it is left out. */
export function limitData(data: ErrorData, maxLength = maxDataLength): ErrorData {
  const copier = new LimitedCopier(maxLength)
  const copy = copier.copy(data) as ErrorData // an object stays an object
  return copier.isTruncated ? { ...copy, truncated: true } : data
}

/** Copies JSON values until a number of characters is used up. */
class LimitedCopier {
  #left: number
  /** Whether values were left out or shortened. */
  isTruncated = false

  constructor(maxLength: number) {
    this.#left = maxLength
  }

  copy(value: unknown, depth = 0): unknown {
    this.#left -= 4
    if (typeof value === 'string') return this.#copyString(value)
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
    if (depth === maxDataDepth) {
      this.isTruncated = true
      return null
    }
    return Array.isArray(value) ? this.#copyArray(value, depth) : this.#copyObject(value, depth)
  }

  #copyString(text: string): string {
    const copy = shorten(text, Math.min(maxStringLength, Math.max(this.#left, 0)))
    this.#left -= copy.length
    this.isTruncated ||= copy !== text
    return copy
  }

  #copyArray(items: readonly unknown[], depth: number): unknown[] {
    const copy: unknown[] = []
    for (const item of items) {
      if (this.#isUsedUp()) break
      copy.push(this.copy(item, depth + 1))
    }
    return copy
  }

  #copyObject(object: object, depth: number): object {
    const copy: [string, unknown][] = []
    for (const [name, member] of Object.entries(object)) {
      if (this.#isUsedUp()) break
      copy.push([this.#copyString(name), this.copy(member, depth + 1)])
    }
    return Object.fromEntries(copy)
  }

  #isUsedUp(): boolean {
    this.isTruncated ||= this.#left <= 0
    return this.#left <= 0
  }
}

/** Returns the text, cut after `maxLength` characters and marked with an ellipsis if it is longer. */
export const shorten = (text: string, maxLength: number): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength)}…`

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
  const whole = shorten(text, longestValue)
  return whole.includes('\n') ? `\n${whole}` : whole
}
