import type { StoredMessage } from '../domain/conversation.ts'
import type { MindEvent, PendingBid } from '../domain/observation.ts'
import type { Place } from '../domain/policy/place.ts'
import type { Limits } from '../limits.ts'
import type { Database } from './mind-table.ts'
import type { ConversationChange, MindRow, MindSnapshot, StoredConversation } from './types.ts'

interface RawConversation {
  readonly interaction_id: string
  readonly name: string
  readonly participants_json: string
  readonly initiator_id: string | null
  readonly opened_at: number
  readonly last_seen: number
}

const prepareStatements = (db: Database) => ({
  places: db
    .prepare<[number], string>('SELECT place_json FROM place WHERE mind_seq = ? ORDER BY entity_id')
    .pluck(),
  putPlace: db.prepare(
    'INSERT OR REPLACE INTO place (mind_seq, entity_id, last_seen, place_json) VALUES (?, ?, ?, ?)',
  ),
  trimPlaces: db.prepare(
    `DELETE FROM place WHERE mind_seq = ?1 AND entity_id IN (
       SELECT entity_id FROM place WHERE mind_seq = ?1 ORDER BY last_seen DESC, entity_id LIMIT -1 OFFSET ?2)`,
  ),
  open: db.prepare<[number], RawConversation>(
    'SELECT interaction_id, name, participants_json, initiator_id, opened_at, last_seen FROM conversation WHERE mind_seq = ? AND closed_at IS NULL',
  ),
  messages: db
    .prepare<[number, string], string>(
      'SELECT message_json FROM conversation_message WHERE mind_seq = ? AND interaction_id = ? ORDER BY ord',
    )
    .pluck(),
  putConversation: db.prepare(
    `INSERT INTO conversation (mind_seq, interaction_id, name, participants_json, initiator_id, opened_at, last_seen)
     VALUES (?, ?, ?, ?, ?, ?, ?)
     ON CONFLICT DO UPDATE SET name = excluded.name, participants_json = excluded.participants_json,
       initiator_id = coalesce(excluded.initiator_id, initiator_id), last_seen = excluded.last_seen, closed_at = NULL`,
  ),
  lastOrd: db
    .prepare<[number, string], number>(
      'SELECT coalesce(max(ord), 0) FROM conversation_message WHERE mind_seq = ? AND interaction_id = ?',
    )
    .pluck(),
  addMessage: db.prepare(
    'INSERT INTO conversation_message (mind_seq, interaction_id, ord, message_json) VALUES (?, ?, ?, ?)',
  ),
  trimMessages: db.prepare(
    'DELETE FROM conversation_message WHERE mind_seq = ? AND interaction_id = ? AND ord <= ?',
  ),
  close: db.prepare(
    'UPDATE conversation SET closed_at = ? WHERE mind_seq = ? AND interaction_id = ? AND closed_at IS NULL',
  ),
  // Closes conversations not seen for a day, and the least recently seen beyond the limit.
  closeOld: db.prepare(
    `UPDATE conversation SET closed_at = ?1 WHERE mind_seq = ?2 AND closed_at IS NULL AND (last_seen < ?1 - 1440 OR interaction_id IN (
       SELECT interaction_id FROM conversation WHERE mind_seq = ?2 AND closed_at IS NULL
       ORDER BY last_seen DESC, interaction_id LIMIT -1 OFFSET ?3))`,
  ),
  events: db.prepare<[number, number], { timestamp: number; event_type: string; payload_json: string }>(
    'SELECT timestamp, event_type, payload_json FROM event WHERE mind_seq = ? ORDER BY seq DESC LIMIT ?',
  ),
  addEvent: db.prepare(
    'INSERT INTO event (mind_seq, timestamp, event_type, payload_json) VALUES (?, ?, ?, ?)',
  ),
  trimEvents: db.prepare(
    'DELETE FROM event WHERE mind_seq = ?1 AND seq NOT IN (SELECT seq FROM event WHERE mind_seq = ?1 ORDER BY seq DESC LIMIT ?2)',
  ),
  bids: db.prepare<[number], string>('SELECT bid_json FROM bid WHERE mind_seq = ? ORDER BY bid_id').pluck(),
  putBid: db.prepare('INSERT OR REPLACE INTO bid (mind_seq, bid_id, bid_json) VALUES (?, ?, ?)'),
  removeBid: db.prepare('DELETE FROM bid WHERE mind_seq = ? AND bid_id = ?'),
})

