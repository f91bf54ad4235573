import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { type Data, decide, makeMind, type OpenMinds, openMinds } from './minds-kit.ts'

const observe = (
  history: readonly (readonly [string, string])[],
  more: object = {},
  current: object = {},
) => ({
  entities: [],
  needs: { hunger: 80, social: 30 },
  status: {
    current_interaction: {
      interaction_id: 'talk',
      interaction_name: 'conversation',
      needs_filled: ['social'],
      ...current,
    },
    controller_state: { state_name: 'interacting' },
  },
  conversations: [
    {
      interaction_id: 'talk',
      interaction_name: 'conversation',
      participants: ['ben', 'mara'],
      conversation_history: history.map(([speaker_id, message], timestamp) => ({
        speaker_id,
        speaker_name: speaker_id === 'ben' ? 'Ben' : 'Mara',
        message,
        timestamp,
      })),
      ...more,
    },
  ],
})
const getMessage = ({ action }: Data): string | undefined => action.parameters.message
const openMind = async (t: Test, memories: string[] = []): Promise<OpenMinds> => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { initial_long_term_memories: memories })
  return minds
}

verifies('minds:policy:talk', 'a question is answered by quoting a memory', async (t) => {
  const minds = await openMind(t, [
    'The blacksmith lives beside the old mill.',
    'Wolves were seen in the forest.',
  ])
  const answer = await decide(minds, 'mara', 10, observe([['ben', 'Where does the blacksmith live?']]))
  t.equal(answer.action.action, 'act_in_interaction')
  t.match(getMessage(answer), /: The blacksmith lives beside the old mill\.$/)
})

