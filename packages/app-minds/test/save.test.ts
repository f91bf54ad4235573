import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { type Data, decide, makeMind, type OpenMinds, openMinds, stove } from './minds-kit.ts'

const conversation = (id: string, message: string, timestamp: number): Data => ({
  entities: [stove([30, 7])],
  status: {
    current_interaction: { interaction_id: id, interaction_name: 'conversation', needs_filled: ['social'] },
    controller_state: { state_name: 'interacting' },
  },
  conversations: [
    {
      interaction_id: id,
      interaction_name: 'conversation',
      participants: ['ben', 'mara'],
      conversation_history: [{ speaker_id: 'ben', speaker_name: 'Ben', message, timestamp }],
    },
  ],
})

const refusal = (timestamp: number) => ({
  timestamp,
  event_type: 'INTERACTION_BID_REJECTED',
  payload: { entity_id: 'stove_2', interaction_name: 'eat', reason: 'it is busy' },
})

/** A mind with every kind of content: memories, a correction, a conclusion, places, conversations, events and an invitation. */
async function liveWithAll(t: Test): Promise<OpenMinds> {
  const minds = await openMinds(t)
  const config = {
    reflect_after: 3,
    initial_long_term_memories: ['I was born by the sea.'],
    mood_colour: 'red',
  }
  await makeMind(minds, 'mara', config)
  for (let day = 1; day <= 3; day++) {
    const time = day * 1440
    const said = ['The ferry leaves at noon.', 'Actually, the ferry leaves at six.', 'Ann owns the bakery.'][
      day - 1
    ]
    await decide(minds, 'mara', time, {
      ...conversation(`talk-${day}`, said ?? '', time),
      events: [
        refusal(time),
        ...(day === 1
          ? [{ timestamp: time, event_type: 'INTERACTION_FINISHED', payload: { interaction_id: 'talk-0' } }]
          : []),
      ],
    })
    await minds.call('consolidate_memories', { mind_id: 'mara', request_id: `night-${day}` })
  }
  await decide(minds, 'mara', 6000, {
    ...conversation('talk-4', 'The well is dry.', 6000),
    events: [
      { timestamp: 6000, event_type: 'INTERACTION_FINISHED', payload: { interaction_id: 'talk-2' } },
      {
        timestamp: 6000,
        event_type: 'INTERACTION_BID_RECEIVED',
        payload: { bid_id: 'b1', bidder_id: 'ann', bidder_name: 'Ann', interaction_name: 'dance' },
      },
      {
        timestamp: 6000,
        event_type: 'INTERACTION_BID_RECEIVED',
        payload: { bid_id: 'b2', bidder_id: 'cora', bidder_name: 'Cora', interaction_name: 'dance' },
      },
    ],
  })
  return minds
}

const exportMind = async (minds: OpenMinds, mind_id: string): Promise<Data> =>
  (await minds.call('export_mind', { mind_id })).save

verifies('minds:save', 'a save contains everything, and its import exports the same', async (t) => {
  const minds = await liveWithAll(t)
  const save = await exportMind(minds, 'mara')
  for (const part of ['daily_memories', 'long_term_memories', 'places', 'conversations', 'events'])
    t.ok(save[part].length > 0, `${part} has content`)
  t.ok(
    save.long_term_memories.some(({ superseded_by }: Data) => superseded_by !== null),
    'a correction',
  )
  t.ok(
    save.long_term_memories.some(({ reflection }: Data) => reflection !== null),
    'a conclusion',
  )
  t.ok(
    save.conversations.some(({ closed_at }: Data) => closed_at !== null),
    'a closed conversation',
  )
  t.equal(save.config.mood_colour, 'red', 'unknown settings remain')
  const other = await openMinds(t)
  t.match(await other.call('import_mind', { save: JSON.parse(JSON.stringify(save)) }), {
    status: 'imported',
    mind_id: 'mara',
    daily_memories_count: save.daily_memories.length,
    long_term_memory_count: save.long_term_memories.length,
  })
  t.same(await exportMind(other, 'mara'), save, 'nothing is lost')
  const again = await other.reopen()
  t.same(await exportMind(again, 'mara'), save, 'also after a restart')
  const next = { ...conversation('talk-5', 'When does the ferry leave?', 6100), request_id: 'next' }
  const [before, after] = [await decide(minds, 'mara', 6100, next), await decide(again, 'mara', 6100, next)]
  t.same(after.action, before.action, 'both decide the same')
})