/** The stored world of each mind: places, conversations, events and invitations. Times are game minutes. */
export class WorldTable {
  readonly #sql: ReturnType<typeof prepareStatements>
  readonly #limits: Limits

  constructor(db: Database, limits: Limits) {
    this.#sql = prepareStatements(db)
    this.#limits = limits
  }

  /** Returns the input of a decision. Includes the conversations of `interactionIds` even if they are closed. */
  createSnapshot(mind: MindRow, interactionIds: readonly string[]): MindSnapshot {
    const openConversations = this.listConversations(mind.seq)
    const closedIds = interactionIds.filter(
      (id) => !openConversations.some(({ interaction_id }) => interaction_id === id),
    )
    const reopenedConversations = closedIds.map((id) => ({
      interaction_id: id,
      interaction_name: '',
      participants: [],
      initiator_id: null,
      last_seen: 0,
      messages: this.listMessages(mind.seq, id),
    }))
    return {
      mind,
      places: this.listPlaces(mind.seq),
      conversations: [...openConversations, ...reopenedConversations],
      events: this.listEvents(mind.seq),
      bids: this.listBids(mind.seq),
    }
  }

  listPlaces(seq: number): readonly Place[] {
    return this.#sql.places.all(seq).map((text) => parse<Place>(text))
  }

  putPlace(seq: number, place: Place): void {
    this.#sql.putPlace.run(seq, place.entity_id, place.last_seen, JSON.stringify(place))
  }

  trimPlaces(seq: number): void {
    this.#sql.trimPlaces.run({ 1: seq, 2: this.#limits.places })
  }

  /** Returns open conversations, in order of opening. */
  listConversations(seq: number): readonly StoredConversation[] {
    const rows = this.#sql.open.all(seq).sort(compareOpening)
    return rows.map(({ interaction_id, name, participants_json, initiator_id, last_seen }) => ({
      interaction_id,
      interaction_name: name,
      participants: parse<string[]>(participants_json),
      initiator_id,
      last_seen,
      messages: this.listMessages(seq, interaction_id),
    }))
  }

  listMessages(seq: number, interactionId: string): readonly StoredMessage[] {
    return this.#sql.messages.all(seq, interactionId).map((text) => parse<StoredMessage>(text))
  }

  putConversation(seq: number, change: ConversationChange, time: number): void {
    const { interaction_id, interaction_name, participants, initiator_id, addedMessages } = change
    const values = [seq, interaction_id, interaction_name, JSON.stringify(participants), initiator_id]
    this.#sql.putConversation.run(...values, time, time)
    let ord = this.#sql.lastOrd.get(seq, interaction_id) ?? 0
    for (const message of addedMessages)
      this.#sql.addMessage.run(seq, interaction_id, ++ord, JSON.stringify(message))
    this.#sql.trimMessages.run(seq, interaction_id, ord - this.#limits.conversation_messages)
  }

  closeConversation(seq: number, interactionId: string, time: number): void {
    this.#sql.close.run(time, seq, interactionId)
  }

  closeOldConversations(seq: number, time: number): void {
    this.#sql.closeOld.run({ 1: time, 2: seq, 3: this.#limits.open_conversations })
  }

  listEvents(seq: number): readonly MindEvent[] {
    const rows = this.#sql.events.all(seq, this.#limits.events).reverse()
    return rows.map(({ payload_json, ...event }) => ({
      ...event,
      payload: parse<MindEvent['payload']>(payload_json),
    }))
  }

  addEvents(seq: number, newEvents: readonly MindEvent[]): void {
    for (const { timestamp, event_type, payload } of newEvents)
      this.#sql.addEvent.run(seq, timestamp, event_type, JSON.stringify(payload))
    if (newEvents.length > 0) this.#sql.trimEvents.run({ 1: seq, 2: this.#limits.events })
  }

  listBids(seq: number): readonly PendingBid[] {
    return this.#sql.bids.all(seq).map((text) => parse<PendingBid>(text))
  }

  putBid(seq: number, bid: PendingBid): void {
    this.#sql.putBid.run(seq, bid.bid_id, JSON.stringify(bid))
  }

  removeBid(seq: number, bidId: string): void {
    this.#sql.removeBid.run(seq, bidId)
  }
}

const parse = <T>(json: string): T => JSON.parse(json) as T

const compareOpening = (a: RawConversation, b: RawConversation): number =>
  a.opened_at - b.opened_at || (a.interaction_id < b.interaction_id ? -1 : 1)
