import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { createStove, type Data, decide, makeMind, type OpenMinds, observe, openMinds } from './minds-kit.ts'
import { startScripted } from './provider/scripted-provider.ts'

const withLimits = (limits: object) => ({ settings: { mindsLimits: limits } })
const limitError = (limit: string) => ({ code: 'LIMIT_EXCEEDED', data: { limit } })

verifies('minds:limits', 'create_mind rejects invalid mind ids', async (t) => {
  const minds = await openMinds(t)
  for (const id of ['a', 'x'.repeat(128), 'A.b_c-9']) t.match(await makeMind(minds, id), { mind_id: id })
  for (const id of ['', 'x'.repeat(129), 'a b', 'a/b', 'a:b', 'ä', '../x'])
    await t.rejects(makeMind(minds, id), { code: 'INVALID_MIND_ID' }, JSON.stringify(id))
})

verifies('minds:limits', 'create_mind limits traits, seed memories and working memory', async (t) => {
  const minds = await openMinds(
    t,
    withLimits({ traits: 3, trait_chars: 10, seed_memories: 2, memory_chars: 20, working_memory_bytes: 100 }),
  )
  const cases: readonly (readonly [string, (n: number) => object, number])[] = [
    ['traits', (n) => ({ traits: Array(n).fill('x') }), 3],
    ['trait_chars', (n) => ({ traits: ['x'.repeat(n)] }), 10],
    [
      'seed_memories',
      (n) => ({ initial_long_term_memories: Array.from({ length: n }, (_, i) => `m${i}`) }),
      2,
    ],
    ['memory_chars', (n) => ({ initial_long_term_memories: ['x'.repeat(n)] }), 20],
    ['working_memory_bytes', (n) => ({ initial_working_memory: { x: 'y'.repeat(n - 8) } }), 100],
  ]
  for (const [limit, config, most] of cases) {
    t.match(await makeMind(minds, `ok_${limit}`, config(most)), { status: 'created' }, limit)
    await t.rejects(makeMind(minds, `no_${limit}`, config(most + 1)), limitError(limit), limit)
  }
})

verifies('minds:limits', 'the number of active minds is limited', async (t) => {
  const minds = await openMinds(t, withLimits({ minds: 2 }))
  await makeMind(minds, 'a')
  await makeMind(minds, 'b')
  await t.rejects(makeMind(minds, 'c'), limitError('minds'))
  t.match(await makeMind(minds, 'b'), { resumed: true })
  await minds.call('cleanup_mind', { mind_id: 'a' })
  t.match(await makeMind(minds, 'c'), { resumed: false })
  for (const if_exists of ['resume', 'replace'])
    await t.rejects(makeMind(minds, 'a', { if_exists }), limitError('minds'), `${if_exists} is limited`)
  const { save } = await minds.call('export_mind', { mind_id: 'c' })
  const import_a = { save, mind_id: 'a', if_exists: 'replace' }
  await t.rejects(minds.call('import_mind', import_a), limitError('minds'))
  t.match(await makeMind(minds, 'c', { if_exists: 'replace' }), { resumed: false })
})

verifies('minds:limits', 'the size of an observation is limited', async (t) => {
  const observation = observe('mara', 10)
  const bytes = Buffer.byteLength(JSON.stringify(observation))
  for (const [most, isIn] of [
    [bytes, true],
    [bytes - 1, false],
  ] as const) {
    const minds = await openMinds(t, withLimits({ observation_bytes: most }))
    await makeMind(minds, 'mara')
    const answer = minds.call('decide_action', { mind_id: 'mara', observation })
    if (isIn) await t.resolves(answer)
    else await t.rejects(answer, limitError('observation_bytes'))
  }
})

verifies('minds:limits', 'excess entities and interactions are ignored with a warning', async (t) => {
  const minds = await openMinds(t, withLimits({ visible_entities: 2, interactions_per_entity: 1 }))
  await makeMind(minds, 'mara')
  const near = [createStove([40, 7], 'far'), createStove([13, 7], 'near'), createStove([14, 7], 'nearer')]
  t.notOk('warnings' in (await decide(minds, 'mara', 1, { entities: near.slice(0, 2) })))
  const cut = await decide(minds, 'mara', 2, { entities: near })
  t.match(cut.warnings, [/3 entities in sight; the nearest 2 are used/])
  t.match(await minds.read('mind://mara/working_memory'), { situation_assessment: /^(?!.*far)/ })
  const rich: Data = {
    ...createStove([13, 7], 'rich'),
    interactions: { eat: { needs_filled: ['hunger'] }, cook: {} },
  }
  t.match((await decide(minds, 'mara', 3, { entities: [rich] })).warnings, [/rich: offers 2 interactions/])
})

