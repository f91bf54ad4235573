import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import type { SavedMind } from '../wire/read-save.ts'
import { requireActive } from './create-mind.ts'
import { createMemoryId } from './hash.ts'
import { type RawRow, toMemory } from './memory-table.ts'
import type { Database } from './mind-table.ts'
import type { Tables } from './minds-file.ts'
import type { MindRow } from './types.ts'

export function saveMind({ db, world, memories }: Tables, mind: MindRow): SavedMind {
  const { seq, mind_id, entity_id, rng_seed, config, working_memory, state } = mind
  const { last_sim_time, decision_count, unreflected } = mind
  return {
    format: 'causeway-mind',
    version: 1,
    ...{ mind_id, entity_id, rng_seed, config, last_sim_time, decision_count, unreflected },
    working_memory,
    state,
    daily_memories: memories.listDaily(seq).map(({ seq: _, superseded_by: __, ...memory }) => memory),
    long_term_memories: readMemories(db, seq),
    places: world.listPlaces(seq),
    conversations: readConversations(db, seq).map((row) => ({
      ...row,
      messages: world.listMessages(seq, row.interaction_id),
    })),
    events: world.listEvents(seq),
    bids: world.listBids(seq),
  } as unknown as SavedMind // The stored JSON has the same structure.
}

type SavedMemory = SavedMind['long_term_memories'][number]

interface RawSavedMemory
  extends RawRow,
    Pick<SavedMemory, 'valid_to' | 'merged_count' | 'access_count' | 'last_access_sim_time'> {
  readonly about: string | null
  readonly evidence_json: string
}

const readMemories = (db: Database, mindSeq: number) =>
  db
    .prepare<[number], RawSavedMemory>(
      `SELECT m.seq, id, content, importance, sim_time, x, y, kind, subject, tags_json, superseded_by, valid_to, merged_count,
         coalesce(access_count, 0) AS access_count, last_access_sim_time, about, coalesce(evidence_json, '[]') AS evidence_json
       FROM memory m LEFT JOIN memory_access a ON a.memory_seq = m.seq LEFT JOIN reflection r ON r.memory_seq = m.seq
       WHERE m.mind_seq = ? ORDER BY m.seq`,
    )
    .all(mindSeq)
    .map(({ seq: _, about, evidence_json, ...row }) => ({
      ...toMemory(row),
      reflection: about === null ? null : { about, evidence: JSON.parse(evidence_json) as string[] },
    }))

type RawConversation = Omit<SavedMind['conversations'][number], 'participants' | 'messages'> & {
  readonly participants_json: string
}

const readConversations = (db: Database, mindSeq: number) =>
  db
    .prepare<[number], RawConversation>(
      `SELECT interaction_id, name AS interaction_name, participants_json, initiator_id, opened_at, last_seen, closed_at
       FROM conversation WHERE mind_seq = ? ORDER BY interaction_id`,
    )
    .all(mindSeq)
    .map(({ participants_json, ...row }) => ({
      ...row,
      participants: JSON.parse(participants_json) as string[],
    }))

interface LoadTarget {
  readonly mind_id: string
  readonly entity_id: string
  readonly config: MindRow['config']
  readonly isReplacing: boolean
}

export function loadMind(
  tables: Tables,
  save: SavedMind,
  { mind_id, entity_id, config, isReplacing }: LoadTarget,
  limits: Limits,
): void {
  const { db, minds, world } = tables
  const existing = minds.find(mind_id)
  if (existing !== undefined && !isReplacing)
    throw new MindsError('MIND_EXISTS', `Mind ${mind_id} exists`, { data: { mind_id } })
  if (existing?.status !== 'active') requireActive(minds.countActive(), limits)
  if (existing !== undefined) minds.remove(mind_id)
  const seq = minds.insert({ mind_id, entity_id, config, rng_seed: save.rng_seed })
  loadMemories(tables, save, { mind_id, seq })
  for (const place of save.places) world.putPlace(seq, place)
  const setTimes = db.prepare(
    'UPDATE conversation SET last_seen = ?, closed_at = ? WHERE mind_seq = ? AND interaction_id = ?',
  )
  for (const { messages, ...conversation } of save.conversations) {
    const { interaction_id, opened_at, last_seen, closed_at } = conversation
    world.putConversation(seq, { ...conversation, addedMessages: messages }, opened_at)
    setTimes.run(last_seen, closed_at, seq, interaction_id)
  }
  world.addEvents(seq, save.events)
  for (const bid of save.bids) world.putBid(seq, bid)
  const { working_memory, state, last_sim_time, decision_count, unreflected } = save
  db.prepare(
    `UPDATE mind SET working_memory_json = ?, state_json = ?, last_sim_time = ?, decision_count = ?, unreflected = ?,
       memory_rev = memory_rev + 1 WHERE seq = ?`,
  ).run(
    ...[JSON.stringify(working_memory), JSON.stringify(state), last_sim_time, decision_count],
    ...[unreflected, seq],
  )
}

/** If the id of any memory already exists, all memories get new ids. */
function loadMemories(
  { db, memories }: Tables,
  { long_term_memories, daily_memories }: SavedMind,
  { mind_id, seq }: Pick<MindRow, 'mind_id' | 'seq'>,
): void {
  const hasMemory = db
    .prepare<[{ 1: string }], number>(
      'SELECT EXISTS (SELECT 1 FROM memory WHERE id = ?1) OR EXISTS (SELECT 1 FROM daily_memory WHERE id = ?1)',
    )
    .pluck()
  const updateMemory = db.prepare(
    'UPDATE memory SET superseded_by = ?, valid_to = ?, merged_count = ? WHERE seq = ?',
  )
  const addAccess = db.prepare('INSERT INTO memory_access VALUES (?, ?, ?)')
  const addReflection = db.prepare(
    'INSERT INTO reflection (memory_seq, mind_seq, about, evidence_json) VALUES (?, ?, ?, ?)',
  )
  const hasConflict = [...long_term_memories, ...daily_memories].some(
    ({ id }) => hasMemory.get({ 1: id }) === 1,
  )
  const mapId = (id: string): string => (hasConflict ? createMemoryId(mind_id, seq, 'import', id) : id)
  for (const { reflection, superseded_by, valid_to, merged_count, ...row } of long_term_memories) {
    const memorySeq = memories.add(seq, { ...row, id: mapId(row.id) })
    if (memorySeq === undefined) continue
    updateMemory.run(superseded_by === null ? null : mapId(superseded_by), valid_to, merged_count, memorySeq)
    const { access_count, last_access_sim_time } = row
    if (access_count > 0) addAccess.run(memorySeq, access_count, last_access_sim_time ?? 0)
    if (reflection !== null)
      addReflection.run(memorySeq, seq, reflection.about, JSON.stringify(reflection.evidence.map(mapId)))
  }
  for (const row of daily_memories) memories.addDaily(seq, { ...row, id: mapId(row.id) })
}
