import {
  asObject,
  CausewayError,
  checkJson,
  type Id,
  isId,
  type JsonObject,
  type OuterMember,
} from '@causeway/protocol'
import type { FastifyRequest } from 'fastify'

/** Maximum messages in an array, as in the SDK. */
const maxBatchSize = 100

/**
 * Maximum length of a message, excluding the `longParams` of `longMethods`. In bytes, or in characters for messages
 * in an array.
 */
const maxLength = 65_536

const maxUris = 10_000

/** Methods whose params may be as long as the body. */
const longMethods: ReadonlySet<unknown> = new Set([
  'tools/call',
  'prompts/get',
  'tasks/update',
  'subscriptions/listen',
])

const longParams: ReadonlySet<string> = new Set([
  'arguments',
  'inputResponses',
  'requestState',
  'notifications',
])

/** Members of a reply, whose result may be as long as the body. */
const replyMembers: ReadonlySet<string> = new Set(['jsonrpc', 'id', 'result', 'error'])

/**
 * Throws the errors of `checkJson`, and `INVALID_PARAMS` with the id of a message that is too long.
 * `checkMessages` checks messages in an array.
 */
export function checkMessageBody(body: Buffer, request: FastifyRequest): void {
  if (body.length <= maxLength) {
    checkJson(body)
    return
  }
  const outline = new MessageOutline(body)
  checkJson(body, { onMember: (member) => outline.add(member) })
  const { id, method, otherBytes } = outline.finish()
  if (otherBytes <= maxLength) return
  request.body = { id }
  throw method !== undefined && longMethods.has(method)
    ? createRemainderTooLongError()
    : createTooLongError(method)
}

class MessageOutline {
  readonly #json: Buffer
  #id: unknown
  #method: unknown
  /** Whether the message can be a reply. Stays true for an array. */
  #isReply = true
  #isInParams = false
  /** Bytes that do not count towards `maxLength` in `longMethods`. */
  #longBytes = 0
  #longStart: number | undefined

  constructor(json: Buffer) {
    this.#json = json
  }

  add({ depth, nameStart, nameEnd, colon }: OuterMember): void {
    this.#endLongMember(nameStart - 1)
    // The longest compared name has 14 characters.
    const name = this.#json.toString('latin1', nameStart, Math.min(nameEnd, nameStart + 15))
    if (depth === 1) {
      this.#isInParams = name === 'params'
      this.#isReply &&= replyMembers.has(name)
      if (name === 'id') this.#id = this.#readScalar(colon + 1)
      if (name === 'method') this.#method = this.#readScalar(colon + 1)
    } else if (this.#isInParams && longParams.has(name)) this.#longStart = colon
  }

  /** `otherBytes`: the bytes that count towards `maxLength`. */
  finish(): {
    readonly id: Id | undefined
    readonly method: string | undefined
    readonly otherBytes: number
  } {
    const { length } = this.#json
    this.#endLongMember(length)
    const longBytes = longMethods.has(this.#method) ? this.#longBytes : 0
    return {
      id: isId(this.#id) ? this.#id : undefined,
      method: typeof this.#method === 'string' ? this.#method : undefined,
      otherBytes: this.#isReply ? 0 : length - longBytes,
    }
  }

  #endLongMember(end: number): void {
    if (this.#longStart !== undefined) this.#longBytes += end - this.#longStart
    this.#longStart = undefined
  }

  #readScalar(start: number): unknown {
    const text = this.#json.toString('utf8', start, start + 512)
    const scalar = /^\s*("(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*)/.exec(text)?.[1]
    try {
      return scalar === undefined ? undefined : JSON.parse(scalar)
    } catch {
      return undefined
    }
  }
}

/**
 * Throws `INVALID_REQUEST` for too many messages, and `INVALID_PARAMS` for a long message in an array or too
 * many resources.
 */
export function checkMessages(body: unknown): void {
  if (!Array.isArray(body)) checkUris(body)
  else if (body.length > maxBatchSize)
    throw new CausewayError('INVALID_REQUEST', `the array holds more than ${maxBatchSize} messages`)
  else for (const message of body) checkMessage(message)
}

function checkMessage(message: unknown): void {
  const { id, method, params = {} } = asObject(message)
  if (typeof method !== 'string') return
  if (!longMethods.has(method)) {
    if (countCharacters([id, method, params]) > maxLength) throw createTooLongError(method)
    return
  }
  const otherParams = Object.entries(asObject(params)).filter(([name]) => !longParams.has(name))
  if (countCharacters([id, otherParams]) > maxLength) throw createRemainderTooLongError()
  checkUris(message)
}

/** Limits the URIs of a subscription. The bridge sends all URIs of a client at once, so the limit is high. */
function checkUris(message: unknown): void {
  const { method, params }: JsonObject = asObject(message)
  if (method !== 'subscriptions/listen') return
  const uris = asObject(asObject(params).notifications).resourceSubscriptions
  if (!Array.isArray(uris) || uris.length <= maxUris) return
  throw new CausewayError('INVALID_PARAMS', `the message subscribes to more than ${maxUris} resources`, {
    remedy: 'subscribe to fewer resources',
    data: { limit_count: maxUris },
  })
}

const createTooLongError = (method: string | undefined): CausewayError => {
  const name = method === undefined ? '' : `${method.slice(0, 100)} `
  return createLengthError(`the message ${name}is longer than ${maxLength} characters`)
}

const createRemainderTooLongError = (): CausewayError =>
  createLengthError(
    `the message without ${[...longParams].join(', ')} is longer than ${maxLength} characters`,
  )

const createLengthError = (message: string): CausewayError =>
  new CausewayError('INVALID_PARAMS', message, {
    remedy: 'send less',
    data: { limit_chars: maxLength },
  })

const countCharacters = (value: unknown): number => JSON.stringify(value).length
