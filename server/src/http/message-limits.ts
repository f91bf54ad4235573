/** Limits of MCP messages, checked before anything validates, stores or repeats their parts. */
import { asObject, CausewayError, type JsonObject } from '@causeway/protocol'

/** Messages in one array; the SDK has the same limit. */
const maxBatch = 100

/** Characters of a message as JSON, without what may be long. */
const maxLength = 65_536

/** URIs in one `subscriptions/listen`. */
const maxUris = 10_000

/** Methods whose params may be as long as the body: they carry arguments, replies to questions, or URIs. */
const longMethods: ReadonlySet<unknown> = new Set([
  'tools/call',
  'prompts/get',
  'tasks/update',
  'subscriptions/listen',
])

/** Of the methods above, the params that hold what may be long. */
const longParams: ReadonlySet<string> = new Set([
  'arguments',
  'inputResponses',
  'requestState',
  'notifications',
])

/**
 * Throws `INVALID_REQUEST` for an array with too many messages, and `INVALID_PARAMS` for params that are too long.
 * `bytes` is the length of the body, if it is known.
 */
export function checkMessages(body: unknown, bytes: number | undefined): void {
  if (Array.isArray(body) && body.length > maxBatch)
    throw new CausewayError('INVALID_REQUEST', `the array holds more than ${maxBatch} messages`)
  if (bytes !== undefined && bytes <= maxLength) return
  if (Array.isArray(body)) for (const message of body) checkMessage(message)
  else checkMessage(body, bytes)
}

function checkMessage(message: unknown, bytes?: number): void {
  const { method, params = {} } = asObject(message)
  // A message without a method is a reply, whose result may be long.
  if (typeof method !== 'string') return
  const isLong = longMethods.has(method)
  if (!isLong && (bytes ?? countCharacters([method, params])) > maxLength)
    throw tooLong(`the message ${method.slice(0, 100)} is longer than ${maxLength} characters`)
  const others = Object.entries(asObject(params)).filter(([name]) => !longParams.has(name))
  if (isLong && countCharacters(others) > maxLength)
    throw tooLong(`the params without ${[...longParams].join(', ')} are longer than ${maxLength} characters`)
  if (method === 'subscriptions/listen') checkUris(asObject(params))
}

/** The bridge sends every URI that its client has subscribed to in one message. */
function checkUris({ notifications }: JsonObject): void {
  const uris = asObject(notifications).resourceSubscriptions
  if (!Array.isArray(uris) || uris.length <= maxUris) return
  throw new CausewayError('INVALID_PARAMS', `the message subscribes to more than ${maxUris} resources`, {
    remedy: 'subscribe to fewer resources',
    data: { limit_count: maxUris },
  })
}

const tooLong = (message: string): CausewayError =>
  new CausewayError('INVALID_PARAMS', message, {
    remedy: 'send less',
    data: { limit_chars: maxLength },
  })

const countCharacters = (value: unknown): number => JSON.stringify(value).length
