import type { SavedMind } from '../wire/read-save.ts'
import { type RawMemory, toMemory } from './memory-table.ts'
import type { Database } from './mind-table.ts'

type SavedMemory = SavedMind['long_term_memories'][number]
type SavedConversation = Omit<SavedMind['conversations'][number], 'messages'>

interface RawSavedMemory
  extends RawMemory,
    Pick<SavedMemory, 'valid_to' | 'merged_count' | 'last_access_sim_time'> {
  readonly access_count: number | null
  readonly about: string | null
  readonly evidence_json: string | null
}

interface RawEvent {
  readonly timestamp: number
  readonly event_type: string
  readonly payload_json: string
}

type RawConversation = Omit<SavedConversation, 'participants'> & { readonly participants_json: string }

const prepareStatements = (db: Database) => ({
  memories: db.prepare<[number], RawSavedMemory>(
    `SELECT m.seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, valid_to, merged_count,
       access_count, last_access_sim_time, about, evidence_json
     FROM memory m LEFT JOIN memory_access a ON a.memory_seq = m.seq LEFT JOIN reflection r ON r.memory_seq = m.seq
     WHERE m.mind_seq = ? ORDER BY m.seq`,
  ),
  conversations: db.prepare<[number], RawConversation>(
    `SELECT interaction_id, name AS interaction_name, participants_json, initiator_id, opened_at, last_seen, closed_at
     FROM conversation WHERE mind_seq = ? ORDER BY interaction_id`,
  ),
  events: db.prepare<[number], RawEvent>(
    'SELECT timestamp, event_type, payload_json FROM event WHERE mind_seq = ? ORDER BY seq',
  ),
  hasMemory: db
    .prepare<[{ 1: string }], number>(
      'SELECT EXISTS (SELECT 1 FROM memory WHERE id = ?1) OR EXISTS (SELECT 1 FROM daily_memory WHERE id = ?1)',
    )
    .pluck(),
  complete: db.prepare('UPDATE memory SET superseded_by = ?, valid_to = ?, merged_count = ? WHERE seq = ?'),
  addAccess: db.prepare('INSERT INTO memory_access VALUES (?, ?, ?)'),
  addReflection: db.prepare(
    'INSERT INTO reflection (memory_seq, mind_seq, about, evidence_json) VALUES (?, ?, ?, ?)',
  ),
  setConversationTimes: db.prepare(
    'UPDATE conversation SET last_seen = ?, closed_at = ? WHERE mind_seq = ? AND interaction_id = ?',
  ),
  setMind: db.prepare(
    `UPDATE mind SET working_memory_json = ?, state_json = ?, last_sim_time = ?, decision_count = ?, unreflected = ?,
       memory_rev = memory_rev + 1 WHERE seq = ?`,
  ),
})

export class SaveTable {
  readonly #sql: ReturnType<typeof prepareStatements>

  constructor(db: Database) {
    this.#sql = prepareStatements(db)
  }

  /** All long-term memories with their conclusions, in order of creation. */
  memories(mindSeq: number): SavedMemory[] {
    return this.#sql.memories.all(mindSeq).map(({ about, evidence_json, access_count, ...raw }) => {
      const { seq: _, ...row } = toMemory(raw) as ReturnType<typeof toMemory> & typeof raw
      const { x: __, y: ___, tags_json: ____, ...memory } = row
      return {
        ...memory,
        location: row.location === null ? null : [row.location[0], row.location[1]],
        tags: [...row.tags],
        access_count: access_count ?? 0,
        reflection:
          about === null ? null : { about, evidence: JSON.parse(evidence_json ?? '[]') as string[] },
      }
    })
  }

  conversations(mindSeq: number): readonly SavedConversation[] {
    return this.#sql.conversations.all(mindSeq).map(({ participants_json, ...row }) => ({
      ...row,
      participants: JSON.parse(participants_json) as string[],
    }))
  }

  events(mindSeq: number): SavedMind['events'] {
    return this.#sql.events.all(mindSeq).map(({ payload_json, ...event }) => ({
      ...event,
      payload: JSON.parse(payload_json) as Record<string, unknown>,
    }))
  }

  hasMemory(id: string): boolean {
    return this.#sql.hasMemory.get({ 1: id }) === 1
  }

  /** Sets what `MemoryTable.add` does not. */
  complete(
    seq: number,
    {
      superseded_by,
      valid_to,
      merged_count,
      access_count,
      last_access_sim_time,
    }: Omit<SavedMemory, 'reflection'>,
  ): void {
    this.#sql.complete.run(superseded_by, valid_to, merged_count, seq)
    if (access_count > 0) this.#sql.addAccess.run(seq, access_count, last_access_sim_time ?? 0)
  }

  addReflection(
    mindSeq: number,
    memorySeq: number,
    { about, evidence }: NonNullable<SavedMemory['reflection']>,
  ): void {
    this.#sql.addReflection.run(memorySeq, mindSeq, about, JSON.stringify(evidence))
  }

  setConversationTimes(
    mindSeq: number,
    interactionId: string,
    { last_seen, closed_at }: Pick<SavedConversation, 'last_seen' | 'closed_at'>,
  ): void {
    this.#sql.setConversationTimes.run(last_seen, closed_at, mindSeq, interactionId)
  }

  setMind(
    seq: number,
    { working_memory, state, last_sim_time, decision_count, unreflected }: SavedMind,
  ): void {
    const json = [JSON.stringify(working_memory), JSON.stringify(state)]
    this.#sql.setMind.run(...json, last_sim_time, decision_count, unreflected, seq)
  }
}
