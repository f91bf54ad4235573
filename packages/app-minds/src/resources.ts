/** What can be read of a mind: its state, its memories, what was said, why it decided, what it cost. */
import type { Registrar, ToolContext } from '@causeway/app-kit'
import { CausewayError, isCausewayError } from '@causeway/protocol'
import { policyNotice } from './domain/policy/constants.ts'
import type { MemoryRow } from './store/types.ts'
import type { Minds } from './store.ts'

type Context = ToolContext<Minds, object>

/** Declares the resources. */
export function mindResources(app: Registrar<Minds, object>): void {
  const complete = {
    mind_id: async (_: unknown, { store }: Context) =>
      (await store.list('', 100)).map(({ mind_id }) => mind_id),
  }
  const family = (
    path: string,
    name: string,
    about: string,
    read: (mindId: string, ctx: Context) => Promise<unknown>,
  ) =>
    app.resource(`mind://{mind_id}/${path}`, {
      name,
      about,
      complete,
      read: async ({ mind_id = '' }, ctx) => ({
        text: JSON.stringify(await found(() => read(mind_id, ctx)), null, 2),
      }),
    })

  family(
    'state',
    'state of a mind',
    'Traits, working memory, counts of memories, open conversations.',
    stateOf,
  )
  family(
    'working_memory',
    'working memory',
    'What occupies the mind now.',
    async (mindId, { store }) => (await store.mind(mindId)).working_memory,
  )
  family(
    'daily_memories',
    'memories of the day',
    'Memories that were not consolidated yet.',
    async (mindId, { store }) => (await store.daily(mindId)).map(memoryView),
  )
  family(
    'last_decision',
    'last decision',
    'The last decision and why it was taken.',
    async (mindId, { store }) => {
      const decision = await store.decision(mindId, null)
      if (decision === undefined)
        throw new CausewayError('NO_DECISION', `Mind ${mindId} has decided nothing yet`)
      return decision
    },
  )
  family('memories', 'lasting memories', 'The newest 100 memories that last.', async (mindId, { store }) =>
    (await store.memories(mindId, 100)).map(memoryView),
  )
  app.resource('mind://{mind_id}/memories?limit={limit}', {
    name: 'lasting memories, as many as wanted',
    about: 'The newest memories that last, 1 to 1000 of them.',
    complete,
    async read({ mind_id = '', limit = '' }, { store }) {
      const most = Number(limit)
      if (!Number.isInteger(most) || most < 1 || most > 1000)
        throw new CausewayError('INVALID_PARAMS', `limit is a number from 1 to 1000: ${limit}`)
      return {
        text: JSON.stringify((await found(() => store.memories(mind_id, most))).map(memoryView), null, 2),
      }
    },
  })
  family(
    'reflections',
    'conclusions',
    'What the mind has concluded from its memories, the weightiest 100, each with the ids that it rests on.',
    async (mindId, { store }) =>
      (await store.reflections(mindId, 100)).map((row) => ({ ...memoryView(row), evidence: row.evidence })),
  )
  family(
    'conversations',
    'open conversations',
    'Conversations that are open, with what was said.',
    (mindId, { store }) => store.conversations(mindId),
  )
  family(
    'usage',
    'use of language models',
    'Calls, tokens and cost; null is unknown, not 0.',
    (mindId, { store }) => store.usage(mindId),
  )
  app.resource('minds://list', {
    name: 'minds',
    about: 'The minds of this server.',
    read: async (_, { store }) => ({
      json: (await store.list('', 1000)).map(({ mind_id, entity_id, status }) => ({
        mind_id,
        entity_id,
        status,
      })),
    }),
  })
}

/** A mind that is not there is a resource that is not there, whose number each era of the protocol has its own. */
async function found<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!isCausewayError(error) || error.code !== 'MIND_NOT_FOUND') throw error
    throw new CausewayError('RESOURCE_NOT_FOUND', error.message, { data: error.data, remedy: error.remedy })
  }
}

async function stateOf(mindId: string, { store }: Context): Promise<unknown> {
  const mind = await store.mind(mindId)
  const conversations = await store.conversations(mindId)
  const selector = store.selectorOf(mind.config)
  return {
    entity_id: mind.entity_id,
    traits: mind.config.traits,
    working_memory: mind.working_memory,
    daily_memories_count: mind.daily_count,
    long_term_memory_count: mind.memory_count,
    active_conversations: conversations.map(({ interaction_id }) => interaction_id),
    mind_id: mind.mind_id,
    selector,
    ...(selector === 'policy' ? { notice: policyNotice } : {}),
    decisions: mind.decision_count,
    current_simulation_time: mind.last_sim_time,
  }
}

const memoryView = ({
  id,
  content,
  importance,
  sim_time,
  location,
  kind,
  tags,
  superseded_by,
}: MemoryRow) => ({
  id,
  content,
  importance,
  timestamp: sim_time,
  location,
  kind,
  tags,
  ...(superseded_by === null ? {} : { superseded_by }),
})
