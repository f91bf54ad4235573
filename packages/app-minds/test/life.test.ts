import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
// cspell:ignore told -- part of stored memories
import app from '../src/index.ts'
import type { Minds } from '../src/mind/minds.ts'
import { createStove, type Data, decide, makeMind, openMinds } from './minds-kit.ts'

verifies('minds:shapes', async (t) => {
  const minds = await openMinds(t)
  const made = await minds.call('create_mind', {
    mind_id: 'mara',
    config: { entity_id: 'mara', traits: ['brave'] },
  })
  t.match(made, { status: 'created', mind_id: 'mara', message: null, selector_effective: 'policy' })
  const decided = await decide(minds, 'mara', 100)
  t.same(Object.keys(decided).slice(0, 3), ['status', 'action', 'error_message'])
  t.match(decided, {
    status: 'success',
    action: { action: String, parameters: Object },
    error_message: null,
    protocol_version: 1,
  })
  t.match(decided.telemetry, { provenance: 'none', model: 'causeway-policy/1', model_calls: 0 })
  t.same(Object.keys(decided.telemetry.per_step_ms), [
    'memory_query',
    'memory_retrieval',
    'cognitive_update',
    'action_selection',
  ])
  t.match(await minds.call('consolidate_memories', { mind_id: 'mara' }), {
    status: 'success',
    consolidated_count: 2,
  })
  t.match(await minds.call('consolidate_memories', { mind_id: 'mara' }), {
    status: 'success',
    consolidated_count: 0,
  })
  t.match(await minds.call('cleanup_mind', { mind_id: 'mara' }), { status: 'removed', mind_id: 'mara' })
})

verifies('minds:errors', 'each failure has the documented body', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const body = async (tool: string, args: object): Promise<Data> => {
    const error: Data = await minds.call(tool, args).then(
      () => ({}),
      (thrown: unknown) => thrown,
    )
    return app.errorBody?.({
      code: error.code,
      message: error.message,
      remedy: '',
      data: error.data ?? {},
      legacy_code: null,
      retryable: false,
    })
  }
  t.same(
    await body('decide_action', {
      mind_id: 'missing',
      observation: { entity_id: 'x', current_simulation_time: 1 },
      request_id: '7f',
    }),
    {
      status: 'error',
      action: null,
      error_message: 'Mind missing not found',
      code: 'MIND_NOT_FOUND',
      request_id: '7f',
      protocol_version: 1,
      retryable: false,
    },
  )
  t.match(await body('decide_action', { mind_id: 'mara', observation: {} }), {
    code: 'INVALID_OBSERVATION',
    error_message: /^Invalid observation format: /,
  })
  t.match(await body('decide_action', { mind_id: 'mara', observation: null }), {
    code: 'INVALID_OBSERVATION',
  })
  const events = {
    mind_id: 'mara',
    observation: { entity_id: 'mara', current_simulation_time: 1 },
    events: [{ type: 'x' }],
  }
  t.match(await body('decide_action', events), { code: 'INVALID_EVENTS' })
  t.match(await body('consolidate_memories', { mind_id: 'missing' }), {
    status: 'error',
    consolidated_count: 0,
    error_message: 'Mind missing not found',
  })
  t.match(await body('create_mind', { mind_id: 'a b', config: {} }), { code: 'INVALID_MIND_ID' })
  t.match(await body('create_mind', { mind_id: 'ben', config: { traits: 'brave' } }), {
    code: 'INVALID_CONFIG',
    error_message: /traits/,
  })
  t.match(await body('create_mind', { mind_id: 'ben', config: { selector: 'llm' } }), {
    code: 'LLM_NOT_CONFIGURED',
  })
  t.match(await body('create_mind', { mind_id: 'mara', config: {}, if_exists: 'error' }), {
    code: 'MIND_EXISTS',
  })
})

