/** A request that costs a server far more than its size suggests, or did once, and the texts that it is made of. */

/** How a message of MCP travels: plain JSON, a session, a stateless message, the event stream of 2024-11-05. */
export type Transport = 'json' | 'session' | 'stateless' | 'events'

/** Where the text of `make` goes. */
export type Target =
  /** The text is the arguments of a tool, called by MCP or by plain HTTP. */
  | { readonly tool: string; readonly over?: Transport | 'rest' }
  /** The text is the params of a method of MCP. */
  | { readonly method: string; readonly over?: Transport }
  /** The text is a whole body. */
  | { readonly post: string; readonly type?: string; readonly headers?: Readonly<Record<string, string>> }
  /** The text is the only frame that is sent to a WebSocket. */
  | { readonly socket: string }

/** A call that an attack needs first, in the same session. */
export interface Preparation {
  readonly tool: string
  readonly args: Readonly<Record<string, unknown>>
}

/** One kind of request, at any size. */
export interface Attack {
  readonly name: string
  readonly target: Target
  /** Returns the text, of about this many bytes. */
  readonly make: (bytes: number) => string
  /** The larger of the two sizes that are measured, in bytes. Default: `attackBytes`. */
  readonly bytes?: number
  readonly before?: readonly Preparation[]
  /** Bytes that the answer may have. Default: `maxAnswerBytes`, since nearly all attacks are answered with an error. */
  readonly maxAnswerBytes?: number
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

/** The text as often as it fits. */
export const repeated = (text: string, bytes: number): string => text.repeat(Math.floor(bytes / text.length))

/** `[item,item,…]` */
export const list = (item: string, bytes: number): string => `[${repeated(`${item},`, bytes)}${item}]`

/** `open` as often as fits, then `close` as often. */
export const nested = (open: string, close: string, bytes: number): string => {
  const depth = Math.floor(bytes / (open.length + close.length))
  return `${open.repeat(depth)}1${close.repeat(depth)}`
}

/** `[item(0),item(1),…]` */
export const counted = (bytes: number, item: (index: number) => string): string => {
  const count = Math.floor(bytes / (item(100_000).length + 1))
  return `[${Array.from({ length: count }, (_, index) => item(index)).join(',')}]`
}

/** A text as a member of the arguments, `around` what is repeated to fill the bytes. */
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
