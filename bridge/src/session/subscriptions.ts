import { setTimeout as sleep } from 'node:timers/promises'
import { asObject, type Id, isObject, type JsonObject, meta } from '@causeway/protocol'
import type { Link, PostResult } from '../calls/call-exchange.ts'
import type { Call } from '../calls/pending-calls.ts'
import { computeBackoff, getRetryAfterMs, isBusy } from '../calls/retry.ts'
import { findResponse } from '../http/send-request.ts'
import { parseJson } from '../stdio/json.ts'
import { type ClientMessage, createNotificationLine, isOwnId, lists } from '../stdio/message.ts'

interface Options extends Omit<Link, 'upstream'> {
  /** Replaced in tests. */
  readonly pause?: (ms: number) => Promise<unknown>
}

interface Subscription {
  /** Acknowledged by the server. */
  filter: JsonObject | undefined
}

const firstDelayMs = 100

/** A subscription that lasts longer resets the retry delays. */
const stableAfterMs = 30_000

const maxDelayMs = 3_600_000

/** Whether the message opens a subscription. Excludes those that the era translation opens and reopens itself. */
export const isSubscription = ({ method, claimedVersion, id }: ClientMessage): boolean =>
  method === 'subscriptions/listen' && claimedVersion !== undefined && !isOwnId(id)

/**
 * Reopens a stateless client's subscription when its stream ends, and reports everything that may have changed.
 * Returns the response that ended the subscription, if there is one to deliver.
 */
export async function followSubscription(
  options: Options,
  call: Call,
  post: () => Promise<PostResult>,
): Promise<PostResult | undefined> {
  const { retry, log, pause = sleep } = options
  const { monitor, random, now } = retry
  const subscription: Subscription = { filter: undefined }
  call.intercept = ({ data }) => intercept(options, { subscription, call, message: data && parseJson(data) })
  for (let attempt = 0; ; ) {
    const startedAt = now()
    const postResult = await post().catch((error: unknown) => {
      if (subscription.filter === undefined || call.pendingIds.size === 0) throw error
      return log(`! subscription ${call.message.id}: ${error}`)
    })
    if (call.pendingIds.size === 0) return undefined
    if (postResult && !isRetryable(postResult, subscription, attempt)) return postResult
    attempt = now() - startedAt > stableAfterMs ? 0 : attempt + 1
    const requestedMs = postResult ? Math.min(maxDelayMs, getRetryAfterMs(postResult.reply) ?? 0) : 0
    const delayMs = Math.max(computeBackoff(attempt, random, firstDelayMs), requestedMs)
    // The first response to a call shows that the server is back.
    await Promise.race([call.settled, postResult ? pause(delayMs) : monitor.waitForResponse(delayMs)])
    if (call.pendingIds.size === 0) return undefined
    log(`opening the subscription ${call.message.id} again`)
  }
}

function intercept(
  { delivery, log }: Pick<Link, 'delivery' | 'log'>,
  { subscription, call, message }: { subscription: Subscription; call: Call; message: unknown },
): boolean {
  if (!isObject(message)) return false
  const previousFilter = subscription.filter
  if (message.method === 'notifications/subscriptions/acknowledged') {
    subscription.filter = asObject(asObject(message.params).notifications)
    // If the server stops, the call waits until it runs again, but does not start it.
    call.canStartServer = false
    if (previousFilter === undefined) return false
    for (const notification of createChangeNotifications(
      { ...previousFilter, ...subscription.filter },
      call.message.id,
    ))
      delivery.deliver(notification)
    return true
  }
  if (previousFilter === undefined || message.id !== call.message.id || !('result' in message)) return false
  log(`the server ended the subscription ${call.message.id}`)
  return true
}

function isRetryable({ reply }: PostResult, { filter }: Subscription, attempt: number): boolean {
  if (reply.type === 'events') return filter !== undefined || attempt === 0
  const error = asObject(findResponse(reply.body)?.error)
  return filter !== undefined && (isBusy(reply) || asObject(error.data).retryable === true)
}

function createChangeNotifications(filter: JsonObject, id: Id | null): Buffer[] {
  const _meta = { [meta.subscriptionId]: id }
  const createNotification = (name: string, params: object): Buffer =>
    createNotificationLine(`notifications/${name}`, { ...params, _meta })
  const { resourceSubscriptions: uris } = filter
  return [
    ...lists
      .filter((list) => filter[`${list}ListChanged`] === true)
      .map((list) => createNotification(`${list}/list_changed`, {})),
    ...(Array.isArray(uris)
      ? uris.map((uri: unknown) => createNotification('resources/updated', { uri }))
      : []),
  ]
}