verifies('minds:resources', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', {
    initial_long_term_memories: ['I like pie.'],
    initial_working_memory: { mood_colour: 'blue' },
  })
  await t.rejects(minds.read('mind://mara/last_decision'), { code: 'NO_DECISION' })
  await decide(minds, 'mara', 100)
  t.match(await minds.read('mind://mara/state'), {
    entity_id: 'mara',
    traits: ['curious'],
    working_memory: { mood_colour: 'blue', active_goals: ['restore hunger'] },
    daily_memories_count: 2,
    long_term_memory_count: 1,
    active_conversations: [],
    notice: /rule-based/,
  })
  t.match(await minds.read('mind://mara/working_memory'), {
    situation_assessment: /lowest need hunger 22 of 100; in sight: Stove/,
  })
  t.match(await minds.read('mind://mara/daily_memories'), [{ content: String, importance: Number }, {}])
  t.match(await minds.read('mind://mara/memories'), [
    { content: 'I like pie.', importance: 5, kind: 'seed', timestamp: null },
  ])
  t.equal((await minds.read('mind://mara/memories?limit=1')).length, 1)
  await t.rejects(minds.read('mind://mara/memories?limit=0'), { code: 'INVALID_PARAMS' })
  t.match(await minds.read('mind://mara/last_decision'), { decided_by: 'policy', status: 'success' })
  t.match(await minds.read('mind://mara/usage'), { calls: 0, prompt_tokens: null, cost: null })
  t.same(await minds.read('mind://mara/conversations'), [])
  t.match(await minds.read('minds://list'), [{ mind_id: 'mara', status: 'active' }])
  await t.rejects(minds.read('mind://missing/state'), {
    code: 'RESOURCE_NOT_FOUND',
    message: 'Mind missing not found',
  })
})

verifies('minds:prompts', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { initial_long_term_memories: ['The mill belongs to old Tom.'] })
  const text = async (name: string, args: object) => JSON.stringify(await minds.client.prompt(name, args))
  t.match(await text('roleplay', { mind_id: 'mara', scene: 'the market' }), /Traits: curious.*the market/)
  t.match(
    await text('interview', { mind_id: 'mara', question: 'Whose is the mill?' }),
    /The mill belongs to old Tom/,
  )
  t.match(
    await text('interview', { mind_id: 'mara', question: 'Whose is the zeppelin?' }),
    /no relevant memories/,
  )
})

verifies('minds:explained', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const { explanation } = await decide(minds, 'mara', 100, { explain: true, request_id: 'first' })
  t.match(explanation.candidates[0], {
    target: 'stove_2',
    score: Number,
    terms: { gain: 0.8275, cost: 0, distance: 0.9524 },
  })
  await decide(minds, 'mara', 103)
  const why = await minds.call('explain_decision', { mind_id: 'mara', request_id: 'first' })
  t.match(why, {
    decided_by: 'policy',
    request_id: 'first',
    current_simulation_time: 100,
    summary: /^The policy chose interact_with/,
  })
  t.same(why.explanation.candidates, explanation.candidates)
  t.match(await minds.call('explain_decision', { mind_id: 'mara' }), { current_simulation_time: 103 })
  await t.rejects(minds.call('explain_decision', { mind_id: 'mara', request_id: 'other' }), {
    code: 'NO_DECISION',
  })
})

verifies(
  'minds:life',
  'replace and purge delete memories, resume retains them, and a released mind does not decide',
  async (t) => {
    const minds = await openMinds(t)
    const seeds = { initial_long_term_memories: ['one', 'two'] }
    await makeMind(minds, 'mara', seeds)
    await decide(minds, 'mara', 100)
    await minds.call('cleanup_mind', { mind_id: 'mara' })
    await t.rejects(decide(minds, 'mara', 101), { code: 'MIND_NOT_FOUND' })
    t.match(await minds.call('list_minds'), {
      minds: [{ mind_id: 'mara', status: 'released' }],
      summary: '1 mind, 0 active.',
    })
    t.match(await makeMind(minds, 'mara'), { resumed: true })
    t.match(await minds.read('mind://mara/state'), { daily_memories_count: 2, long_term_memory_count: 2 })
    t.match(await makeMind(minds, 'mara', { ...seeds, if_exists: 'replace' }), {
      resumed: false,
      seeded_count: 2,
    })
    t.match(await minds.read('mind://mara/state'), { daily_memories_count: 0, decisions: 0 })
    t.match(await minds.call('cleanup_mind', { mind_id: 'mara', purge: true }), {
      existed: true,
      retained: false,
    })
    t.match(await minds.call('forget_mind', { mind_id: 'mara' }), { status: 'not_found' })
    t.match(await minds.call('list_minds'), { minds: [], next_after: null })
  },
)

