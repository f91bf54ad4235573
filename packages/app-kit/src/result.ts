import { type CallToolResult, type Content, structuredJson } from '@causeway/protocol'

export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Plain<T[Key]> }
    : T

const brand = Symbol.for('causeway.answer')

/** Data with additional content blocks. */
export interface Answer<Data> {
  readonly [brand]: true
  readonly data: Data
  readonly content: readonly Content[]
  /** The data as JSON, if already serialized. */
  readonly json?: string
}

/** Returns data that is already serialized, for example by a worker. */
export const fromJson = <Data>(json: string): Answer<Data> => ({
  [brand]: true,
  data: JSON.parse(json) as Data,
  content: [],
  json,
})

export const withContent = <Data>(data: Data, content: readonly Content[]): Answer<Data> => ({
  [brand]: true,
  data,
  content,
})

export function toAnswer(returned: unknown): Omit<Answer<unknown>, typeof brand> {
  const isAnswer = typeof returned === 'object' && returned !== null && brand in returned
  return isAnswer ? (returned as Answer<unknown>) : { data: returned, content: [] }
}

/** Returns data as `structuredContent` and, for older clients, as JSON text. */
export function toResult(
  data: Readonly<Record<string, unknown>>,
  { content, json = JSON.stringify(data) }: Pick<Answer<unknown>, 'content' | 'json'>,
): CallToolResult {
  return {
    content: [{ type: 'text', text: json }, ...content],
    structuredContent: data,
    [structuredJson]: json,
  }
}

export function addMember(result: CallToolResult, name: string, value: string): CallToolResult {
  const { structuredContent, content, [structuredJson]: json } = result
  if (structuredContent === undefined || json === undefined) return result
  const data = { ...structuredContent, [name]: value }
  const extendedJson = `${json.slice(0, -1)}${json === '{}' ? '' : ','}${JSON.stringify(name)}:${JSON.stringify(value)}}`
  return { ...result, ...toResult(data, { content: content.slice(1), json: extendedJson }) }
}

/** Replaces NaN and infinities with `null`. Copies only arrays and objects that change. */
export const replaceNonFinite = <T>(value: T): T => replaceIn(value) as T

/** @deprecated Use `replaceNonFinite`. */
export const finite = replaceNonFinite

function replaceIn(value: unknown): unknown {
  if (typeof value === 'number') return Number.isFinite(value) ? value : null
  if (typeof value !== 'object' || value === null) return value
  return Array.isArray(value) ? replaceInArray(value) : replaceInObject(value as Record<string, unknown>)
}

function replaceInArray(values: readonly unknown[]): readonly unknown[] {
  let copy: unknown[] | undefined
  for (const [index, value] of values.entries()) {
    const replacement = replaceIn(value)
    if (replacement === value) continue
    copy ??= [...values]
    copy[index] = replacement
  }
  return copy ?? values
}

function replaceInObject(value: Record<string, unknown>): Record<string, unknown> {
  let copy: Record<string, unknown> | undefined
  for (const [key, member] of Object.entries(value)) {
    const replacement = replaceIn(member)
    if (replacement === member) continue
    copy ??= { ...value }
    copy[key] = replacement
  }
  return copy ?? value
}
