import {
  asObject,
  CausewayError,
  classifyMessage,
  createSuccess,
  type Id,
  type JsonObject,
  type Params,
  readClaimedVersion,
  readId,
} from '@causeway/protocol'
import { stringify } from './json.ts'

export const toLine = (message: object): Buffer => Buffer.from(stringify(message))

export const createResultLine = (id: Id, result: unknown): Buffer => toLine(createSuccess(id, result))

export const createRequestLine = (id: Id, method: string, params: object = {}): Buffer =>
  toLine({ jsonrpc: '2.0', id, method, params })

export const createNotificationLine = (method: string, params?: object): Buffer =>
  toLine({ jsonrpc: '2.0', method, ...(params !== undefined && { params }) })

export const lists = ['tools', 'prompts', 'resources'] as const

/** Returns the lists whose changes the server reports. */
export const findChangeableLists = ({ capabilities }: JsonObject): string[] =>
  lists.filter((list) => asObject(asObject(capabilities)[list]).listChanged === true)

export const createListChangedLine = (list: string): Buffer =>
  createNotificationLine(`notifications/${list}/list_changed`)

/** Whether a stage of the bridge created the id. */
export const isOwnId = (id: unknown): boolean => typeof id === 'string' && id.startsWith('causeway-bridge/')

export function createIds(purpose: string): () => string {
  let count = 0
  return () => {
    count += 1
    return `causeway-bridge/${purpose}/${count}`
  }
}

export interface ClientMessage {
  readonly bytes: Buffer
  readonly kind: 'request' | 'notification' | 'response'
  readonly id: Id | null
  /** Empty in a response. */
  readonly method: string
  readonly params: Params
  /** The protocol version in the `_meta` of a stateless message. */
  readonly claimedVersion: string | undefined
}

export type Line =
  | { readonly type: 'message'; readonly message: ClientMessage }
  | { readonly type: 'batch'; readonly bytes: Buffer; readonly messages: readonly ClientMessage[] }
  | { readonly type: 'rejected'; readonly id: Id | null; readonly error: CausewayError }

/** Parses a line. Splits a batch that contains a malformed element. */
export function readLine(bytes: Buffer): Line[] {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    const error = new CausewayError('PARSE_ERROR', 'the line is not JSON', { cause })
    return [{ type: 'rejected', id: null, error }]
  }
  if (!Array.isArray(value)) return [readMessage(value, bytes)]
  if (value.length === 0) return [rejectLine(value, 'a batch must not be empty')]
  const lines = value.map((element) => readMessage(element, toLine(element)))
  const messages = lines.flatMap((line) => (line.type === 'message' ? [line.message] : []))
  if (messages.length === lines.length) return [{ type: 'batch', bytes, messages }]
  return lines
}

function readMessage(value: unknown, bytes: Buffer): Line {
  const kind = classifyMessage(value)
  if (kind === 'invalid') return rejectLine(value, 'the line is not a JSON-RPC 2.0 message')
  const { method = '', params = {} } = value as { method?: string; params?: Params }
  return {
    type: 'message',
    message: { bytes, kind, id: readId(value), method, params, claimedVersion: readClaimedVersion(value) },
  }
}

const rejectLine = (value: unknown, message: string): Line => ({
  type: 'rejected',
  id: readId(value),
  error: new CausewayError('INVALID_REQUEST', message),
})
