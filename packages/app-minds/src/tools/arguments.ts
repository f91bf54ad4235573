import type { ToolContext } from '@causeway/app-kit'
import { isCausewayError, reviseError } from '@causeway/protocol'
import { z } from 'zod'
import { initialState } from '../domain/policy/state.ts'
import { emptyWorkingMemory } from '../domain/policy/working-memory.ts'
import type { Minds } from '../mind/minds.ts'

export type MindsContext = ToolContext<Minds, object>

export const mindIdArgument = z.string().describe('Id of the mind')

export const completeMindId = {
  mind_id: async (_: unknown, { store }: MindsContext) =>
    (await store.list('', 100)).map(({ mind_id }) => mind_id),
}

export const requestIdArgument = z
  .string()
  .min(1)
  .max(256)
  .optional()
  .describe('Repeating the same id within 10 minutes returns the first result')

/** Passes the given or generated request id to `work`. Adds it and `data` to errors. */
export async function withRequestId<T>(
  givenRequestId: string | undefined,
  { requestId: generatedRequestId }: MindsContext,
  work: (request_id: string) => Promise<T>,
  data: Readonly<Record<string, unknown>> = {},
): Promise<T> {
  const request_id = givenRequestId ?? generatedRequestId
  try {
    return await work(request_id)
  } catch (error) {
    if (!isCausewayError(error)) throw error
    throw reviseError(error, { data: { ...error.data, request_id, ...data } })
  }
}

export const exampleCalls = {
  create: {
    tool: 'create_mind',
    args: {
      mind_id: 'npc_mara',
      config: {
        entity_id: 'npc_mara',
        traits: ['curious'],
        initial_long_term_memories: ['The stove is in the kitchen.'],
      },
    },
  },
  decide: {
    tool: 'decide_action',
    args: {
      mind_id: 'npc_mara',
      observation: {
        entity_id: 'npc_mara',
        current_simulation_time: 1930,
        status: {
          position: [12, 7],
          movement_locked: false,
          current_interaction: {},
          controller_state: { state_name: 'idle' },
        },
        needs: { needs: { hunger: 22, energy: 71, fun: 64, hygiene: 80, social: 40 }, max_value: 100 },
        vision: {
          visible_entities: [
            {
              entity_id: 'stove_2',
              display_name: 'Stove',
              position: [13, 7],
              interactions: {
                eat: {
                  name: 'eat',
                  description: 'Cook and eat',
                  needs_filled: ['hunger'],
                  needs_drained: [],
                },
              },
            },
          ],
        },
        conversations: [],
      },
    },
  },
} as const

export const exampleSave = {
  format: 'causeway-mind',
  version: 1,
  mind_id: 'npc_mara',
  entity_id: 'npc_mara',
  rng_seed: 1,
  config: { traits: ['curious'] },
  working_memory: emptyWorkingMemory,
  state: initialState,
  last_sim_time: null,
  decision_count: 0,
  unreflected: 0,
  daily_memories: [],
  long_term_memories: [],
  places: [],
  conversations: [],
  events: [],
  bids: [],
} as const
