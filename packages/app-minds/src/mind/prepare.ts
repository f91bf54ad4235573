/** From a snapshot, an observation and events to all that a selector decides on. Nothing here waits or writes. */
import { type KeptMessage, mergeMessages } from '../domain/conversation.ts'
import { type Situation, situationOf } from '../domain/menu.ts'
import type { MindEvent, Observation, PendingBid } from '../domain/observation.ts'
import { needWeights } from '../domain/policy/character.ts'
import { type PolicyConstants, policyConstants } from '../domain/policy/constants.ts'
import { type Perception, perceive } from '../domain/policy/perceive.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import { type KnownConversation, newTalk } from '../domain/policy/talk.ts'
import type { Limits } from '../limits.ts'
import type { ConversationChange, MindRow, MindSnapshot } from '../store/types.ts'
import { recentEvents } from '../wire/read-messages.ts'

/** Everything known in one cycle. */
export interface Cycle {
  readonly mind: MindRow
  readonly observation: Observation
  readonly situation: Situation
  readonly perception: Perception
  /** Conversations of this observation with all that is known of them. */
  readonly conversations: readonly KnownConversation[]
  /** What others said since the last cycle. */
  readonly heard: readonly KeptMessage[]
  /** The last hour, this cycle's included. */
  readonly events: readonly MindEvent[]
  readonly constants: PolicyConstants
  readonly weights: Readonly<Record<string, number>>
  /** What is stored of the cycle whatever is decided. */
  readonly facts: {
    readonly conversations: readonly ConversationChange[]
    readonly closed: readonly string[]
    readonly events: readonly MindEvent[]
    readonly bids: { readonly received: readonly PendingBid[]; readonly settled: readonly string[] }
  }
  readonly warnings: readonly string[]
}

/** Messages of a conversation that the game repeats. */
const messageWindow = 5

/** Takes in a cycle. */
export function prepareCycle(
  snapshot: MindSnapshot,
  {
    observation,
    events,
    limits,
  }: { readonly observation: Observation; readonly events: readonly MindEvent[]; readonly limits: Limits },
): Cycle {
  const { mind } = snapshot
  const constants = { ...policyConstants, ...given(mind.config.policy) }
  const joined = observation.conversations.map((conversation) => {
    const stored = snapshot.conversations.find((one) => one.interaction_id === conversation.interaction_id)
    const { messages, added } = mergeMessages(stored?.messages ?? [], conversation.messages, messageWindow)
    const initiator_id = conversation.initiator_id ?? stored?.initiator_id ?? null
    return { known: { ...conversation, initiator_id, messages }, added }
  })
  const received = bidsIn(events, observation.time)
  const settled = settledIn(events)
  const bids = [
    ...snapshot.bids.filter(({ bid_id }) => !received.some((one) => one.bid_id === bid_id)),
    ...received,
  ]
  const stale = bids.filter(({ received_at }) => observation.time - received_at > limits.event_minutes)
  const gone = new Set([...settled, ...stale.map(({ bid_id }) => bid_id)])
  const pending = bids.filter(({ bid_id }) => !gone.has(bid_id))
  const before = {
    state: mind.state,
    places: new Map(snapshot.places.map((place) => [place.entity_id, place])),
  }
  const seen = perceive(observation, events, before, constants)
  const talks = talksOf(joined, seen.state.talks, observation.time)
  const last = mind.last_sim_time
  const isBack = last !== null && observation.time < last
  return {
    mind,
    observation,
    situation: situationOf(observation, pending),
    perception: { ...seen, state: { ...seen.state, talks } },
    conversations: joined.map(({ known }) => known),
    heard: joined
      .flatMap(({ added }) => added)
      .filter(({ speaker_id }) => speaker_id !== observation.entity_id),
    events: recentEvents([...snapshot.events, ...events], observation.time, limits),
    constants,
    weights: needWeights(mind.config.traits, mind.config.personality_dimensions),
    facts: {
      conversations: joined.map(({ known: { messages: _, ...conversation }, added }) => ({
        ...conversation,
        added,
      })),
      closed: endedIn(events),
      events,
      bids: { received: pending.filter((bid) => received.includes(bid)), settled: [...gone] },
    },
    warnings: isBack ? [`clock_reset: the game went back from ${last} to ${observation.time}`] : [],
  }
}

/** The constants that a mind sets itself. */
const given = (own: Readonly<Record<string, number | undefined>>): Partial<PolicyConstants> =>
  Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined))

function talksOf(
  joined: readonly { readonly known: KnownConversation; readonly added: readonly KeptMessage[] }[],
  talks: CarriedState['talks'],
  time: number,
): CarriedState['talks'] {
  return Object.fromEntries(
    joined.map(({ known, added }) => {
      const talk = talks[known.interaction_id] ?? newTalk(time)
      return [
        known.interaction_id,
        added.length === 0 ? talk : { ...talk, heard_at: time, has_nudged: false },
      ]
    }),
  )
}

const named = (payload: MindEvent['payload'], ...names: readonly string[]): string | undefined =>
  names
    .map((name) => payload[name])
    .find((value): value is string => typeof value === 'string' && value !== '')

function bidsIn(events: readonly MindEvent[], time: number): PendingBid[] {
  return events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_RECEIVED')
    .flatMap(({ payload, timestamp }): PendingBid[] => {
      const bid_id = named(payload, 'bid_id', 'id')
      const bidder_id = named(payload, 'bidder_id', 'bidder_entity_id', 'from_id', 'entity_id')
      if (bid_id === undefined || bidder_id === undefined) return []
      return [
        {
          bid_id,
          bidder_id,
          bidder_name: named(payload, 'bidder_name', 'from_name', 'entity_name') ?? bidder_id,
          interaction_name: named(payload, 'interaction_name', 'interaction') ?? 'interaction',
          received_at: Math.min(time, timestamp),
        },
      ]
    })
}

const settledIn = (events: readonly MindEvent[]): string[] =>
  events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_CANCELED')
    .flatMap(({ payload }) => named(payload, 'bid_id', 'id') ?? [])

const endedIn = (events: readonly MindEvent[]): string[] =>
  events
    .filter(
      ({ event_type }) => event_type === 'INTERACTION_FINISHED' || event_type === 'INTERACTION_CANCELED',
    )
    .flatMap(({ payload }) => named(payload, 'interaction_id') ?? [])
