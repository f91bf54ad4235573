import { setTimeout as sleep } from 'node:timers/promises'
import { asCausewayError, asObject, type Params } from '@causeway/protocol'
import { createMessageFields, type Fields, type SessionKey } from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'
import { findResponse } from '../http/send-request.ts'
import type { Identity } from '../session/identity.ts'
import { ServerInfo } from '../session/server-info.ts'
import type { Session } from '../session/session.ts'
import { followSubscription, isSubscription } from '../session/subscriptions.ts'
import { ToolCatalog } from '../session/tool-catalog.ts'
import { type ClientMessage, isOwnId } from '../stdio/message.ts'
import { version } from '../version.ts'
import { toStatusError } from './answer.ts'
import { type Link, type PostResult, postCall, resumeCall } from './call-exchange.ts'
import type { Call } from './pending-calls.ts'
import { getRetryAfterMs, isRepeatable, isSafeToResend, isStale, isTemporary } from './retry.ts'
import { RetryBudget } from './retry-budget.ts'

interface Options extends Link {
  readonly session: Session
  readonly identity: Identity
  readonly warn: (text: string) => void
  /** Timeout in milliseconds for the response after HTTP 202; default: 60,000, as in SDK clients. */
  readonly acceptedTimeoutMs?: number
}

/** Error code for a header that is missing or does not match the body. */
const headerMismatchCode = -32020

export class Forwarder {
  readonly #options: Options
  readonly #server: ServerInfo
  readonly #tools = new ToolCatalog()

  constructor(options: Options) {
    this.#options = options
    this.#server = new ServerInfo(version, options.warn)
  }

  /** Sends the call and delivers a response or error for each of its ids. Never rejects. */
  async forward(call: Call): Promise<void> {
    const { identity, delivery, log } = this.#options
    const { id, method, params } = call.message
    log(`> ${method} id ${id}, ${call.bytes.length} bytes`, call.bytes)
    call.onResult = this.#recordResult
    if (method === 'subscriptions/listen' && isOwnId(id)) call.canStartServer = false
    const traceparent = (params._meta as Params | undefined)?.traceparent
    try {
      await this.#exchange(call, id === null ? {} : identity.call(id, traceparent))
    } catch (error) {
      log(`! ${method} id ${id}: ${error}`)
      delivery.fail(call, asCausewayError(error))
    }
  }

  /** Sends a message that is not a request. Returns whether the server accepted it. Never rejects. */
  async send(message: ClientMessage): Promise<boolean> {
    const { session, log } = this.#options
    const { method, kind } = message
    log(`> ${kind} ${method}, ${message.bytes.length} bytes`, message.bytes)
    try {
      const { key } = session
      let reply = await this.#postMessage(message, key)
      // Responses are not sent again, because their requests belonged to the lost session.
      if (kind === 'notification' && message.claimedVersion === undefined && session.isLost(reply, key)) {
        await session.renew(key)
        reply = await this.#postMessage(message, session.key)
      }
      if (reply.status >= 300) log(`< HTTP ${reply.status} for ${kind} ${method}`)
      return reply.status < 300
    } catch (error) {
      log(`! ${kind} ${method}: ${error}`)
      return false
    }
  }

