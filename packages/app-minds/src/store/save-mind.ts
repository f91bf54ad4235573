import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { SavedMind } from '../wire/read-save.ts'
import { requireActive } from './create-mind.ts'
import { memoryId } from './hash.ts'
import type { Tables } from './minds-file.ts'
import type { MindRow } from './types.ts'

export function saveMind({ saves, world, memories }: Tables, mind: MindRow): SavedMind {
  const { seq, mind_id, entity_id, rng_seed, config, working_memory, state } = mind
  const { last_sim_time, decision_count, unreflected } = mind
  return {
    format: 'causeway-mind',
    version: 1,
    ...{ mind_id, entity_id, rng_seed, config, last_sim_time, decision_count, unreflected },
    working_memory,
    state,
    daily_memories: memories.daily(seq).map(({ seq: _, superseded_by: __, ...memory }) => memory),
    long_term_memories: saves.memories(seq),
    places: world.places(seq),
    conversations: saves.conversations(seq).map((row) => ({
      ...row,
      messages: world.messages(seq, row.interaction_id),
    })),
    events: saves.events(seq),
    bids: world.bids(seq),
  } as unknown as SavedMind // The stored JSON has the same structure.
}

interface Target {
  readonly mind_id: string
  readonly entity_id: string
  readonly config: MindRow['config']
  readonly isReplacing: boolean
}

export function loadMind(
  tables: Tables,
  save: SavedMind,
  { mind_id, entity_id, config, isReplacing }: Target,
  limits: Limits,
): void {
  const { minds, memories, saves, world } = tables
  const existing = minds.find(mind_id)
  if (existing !== undefined && !isReplacing)
    throw new MindsError('MIND_EXISTS', `Mind ${mind_id} exists`, { data: { mind_id } })
  if (existing?.status !== 'active') requireActive(minds.countActive(), limits)
  if (existing !== undefined) minds.remove(mind_id)
  const seq = minds.insert({ mind_id, entity_id, config, rng_seed: save.rng_seed })
  const all = [...save.long_term_memories, ...save.daily_memories]
  const isTaken = all.some(({ id }) => saves.hasMemory(id))
  const rename = (id: string): string => (isTaken ? memoryId(mind_id, seq, 'import', id) : id)
  for (const { reflection, ...row } of save.long_term_memories) {
    const memorySeq = memories.add(seq, { ...row, id: rename(row.id) })
    if (memorySeq === undefined) continue
    const superseded_by = row.superseded_by === null ? null : rename(row.superseded_by)
    saves.complete(memorySeq, { ...row, superseded_by })
    if (reflection !== null)
      saves.addReflection(seq, memorySeq, { ...reflection, evidence: reflection.evidence.map(rename) })
  }
  for (const row of save.daily_memories) memories.addDaily(seq, { ...row, id: rename(row.id) })
  for (const place of save.places) world.putPlace(seq, place)
  for (const { messages, ...conversation } of save.conversations) {
    const { opened_at, last_seen } = conversation
    world.putConversation(seq, { ...conversation, added: messages }, opened_at)
    saves.setConversationTimes(seq, conversation.interaction_id, {
      last_seen,
      closed_at: conversation.closed_at,
    })
  }
  world.addEvents(seq, save.events)
  for (const bid of save.bids) world.putBid(seq, bid)
  saves.setMind(seq, save)
}