verifies('minds:limits', 'events older than event_minutes are ignored', async (t) => {
  const minds = await openMinds(t, withLimits({ events: 3, event_minutes: 60 }))
  await makeMind(minds, 'mara')
  const bid = (timestamp: number) => ({
    timestamp,
    event_type: 'INTERACTION_BID_RECEIVED',
    payload: { bid_id: `at_${timestamp}`, bidder_id: 'ben', interaction_name: 'conversation' },
  })
  const fed = { needs: { hunger: 90 } }
  t.match((await decide(minds, 'mara', 160, { ...fed, events: [bid(100)] })).action, {
    parameters: { bid_id: 'at_100' },
  })
  t.not(
    (await decide(minds, 'mara', 261, { ...fed, events: [bid(200)] })).action.action,
    'respond_to_interaction_bid',
  )
})

verifies('minds:limits', 'the prompt contains only the latest events and the nearest entities', async (t) => {
  const provider = await startScripted(t)
  const limits = { events: 3, prompt_entities: 2, memory_chars: 10 }
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url, mindsLimits: limits } })
  await makeMind(minds, 'mara')
  const happened = (count: number) =>
    Array.from({ length: count }, (_, n) => ({
      timestamp: 100 + n,
      event_type: 'ERROR',
      payload: { message: `mishap ${n}` },
    }))
  const seenBy = () => provider.requests.filter(({ step }) => step === 'action_selection').at(-1)?.state ?? ''
  const entities = [createStove([13, 7], 'near'), createStove([14, 7], 'nearer'), createStove([40, 7], 'far')]
  await decide(minds, 'mara', 110, { events: happened(3), entities: entities.slice(0, 2) })
  for (const mishap of ['mishap 0', 'mishap 1', 'mishap 2']) t.match(seenBy(), mishap)
  await decide(minds, 'mara', 111, { events: happened(4).slice(3), entities })
  t.notMatch(seenBy(), 'mishap 0')
  t.match(seenBy(), 'mishap 3')
  t.notMatch(seenBy(), /far ⟦/, 'omits a distant entity')
  const memories: Data[] = await minds.read('mind://mara/daily_memories')
  t.ok(memories.length > 0 && memories.every(({ content }) => content.length <= 10), 'truncates a memory')
  t.ok(memories.some(({ content }) => content.endsWith('[…]')))
})

verifies('minds:limits', 'only the latest decisions can be explained', async (t) => {
  const minds = await openMinds(t, withLimits({ decisions_kept: 2 }))
  await makeMind(minds, 'mara')
  for (const n of [1, 2, 3]) await decide(minds, 'mara', n, { request_id: `r${n}` })
  const explain = (request_id: string) => minds.call('explain_decision', { mind_id: 'mara', request_id })
  for (const kept of ['r3', 'r2']) t.match(await explain(kept), { request_id: kept })
  await t.rejects(explain('r1'), { code: 'NO_DECISION' })
})

verifies('minds:limits', 'the queue of a mind with a model is limited', async (t) => {
  const provider = await startScripted(t)
  const settings = { mindsLlmUrl: provider.url, mindsLimits: { model_queue: 2 } }
  const minds = await openMinds(t, { settings })
  await makeMind(minds, 'mara')
  const calls = Array.from({ length: 4 }, (_, n) => decide(minds, 'mara', n, { request_id: `r${n}` }))
  const settled = await Promise.allSettled(calls)
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  t.match(refused, [{ code: 'MIND_BUSY', data: { most: 2 } }], 'queues two calls')
  t.equal(refused.length, 1)
})

verifies('minds:limits', 'the least recently used conversation is closed', async (t) => {
  const minds = await openMinds(t, withLimits({ open_conversations: 2 }))
  await makeMind(minds, 'mara')
  const talk = (interaction_id: string) => ({
    conversations: [
      { interaction_id, interaction_name: 'conversation', participants: ['mara'], conversation_history: [] },
    ],
  })
  for (const [index, id] of ['a', 'b', 'a', 'c'].entries()) await decide(minds, 'mara', 10 + index, talk(id))
  const open: Data[] = await minds.read('mind://mara/conversations')
  t.same(open.map(({ interaction_id }) => interaction_id).sort(), ['a', 'c'])
  await decide(minds, 'mara', 10 + 1440 + 2, { entities: [] })
  t.match(await minds.read('mind://mara/state'), { active_conversations: ['a', 'c'] })
  await decide(minds, 'mara', 10 + 1440 + 4, { entities: [] })
  t.match(await minds.read('mind://mara/state'), { active_conversations: [] }, 'closes unused ones')
})

verifies('minds:limits', 'only the most recently seen places are retained', async (t) => {
  const minds = await openMinds(t, withLimits({ places: 2 }))
  await makeMind(minds, 'mara')
  const fed = { hunger: 90 }
  for (const [time, id] of [
    [10, 'a'],
    [20, 'b'],
    [30, 'c'],
  ] as const)
    await decide(minds, 'mara', time, { needs: fed, entities: [createStove([13 + time, 7], id)] })
  const far = { status: { position: [200, 7] }, entities: [], explain: true }
  const { explanation } = await decide(minds, 'mara', 40, far)
  const targets: Data[] = explanation.candidates.map(({ target }: Data) => target)
  t.same(targets.filter((target) => target !== null).sort(), ['b', 'c'])
})

