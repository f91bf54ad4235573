const textFields = ['app', 'tool', 'code', 'client', 'session', 'subject'] as const

export type TextField = (typeof textFields)[number]

export type CallCondition = { readonly isNegated: boolean } & (
  | { readonly kind: 'failed' }
  | { readonly kind: 'ms'; readonly sign: '<' | '>'; readonly limit: number }
  | {
      readonly kind: 'text'
      readonly field: TextField | 'any'
      /** ASCII letters are in lower case. */
      readonly text: string
    }
)

export type CallFilter = readonly CallCondition[]

interface FilteredCall {
  readonly app: string
  readonly tool: string
  /** `ok` or an error code. */
  readonly code: string
  readonly client: string
  readonly client_version: string
  readonly session: string
  readonly subject: string | null
  readonly ms: number
}

const maxLength = 500
const maxConditions = 20

/** The client name that every browser sends. */
const browserClient = 'Mozilla'

export const isBrowser = (client: string): boolean => client === browserClient

export const formatClient = (client: string): string => (isBrowser(client) ? 'browser' : client)

/**
 * Parses `app:Replay tool:get_frame code:* ms:>50`. A value matches a substring of its field, or of any field
 * if none is named. `code:*` matches any error, and a leading `-` negates. Throws `SyntaxError`.
 */
export function parseCallFilter(text: string): CallFilter {
  if (text.length > maxLength) throw new SyntaxError(`is longer than ${maxLength} characters`)
  const words = text.split(/\s+/).filter((word) => word !== '' && word !== '-')
  if (words.length > maxConditions) throw new SyntaxError(`has more than ${maxConditions} conditions`)
  return words.map(parseWord)
}

function parseWord(word: string): CallCondition {
  const isNegated = word.startsWith('-')
  const condition = isNegated ? word.slice(1) : word
  const [, name, value = condition] = /^([a-z_]{2,}):(.*)$/.exec(condition) ?? []
  if (name === undefined) return { isNegated, kind: 'text', field: 'any', text: foldCase(value) }
  if (value === '') throw new SyntaxError(`has no value after ${name}:`)
  if (name === 'ms') return { isNegated, kind: 'ms', ...parseLimit(value) }
  if (name === 'code' && value === '*') return { isNegated, kind: 'failed' }
  const field = textFields.find((textField) => textField === name)
  if (field !== undefined) return { isNegated, kind: 'text', field, text: foldCase(value) }
  throw new SyntaxError(
    `has the unknown field ${name.slice(0, 40)}; the fields are ${textFields.join(', ')} and ms, and subject:${name.slice(0, 40)}: searches a subject`,
  )
}

function parseLimit(value: string): { readonly sign: '<' | '>'; readonly limit: number } {
  const [, sign, limit] = /^([<>]?)=?(\d+(?:\.\d+)?)$/.exec(value) ?? []
  if (limit === undefined)
    throw new SyntaxError(`has ms:${value.slice(0, 40)}, which is not a duration such as ms:>50 or ms:<2.5`)
  return { sign: sign === '<' ? '<' : '>', limit: Number(limit) }
}

export const matchesCall = (filter: CallFilter, call: FilteredCall): boolean =>
  filter.every((condition) => meetsCondition(condition, call) !== condition.isNegated)

/** Whether only failed calls can match. */
export const isFailedOnly = (filter: CallFilter): boolean =>
  filter.some(
    ({ isNegated, ...condition }) =>
      (condition.kind === 'failed' && !isNegated) ||
      (condition.kind === 'text' &&
        condition.field === 'code' &&
        'ok'.includes(condition.text) === isNegated),
  )

function meetsCondition(condition: CallCondition, call: FilteredCall): boolean {
  if (condition.kind === 'failed') return call.code !== 'ok'
  if (condition.kind === 'ms')
    return condition.sign === '<' ? call.ms < condition.limit : call.ms > condition.limit
  const { field, text } = condition
  const fields = field === 'any' ? textFields : [field]
  return fields.some((textField) => foldCase(getText(call, textField)).includes(text))
}

const getText = (call: FilteredCall, field: TextField): string =>
  field === 'client' ? `${formatClient(call.client)} ${call.client_version}` : (call[field] ?? '')

/** Converts only ASCII letters to lower case, as SQLite does. */
const foldCase = (text: string): string => text.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