verifies('minds:policy:talk', 'the policy does not invent an unknown answer', async (t) => {
  const minds = await openMind(t, ['The blacksmith lives beside the old mill.'])
  const answer = await decide(minds, 'mara', 10, observe([['ben', 'When does the harbour festival begin?']]))
  t.match(getMessage(answer), /^I (don't|do not) (know|remember)/)
})

verifies('minds:policy:talk', 'a new fact answers questions before consolidation', async (t) => {
  const minds = await openMind(t)
  await decide(minds, 'mara', 10, observe([['ben', 'My sister Ann owns the bakery.']]))
  const answer = await decide(
    minds,
    'mara',
    12,
    observe([
      ['ben', 'My sister Ann owns the bakery.'],
      ['mara', 'Good to know.'],
      ['ben', 'Who owns the bakery?'],
    ]),
  )
  t.match(getMessage(answer), /My sister Ann owns the bakery/)
})

verifies('minds:memory:today', async (t) => {
  const minds = await openMind(t)
  await decide(minds, 'mara', 10, observe([['ben', 'The ferry leaves at noon from the harbour.']]))
  t.match(await minds.call('recall_memories', { mind_id: 'mara', query: 'When does the ferry leave?' }), {
    memories: [{ content: 'Ben told me: The ferry leaves at noon from the harbour.' }],
  })
})

verifies('minds:policy:talk', 'the policy waits for its turn and nudges after silence', async (t) => {
  const minds = await openMind(t)
  const history = [
    ['ben', 'Hello there'],
    ['mara', 'Hello Ben.'],
  ] as const
  t.equal((await decide(minds, 'mara', 10, observe(history))).action.action, 'continue')
  t.equal((await decide(minds, 'mara', 14, observe(history))).action.action, 'continue')
  const nudge = await decide(minds, 'mara', 16, observe(history))
  t.match(getMessage(nudge), /Ben\?$/)
})

verifies('minds:policy:talk', 'exactly one participant starts a conversation', async (t) => {
  const minds = await openMind(t)
  const mine = await decide(minds, 'mara', 10, observe([], { initiator_id: 'mara' }))
  t.equal(mine.action.action, 'act_in_interaction')
  const other = await openMinds(t)
  await makeMind(other, 'mara')
  t.equal((await decide(other, 'mara', 10, observe([], { initiator_id: 'ben' }))).action.action, 'continue')
  t.equal(
    (await decide(other, 'mara', 11, observe([]))).action.action,
    'continue',
    'the participant with the lowest id starts',
  )
  t.equal((await decide(other, 'mara', 20, observe([]))).action.action, 'act_in_interaction')
})

verifies('minds:policy:talk', 'the policy says farewell after four turns and leaves', async (t) => {
  const minds = await openMind(t)
  const history: [string, string][] = []
  const current = {
    act_in_interaction_parameters: { message: { type: 'string' }, is_farewell: { type: 'bool' } },
  }
  const actions: Data[] = []
  for (let n = 0; n < 6; n++) {
    history.push(['ben', `The weather of day ${n} was fine.`])
    const { action } = await decide(
      minds,
      'mara',
      10 + n,
      observe(
        history.slice(-5).map((line) => line),
        {},
        current,
      ),
    )
    actions.push(action)
    if (action.parameters.message !== undefined) history.push(['mara', action.parameters.message])
  }
  t.same(
    actions.map(({ action }) => action),
    [...Array(5).fill('act_in_interaction'), 'cancel_interaction'],
  )
  t.match(actions[4].parameters, { message: /[Gg]oodbye/, is_farewell: true })
})

verifies(
  'minds:policy:talk',
  'a critical need ends a conversation after a pending question is answered',
  async (t) => {
    const minds = await openMind(t, ['The well is behind the church.'])
    const change = { ...observe([['ben', 'Where is the well?']]), needs: { hunger: 10, social: 30 } }
    const answer = await decide(minds, 'mara', 10, change)
    t.match(getMessage(answer), /The well is behind the church\..*[Gg]oodbye/)
    t.equal((await decide(minds, 'mara', 11, change)).action.action, 'cancel_interaction')
    const other = { ...observe([['ben', 'How are you?']]), needs: { hunger: 10, social: 30 } }
    const both = getMessage(await decide(await openMind(t, []), 'mara', 10, other))
    t.equal(both?.match(/hungry/g)?.length, 1, `mentions the need once: ${both}`)
  },
)

t.test('the only text parameter of an interaction is the message', async (t) => {
  const minds = await openMind(t)
  const current = {
    act_in_interaction_parameters: { utterance: { type: 'String' }, volume: { type: 'int' } },
  }
  const answer = await decide(minds, 'mara', 10, observe([['ben', 'Hello']], {}, current))
  t.type(answer.action.parameters.utterance, 'string')
})

verifies(
  'minds:policy:talk',
  'a question sent at the same time as a farewell is answered before leaving',
  async (t) => {
    const minds = await openMind(t, ['The well is behind the church.'])
    const full = { needs: { hunger: 10, social: 95 } }
    const opening = ['ben', 'The fair is on Sunday.'] as const
    t.match(getMessage(await decide(minds, 'mara', 10, { ...observe([opening]), ...full })), /[Gg]oodbye/)
    const history = [opening, ['ben', 'Where is the well?'], ['mara', 'Goodbye, Ben.']] as const
    const answer = await decide(minds, 'mara', 13, { ...observe(history), ...full })
    t.match(getMessage(answer), /The well is behind the church\./)
    const after = await decide(minds, 'mara', 16, { ...observe(history), ...full })
    t.equal(after.action.action, 'cancel_interaction')
  },
)

const minutesPerDay = 1440

/** Observes a day on which the stove refuses and another character speaks, then consolidates. */
async function liveDay(minds: OpenMinds, n: number): Promise<Data> {
  const timestamp = n * minutesPerDay + 1200
  await decide(minds, 'mara', timestamp, {
    needs: { hunger: 80 },
    events: [
      {
        timestamp,
        event_type: 'INTERACTION_BID_REJECTED',
        payload: { entity_id: 'stove_2', interaction_name: 'eat', reason: 'it is busy' },
      },
    ],
  })
  return minds.call('consolidate_memories', { mind_id: 'mara', request_id: `night-${n}` })
}

const readReflections = async (minds: OpenMinds): Promise<Data[]> => minds.read('mind://mara/reflections')

verifies('minds:reflection', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { reflect_after: 3 })
  t.match(await liveDay(minds, 1), { reflections_count: 0 })
  t.match(await liveDay(minds, 2), { reflections_count: 0 })
  t.match(await liveDay(minds, 3), { reflections_count: 1 })
  const [first] = await readReflections(minds)
  t.match(first, { content: 'stove_2 has refused eat 3 times, mostly in the evening.', kind: 'reflection' })
  const memories: Data[] = await minds.read('mind://mara/memories')
  const known = new Set(memories.map(({ id }) => id))
  t.ok(first.evidence.length > 0 && first.evidence.every((id: string) => known.has(id)))
  t.match(await liveDay(minds, 4), { reflections_count: 1 })
  const now = await readReflections(minds)
  t.match(now, [{ content: 'stove_2 has refused eat 4 times, mostly in the evening.' }])
  t.equal(now.length, 1, 'the newer conclusion supersedes the older one')
  t.ok(
    (await minds.read('mind://mara/memories')).some(({ superseded_by }: Data) => superseded_by === now[0].id),
  )
  const again = await minds.reopen()
  t.same(await readReflections(again), now, 'conclusions survive a restart')
})

