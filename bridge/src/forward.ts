import { asCausewayError } from '@causeway/protocol'
import { brokenStream, statusError, unreachable } from './answer.ts'
import type { Call } from './calls.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import { type Fields, messageFields, type SessionMark } from './headers.ts'
import type { Identity } from './identity.ts'
import type { Incoming } from './message.ts'
import { createReplyReader, type Reply } from './reply.ts'
import { mayRepeat } from './retry.ts'
import type { Session } from './session.ts'
import type { Upstream } from './upstream.ts'

/** From the client to the server. */
export interface Forward {
  /** Posts a call and sees to it that each of its ids is answered. Never rejects. */
  call(call: Call): Promise<void>
  /** Posts a message that has no answer; true when the server took it. Never rejects. */
  oneWay(message: Incoming): Promise<boolean>
}

interface Parts {
  readonly upstream: Upstream
  readonly session: Session
  readonly deliver: Deliver
  /** Tells the client what the session has noted for it. */
  readonly announce: () => void
  readonly identity: Identity
  /** Greatest length of one message from the server in bytes. */
  readonly limit: number
  readonly log: Log
}

export function createForward({
  upstream,
  session,
  deliver,
  announce,
  identity,
  limit,
  log,
}: Parts): Forward {
  /** One POST, repeated where a connection had gone stale. Rejects with a CausewayError. */
  const post = async (call: Call, used: SessionMark, own: Fields): Promise<Reply> => {
    const { method } = call.message
    for (let isRepeat = false; ; isRepeat = true) {
      const reader = createReplyReader(limit, (event, headers) => deliver.event(event, headers, call))
      const exchange = upstream.post({ ...messageFields(call.message, used), ...own }, call.bytes, reader)
      call.sent = exchange.sent
      call.abort = exchange.abort
      try {
        await exchange.done
        return reader.reply() as Reply
      } catch (error) {
        const reply = reader.reply()
        const wasWritten = exchange.wasWritten()
        const wasAnswered = reply !== undefined || call.open.size === 0
        if (isRepeat || !mayRepeat(error, { method, wasWritten, wasAnswered }))
          throw wasWritten ? brokenStream(upstream.url, error) : unreachable(upstream.url, error)
        log(`repeating ${method} on another connection: ${error}`)
      }
    }
  }

  /** The same, and once more in a new session where the server has lost the one it was posted in. */
  const postInSession = async (call: Call, own: Fields): Promise<Reply> => {
    const used = session.mark()
    const reply = await post(call, used, own)
    if (call.message.claimed !== undefined || !session.isDead(reply, used)) return reply
    await session.renew(used)
    if (call.open.size === 0) return reply
    const again = post(call, session.mark(), own)
    announce()
    return again
  }

  const postOneWay = async (message: Incoming, used: SessionMark): Promise<Reply> => {
    const reader = createReplyReader(limit, (event, headers) => deliver.event(event, headers))
    await upstream.post(messageFields(message, used), message.bytes, reader).done
    return reader.reply() as Reply
  }

  return {
    async call(call) {
      const { id, method } = call.message
      log(`> ${method} id ${id}, ${call.bytes.length} bytes`, call.bytes)
      try {
        const reply = await postInSession(call, id === null ? {} : identity.call(id))
        log(`< HTTP ${reply.status} ${reply.type} for id ${id}, ${reply.size} bytes`)
        if (call.open.size > 0) finish(call, reply)
      } catch (error) {
        log(`! ${method} id ${id}: ${error}`)
        deliver.fail(call, asCausewayError(error))
      }
    },
    async oneWay(message) {
      const { method, kind } = message
      log(`> ${kind} ${method}, ${message.bytes.length} bytes`, message.bytes)
      try {
        const used = session.mark()
        let reply = await postOneWay(message, used)
        // An answer to the server is dropped with the session that asked.
        if (kind === 'notification' && message.claimed === undefined && session.isDead(reply, used)) {
          await session.renew(used)
          reply = await postOneWay(message, session.mark())
          announce()
        }
        if (reply.status >= 300) log(`< HTTP ${reply.status} for ${kind} ${method}`)
        return reply.status < 300
      } catch (error) {
        log(`! ${kind} ${method}: ${error}`)
        return false
      }
    },
  }

  function finish(call: Call, reply: Reply): void {
    const { url } = upstream
    if (reply.type === 'events') throw brokenStream(url)
    if (reply.body === undefined) deliver.failTooLarge(call, reply.size)
    else if (reply.type !== 'json' || !deliver.message(reply.body, reply.headers, call))
      throw statusError(url, reply)
    // The body was JSON-RPC, but not what these ids wait for.
    else if (call.open.size > 0) throw statusError(url, reply)
  }
}
