import { type CausewayError, type ErrorData, shorten } from './causeway-error.ts'

/** `_meta['causeway/error']` of a result, or the body of a REST response. */
export interface ErrorObject {
  readonly code: string
  readonly message: string
  readonly remedy: string
  readonly data: ErrorData
  readonly legacy_code: number | null
  readonly retryable: boolean
}

export const errorMetaKey = 'causeway/error'

const maxStringLength = 16_000
const maxDataLength = 64_000
const maxDataDepth = 100

export function toErrorObject({ code, message, remedy, data, definition }: CausewayError): ErrorObject {
  const { retryable, legacyCode = null } = definition
  return { code, message, remedy, data: limitData(data), legacy_code: legacyCode, retryable }
}

/** Shortens data to about `maxLength` characters of JSON and adds `truncated: true`. */
export function limitData(data: ErrorData, maxLength = maxDataLength): ErrorData {
  const copier = new LimitedCopier(maxLength)
  const copy = copier.copy(data) as ErrorData // the copy of an object is an object
  return copier.isTruncated ? { ...copy, truncated: true } : data
}

class LimitedCopier {
  #remainingLength: number
  isTruncated = false

  constructor(maxLength: number) {
    this.#remainingLength = maxLength
  }

  copy(value: unknown, depth = 0): unknown {
    this.#remainingLength -= 4
    if (typeof value === 'string') return this.#copyString(value)
    if (typeof value !== 'object' || value === null || 'toJSON' in value) return value
    if (depth === maxDataDepth) {
      this.isTruncated = true
      return null
    }
    return Array.isArray(value) ? this.#copyArray(value, depth) : this.#copyObject(value, depth)
  }

  #copyString(text: string): string {
    const copy = shorten(text, Math.min(maxStringLength, Math.max(this.#remainingLength, 0)))
    this.#remainingLength -= copy.length
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
    this.isTruncated ||= this.#remainingLength <= 0
    return this.#remainingLength <= 0
  }
}

export const formatErrorText = ({
  code,
  message,
  remedy,
}: Pick<ErrorObject, 'code' | 'message' | 'remedy'>): string => `${code}: ${message}; ${remedy}`

const maxValueLength = 4000

/** Returns the text with the data that the remedy names, because models do not see `data`. */
export const formatAnswerText = (error: Pick<ErrorObject, 'code' | 'message' | 'remedy' | 'data'>): string =>
  [formatErrorText(error), ...listNamedData(error)].join('\n')

export function listNamedData({ remedy, data }: Pick<ErrorObject, 'remedy' | 'data'>): readonly string[] {
  const names = [...remedy.matchAll(/\bdata\.(\w+)/g)].map(([, name = '']) => name)
  return [...new Set(names)].flatMap((name) => {
    const value = data[name]
    return value === undefined || value === null ? [] : [`data.${name}: ${formatValue(value)}`]
  })
}

function formatValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '')
  const shortText = shorten(text, maxValueLength)
  return shortText.includes('\n') ? `\n${shortText}` : shortText
}