verifies('minds:reflection', 'a conclusion is recalled with its evidence and never quoted', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { reflect_after: 3 })
  for (const n of [1, 2, 3]) await liveDay(minds, n)
  const { memories } = await minds.call('recall_memories', {
    mind_id: 'mara',
    query: 'How often has stove_2 refused eat?',
  })
  const [standing] = await readReflections(minds)
  const recalled = memories.find(({ id }: Data) => id === standing.id)
  t.same(recalled.evidence, standing.evidence)
  t.ok(memories.every(({ id, evidence }: Data) => id === standing.id || evidence === undefined))
  const messages = await minds.client.prompt('roleplay', { mind_id: 'mara' })
  t.match(JSON.stringify(messages), /Conclusion: .*stove_2 has refused eat 3 times/)
  const answer = await decide(minds, 'mara', 5 * minutesPerDay, {
    needs: { hunger: 80 },
    entities: [],
    status: {
      current_interaction: { interaction_id: 'talk', interaction_name: 'conversation' },
      controller_state: { state_name: 'interacting' },
    },
    conversations: [
      {
        interaction_id: 'talk',
        interaction_name: 'conversation',
        participants: ['mara', 'ben'],
        conversation_history: [
          {
            speaker_id: 'ben',
            speaker_name: 'Ben',
            message: 'How often has stove_2 refused eat?',
            timestamp: 1,
          },
        ],
      },
    ],
  })
  t.match(answer.action, { action: 'act_in_interaction' })
  t.notMatch(answer.action.parameters.message, /has refused eat/)
})

verifies(
  'minds:reflection',
  'conclusions require enough importance, and reflect_after: 0 disables them',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara', { reflect_after: 1000 })
    for (const n of [1, 2, 3]) t.match(await liveDay(minds, n), { reflections_count: 0 })
    await makeMind(minds, 'mara', { reflect_after: 0 })
    t.match(await liveDay(minds, 4), { reflections_count: 0 })
    await makeMind(minds, 'mara', { reflect_after: 3 })
    t.match(
      await liveDay(minds, 5),
      { reflections_count: 1 },
      'counts memories that were formed while reflection was disabled',
    )
    t.match(
      await minds.call('consolidate_memories', { mind_id: 'mara', request_id: 'idle' }),
      { consolidated_count: 0, reflections_count: 0 },
      'counts each memory only once',
    )
  },
)
