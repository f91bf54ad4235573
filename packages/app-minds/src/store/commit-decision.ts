import { toGameDay } from '../domain/policy/state.ts'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { Tables } from './minds-file.ts'
import type { DecisionChange, MindRow, MindSnapshot, StoredConversation } from './types.ts'

/** Reads the input of a decision, with these conversations even if closed. */
export function readSnapshot(
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

/**
 * Writes the changes of one decision. Throws `STORE_ERROR` with `data.conflict` if the mind changed since it
 * was read.
 */
export function commitDecision(
  { minds, memories, world, records }: Tables,
  change: DecisionChange,
  limits: Limits,
): void {
  const { seq, time, decision, request } = change
  if (!minds.saveDecision(change))
    throw new MindsError('STORE_ERROR', 'the mind was changed by another request', {
      data: { conflict: true },
    })
  for (const place of change.places) world.putPlace(seq, place)
  if (change.knownPlaces > limits.places) world.trimPlaces(seq)
  for (const conversation of change.conversations) world.putConversation(seq, conversation, time)
  for (const id of change.closed) world.close(seq, id, time)
  if (change.hasConversations) world.closeOld(seq, time)
  world.addEvents(seq, change.events)
  for (const bid of change.bids.received) world.putBid(seq, bid)
  for (const id of change.bids.settled) world.removeBid(seq, id)
  for (const memory of change.memories) memories.addDaily(seq, memory)
  if (change.recalled.length > 0) memories.countRecall(change.recalled, time)
  const decisionSeq = records.addDecision(seq, request.request_id, decision)
  records.addCalls(seq, decisionSeq, toGameDay(time), change.calls)
  if (request.answer !== undefined) records.addAnswer(request)
}