verifies('minds:save', 'a save replaces a mind, or copies it under another id', async (t) => {
  const minds = await liveWithAll(t)
  const save = await exportMind(minds, 'mara')
  await decide(minds, 'mara', 6200, conversation('talk-6', 'Ann sold the bakery.', 6200))
  await t.rejects(minds.call('import_mind', { save }), { code: 'MIND_EXISTS' })
  const restore = { save, if_exists: 'replace', request_id: 'slot-1' }
  t.match(await minds.call('import_mind', restore), { status: 'imported' })
  t.match(await minds.call('import_mind', restore), { replayed: true }, 'a repeated call runs once')
  t.same(await exportMind(minds, 'mara'), save)
  t.match(await minds.call('import_mind', { save, mind_id: 'twin', entity_id: 'twin_body' }), {
    mind_id: 'twin',
    entity_id: 'twin_body',
  })
  const twin = await exportMind(minds, 'twin')
  const texts = (one: Data) => one.long_term_memories.map(({ content }: Data) => content)
  t.same(texts(twin), texts(save))
  const ids = new Set(twin.long_term_memories.map(({ id }: Data) => id))
  t.notOk(
    save.long_term_memories.some(({ id }: Data) => ids.has(id)),
    'copies have their own ids',
  )
  for (const { superseded_by, reflection } of twin.long_term_memories)
    for (const id of [superseded_by, ...(reflection?.evidence ?? [])]) t.ok(id === null || ids.has(id))
  t.same(await exportMind(minds, 'mara'), save, 'the original is unchanged')
})

verifies('minds:save', 'an invalid save is rejected and changes nothing', async (t) => {
  const minds = await liveWithAll(t)
  const save = await exportMind(minds, 'mara')
  const [first] = save.long_term_memories
  const rejected: readonly (readonly [string, unknown, string])[] = [
    ['not a save', {}, 'INVALID_SAVE'],
    ['another format', { ...save, format: 'other' }, 'INVALID_SAVE'],
    ['a later version', { ...save, version: 2 }, 'INVALID_SAVE'],
    ['an unknown member', { ...save, soul: 1 }, 'INVALID_SAVE'],
    ['a missing member', { ...save, places: undefined }, 'INVALID_SAVE'],
    ['a memory without content', { ...save, long_term_memories: [{ ...first, content: 1 }] }, 'INVALID_SAVE'],
    ['two memories with one id', { ...save, long_term_memories: [first, first] }, 'INVALID_SAVE'],
    ['a damaged state', { ...save, state: { ...save.state, talks: { a: 1 } } }, 'INVALID_SAVE'],
    ['an invalid config', { ...save, config: { traits: 'brave' } }, 'INVALID_CONFIG'],
    ['an invalid id', { ...save, mind_id: 'a b' }, 'INVALID_MIND_ID'],
    [
      'a long memory',
      { ...save, long_term_memories: [{ ...first, content: 'x'.repeat(2001) }] },
      'LIMIT_EXCEEDED',
    ],
  ]
  for (const [label, bad, code] of rejected)
    await t.rejects(minds.call('import_mind', { save: bad, if_exists: 'replace' }), { code }, label)
  t.same(await exportMind(minds, 'mara'), save)
  await t.rejects(minds.call('export_mind', { mind_id: 'absent' }), { code: 'MIND_NOT_FOUND' })
  const small = await openMinds(t, { settings: { mindsLimits: { save_memories: 1 } } })
  await makeMind(small, 'mara', { initial_long_term_memories: ['One.', 'Two.'] })
  await t.rejects(small.call('export_mind', { mind_id: 'mara' }), { code: 'LIMIT_EXCEEDED' })
  await t.rejects(small.call('import_mind', { save }), { code: 'LIMIT_EXCEEDED' })
})
