// cspell:ignore heard -- a stored field
import { type KnownConversation, mergeMessages, type StoredMessage } from '../domain/conversation.ts'
import { assessSituation, type Situation } from '../domain/menu.ts'
import type { MindEvent, Observation, PendingBid } from '../domain/observation.ts'
import { computeNeedWeights } from '../domain/policy/character.ts'
import { type PolicyConstants, policyConstants } from '../domain/policy/constants.ts'
import { updateNews } from '../domain/policy/form-memories.ts'
import { type Perception, perceive, readText } from '../domain/policy/perceive.ts'
import type { MindState } from '../domain/policy/state.ts'
import { createConversationState } from '../domain/policy/talk.ts'
import type { Limits } from '../limits.ts'
import type { ConversationChange, MindRow, MindSnapshot } from '../store/types.ts'
import { selectRecentEvents } from '../wire/read-messages.ts'

export interface Cycle {
  readonly mind: MindRow
  readonly observation: Observation
  readonly situation: Situation
  readonly perception: Perception
  /** Conversations in this observation, with all stored messages. */
  readonly conversations: readonly KnownConversation[]
  readonly newMessages: readonly StoredMessage[]
  /** The latest events (`selectRecentEvents`), including new events. */
  readonly events: readonly MindEvent[]
  readonly constants: PolicyConstants
  readonly weights: Readonly<Record<string, number>>
  /** Changes that are stored even if the decision fails. */
  readonly facts: {
    readonly conversations: readonly ConversationChange[]
    readonly closedIds: readonly string[]
    readonly events: readonly MindEvent[]
    readonly bids: { readonly received: readonly PendingBid[]; readonly settledIds: readonly string[] }
  }
  readonly warnings: readonly string[]
}

const messageWindow = 5

export function prepareCycle(
  snapshot: MindSnapshot,
  {
    observation,
    events,
    limits,
  }: { readonly observation: Observation; readonly events: readonly MindEvent[]; readonly limits: Limits },
): Cycle {
  const { mind } = snapshot
  const constants = { ...policyConstants, ...readOverrides(mind.config.policy) }
  const storedById = new Map(
    snapshot.conversations.map((storedConversation) => [
      storedConversation.interaction_id,
      storedConversation,
    ]),
  )
  const mergedConversations = observation.conversations.map((conversation) => {
    const storedConversation = storedById.get(conversation.interaction_id)
    const { messages, addedMessages } = mergeMessages(
      storedConversation?.messages ?? [],
      conversation.messages,
      messageWindow,
    )
    const initiator_id = conversation.initiator_id ?? storedConversation?.initiator_id ?? null
    return { conversation: { ...conversation, initiator_id, messages }, addedMessages }
  })
  const newBids = readBids(events, observation.time)
  const canceledIds = readSettledBids(events)
  const bids = [
    ...snapshot.bids.filter(({ bid_id }) => !newBids.some((newBid) => newBid.bid_id === bid_id)),
    ...newBids,
  ]
  const staleBids = bids.filter(({ received_at }) => observation.time - received_at > limits.event_minutes)
  const settledIds = new Set([...canceledIds, ...staleBids.map(({ bid_id }) => bid_id)])
  const pendingBids = bids.filter(({ bid_id }) => !settledIds.has(bid_id))
  const previous = {
    state: mind.state,
    places: new Map(snapshot.places.map((place) => [place.entity_id, place])),
  }
  const perception = perceive(observation, events, previous, constants)
  const talks = updateConversationStates(mergedConversations, perception.state.talks, observation.time)
  const newMessages = mergedConversations
    .flatMap(({ addedMessages }) => addedMessages)
    .filter(({ speaker_id }) => speaker_id !== observation.entity_id)
  const news = updateNews(perception.state.news, newMessages, observation.time)
  const lastTime = mind.last_sim_time
  const isClockReset = lastTime !== null && observation.time < lastTime
  return {
    mind,
    observation,
    situation: assessSituation(observation, pendingBids),
    perception: { ...perception, state: { ...perception.state, talks, news } },
    conversations: mergedConversations.map(({ conversation }) => conversation),
    newMessages,
    events: selectRecentEvents([...snapshot.events, ...events], observation.time, limits),
    constants,
    weights: computeNeedWeights(mind.config.traits, mind.config.personality_dimensions),
    facts: {
      conversations: mergedConversations.map(
        ({ conversation: { messages: _, ...conversation }, addedMessages }) => ({
          ...conversation,
          addedMessages,
        }),
      ),
      closedIds: readEndedConversations(events),
      events,
      bids: { received: pendingBids.filter((bid) => newBids.includes(bid)), settledIds: [...settledIds] },
    },
    warnings: isClockReset
      ? [`clock_reset: the game time went back from ${lastTime} to ${observation.time}`]
      : [],
  }
}

const readOverrides = (overrides: Readonly<Record<string, number | undefined>>): Partial<PolicyConstants> =>
  Object.fromEntries(Object.entries(overrides).filter(([, value]) => value !== undefined))

function updateConversationStates(
  mergedConversations: readonly {
    readonly conversation: KnownConversation
    readonly addedMessages: readonly StoredMessage[]
  }[],
  talks: MindState['talks'],
  time: number,
): MindState['talks'] {
  return Object.fromEntries(
    mergedConversations.map(({ conversation, addedMessages }) => {
      const talk = talks[conversation.interaction_id] ?? createConversationState(time)
      return [
        conversation.interaction_id,
        addedMessages.length === 0 ? talk : { ...talk, heard_at: time, has_nudged: false },
      ]
    }),
  )
}

function readBids(events: readonly MindEvent[], time: number): PendingBid[] {
  return events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_RECEIVED')
    .flatMap(({ payload, timestamp }): PendingBid[] => {
      const bid_id = readText(payload, 'bid_id', 'id')
      const bidder_id = readText(payload, 'bidder_id', 'bidder_entity_id', 'from_id', 'entity_id')
      if (bid_id === undefined || bidder_id === undefined) return []
      return [
        {
          bid_id,
          bidder_id,
          bidder_name: readText(payload, 'bidder_name', 'from_name', 'entity_name') ?? bidder_id,
          interaction_name: readText(payload, 'interaction_name', 'interaction') ?? 'interaction',
          received_at: Math.min(time, timestamp),
        },
      ]
    })
}

const readSettledBids = (events: readonly MindEvent[]): string[] =>
  events
    .filter(({ event_type }) => event_type === 'INTERACTION_BID_CANCELED')
    .flatMap(({ payload }) => readText(payload, 'bid_id', 'id') ?? [])

const readEndedConversations = (events: readonly MindEvent[]): string[] =>
  events
    .filter(
      ({ event_type }) => event_type === 'INTERACTION_FINISHED' || event_type === 'INTERACTION_CANCELED',
    )
    .flatMap(({ payload }) => readText(payload, 'interaction_id') ?? [])
