import { setTimeout as sleep } from 'node:timers/promises'
import { asCausewayError, asObject, type Params } from '@causeway/protocol'
import { findResponse } from '../http/ask.ts'
import { type Fields, messageFields, type SessionKey } from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'
import type { Identity } from '../session/identity.ts'
import { ServerInfo } from '../session/server-info.ts'
import type { Session } from '../session/session.ts'
import { followSubscription, isSubscription } from '../session/subscriptions.ts'
import { ToolCatalog } from '../session/tool-catalog.ts'
import { type Incoming, isOwnId } from '../stdio/message.ts'
import { version } from '../version.ts'
import { toStatusError } from './answer.ts'
import { type Link, type Posted, postCall, resumeCall } from './call-exchange.ts'
import type { Call } from './pending-calls.ts'
import { isRepeatable, isSafeToResend, isStale, isTemporary, retryAfterMs } from './retry.ts'
import { RetryBudget } from './retry-budget.ts'

interface Options extends Link {
  readonly session: Session
  readonly identity: Identity
  readonly warn: (text: string) => void
  /** Timeout for the response after HTTP 202; default: 60,000, as in SDK clients. */
  readonly acceptedTimeoutMs?: number
}

/** Error code for a header that is missing or does not match the body. */
const headerMismatch = -32020

export class Forwarder {
  readonly #options: Options
  readonly #server: ServerInfo
  readonly #tools = new ToolCatalog()

  constructor(options: Options) {
    this.#options = options
    this.#server = new ServerInfo(version, options.warn)
  }

  /** Delivers a response for each id of the call. Never rejects. */
  async forward(call: Call): Promise<void> {
    const { identity, delivery, log } = this.#options
    const { id, method, params } = call.message
    log(`> ${method} id ${id}, ${call.bytes.length} bytes`, call.bytes)
    call.onResult = this.#recordResult
    if (method === 'subscriptions/listen' && isOwnId(id)) call.canStartServer = false
    const trace = (params._meta as Params | undefined)?.traceparent
    try {
      await this.#exchange(call, id === null ? {} : identity.call(id, trace))
    } catch (error) {
      log(`! ${method} id ${id}: ${error}`)
      delivery.fail(call, asCausewayError(error))
    }
  }

  /** Returns whether the server accepted the message. Never rejects. */
  async send(message: Incoming): Promise<boolean> {
    const { session, log } = this.#options
    const { method, kind } = message
    log(`> ${kind} ${method}, ${message.bytes.length} bytes`, message.bytes)
    try {
      const { key } = session
      let reply = await this.#postMessage(message, key)
      // Responses are not sent again, because their requests belonged to the lost session.
      if (kind === 'notification' && message.claimed === undefined && session.isLost(reply, key)) {
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
    const { method, claimed } = request
    if (method === 'tools/list') this.#tools.update(parseResult())
    if (method !== 'initialize' && method !== 'server/discover') return
    const result = parseResult()
    this.#server.update(result)
    if (method === 'initialize' && claimed === undefined)
      this.#options.session.adopt(request, call.headers, result)
  }

  async #exchange(call: Call, fields: Fields): Promise<void> {
    const isFollowed = isSubscription(call.message)
    const post = () => this.#postInSession(call, fields)
    const posted = await (isFollowed ? followSubscription(this.#options, call, post) : post())
    if (posted === undefined) return
    const { status, type, size } = posted.reply
    this.#options.log(`< HTTP ${status} ${type} for id ${call.message.id}, ${size} bytes`)
    if (call.open.size === 0) return
    try {
      await this.#finish(call, posted)
    } catch (error) {
      // The stream cannot be resumed, for example after a server restart, so a safe call is posted again.
      if (type !== 'events' || isFollowed || !this.#isSafe(call)) throw error
      const again = await post()
      if (call.open.size > 0) await this.#finish(call, again)
    }
  }

  /** Posts a call once more if its session is lost or required headers are missing. */
  async #postInSession(call: Call, fields: Fields): Promise<Posted> {
    const { session, upstream, log } = this.#options
    const posted = await this.#post(call, fields)
    if (call.message.claimed !== undefined) {
      if (!isHeaderMissing(call, posted)) return posted
      log(`listing the tools for the headers of id ${call.message.id}`)
      await this.#tools.refresh(upstream, call.message)
    } else if (session.isLost(posted.reply, posted.key)) await session.renew(posted.key)
    else return posted
    return call.open.size === 0 ? posted : this.#post(call, fields)
  }

  #post(call: Call, callFields: Fields): Promise<Posted> {
    const { message } = call
    const { key } = this.#options.session
    const fields = messageFields(message, key)
    if (isModernCall(call)) Object.assign(fields, this.#tools.fields(message.params))
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

  /** Throws if the response does not answer every id. */
  async #finish(call: Call, posted: Posted): Promise<void> {
    const { upstream, delivery, acceptedTimeoutMs = 60_000 } = this.#options
    const { key, reply } = posted
    if (reply.type === 'events') return resumeCall(this.#options, call, posted)
    if (reply.body === undefined) return delivery.failTooLarge(call, reply.size)
    if (reply.status === 202 && key.id !== undefined)
      // The response follows on the GET stream of the session.
      await Promise.race([call.settled, sleep(acceptedTimeoutMs, undefined, { ref: false })])
    else if (reply.type === 'json') delivery.deliver(reply.body, call)
    if (call.open.size > 0) throw toStatusError(upstream.url, reply)
  }

  async #postMessage(message: Incoming, key: SessionKey): Promise<Reply> {
    const { upstream, delivery, retry, log } = this.#options
    const budget = new RetryBudget(retry)
    for (let isFirst = true; ; isFirst = false) {
      const reader = new ReplyReader(upstream.maxMessageBytes, {
        onEvent: (event) => delivery.deliverEvent(event),
      })
      const request = { method: 'POST', fields: messageFields(message, key), body: message.bytes } as const
      const exchange = upstream.send(request, reader)
      try {
        await exchange.done
        const reply = reader.reply as Reply
        const isRetried =
          isTemporary(reply) && isSafeToResend(message) && (await budget.pause(retryAfterMs(reply)))
        if (!isRetried) return reply
      } catch (error) {
        // A notification can wait for the server. A response cannot: a restarted server no longer has its request.
        const canWait = message.kind === 'notification' && key.version !== undefined
        const isRetried = exchange.wasWritten()
          ? isFirst && isStale(error) && isSafeToResend(message)
          : canWait && (await budget.waitForProbe())
        if (!isRetried) throw error
      }
      log(`retrying ${message.kind} ${message.method}, waited ${budget.waitedMs} ms`)
    }
  }
}

const isModernCall = ({ message }: Call): boolean =>
  message.claimed !== undefined && message.method === 'tools/call'

function isHeaderMissing(call: Call, { reply }: Posted): boolean {
  if (!isModernCall(call) || reply.status !== 400) return false
  return asObject(findResponse(reply.body)?.error).code === headerMismatch
}
