/** What a tool's `run` gives back, and how it becomes the answer of `tools/call`. */
import type { CallToolResult, Content } from '@causeway/protocol'

/** Plain data with every array and object readonly, so that frozen rows can be returned as they are. */
export type Plain<T> = T extends readonly (infer Item)[]
  ? readonly Plain<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Plain<T[Key]> }
    : T

const brand = Symbol.for('causeway.answer')

/** Data together with content that is not data: pictures, links. */
export interface Answer<Data> {
  readonly [brand]: true
  readonly data: Data
  readonly content: readonly Content[]
}

/** Adds pictures or links to the data of an answer; the data stays what the output schema says. */
export const withContent = <Data>(data: Data, content: readonly Content[]): Answer<Data> => ({
  [brand]: true,
  data,
  content,
})

/** What a tool returned, taken apart. */
export function unpack(returned: unknown): { data: unknown; content: readonly Content[] } {
  if (typeof returned === 'object' && returned !== null && brand in returned) {
    const { data, content } = returned as Answer<unknown>
    return { data, content }
  }
  return { data: returned, content: [] }
}

/** An answer on the wire: the data as `structuredContent` and, for older clients, as JSON text; then the extras. */
export function result(data: Readonly<Record<string, unknown>>, content: readonly Content[]): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(data) }, ...content], structuredContent: data }
}
