/** What a decision starts from, and what it leaves behind. */
import { CausewayError } from '@causeway/protocol'
import { dayOf } from '../domain/policy/state.ts'
import type { Limits } from '../limits.ts'
import type { Tables } from './tables.ts'
import type { DecisionChange, MindRow, MindSnapshot, StoredConversation } from './types.ts'

/** All that a decision of this mind starts from; conversations of these ids also where they are closed. */
export function snapshotOf(
  { world }: Tables,
  mind: MindRow,
  interactionIds: readonly string[],
): MindSnapshot {
  const open = world.conversations(mind.seq)
  const closed = interactionIds.filter((id) => !open.some(({ interaction_id }) => interaction_id === id))
  const reopened = closed.map(
    (id): StoredConversation => ({
      interaction_id: id,
      interaction_name: '',
      participants: [],
      initiator_id: null,
      last_seen: 0,
      messages: world.messages(mind.seq, id),
    }),
  )
  return {
    mind,
    places: world.places(mind.seq),
    conversations: [...open, ...reopened],
    events: world.events(mind.seq),
    bids: world.bids(mind.seq),
  }
}

/** Writes everything that one decision changed. Throws `STORE_ERROR` where the mind was changed meanwhile. */
export function commitDecision(
  { minds, memories, world, records }: Tables,
  change: DecisionChange,
  limits: Limits,
): void {
  const { seq, time, decision, request } = change
  if (!minds.decided(change, change)) {
    // Forgotten or released, or changed by another process on the same file: the caller starts again.
    throw new CausewayError('STORE_ERROR', 'the mind was changed while it decided', {
      data: { conflict: true },
    })
  }
  for (const place of change.places) world.putPlace(seq, place)
  if (change.knownPlaces > limits.places) world.trimPlaces(seq)
  for (const conversation of change.conversations) world.putConversation(seq, conversation, time)
  for (const id of change.closed) world.close(seq, id, time)
  if (change.hasConversations) world.closeOld(seq, time)
  world.addEvents(seq, change.events)
  for (const bid of change.bids.received) world.putBid(seq, bid)
  for (const id of change.bids.settled) world.dropBid(seq, id)
  for (const memory of change.memories) memories.addDaily(seq, memory)
  if (change.recalled.length > 0) memories.touch(change.recalled, time)
  const decisionSeq = records.addDecision(seq, request.request_id, decision)
  records.addCalls(seq, decisionSeq, dayOf(time), change.calls)
  if (request.answer !== undefined) records.answer(request)
}
