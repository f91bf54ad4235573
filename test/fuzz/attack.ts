/** Requests that cost a server much more than their size suggests, now or in the past, and builders of their texts. */

/** Transport of an MCP message: plain JSON, a session, a stateless message, or the event stream of 2024-11-05. */
export type Transport = 'json' | 'session' | 'stateless' | 'events'

/** The use of the text from `make`. */
export type Target =
  /** The text is the arguments of a tool call over MCP or plain HTTP. */
  | { readonly tool: string; readonly over?: Transport | 'rest' }
  /** The text is the params of an MCP method. */
  | { readonly method: string; readonly over?: Transport }
  /** The text is a complete body. */
  | { readonly post: string; readonly type?: string; readonly headers?: Readonly<Record<string, string>> }
  /** The text is the only frame of a WebSocket connection. */
  | { readonly socket: string }

/** A call before an attack in the same session. */
export interface Preparation {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
  /** A member of the response whose value replaces `$<member>` in later calls. */
  readonly keep?: string
}

/** A kind of request of variable size. */
export interface Attack {
  readonly name: string
  readonly target: Target
  /** Returns a text of about this many bytes. */
  readonly make: (bytes: number) => string
  /** The larger of the two sizes that are measured, in bytes. Default: `attackBytes`. */
  readonly bytes?: number
  readonly before?: readonly Preparation[]
  /** Maximum size of the response in bytes. Default: `maxAnswerBytes`, because the response to most attacks is an error. */
  readonly maxAnswerBytes?: number
  /** A documented long call: an analysis with a large answer, which may be rejected, or an evaluation, which can be cancelled. */
  readonly isLong?: boolean
}

/** Default of `Attack.bytes`; the limit of a body is 16 MiB. */
export const attackBytes = 12 * 2 ** 20

/** Default of `Attack.maxAnswerBytes`. */
export const maxAnswerBytes = 128 * 2 ** 10

/** `{"k0":1,"k1":1,…}` */
export const members = (bytes: number, value = '1'): string => {
  const count = Math.floor(bytes / (10 + value.length))
  return `{${Array.from({ length: count }, (_, index) => `"k${index}":${value}`).join(',')}}`
}

/** The text, repeated to fill `bytes`. */
export const repeated = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))

/** `[item,item,…]` */
export const list = (item: string, bytes: number): string => `[${repeated(`${item},`, bytes)}${item}]`

/** `open`, repeated to fill `bytes`, then `close` as many times. */
export const nested = (open: string, close: string, bytes: number): string => {
  const depth = Math.floor(bytes / (open.length + close.length))
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/** `[item(0),item(1),…]` */
export const counted = (bytes: number, item: (index: number) => string): string => {
  const count = Math.floor(bytes / (item(100_000).length + 1))
  return `[${Array.from({ length: count }, (_, index) => item(index)).join(',')}]`
}

/** Arguments with one text member: repeated text that fills the bytes, inside `around`. */
export const textMember = (
  name: string,
  repeatedText: string,
  [start, end]: readonly [string, string] = ['', ''],
) => {
  return (bytes: number): string => {
    const size = JSON.stringify(repeatedText).length - 2
    return JSON.stringify({ [name]: start + repeatedText.repeat(Math.floor(bytes / size)) + end })
  }
}
