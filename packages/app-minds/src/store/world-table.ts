/** What a mind knows of its world: places, conversations, events, invitations. */
import type { KeptMessage } from '../domain/conversation.ts'
import type { MindEvent, PendingBid } from '../domain/observation.ts'
import type { Place } from '../domain/policy/place.ts'
import type { Limits } from '../limits.ts'
import type { Database } from './mind-table.ts'
import type { ConversationChange, StoredConversation } from './types.ts'

interface RawConversation {
  readonly interaction_id: string
  readonly name: string
  readonly participants_json: string
  readonly initiator_id: string | null
  readonly opened_at: number
  readonly last_seen: number
}

/** The statements about a mind's world; to be called inside a transaction. JSON in it was written by this file. */
export function worldTable(db: Database, limits: Limits) {
  const places = db
    .prepare<[number], string>('SELECT place_json FROM place WHERE mind_seq = ? ORDER BY entity_id')
    .pluck()
  const putPlace = db.prepare(
    'INSERT OR REPLACE INTO place (mind_seq, entity_id, last_seen, place_json) VALUES (?, ?, ?, ?)',
  )
  const trimPlaces = db.prepare(
    `DELETE FROM place WHERE mind_seq = ?1 AND entity_id IN (
       SELECT entity_id FROM place WHERE mind_seq = ?1 ORDER BY last_seen DESC, entity_id LIMIT -1 OFFSET ?2)`,
  )
  const open = db.prepare<[number], RawConversation>(
    'SELECT interaction_id, name, participants_json, initiator_id, opened_at, last_seen FROM conversation WHERE mind_seq = ? AND closed_at IS NULL',
  )
  const messages = db
    .prepare<[number, string], string>(
      'SELECT message_json FROM conversation_message WHERE mind_seq = ? AND interaction_id = ? ORDER BY ord',
    )
    .pluck()
  const putConversation = db.prepare(
    `INSERT INTO conversation (mind_seq, interaction_id, name, participants_json, initiator_id, opened_at, last_seen)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name, participants_json = excluded.participants_json,
       initiator_id = coalesce(excluded.initiator_id, initiator_id), last_seen = excluded.last_seen, closed_at = NULL`,
  )
  const lastOrd = db
    .prepare<[number, string], number>(
      'SELECT coalesce(max(ord), 0) FROM conversation_message WHERE mind_seq = ? AND interaction_id = ?',
    )
    .pluck()
  const addMessage = db.prepare(
    'INSERT INTO conversation_message (mind_seq, interaction_id, ord, message_json) VALUES (?, ?, ?, ?)',
  )
  const trim = db.prepare(
    'DELETE FROM conversation_message WHERE mind_seq = ? AND interaction_id = ? AND ord <= ?',
  )
  const close = db.prepare(
    'UPDATE conversation SET closed_at = ? WHERE mind_seq = ? AND interaction_id = ? AND closed_at IS NULL',
  )
  // Left alone for a day, or beyond the limit, oldest use first.
  const closeOld = db.prepare(
    `UPDATE conversation SET closed_at = ?1 WHERE mind_seq = ?2 AND closed_at IS NULL AND (last_seen < ?1 - 1440 OR interaction_id IN (
       SELECT interaction_id FROM conversation WHERE mind_seq = ?2 AND closed_at IS NULL
       ORDER BY last_seen DESC, interaction_id LIMIT -1 OFFSET ?3))`,
  )
  const events = db.prepare<
    [number, number],
    { timestamp: number; event_type: string; payload_json: string }
  >('SELECT timestamp, event_type, payload_json FROM event WHERE mind_seq = ? ORDER BY seq DESC LIMIT ?')
  const addEvent = db.prepare(
    'INSERT INTO event (mind_seq, timestamp, event_type, payload_json) VALUES (?, ?, ?, ?)',
  )
  const trimEvents = db.prepare(
    'DELETE FROM event WHERE mind_seq = ?1 AND seq NOT IN (SELECT seq FROM event WHERE mind_seq = ?1 ORDER BY seq DESC LIMIT ?2)',
  )
  const bids = db
    .prepare<[number], string>('SELECT bid_json FROM bid WHERE mind_seq = ? ORDER BY bid_id')
    .pluck()
  const putBid = db.prepare('INSERT OR REPLACE INTO bid (mind_seq, bid_id, bid_json) VALUES (?, ?, ?)')
  const dropBid = db.prepare('DELETE FROM bid WHERE mind_seq = ? AND bid_id = ?')
  const json = <T>(text: string): T => JSON.parse(text) as T
  return {
    places: (seq: number): readonly Place[] => places.all(seq).map((text) => json<Place>(text)),
    putPlace: (seq: number, place: Place): void =>
      void putPlace.run(seq, place.entity_id, place.last_seen, JSON.stringify(place)),
    trimPlaces: (seq: number): void => void trimPlaces.run({ 1: seq, 2: limits.places }),
    conversations: (seq: number): readonly StoredConversation[] =>
      // Sorted here: the sorter of SQLite costs more than the few rows that there are.
      open
        .all(seq)
        .sort(byOpening)
        .map(({ interaction_id, name, participants_json, initiator_id, last_seen }) => ({
          interaction_id,
          interaction_name: name,
          participants: json<string[]>(participants_json),
          initiator_id,
          last_seen,
          messages: messages.all(seq, interaction_id).map((text) => json<KeptMessage>(text)),
        })),
    /** Messages of one conversation, also of one that is closed and begins again. */
    messages: (seq: number, interactionId: string): readonly KeptMessage[] =>
      messages.all(seq, interactionId).map((text) => json<KeptMessage>(text)),
    putConversation(seq: number, change: ConversationChange, time: number): void {
      const { interaction_id, interaction_name, participants, initiator_id, added } = change
      putConversation.run(
        ...[seq, interaction_id, interaction_name, JSON.stringify(participants), initiator_id, time, time],
      )
      let ord = lastOrd.get(seq, interaction_id) ?? 0
      for (const message of added) addMessage.run(seq, interaction_id, ++ord, JSON.stringify(message))
      trim.run(seq, interaction_id, ord - limits.conversation_messages)
    },
    close: (seq: number, interactionId: string, time: number): void =>
      void close.run(time, seq, interactionId),
    closeOld: (seq: number, time: number): void =>
      void closeOld.run({ 1: time, 2: seq, 3: limits.open_conversations }),
    events: (seq: number): readonly MindEvent[] =>
      events
        .all(seq, limits.events)
        .reverse()
        .map(({ payload_json, ...event }) => ({
          ...event,
          payload: json<MindEvent['payload']>(payload_json),
        })),
    addEvents(seq: number, added: readonly MindEvent[]): void {
      for (const { timestamp, event_type, payload } of added)
        addEvent.run(seq, timestamp, event_type, JSON.stringify(payload))
      if (added.length > 0) trimEvents.run({ 1: seq, 2: limits.events })
    },
    bids: (seq: number): readonly PendingBid[] => bids.all(seq).map((text) => json<PendingBid>(text)),
    putBid: (seq: number, bid: PendingBid): void => void putBid.run(seq, bid.bid_id, JSON.stringify(bid)),
    dropBid: (seq: number, bidId: string): void => void dropBid.run(seq, bidId),
  }
}

const byOpening = (a: RawConversation, b: RawConversation): number =>
  a.opened_at - b.opened_at || (a.interaction_id < b.interaction_id ? -1 : 1)
