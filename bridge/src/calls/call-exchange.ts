import { setTimeout as sleep } from 'node:timers/promises'
import { CausewayError } from '@causeway/protocol'
import { createSessionFields, eventStreamFields, type Fields, type SessionKey } from '../http/headers.ts'
import { type Reply, ReplyReader } from '../http/reply.ts'
import type { EventParser } from '../http/sse.ts'
import type { Upstream } from '../http/upstream.ts'
import type { Log } from '../lifecycle/debug-log.ts'
import { createBrokenStreamError, createUnreachableError } from './answer.ts'
import type { Delivery } from './delivery.ts'
import type { Call } from './pending-calls.ts'
import { canResend, computeBackoff, getRetryAfterMs, isStale, isTemporary } from './retry.ts'
import { RetryBudget, type RetryOptions } from './retry-budget.ts'

export interface PostResult {
  readonly key: SessionKey
  readonly reply: Reply
  readonly events: Pick<EventParser, 'lastEventId' | 'retryMs'>
  readonly streamError?: unknown
}

interface PostOptions {
  readonly key: SessionKey
  readonly fields: Fields
  readonly isSafe: boolean
}

export interface Link {
  readonly upstream: Upstream
  readonly delivery: Delivery
  readonly retry: RetryOptions
  readonly log: Log
}

const firstDelayMs = 100

/** Status of a server that has not yet closed the broken stream. */
const conflictStatus = 409

/** Posts a call and delivers its events. Retries within the wait budget. Throws only a CausewayError. */
export async function postCall(
  link: Link,
  call: Call,
  { key, fields, isSafe }: PostOptions,
): Promise<PostResult> {
  const { upstream, retry, log } = link
  const { url } = upstream
  const budget = new RetryBudget(retry)
  for (let isFirst = true; ; isFirst = false) {
    const reader = createReader(link, call)
    const exchange = upstream.send({ method: 'POST', fields, body: call.bytes }, reader)
    call.exchange = exchange
    const error: unknown = await exchange.done.catch((reason: unknown) => reason ?? new Error('failed'))
    const { reply, events } = reader

    if (reply !== undefined && error === undefined) {
      const shouldRetry = isTemporary(reply) && isSafe && (await budget.pause(getRetryAfterMs(reply)))
      if (!shouldRetry) return { key, reply, events }
    } else {
      if (reply?.type === 'events') return { key, reply, events, streamError: error }
      const wasWritten = exchange.wasWritten()
      const hasResponse = reply !== undefined || call.pendingIds.size === 0
      if (!canResend(error, { isSafe, wasWritten, hasResponse }))
        throw wasWritten
          ? createBrokenStreamError(url, error)
          : createUnreachableError(url, error, { waitedMs: budget.waitedMs })
      if (!(isFirst && isStale(error)))
        await budget.waitForServer(error, { canStart: !wasWritten && call.canStartServer })
    }
    if (call.pendingIds.size === 0) throw new CausewayError('CANCELLED', 'the call is no longer pending')
    log(`retrying ${call.message.method}, waited ${budget.waitedMs} ms`)
  }
}

/** Resumes a stream that ended before the response. Throws SERVER_UNREACHABLE if that is not possible. */
export async function resumeCall(
  link: Link,
  call: Call,
  { key, events, streamError }: PostResult,
): Promise<void> {
  const { upstream, retry, log } = link
  const { url } = upstream
  let { lastEventId, retryMs } = events
  // Stateless streams cannot be resumed.
  if (lastEventId === '' || call.message.claimedVersion !== undefined)
    throw createBrokenStreamError(url, streamError)
  let budget = new RetryBudget(retry)
  for (let attempt = 0; call.pendingIds.size > 0; attempt += 1) {
    // A server may close the stream to make the client poll.
    if (retryMs !== undefined) await sleep(retryMs)
    else if (attempt === 0) await sleep(computeBackoff(0, retry.random, firstDelayMs))
    log(`resuming the stream of id ${call.message.id} after event ${lastEventId}`)

    const reader = createReader(link, call)
    const fields = { ...eventStreamFields, ...createSessionFields(key), 'last-event-id': lastEventId }
    const exchange = upstream.send({ method: 'GET', fields }, reader)
    call.exchange = exchange
    void call.settled.then(() => exchange.abort())
    const error: unknown = await exchange.done.catch((reason: unknown) => reason)
    const { reply } = reader
    if (call.pendingIds.size === 0) return
    if (reply?.type === 'events') {
      if (reader.events.lastEventId !== '') budget = new RetryBudget(retry)
      lastEventId = reader.events.lastEventId || lastEventId
      retryMs = reader.events.retryMs ?? retryMs
    } else if (reply !== undefined && !isTemporary(reply) && reply.status !== conflictStatus)
      throw createBrokenStreamError(url, streamError)
    const requestedMs = reply !== undefined && reply.type !== 'events' ? getRetryAfterMs(reply) : undefined
    if (!(await budget.pause(requestedMs))) throw createBrokenStreamError(url, error ?? streamError)
  }
}

const createReader = ({ upstream, delivery }: Link, call: Call): ReplyReader =>
  new ReplyReader(upstream.maxMessageBytes, {
    onHead: (_status, headers) => {
      call.headers = headers
    },
    onEvent: (event) => delivery.deliverEvent(event, call),
  })
