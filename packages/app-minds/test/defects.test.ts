/** Regression tests for the sixteen defects of the original mind server's first version. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { createStove, type Data, decide, makeMind, observe, openMinds } from './minds-kit.ts'
import { createValidAnswer, startScripted } from './provider/scripted-provider.ts'

const createConversation = (history: readonly object[]) => ({
  status: {
    current_interaction: {
      interaction_id: 'talk_1',
      interaction_name: 'conversation',
      needs_filled: ['social'],
    },
    controller_state: { state_name: 'interacting' },
  },
  needs: { hunger: 80 },
  conversations: [
    {
      interaction_id: 'talk_1',
      interaction_name: 'conversation',
      participants: ['mara', 'ben'],
      conversation_history: history,
    },
  ],
})
const createMessage = (speaker_id: string, message: string, timestamp?: number) => ({
  speaker_id,
  speaker_name: speaker_id,
  message,
  ...(timestamp === undefined ? {} : { timestamp }),
})

verifies('minds:model:prompt', '1: the action prompt contains the observation and the menu', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara', { initial_long_term_memories: ['The stove burns food when no one looks.'] })
  await decide(minds, 'mara', 100, { entities: [createStove([13, 7]), createStove([20, 7], 'stove_9')] })
  const [state] = provider.requests.filter(({ step }) => step === 'action_selection').map((one) => one.state)
  t.match(state, /stove_9 ⟦Stove⟧ at \(20, 7\): eat \(\+hunger\)/)
  t.match(state, /hunger 22 %/)
  t.match(state, /## Menu\n- interact_with \{entity_id: stove_2, interaction_name: eat\}/)
  t.match(state, /## You remember\n- \[memory_\S+ \| T:unknown\] ⟦The stove burns food/)
})

verifies('minds:memory:floor', '2: recall_memories returns the most relevant memory first', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', {
    initial_long_term_memories: [
      'The baker sells bread and cakes.',
      'A wolf howled in the forest at night.',
      'The river is deep.',
    ],
  })
  const bread = await minds.call('recall_memories', {
    mind_id: 'mara',
    query: 'Where can I buy a loaf from the bakery?',
  })
  t.match(bread.memories[0], { content: 'The baker sells bread and cakes.' })
  const wolf = await minds.call('recall_memories', {
    mind_id: 'mara',
    query: 'dangerous animals in the woods',
  })
  t.match(wolf.memories[0], { content: 'A wolf howled in the forest at night.' })
  t.ok(wolf.memories[0].relevance !== bread.memories[0].relevance)
  const none = await minds.call('recall_memories', { mind_id: 'mara', query: 'quantum chromodynamics' })
  t.same(none, { memories: [], summary: 'No relevant memories.' })
})

verifies('minds:consolidation', '3: consolidated memories retain their time and location', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 100)
  const daily = await minds.read('mind://mara/daily_memories')
  t.match(daily, [{ timestamp: 100, location: [12, 7] }, { timestamp: 100 }])
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  const lasting = await minds.read('mind://mara/memories')
  const byId = (a: Data, b: Data) => (a.id < b.id ? -1 : 1)
  t.same([...lasting].sort(byId), [...daily].sort(byId), 'preserves ids, contents, times and places')
})

verifies(
  'minds:errors',
  '4: a failed decision reports an error code without the text of the provider',
  async (t) => {
    const provider = await startScripted(t, () => ({ status: 500, raw: 'SQLITE_CORRUPT at /home/secret' }))
    const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
    await makeMind(minds, 'mara', { on_llm_failure: 'error' })
    const error = await decide(minds, 'mara', 100).then(
      () => undefined,
      (thrown: Data) => thrown,
    )
    t.match(error, { code: 'LLM_UPSTREAM', data: { request_id: String } })
    t.notMatch(error.message, /SQLITE|secret/)
  },
)

verifies(
  'minds:conversation:merge',
  '5: overlapping windows store each message of a tick once',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    const first = [createMessage('ben', 'hello', 5)]
    await decide(minds, 'mara', 100, createConversation(first))
    await decide(
      minds,
      'mara',
      101,
      createConversation([
        ...first,
        createMessage('ann', 'hello', 5),
        createMessage('ben', 'ok', 6),
        createMessage('ben', 'ok', 6),
      ]),
    )
    await decide(
      minds,
      'mara',
      102,
      createConversation([
        createMessage('ann', 'hello', 5),
        createMessage('ben', 'ok', 6),
        createMessage('ben', 'ok', 6),
      ]),
    )
    const [kept] = await minds.read('mind://mara/conversations')
    t.same(
      kept.messages.map(({ speaker_id, message }: Data) => [speaker_id, message]),
      [
        ['ben', 'hello'],
        ['ann', 'hello'],
        ['ben', 'ok'],
        ['ben', 'ok'],
      ],
    )
  },
)

verifies('minds:model:prompt', '6: the prompt contains earlier messages of a conversation', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara')
  await decide(
    minds,
    'mara',
    100,
    createConversation([createMessage('ben', 'the cellar key is under the stone', 1)]),
  )
  await decide(minds, 'mara', 101, createConversation([createMessage('ben', 'well?', 2)]))
  const states = provider.requests.filter(({ step }) => step === 'action_selection').map(({ state }) => state)
  t.match(states.at(-1), /⟦the cellar key is under the stone⟧/)
  t.match(states.at(-1), /⟦well\?⟧/)
})

verifies(
  'minds:conversation:merge',
  '7: ended conversations are closed, and long conversations are truncated',
  async (t) => {
    const minds = await openMinds(t, { settings: { mindsLimits: { conversation_messages: 20 } } })
    await makeMind(minds, 'mara')
    for (let n = 0; n < 12; n++)
      await decide(
        minds,
        'mara',
        100 + n,
        createConversation([0, 1, 2].map((i) => createMessage('ben', `sentence ${n * 3 + i}`, n * 3 + i))),
      )
    const [long] = await minds.read('mind://mara/conversations')
    t.equal(long.messages.length, 20)
    t.equal(long.messages.at(-1).message, 'sentence 35')
    await decide(minds, 'mara', 120, {
      events: [{ timestamp: 119, event_type: 'INTERACTION_FINISHED', payload: { interaction_id: 'talk_1' } }],
    })
    t.same(await minds.read('mind://mara/conversations'), [])
  },
)

verifies('minds:life', '8: create_mind resumes a mind without adding seeds twice', async (t) => {
  const minds = await openMinds(t)
  const config = { initial_long_term_memories: ['I was born by the sea.', 'I was born by the sea.'] }
  t.match(await makeMind(minds, 'mara', config), { resumed: false, seeded_count: 1 })
  await decide(minds, 'mara', 100)
  const before = await minds.read('mind://mara/state')
  t.match(await makeMind(minds, 'mara', config), { status: 'created', resumed: true, seeded_count: 0 })
  t.same(await minds.read('mind://mara/state'), before)
  t.equal(before.long_term_memory_count, 1)
})

verifies('minds:life', '9: cleanup_mind returns `removed` and whether the mind existed', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  t.same(await minds.call('cleanup_mind', { mind_id: 'mara' }), {
    status: 'removed',
    mind_id: 'mara',
    existed: true,
    retained: true,
  })
  t.match(await minds.call('cleanup_mind', { mind_id: 'missing' }), {
    status: 'removed',
    existed: false,
    retained: false,
  })
  t.match(await minds.call('forget_mind', { mind_id: 'missing' }), { status: 'not_found' })
})

verifies('minds:restart', '10: minds retain their memories after a restart', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { initial_long_term_memories: ['The mill is closed on Sunday.'] })
  await decide(minds, 'mara', 100)
  const before = await minds.read('mind://mara/state')
  const again = await minds.reopen()
  t.same(await again.read('mind://mara/state'), before)
  t.match(await again.call('recall_memories', { mind_id: 'mara', query: 'mill' }), {
    memories: [{ content: 'The mill is closed on Sunday.' }],
  })
  t.match(await decide(again, 'mara', 101), { status: 'success' })
})

verifies(
  'minds:parallel',
  '11: 200 concurrent decisions of a mind succeed and are stored once each',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara')
    const ids = Array.from({ length: 200 }, (_, index) => `request-${index}`)
    const answers = await Promise.all(
      ids.map((request_id, index) => decide(minds, 'mara', 100 + index, { request_id })),
    )
    t.same(
      answers.map(({ request_id }) => request_id),
      ids,
    )
    t.ok(answers.every(({ status, replayed }) => status === 'success' && replayed === undefined))
    t.match(await minds.read('mind://mara/state'), { decisions: 200, current_simulation_time: 299 })
    const repeats = await Promise.all(
      ids.map((request_id, index) => decide(minds, 'mara', 100 + index, { request_id })),
    )
    t.same(
      repeats.map(({ replayed: _, ...answer }) => answer),
      answers,
      'stores one result per request id',
    )
    t.ok(repeats.every(({ replayed }) => replayed === true))
    t.match(await minds.read('mind://mara/state'), { decisions: 200 })
  },
)

verifies('minds:consolidation', '12: memories formed during a consolidation are retained', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 100)
  const [slept, decided] = await Promise.all([
    minds.call('consolidate_memories', { mind_id: 'mara' }),
    decide(minds, 'mara', 1600, { entities: [createStove([13, 7], 'stove_3')] }),
  ])
  t.match(slept, { status: 'success', consolidated_count: 2, merged_count: 0, failed_count: 0 })
  t.match(decided, { status: 'success' })
  t.match(await minds.read('mind://mara/daily_memories'), [{ content: /I saw Stove/ }])
  t.match(await minds.read('mind://mara/state'), { daily_memories_count: 1, long_term_memory_count: 2 })
})

verifies('minds:clock', '13: decide_action accepts a game time in the past', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  await decide(minds, 'mara', 5000)
  await minds.call('consolidate_memories', { mind_id: 'mara' })
  const back = await decide(minds, 'mara', 4000)
  t.match(back.warnings, [/^clock_reset: /])
  const { memories } = await minds.call('recall_memories', { mind_id: 'mara', query: 'stove eat' })
  t.ok(memories.length > 0)
  t.ok(memories.every(({ score }: Data) => score > 0 && score <= 1))
})

verifies('minds:storage-path', '14: memory_storage_path does not create files', async (t) => {
  const minds = await openMinds(t)
  const made = await makeMind(minds, 'mara', { memory_storage_path: '../../escape/chroma_db' })
  t.match(made.warnings, [/memory_storage_path/])
  await decide(minds, 'mara', 100)
  t.same(
    readdirSync(minds.dir).filter((name) => !name.startsWith('minds.db')),
    [],
  )
  t.notOk(readdirSync(join(minds.dir, '..')).includes('escape'))
})

verifies('minds:repeat', '15: concurrent calls with the same observation run once', async (t) => {
  const provider = await startScripted(t)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  await makeMind(minds, 'mara')
  const [one, two] = await Promise.all([decide(minds, 'mara', 100), decide(minds, 'mara', 100)])
  t.equal(provider.requests.length, 3, 'a concurrent call with the same observation returns the first result')
  t.same(two, { ...one, replayed: true })
  await decide(minds, 'mara', 100)
  t.equal(provider.requests.length, 6, 'a later call makes a new decision')
  t.equal((await minds.read('mind://mara/daily_memories')).length, 2)
})

verifies('minds:own-body', '16: decide_action rejects an observation of another entity', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara')
  const wrong = { mind_id: 'mara', observation: observe('ben', 100) }
  await t.rejects(minds.call('decide_action', wrong), {
    code: 'ENTITY_MISMATCH',
    data: { entity_id: 'mara', observed: 'ben' },
  })
  await minds.call('relink_mind', { mind_id: 'mara', entity_id: 'ben' })
  t.match(await minds.call('decide_action', wrong), { status: 'success' })
  t.match(await minds.read('mind://mara/state'), { entity_id: 'ben', decisions: 1 })
})

verifies(
  'minds:model:gated',
  'a new message counts as a change even if the maximum number of messages is stored',
  async (t) => {
    const provider = await startScripted(t, (request) =>
      request.step === 'action_selection'
        ? '{"chosen_action": {"action": "continue"}}'
        : createValidAnswer(request),
    )
    const settings = { mindsLlmUrl: provider.url, mindsLimits: { conversation_messages: 2 } }
    const minds = await openMinds(t, { settings })
    await makeMind(minds, 'mara', { llm_gate: 'on_change' })
    const decidedBy: string[] = []
    for (const [index, text] of ['one', 'two', 'three', 'four', 'four'].entries()) {
      const line = createMessage('ben', text, Math.min(index, 3))
      decidedBy.push((await decide(minds, 'mara', 100 + index, createConversation([line]))).decided_by)
    }
    t.same(decidedBy, ['llm', 'llm', 'llm', 'llm', 'policy'])
  },
)

t.test('a request id applies to one tool only', async (t) => {
  const provider = await startScripted(t, createValidAnswer)
  const minds = await openMinds(t, { settings: { mindsLlmUrl: provider.url } })
  const args = { mind_id: 'mara', config: { traits: [] }, request_id: 'r' }
  const made = await minds.call('create_mind', args)
  t.same(await minds.call('create_mind', args), { ...made, replayed: true })
  t.match(await decide(minds, 'mara', 1, { request_id: 'r' }), { status: 'success' })
  const slept = await minds.call('consolidate_memories', { mind_id: 'mara', request_id: 'r' })
  t.same(await minds.call('consolidate_memories', { mind_id: 'mara', request_id: 'r' }), {
    ...slept,
    replayed: true,
  })
  const gone = await minds.call('forget_mind', { mind_id: 'mara', request_id: 'r' })
  t.match(gone, { status: 'forgotten' })
  t.same(await minds.call('forget_mind', { mind_id: 'mara', request_id: 'r' }), { ...gone, replayed: true })
})
