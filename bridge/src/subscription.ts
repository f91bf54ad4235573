import type { IncomingHttpHeaders } from 'node:http'
import { asObject, type Id, isObject, type JsonObject, meta } from '@causeway/protocol'
import { responseIn } from './ask.ts'
import type { Call } from './calls.ts'
import type { Log } from './debug-log.ts'
import type { Deliver } from './deliver.ts'
import type { Incoming } from './message.ts'
import { parsed } from './parsed.ts'
import type { Posted } from './post.ts'
import { backoff, isBusy, retryAfterMs } from './retry.ts'
import type { ServerEvent } from './sse.ts'
import { isOwnId } from './translate/wire.ts'

/**
 * The subscriptions of stateless clients. One that the server has acknowledged ends when its client says so, not when
 * its stream or the server does: then it is opened again, and the client told what may have changed unheard.
 */
export interface Subscriptions {
  /** Delivers as ever, but for the answers and acknowledgements that the client must not see. */
  readonly deliver: Deliver
  /** False for a subscription at a server that was there before: it waits for that to come back, and starts none. */
  mayStart(call: Call): boolean
  /** Posts a subscription until it is over. What ended it is left to be delivered; undefined where there is nothing. */
  follow<P extends Posted>(call: Call, post: () => Promise<P>): Promise<P | undefined>
}

interface Parts {
  readonly deliver: Deliver
  /** Resolves after this time; where the server is away earlier, when it answers somebody. */
  readonly pause: (ms: number, isAway: boolean) => Promise<void>
  readonly random: () => number
  /** Milliseconds on any steady clock. */
  readonly now: () => number
  readonly log: Log
}

/** What the server has acknowledged that it tells; undefined until then. */
interface Subscription {
  heard?: JsonObject
}

/** True for a subscription that is to be followed; translation opens its own again by itself. */
export const isFollowed = ({ method, claimed, id }: Incoming): boolean =>
  method === 'subscriptions/listen' && claimed !== undefined && !isOwnId(id)

/** A server that comes back at once is found at once. */
const firstPauseMs = 100

/** A subscription that held so long was a good one: the pauses begin anew. */
const steadyMs = 30_000

/** However long a server wishes for: it is asked again after an hour. */
const longestPauseMs = 3_600_000

const wishMs = ({ reply }: Posted): number => Math.min(longestPauseMs, retryAfterMs(reply) ?? 0)

export function createSubscriptions({ deliver, pause, random, now, log }: Parts): Subscriptions {
  const known = new Map<Call, Subscription>()

  const acknowledged = (
    subscription: Subscription,
    call: Call,
    { event, headers, heard }: { event: ServerEvent; headers: IncomingHttpHeaders; heard: JsonObject },
  ): void => {
    const before = subscription.heard
    subscription.heard = heard
    if (before === undefined) deliver.event(event, headers, call)
    else for (const notice of changes({ ...before, ...heard }, call.message.id)) deliver.message(notice, {})
  }

  /** True where asking again is the way on. */
  const isLost = ({ reply }: Posted, { heard }: Subscription, attempt: number): boolean => {
    if (reply.type === 'events') return heard !== undefined || attempt === 0
    return heard !== undefined && (isBusy(reply) || isRetryable(responseIn(reply.body)?.error))
  }

  return {
    deliver: {
      ...deliver,
      event(event, headers, call) {
        const subscription = call && known.get(call)
        const message = subscription && event.data && parsed(event.data)
        if (call === undefined || subscription === undefined || !isObject(message))
          deliver.event(event, headers, call)
        else if (message.method === 'notifications/subscriptions/acknowledged') {
          const heard = asObject(asObject(message.params).notifications)
          acknowledged(subscription, call, { event, headers, heard })
        } else if (subscription.heard !== undefined && message.id === call.message.id && 'result' in message)
          log(`the server ended the subscription ${call.message.id}`)
        else deliver.event(event, headers, call)
      },
    },
    mayStart(call) {
      const { method, id } = call.message
      const isReopened = method === 'subscriptions/listen' && isOwnId(id)
      return !isReopened && known.get(call)?.heard === undefined
    },
    async follow(call, post) {
      const subscription: Subscription = {}
      known.set(call, subscription)
      try {
        for (let attempt = 0; ; ) {
          const since = now()
          const posted = await post().catch((error: unknown) => {
            if (subscription.heard === undefined || call.open.size === 0) throw error
            return log(`! subscription ${call.message.id}: ${error}`)
          })
          if (call.open.size === 0) return undefined
          if (posted && !isLost(posted, subscription, attempt)) return posted
          attempt = now() - since > steadyMs ? 0 : attempt + 1
          const ownMs = backoff(attempt, random, firstPauseMs)
          await Promise.race([call.settled, pause(Math.max(ownMs, posted ? wishMs(posted) : 0), !posted)])
          if (call.open.size === 0) return undefined
          log(`opening the subscription ${call.message.id} again`)
        }
      } finally {
        known.delete(call)
      }
    },
  }
}

const isRetryable = (error: unknown): boolean => asObject(asObject(error).data).retryable === true

/** The lists by their names in a filter. */
const lists: Readonly<Record<string, string>> = {
  toolsListChanged: 'tools',
  promptsListChanged: 'prompts',
  resourcesListChanged: 'resources',
}

/** Notifications of everything that a subscription with this filter may have missed. */
function changes(filter: JsonObject, id: Id | null): Buffer[] {
  const _meta = { [meta.subscriptionId]: id }
  const notice = (what: string, params: object): Buffer =>
    Buffer.from(
      JSON.stringify({ jsonrpc: '2.0', method: `notifications/${what}`, params: { ...params, _meta } }),
    )
  const { resourceSubscriptions: uris } = filter
  return [
    ...Object.keys(lists).flatMap((name) =>
      filter[name] === true ? [notice(`${lists[name]}/list_changed`, {})] : [],
    ),
    ...(Array.isArray(uris) ? uris.map((uri: unknown) => notice('resources/updated', { uri })) : []),
  ]
}