verifies(
  'minds:limits',
  'at the memory limit, an old sighting is evicted and a seed is retained',
  async (t) => {
    const minds = await openMinds(t, withLimits({ memories: 3 }))
    await makeMind(minds, 'mara', { initial_long_term_memories: ['I am a seed.'] })
    await decide(minds, 'mara', 100)
    t.match(await minds.call('consolidate_memories', { mind_id: 'mara' }), {
      consolidated_count: 2,
      long_term_memory_count: 3,
    })
    await decide(minds, 'mara', 1600, { entities: [createStove([13, 7], 'stove_7')], needs: { hunger: 90 } })
    t.match(await minds.call('consolidate_memories', { mind_id: 'mara' }), { long_term_memory_count: 3 })
    const kept: Data[] = await minds.read('mind://mara/memories')
    t.ok(kept.some(({ content }) => content === 'I am a seed.'))
    t.notOk(kept.some(({ content, timestamp }) => timestamp === 100 && content.startsWith('I saw')))
  },
)

verifies('minds:limits', 'a full daily buffer triggers a consolidation', async (t) => {
  const minds = await openMinds(t, withLimits({ daily_memories: 2 }))
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 100)
  t.match(await minds.read('mind://mara/state'), { daily_memories_count: 2, long_term_memory_count: 0 })
  await decide(minds, 'mara', 101, { entities: [createStove([13, 7], 'stove_7')] })
  t.match(
    await minds.call('consolidate_memories', { mind_id: 'mara' }),
    { consolidated_count: 0 },
    'the buffer is empty',
  )
  t.match(await minds.read('mind://mara/state'), { daily_memories_count: 0, long_term_memory_count: 4 })
})

verifies('minds:queue', async (t) => {
  const minds = await openMinds(t, withLimits({ queue: 8 }))
  await makeMind(minds, 'mara')
  await makeMind(minds, 'ben')
  const calls = Array.from({ length: 10 }, (_, index) =>
    decide(minds, 'mara', 100 + index, { request_id: `r${index}` }),
  )
  const other = decide(minds, 'ben', 100)
  const settled = await Promise.allSettled(calls)
  const refused = settled.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  t.equal(settled.length - refused.length, 9, 'rejects a call after one running and eight queued calls')
  t.match(refused, [{ code: 'MIND_BUSY', data: { mind_id: 'mara' } }])
  t.match(await other, { status: 'success' })
})

t.test('the app does not start with an invalid limit', async (t) => {
  await t.rejects(openMinds(t, withLimits({ minds: 0 })), { code: 'INVALID_CONFIG' })
  await t.rejects(openMinds(t, withLimits({ mindz: 5 })), { code: 'INVALID_CONFIG' })
})

const conversation = (id: string, message: string, timestamp: number): Data => ({
  entities: [createStove([30, 7])],
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

/** Creates a mind with content in every part of a save. */
async function createFullMind(t: Test): Promise<OpenMinds> {
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

verifies(
  'minds:save',
  'a save contains all parts of a mind, and an imported mind is exported unchanged',
  async (t) => {
    const minds = await createFullMind(t)
    const save = await exportMind(minds, 'mara')
    for (const part of ['daily_memories', 'long_term_memories', 'places', 'conversations', 'events'])
      t.ok(save[part].length > 0, `${part} has content`)
    t.ok(
      save.long_term_memories.some(({ superseded_by }: Data) => superseded_by !== null),
      'contains a correction',
    )
    t.ok(
      save.long_term_memories.some(({ reflection }: Data) => reflection !== null),
      'contains a conclusion',
    )
    t.ok(
      save.conversations.some(({ closed_at }: Data) => closed_at !== null),
      'contains a closed conversation',
    )
    t.equal(save.config.mood_colour, 'red', 'retains unknown settings')
    const other = await openMinds(t)
    t.match(await other.call('import_mind', { save: JSON.parse(JSON.stringify(save)) }), {
      status: 'imported',
      mind_id: 'mara',
      daily_memories_count: save.daily_memories.length,
      long_term_memory_count: save.long_term_memories.length,
    })
    t.same(await exportMind(other, 'mara'), save, 'exports the imported save unchanged')
    const again = await other.reopen()
    t.same(await exportMind(again, 'mara'), save, 'exports the same save after a restart')
    const next = { ...conversation('talk-5', 'When does the ferry leave?', 6100), request_id: 'next' }
    const [before, after] = [await decide(minds, 'mara', 6100, next), await decide(again, 'mara', 6100, next)]
    t.same(after.action, before.action, 'original and copy make the same decision')
  },
)

verifies('minds:save', 'an import replaces a mind, or copies it under another id', async (t) => {
  const minds = await createFullMind(t)
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
  const minds = await createFullMind(t)
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
  const limitedMinds = await openMinds(t, { settings: { mindsLimits: { save_memories: 1 } } })
  await makeMind(limitedMinds, 'mara', { initial_long_term_memories: ['One.', 'Two.'] })
  await t.rejects(limitedMinds.call('export_mind', { mind_id: 'mara' }), { code: 'LIMIT_EXCEEDED' })
  await t.rejects(limitedMinds.call('import_mind', { save }), { code: 'LIMIT_EXCEEDED' })
})
