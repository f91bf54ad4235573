import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { policyNotice } from '../domain/policy/constants.ts'
import { MindsError } from '../errors.ts'
import type { Minds } from '../mind/minds.ts'
import type { MemoryRow } from '../store/types.ts'
import { completeMindId, type MindsContext } from './arguments.ts'

interface MindResource {
  /** The URI after `mind://{mind_id}/`. */
  readonly path: string
  readonly name: string
  readonly about: string
  readonly read: (mindId: string, ctx: MindsContext, variables: { limit?: string }) => Promise<unknown>
}

const resources: readonly MindResource[] = [
  {
    path: 'state',
    name: 'State of a mind',
    about: 'Traits, working memory, numbers of memories, and open conversations.',
    read: readState,
  },
  {
    path: 'working_memory',
    name: 'Working memory',
    about: 'Current assessment, goals, plans and mood.',
    read: (mindId, { store }) => store.read(mindId, (_, { working_memory }) => working_memory),
  },
  {
    path: 'daily_memories',
    name: 'Daily memories',
    about: 'Memories that are not consolidated yet.',
    read: (mindId, { store }) =>
      store.read(mindId, ({ memories }, { seq }) => memories.listDaily(seq).map(describeMemory)),
  },
  {
    path: 'last_decision',
    name: 'Last decision',
    about: 'The last decision and its explanation.',
    async read(mindId, { store }) {
      const decision = await store.read(mindId, ({ records }, { seq }) => records.readDecision(seq, null))
      if (decision === undefined) throw new MindsError('NO_DECISION', `Mind ${mindId} has not decided yet`)
      return decision
    },
  },
  {
    path: 'memories',
    name: 'Long-term memories',
    about: 'The newest 100 long-term memories.',
    read: (mindId, ctx) => readMemories(mindId, ctx, 100),
  },
  {
    path: 'memories?limit={limit}',
    name: 'Long-term memories with a limit',
    about: 'The newest long-term memories, at most `limit` (1 to 1000).',
    read(mindId, ctx, { limit = '' }) {
      const maxMemories = Number(limit)
      if (!Number.isInteger(maxMemories) || maxMemories < 1 || maxMemories > 1000)
        throw new CausewayError('INVALID_PARAMS', `limit must be a number from 1 to 1000: ${limit}`)
      return readMemories(mindId, ctx, maxMemories)
    },
  },
  {
    path: 'reflections',
    name: 'Conclusions',
    about: 'The 100 most important conclusions, each with the ids of its memories.',
    read: (mindId, { store }) =>
      store.read(mindId, ({ reflections }, { seq }) =>
        reflections.list(seq, 100).map((row) => ({ ...describeMemory(row), evidence: row.evidence })),
      ),
  },
  {
    path: 'conversations',
    name: 'Open conversations',
    about: 'Open conversations with their messages.',
    read: (mindId, { store }) => store.read(mindId, ({ world }, { seq }) => world.listConversations(seq)),
  },
  {
    path: 'usage',
    name: 'Use of language models',
    about: 'Calls, tokens and cost. `null` is unknown, not 0.',
    read: (mindId, { store }) =>
      store.read(mindId, ({ records }, { seq }) => records.readUsage(seq, 0, null)),
  },
]

export function declareMindResources(app: Registrar<Minds, object>): void {
  for (const { path, name, about, read } of resources)
    app.resource(`mind://{mind_id}/${path}`, {
      name,
      about,
      complete: completeMindId,
      read: async ({ mind_id = '', ...variables }, ctx) => ({
        text: JSON.stringify(await convertMissing(() => read(mind_id, ctx, variables)), null, 2),
      }),
    })
  app.resource('minds://list', {
    name: 'Minds',
    about: 'All minds of this server.',
    read: async (_, { store }) => ({
      json: (await store.list('', 1000)).map(({ mind_id, entity_id, status }) => ({
        mind_id,
        entity_id,
        status,
      })),
    }),
  })
}

/** Converts `MIND_NOT_FOUND` to `RESOURCE_NOT_FOUND`, whose error number depends on the protocol version. */
async function convertMissing<T>(read: () => Promise<T>): Promise<T> {
  try {
    return await read()
  } catch (error) {
    if (!MindsError.is(error, 'MIND_NOT_FOUND')) throw error
    throw new CausewayError('RESOURCE_NOT_FOUND', error.message, { data: error.data, remedy: error.remedy })
  }
}

async function readState(mindId: string, { store }: MindsContext): Promise<unknown> {
  const { mind, conversations } = await store.read(mindId, ({ world }, mind) => ({
    mind,
    conversations: world.listConversations(mind.seq),
  }))
  const selector = store.getEffectiveSelector(mind.config)
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

const readMemories = (mindId: string, { store }: MindsContext, limit: number) =>
  store.read(mindId, ({ memories }, { seq }) => memories.listNewest(seq, limit).map(describeMemory))

const describeMemory = ({
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
