import { asCausewayError, type Params } from '@causeway/protocol'
import { statusError } from './answer.ts'
import { responseIn } from './ask.ts'
import type { Call } from './calls.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import { type Fields, messageFields, type SessionMark } from './headers.ts'
import type { Identity } from './identity.ts'
import type { KnownServer } from './known-server.ts'
import type { KnownTools } from './known-tools.ts'
import type { Incoming } from './message.ts'
import type { Post, Posted } from './post.ts'
import { createReplyReader, type Reply } from './reply.ts'
import type { Resume } from './resume.ts'
import { isHarmlessTwice, isPassing, isRepeatable, isStale, retryAfterMs } from './retry.ts'
import type { Session } from './session.ts'
import { isFollowed, type Subscriptions } from './subscription.ts'
import { refreshTools } from './tool-refresh.ts'
import type { Upstream } from './upstream.ts'
import type { Waiting } from './wait.ts'

/** From the client to the server. */
export interface Forward {
  /** Posts a call and sees to it that each of its ids is answered. Never rejects. */
  call(call: Call): Promise<void>
  /** Posts a message that has no answer; true when the server took it. Never rejects. */
  oneWay(message: Incoming): Promise<boolean>
}

interface Parts {
  readonly upstream: Upstream
  readonly post: Post
  readonly resume: Resume
  readonly subscriptions: Subscriptions
  readonly session: Session
  readonly server: KnownServer
  readonly tools: KnownTools
  readonly deliver: Deliver
  /** Tells the client what the session has noted for it. */
  readonly announce: () => void
  readonly identity: Identity
  /** Greatest length of one message from the server in bytes. */
  readonly limit: number
  readonly startWaiting: () => Waiting
  /** Resolves after `ms`: how long an answer that was only promised is waited for. */
  readonly promised: () => Promise<void>
  readonly log: Log
}

/** The error number of a header that is missing or says something else than the body. */
const headerMismatch = -32020

export function createForward(parts: Parts): Forward {
  const { upstream, post, resume, session, server, tools, deliver, announce, identity, limit, log } = parts

  const fieldsOf = ({ message }: Call, used: SessionMark, own: Fields): Fields => ({
    ...messageFields(message, used),
    ...(message.claimed !== undefined && message.method === 'tools/call' && tools.fields(message.params)),
    ...own,
  })

  /** True for a call that the server may get twice; of a batch this must hold for every message. */
  const isSafe = ({ messages }: Call): boolean =>
    messages.every(
      ({ method, params }) =>
        isRepeatable(method) ||
        (method === 'tools/call' && (server.answersRepeats() || tools.isRepeatable(params.name))),
    )

  /** Posts a call, and once more in a new session where the server has lost the one it was posted in. */
  const postInSession = async (call: Call, own: Fields): Promise<Posted & { used: SessionMark }> => {
    const used = session.mark()
    const posted = await post(call, fieldsOf(call, used, own), isSafe(call))
    if (call.message.claimed !== undefined || !session.isDead(posted.reply, used)) return { ...posted, used }
    await session.renew(used)
    announce()
    if (call.open.size === 0) return { ...posted, used }
    const renewed = session.mark()
    return { ...(await post(call, fieldsOf(call, renewed, own), isSafe(call))), used: renewed }
  }

  /** A stateless call, and once more where the server wants headers that an older list of tools did not tell. */
  const postWithHeaders = async (call: Call, own: Fields): Promise<Posted & { used: SessionMark }> => {
    const posted = await postInSession(call, own)
    if (call.message.claimed === undefined || call.message.method !== 'tools/call') return posted
    const error = posted.reply.status === 400 ? responseIn(posted.reply.body)?.error : undefined
    if ((error as { code?: unknown } | undefined)?.code !== headerMismatch) return posted
    log(`listing the tools for the headers of id ${call.message.id}`)
    await refreshTools(upstream, call.message, tools)
    return call.open.size === 0 ? posted : postInSession(call, own)
  }

  const postOneWay = async (message: Incoming, used: SessionMark): Promise<Reply> => {
    const waiting = parts.startWaiting()
    for (let isFirst = true; ; isFirst = false) {
      const reader = createReplyReader(limit, (event, headers) => deliver.event(event, headers))
      const exchange = upstream.post(messageFields(message, used), message.bytes, reader)
      try {
        await exchange.done
        const reply = reader.reply() as Reply
        const isRepeated =
          isPassing(reply) && isHarmlessTwice(message) && (await waiting.pause(retryAfterMs(reply)))
        if (!isRepeated) return reply
      } catch (error) {
        // An answer belongs to a session that is gone by then, a notification to one that may live on.
        const isWanted = message.kind === 'notification' && used.version !== undefined
        const isRepeated = exchange.wasWritten()
          ? isFirst && isStale(error) && isHarmlessTwice(message)
          : isWanted && (await waiting.turn())
        if (!isRepeated) throw error
      }
      log(`repeating ${message.kind} ${message.method}, waited ${waiting.waitedMs()} ms`)
    }
  }

  const finish = async (call: Call, { reply, events, broken, used }: Posted & { used: SessionMark }) => {
    const { url } = upstream
    if (reply.type === 'events') return resume(call, used, { reply, events, broken })
    if (reply.status === 202 && used.id !== undefined) {
      // The server will say it on the GET stream of the session.
      await Promise.race([call.settled, parts.promised()])
      if (call.open.size > 0) throw statusError(url, reply)
    } else if (reply.body === undefined) deliver.failTooLarge(call, reply.size)
    else if (reply.type !== 'json' || !deliver.message(reply.body, reply.headers, call))
      throw statusError(url, reply)
    // The body was JSON-RPC, but not what these ids wait for.
    else if (call.open.size > 0) throw statusError(url, reply)
  }

  /** Sees a call through to its answer. */
  const answer = async (call: Call, own: Fields): Promise<void> => {
    const isSubscription = isFollowed(call.message)
    const send = () => postWithHeaders(call, own)
    const posted = await (isSubscription ? parts.subscriptions.follow(call, send) : send())
    if (posted === undefined) return
    const { status, type, size } = posted.reply
    log(`< HTTP ${status} ${type} for id ${call.message.id}, ${size} bytes`)
    if (call.open.size === 0) return
    try {
      await finish(call, posted)
    } catch (error) {
      // The stream cannot be taken up, as after a restart of the server; asking anew is the other way to the answer.
      if (type !== 'events' || isSubscription || !isSafe(call)) throw error
      const again = await postWithHeaders(call, own)
      if (call.open.size > 0) await finish(call, again)
    }
  }

  return {
    async call(call) {
      const { id, method, params } = call.message
      log(`> ${method} id ${id}, ${call.bytes.length} bytes`, call.bytes)
      try {
        await answer(
          call,
          id === null ? {} : identity.call(id, (params._meta as Params | undefined)?.traceparent),
        )
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
          announce()
          reply = await postOneWay(message, session.mark())
        }
        if (reply.status >= 300) log(`< HTTP ${reply.status} for ${kind} ${method}`)
        return reply.status < 300
      } catch (error) {
        log(`! ${kind} ${method}: ${error}`)
        return false
      }
    },
  }
}
