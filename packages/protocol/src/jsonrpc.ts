/** JSON-RPC 2.0 envelopes (https://www.jsonrpc.org/specification) as MCP uses them. */
import { type CausewayError, errorObject } from './causeway-error.ts'
import { rowOf } from './errors.ts'
import { isObject } from './json.ts'

/** An id as a peer sent it; its type is kept. */
export type Id = string | number

/** Named arguments of a method. */
export type Params = Readonly<Record<string, unknown>>

/** A call that wants an answer. */
export interface Request {
  readonly jsonrpc: '2.0'
  readonly id: Id
  readonly method: string
  readonly params?: Params
}

/** A message that wants no answer. */
export interface Notification {
  readonly jsonrpc: '2.0'
  readonly method: string
  readonly params?: Params
}

/** The `error` member of a failed response. */
export interface RpcError {
  readonly code: number
  readonly message: string
  readonly data?: unknown
}

/** An answer, good or bad. The id is null when the request could not be read. */
export type Response =
  | { readonly jsonrpc: '2.0'; readonly id: Id; readonly result: unknown }
  | { readonly jsonrpc: '2.0'; readonly id: Id | null; readonly error: RpcError }

/** Any single message. */
export type Message = Request | Notification | Response

/** What a JSON value is as a message; `invalid` for anything that JSON-RPC 2.0 does not know. */
export type MessageKind = 'request' | 'notification' | 'response' | 'invalid'

/** True for an id that MCP allows: a string or a number (null and fractions of other types are not). */
export const isId = (value: unknown): value is Id =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))

/** Tells requests, notifications and responses apart without validating their params. */
export function kindOf(value: unknown): MessageKind {
  if (!isObject(value) || value.jsonrpc !== '2.0') return 'invalid'
  if (typeof value.method === 'string') {
    if (value.params !== undefined && !isObject(value.params)) return 'invalid'
    if (!('id' in value)) return 'notification'
    return isId(value.id) ? 'request' : 'invalid'
  }
  if (!('id' in value) || 'result' in value === 'error' in value) return 'invalid'
  return isId(value.id) || (value.id === null && 'error' in value) ? 'response' : 'invalid'
}

/** A good answer. */
export const success = (id: Id, result: unknown): Response => ({ jsonrpc: '2.0', id, result })

/** A bad answer with a number of one's own; prefer `failureOf` where there is a coded error. */
export const failure = (id: Id | null, code: number, message: string, data?: unknown): Response => ({
  jsonrpc: '2.0',
  id,
  error: data === undefined ? { code, message } : { code, message, data },
})

/** A coded error as a JSON-RPC error: number from the table, `data` is the error object. */
export const failureOf = (id: Id | null, error: CausewayError): Response =>
  failure(id, rowOf(error.code).rpc, `${error.message}; ${error.remedy}`, errorObject(error))

/** The id of a value that may be a broken request: kept when it is one, else null, as JSON-RPC 2.0 §5 wants. */
export const idOf = (value: unknown): Id | null => (isObject(value) && isId(value.id) ? value.id : null)