  readonly #recordResult: NonNullable<Call['onResult']> = (call, request, parseResult) => {
    const { method, claimedVersion } = request
    if (method === 'tools/list') this.#tools.update(parseResult())
    if (method !== 'initialize' && method !== 'server/discover') return
    const result = parseResult()
    this.#server.update(result)
    if (method === 'initialize' && claimedVersion === undefined)
      this.#options.session.adopt(request, call.headers, result)
  }

  async #exchange(call: Call, fields: Fields): Promise<void> {
    const shouldFollow = isSubscription(call.message)
    const post = () => this.#postInSession(call, fields)
    const postResult = await (shouldFollow ? followSubscription(this.#options, call, post) : post())
    if (postResult === undefined) return
    const { status, type, size } = postResult.reply
    this.#options.log(`< HTTP ${status} ${type} for id ${call.message.id}, ${size} bytes`)
    if (call.pendingIds.size === 0) return
    try {
      await this.#finish(call, postResult)
    } catch (error) {
      // The stream cannot be resumed, for example after a server restart, so a safe call is posted again.
      if (type !== 'events' || shouldFollow || !this.#isSafe(call)) throw error
      const secondResult = await post()
      if (call.pendingIds.size > 0) await this.#finish(call, secondResult)
    }
  }

  /** Posts a call, and once more if its session is lost or required headers are missing. */
  async #postInSession(call: Call, fields: Fields): Promise<PostResult> {
    const { session, upstream, log } = this.#options
    const postResult = await this.#post(call, fields)
    if (call.message.claimedVersion !== undefined) {
      if (!isHeaderMismatch(call, postResult)) return postResult
      log(`listing the tools for the headers of id ${call.message.id}`)
      await this.#tools.refresh(upstream, call.message)
    } else if (session.isLost(postResult.reply, postResult.key)) await session.renew(postResult.key)
    else return postResult
    return call.pendingIds.size === 0 ? postResult : this.#post(call, fields)
  }

  #post(call: Call, callFields: Fields): Promise<PostResult> {
    const { message } = call
    const { key } = this.#options.session
    const fields = createMessageFields(message, key)
    if (isModernCall(call)) Object.assign(fields, this.#tools.createFields(message.params))
    Object.assign(fields, callFields)
    return postCall(this.#options, call, { key, fields, isSafe: this.#isSafe(call) })
  }

  #isSafe({ messages }: Call): boolean {
    return messages.every(
      ({ method, params }) =>
        isRepeatable(method) ||
        (method === 'tools/call' &&
          (this.#server.deduplicatesCalls || this.#tools.isRepeatable(params.name))),
    )
  }

  /** Delivers the response. Throws if it does not answer every id. */
  async #finish(call: Call, postResult: PostResult): Promise<void> {
    const { upstream, delivery, acceptedTimeoutMs = 60_000 } = this.#options
    const { key, reply } = postResult
    if (reply.type === 'events') return resumeCall(this.#options, call, postResult)
    if (reply.body === undefined) return delivery.failTooLarge(call, reply.size)
    if (reply.status === 202 && key.id !== undefined)
      // The response follows on the GET stream of the session.
      await Promise.race([call.settled, sleep(acceptedTimeoutMs, undefined, { ref: false })])
    else if (reply.type === 'json') delivery.deliver(reply.body, call)
    if (call.pendingIds.size > 0) throw toStatusError(upstream.url, reply)
  }

  async #postMessage(message: ClientMessage, key: SessionKey): Promise<Reply> {
    const { upstream, delivery, retry, log } = this.#options
    const budget = new RetryBudget(retry)
    for (let isFirst = true; ; isFirst = false) {
      const reader = new ReplyReader(upstream.maxMessageBytes, {
        onEvent: (event) => delivery.deliverEvent(event),
      })
      const request = {
        method: 'POST',
        fields: createMessageFields(message, key),
        body: message.bytes,
      } as const
      const exchange = upstream.send(request, reader)
      try {
        await exchange.done
        const reply = reader.reply as Reply
        const shouldRetry =
          isTemporary(reply) && isSafeToResend(message) && (await budget.pause(getRetryAfterMs(reply)))
        if (!shouldRetry) return reply
      } catch (error) {
        // A notification can wait for the server. A response cannot: a restarted server no longer has its request.
        const canWait = message.kind === 'notification' && key.version !== undefined
        const shouldRetry = exchange.wasWritten()
          ? isFirst && isStale(error) && isSafeToResend(message)
          : canWait && (await budget.waitForProbe())
        if (!shouldRetry) throw error
      }
      log(`retrying ${message.kind} ${message.method}, waited ${budget.waitedMs} ms`)
    }
  }
}

const isModernCall = ({ message }: Call): boolean =>
  message.claimedVersion !== undefined && message.method === 'tools/call'

function isHeaderMismatch(call: Call, { reply }: PostResult): boolean {
  if (!isModernCall(call) || reply.status !== 400) return false
  return asObject(findResponse(reply.body)?.error).code === headerMismatchCode
}
