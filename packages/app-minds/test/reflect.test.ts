import { verifies } from '../../../test/verifies.ts'
import { type Data, decide, makeMind, type OpenMinds, openMinds } from './minds-kit.ts'

const day = 1440

/** A day on which the stove refuses and somebody says something; then the mind sleeps. */
async function live(minds: OpenMinds, n: number): Promise<Data> {
  const timestamp = n * day + 1200
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

const reflections = async (minds: OpenMinds): Promise<Data[]> => minds.read('mind://mara/reflections')

verifies('minds:reflection', async (t) => {
  const minds = await openMinds(t)
  await makeMind(minds, 'mara', { reflect_after: 3 })
  t.match(await live(minds, 1), { reflections_count: 0 })
  t.match(await live(minds, 2), { reflections_count: 0 })
  t.match(await live(minds, 3), { reflections_count: 1 })
  const [first] = await reflections(minds)
  t.match(first, { content: 'stove_2 has refused eat 3 times, mostly in the evening.', kind: 'reflection' })
  const memories: Data[] = await minds.read('mind://mara/memories')
  const known = new Set(memories.map(({ id }) => id))
  t.ok(first.evidence.length > 0 && first.evidence.every((id: string) => known.has(id)))
  t.match(await live(minds, 4), { reflections_count: 1 })
  const now = await reflections(minds)
  t.match(now, [{ content: 'stove_2 has refused eat 4 times, mostly in the evening.' }])
  t.equal(now.length, 1, 'of two about the same the newer stands')
  t.ok(
    (await minds.read('mind://mara/memories')).some(({ superseded_by }: Data) => superseded_by === now[0].id),
  )
  const again = await minds.reopen()
  t.same(await reflections(again), now, 'they last')
})

verifies(
  'minds:reflection',
  'it comes to mind with its evidence, and the policy quotes it to nobody',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara', { reflect_after: 3 })
    for (const n of [1, 2, 3]) await live(minds, n)
    const { memories } = await minds.call('recall_memories', {
      mind_id: 'mara',
      query: 'How often has stove_2 refused eat?',
    })
    const [standing] = await reflections(minds)
    const recalled = memories.find(({ id }: Data) => id === standing.id)
    t.same(recalled.evidence, standing.evidence)
    t.ok(memories.every(({ id, evidence }: Data) => id === standing.id || evidence === undefined))
    const messages = await minds.client.prompt('roleplay', { mind_id: 'mara' })
    t.match(JSON.stringify(messages), /It has concluded: .*stove_2 has refused eat 3 times/)
    const answer = await decide(minds, 'mara', 5 * day, {
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
  },
)

verifies(
  'minds:reflection',
  'only after enough has happened, and never where a mind wants none',
  async (t) => {
    const minds = await openMinds(t)
    await makeMind(minds, 'mara', { reflect_after: 1000 })
    for (const n of [1, 2, 3]) t.match(await live(minds, n), { reflections_count: 0 })
    await makeMind(minds, 'mara', { reflect_after: 0 })
    t.match(await live(minds, 4), { reflections_count: 0 })
    await makeMind(minds, 'mara', { reflect_after: 3 })
    t.match(await live(minds, 5), { reflections_count: 1 }, 'what happened before counts when it wants some')
    t.match(
      await minds.call('consolidate_memories', { mind_id: 'mara', request_id: 'idle' }),
      { consolidated_count: 0, reflections_count: 0 },
      'and is counted once',
    )
  },
)
