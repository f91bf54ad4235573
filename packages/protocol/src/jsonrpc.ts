import type { CausewayError } from './causeway-error.ts'
import { toErrorObject } from './error-object.ts'

export type JsonObject = Readonly<Record<string, unknown>>

/** A JSON-RPC 2.0 id (https://www.jsonrpc.org/specification). MCP does not allow null. */
export type Id = string | number

export type Params = JsonObject

export interface Request {
  readonly jsonrpc: '2.0'
  readonly id: Id
  readonly method: string
  readonly params?: Params
}

export type Notification = Omit<Request, 'id'>

/** The id is null if the id of the request could not be read. */
export type Response =
  | { readonly jsonrpc: '2.0'; readonly id: Id; readonly result: unknown }
  | {
      readonly jsonrpc: '2.0'
      readonly id: Id | null
      readonly error: { readonly code: number; readonly message: string; readonly data?: unknown }
    }

export type Message = Request | Notification | Response

export type MessageKind = 'request' | 'notification' | 'response' | 'invalid'

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const asObject = (value: unknown): JsonObject => (isObject(value) ? value : {})

export const isId = (value: unknown): value is Id =>
  typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value))

export function classifyMessage(value: unknown): MessageKind {
  if (!isObject(value) || value.jsonrpc !== '2.0') return 'invalid'
  if (typeof value.method === 'string') {
    if (value.params !== undefined && !isObject(value.params)) return 'invalid'
    if (!('id' in value)) return 'notification'
    return isId(value.id) ? 'request' : 'invalid'
  }
  if (!('id' in value) || 'result' in value === 'error' in value) return 'invalid'
  return isId(value.id) || (value.id === null && 'error' in value) ? 'response' : 'invalid'
}

/** Returns null for a missing or malformed id (JSON-RPC 2.0, section 5). */
export const readId = (value: unknown): Id | null => (isObject(value) && isId(value.id) ? value.id : null)

export const createSuccess = (id: Id, result: unknown): Response => ({ jsonrpc: '2.0', id, result })

export const createFailure = (id: Id | null, code: number, message: string, data?: unknown): Response => ({
  jsonrpc: '2.0',
  id,
  error: data === undefined ? { code, message } : { code, message, data },
})

export const createErrorResponse = (id: Id | null, error: CausewayError): Response =>
  createFailure(id, error.definition.rpc, `${error.message}; ${error.remedy}`, toErrorObject(error))