t.test('list_minds pages through all minds', async (t) => {
  const minds = await openMinds(t)
  for (const id of ['c', 'a', 'b']) await makeMind(minds, id)
  const first = await minds.call('list_minds', { limit: 2 })
  t.match(first, { minds: [{ mind_id: 'a' }, { mind_id: 'b' }], next_after: 'b' })
  t.match(await minds.call('list_minds', { limit: 2, after: first.next_after }), {
    minds: [{ mind_id: 'c' }],
    next_after: null,
  })
})

const createBidEvent = (bid_id: string, timestamp: number) => ({
  timestamp,
  event_type: 'INTERACTION_BID_RECEIVED',
  payload: { bid_id, bidder_id: 'ben', bidder_name: 'Ben', interaction_name: 'conversation' },
})

verifies('minds:policy:bids', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const hungry = await decide(minds, 'mara', 100, { events: [createBidEvent('one', 100)] })
  t.match(hungry.action, {
    action: 'respond_to_interaction_bid',
    parameters: { bid_id: 'one', accept: false, reason: /hunger/ },
  })
  const fed = { hunger: 90 }
  const accepted = await decide(minds, 'mara', 101, { needs: fed, events: [createBidEvent('two', 101)] })
  t.match(accepted.action, {
    action: 'respond_to_interaction_bid',
    parameters: { bid_id: 'two', accept: true },
  })
  const after = await decide(minds, 'mara', 102, { needs: fed })
  t.not(after.action.action, 'respond_to_interaction_bid', 'answers each invitation once')
  await decide(minds, 'mara', 103, {
    needs: fed,
    events: [
      createBidEvent('three', 103),
      { timestamp: 103, event_type: 'INTERACTION_BID_CANCELED', payload: { bid_id: 'three' } },
    ],
  })
  const several = await decide(minds, 'mara', 104, {
    events: [createBidEvent('four', 104), createBidEvent('five', 104)],
  })
  t.match(several.action, {
    action: 'batch_reject_interaction_bids',
    parameters: { ids: '*', reason: String },
  })
})

t.test('each memory is formed once a day, and facts name their speaker', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const newMessages = (message: string, timestamp: number) => ({
    entities: [],
    conversations: [
      {
        interaction_id: 't',
        interaction_name: 'conversation',
        participants: ['mara', 'ben'],
        conversation_history: [{ speaker_id: 'ben', speaker_name: 'Ben', message, timestamp }],
      },
    ],
  })
  await decide(minds, 'mara', 100, newMessages('The fair is on Sunday at 9.', 1))
  await decide(minds, 'mara', 101, newMessages('The fair is on Sunday at 9.', 1))
  await decide(minds, 'mara', 102, newMessages('Where is the mill?', 2))
  const daily: Data[] = await minds.read('mind://mara/daily_memories')
  t.equal(daily.length, 3, 'forms memories of a need, a fact and a question')
  t.match(
    daily.filter(({ content }) => content.startsWith('Ben')),
    [
      { content: 'Ben told me: The fair is on Sunday at 9.', importance: 7, kind: 'fact', tags: ['told'] },
      { content: 'Ben asked me: Where is the mill?', importance: 3, tags: ['question'] },
    ],
  )
})

t.test('decide_action warns of unknown fields once, and of invalid values each time', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const odd = (time: number) => ({
    mind_id: 'mara',
    observation: {
      entity_id: 'mara',
      current_simulation_time: time,
      inventory: ['axe'],
      needs: { needs: { hunger: 150 } },
    },
  })
  t.match((await minds.call('decide_action', odd(1))).warnings, [/hunger/, /inventory/])
  const { warnings } = await minds.call('decide_action', odd(2))
  t.equal(warnings.length, 1)
})

t.test('changes of a mind are notified at most once a second', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  for (let n = 0; n < 5; n++) await decide(minds, 'mara', 100 + n, { entities: [createStove([13, 7])] })
  t.same(minds.app.changes, ['mind://mara/state'])
})

verifies('minds:decisions', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  for (const time of [100, 200, 300]) await decide(minds, 'mara', time)
  const store = minds.app.store as Minds
  const readDecisions = (id: string) =>
    store.read(id, ({ records }, { seq }) => records.listDecisions(seq, 2))
  const decisions = await readDecisions('mara')
  t.same(
    decisions.map(({ current_simulation_time }) => current_simulation_time),
    [300, 200],
  )
  const { summary: _, ...last } = await minds.call('explain_decision', { mind_id: 'mara' })
  t.match(decisions[0], last)
  await t.rejects(readDecisions('absent'), { code: 'MIND_NOT_FOUND' })
})
