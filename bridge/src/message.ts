import { CausewayError, claimedVersion, type Id, idOf, kindOf, type Params } from '@causeway/protocol'

/** One message of the client: its bytes as they came, and what the bridge must know of it. */
export interface Incoming {
  readonly bytes: Buffer
  readonly kind: 'request' | 'notification' | 'response'
  /** The id of a request or response. */
  readonly id: Id | null
  /** The method of a request or notification, else empty. */
  readonly method: string
  readonly params: Params
  /** The protocol version that the message claims for itself: it is one of the stateless era. */
  readonly claimed: string | undefined
}

/** What cannot be forwarded, and the id to say so under. */
export interface Rejection {
  readonly id: Id | null
  readonly error: CausewayError
}

/** One line of the client. */
export type Line =
  | { readonly type: 'message'; readonly message: Incoming }
  | { readonly type: 'batch'; readonly bytes: Buffer; readonly messages: readonly Incoming[] }
  | { readonly type: 'rejected'; readonly rejection: Rejection }

/** Reads a line. A batch with a broken element comes as its good messages and the rejections of the others. */
export function readLine(bytes: Buffer): Line[] {
  let value: unknown
  try {
    value = JSON.parse(bytes.toString('utf8'))
  } catch (cause) {
    const error = new CausewayError('PARSE_ERROR', 'the line is not JSON', { cause })
    return [{ type: 'rejected', rejection: { id: null, error } }]
  }
  if (!Array.isArray(value)) return [readMessage(value, bytes)]
  if (value.length === 0) return [rejected(value, 'a batch must not be empty')]
  const lines = value.map(readElement)
  const messages = lines.flatMap((line) => (line.type === 'message' ? [line.message] : []))
  if (messages.length === lines.length) return [{ type: 'batch', bytes, messages }]
  return lines
}

/** An element of a batch as a message of its own. */
function readElement(element: unknown): Line {
  if (kindOf(element) === 'invalid') return readMessage(element, Buffer.alloc(0))
  try {
    return readMessage(element, Buffer.from(JSON.stringify(element)))
  } catch {
    // Writing recurses where reading does not.
    return rejected(element, 'an element of the batch is nested too deeply')
  }
}

function readMessage(value: unknown, bytes: Buffer): Line {
  const kind = kindOf(value)
  if (kind === 'invalid') return rejected(value, 'the line is not a JSON-RPC 2.0 message')
  const { method = '', params = {} } = value as { method?: string; params?: Params }
  return {
    type: 'message',
    message: { bytes, kind, id: idOf(value), method, params, claimed: claimedVersion(value) },
  }
}

const rejected = (value: unknown, message: string): Line => ({
  type: 'rejected',
  rejection: { id: idOf(value), error: new CausewayError('INVALID_REQUEST', message) },
})
