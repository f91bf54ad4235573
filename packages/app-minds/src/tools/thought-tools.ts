/** Tools that let a mind decide, sleep and remember, and that tell why. */
import type { Registrar } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { z } from 'zod'
import type { Minds } from '../store.ts'
import { mindId, named, requestId } from './arguments.ts'

const made = {
  tool: 'create_mind',
  args: {
    mind_id: 'npc_mara',
    config: {
      entity_id: 'npc_mara',
      traits: ['curious'],
      initial_long_term_memories: ['The stove stands in the kitchen.'],
    },
  },
}
const observation = {
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
          eat: { name: 'eat', description: 'Cook and eat', needs_filled: ['hunger'], needs_drained: [] },
        },
      },
    ],
  },
  conversations: [],
}
const decided = { tool: 'decide_action', args: { mind_id: 'npc_mara', observation } }

/** Declares the tools. */
export function thoughtTools(app: Registrar<Minds, object>): void {
  app.tool('decide_action', {
    about:
      'One legal action for what a character perceives now. decided_by says whether a language model or the rule-based policy chose it.',
    input: {
      mind_id: mindId,
      observation: z
        .unknown()
        .describe(
          'entity_id, current_simulation_time (game minutes), status?, needs? (full = satisfied), vision?, conversations?',
        ),
      events: z.unknown().optional().describe('what happened since: [{timestamp, event_type, payload}]'),
      request_id: requestId,
      explain: z
        .boolean()
        .default(false)
        .describe('true adds the best candidates and the memories that came to mind'),
    },
    output: {
      status: z.string(),
      action: z.object({ action: z.string(), parameters: z.record(z.string(), z.unknown()) }).nullable(),
      error_message: z.string().nullable(),
      request_id: z.string().optional(),
      decided_by: z.enum(['llm', 'policy']).optional(),
      degraded: z.boolean().optional(),
      fallback_reason: z.string().optional(),
      replayed: z.boolean().optional(),
      warnings: z.array(z.string()).optional(),
      telemetry: z.record(z.string(), z.unknown()).optional(),
    },
    hints: { destructive: false, openWorld: true },
    example: { before: [made], args: decided.args },
    run: ({ mind_id, observation: seen, events, request_id, explain }, { store, requestId: own, progress }) =>
      named(request_id ?? own, () =>
        store.decide({
          mind_id,
          observation: seen,
          events,
          request_id: request_id ?? own,
          isNamed: request_id !== undefined,
          explain,
          progress,
        }),
      ),
  })

  app.tool('consolidate_memories', {
    about:
      "Moves a mind's memories of the day to those that last, as in sleep, and now and then draws conclusions from them. Safe to repeat.",
    input: { mind_id: mindId, request_id: requestId },
    output: {
      status: z.string(),
      consolidated_count: z.int().optional(),
      merged_count: z.int().optional(),
      failed_count: z.int().optional(),
      reflections_count: z.int().optional(),
      long_term_memory_count: z.int().optional(),
      batch_id: z.string().optional(),
      replayed: z.boolean().optional(),
    },
    hints: { destructive: false, idempotent: true },
    example: { before: [made, decided], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, request_id = '' }, { store, requestId: own, progress }) =>
      named(
        request_id || own,
        () => store.consolidate({ mind_id, request_id: request_id || own }, progress),
        { consolidated_count: 0 },
      ),
  })

  app.tool('recall_memories', {
    about:
      'The memories of a mind that bear on a question, best first, with their scores; none where none does. What it has concluded names its evidence.',
    input: {
      mind_id: mindId,
      query: z.string().min(1).max(2000).describe('a question or some words'),
      k: z.int().min(1).max(50).default(5).describe('memories at most'),
    },
    output: {
      memories: z.array(
        z.object({
          id: z.string(),
          content: z.string(),
          importance: z.number(),
          timestamp: z.int().nullable(),
          score: z.number(),
          relevance: z.number(),
          superseded: z.boolean(),
          evidence: z.array(z.string()).optional(),
        }),
      ),
      warnings: z.array(z.string()).optional(),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { before: [made], args: { mind_id: 'npc_mara', query: 'Where is the stove?' } },
    async run({ mind_id, query, k }, { store }) {
      const { recalled, warnings } = await store.recall(mind_id, query, k)
      const concluded = recalled.filter(({ tags }) => tags.includes('reflection')).map(({ id }) => id)
      const evidence = concluded.length === 0 ? undefined : await store.evidence(concluded)
      const memories = recalled.map(
        ({ id, content, importance, sim_time, score, relevance, is_superseded }) => ({
          id,
          content,
          importance,
          timestamp: sim_time,
          score,
          relevance,
          superseded: is_superseded,
          ...(evidence?.has(id) === true ? { evidence: evidence.get(id) } : {}),
        }),
      )
      const [best] = memories
      return {
        memories,
        ...(warnings.length === 0 ? {} : { warnings }),
        summary:
          best === undefined
            ? 'Nothing comes to mind.'
            : `${memories.length} memories; the best: ${best.content}`,
      }
    },
  })

  app.tool('explain_decision', {
    about:
      'Why a mind decided as it did: candidates with the terms of their scores, memories, and who decided.',
    input: {
      mind_id: mindId,
      request_id: z
        .string()
        .max(256)
        .optional()
        .describe('request_id of the decision; default: the last one'),
    },
    output: {
      request_id: z.string(),
      current_simulation_time: z.int(),
      decided_by: z.string(),
      status: z.string(),
      action: z.unknown(),
      explanation: z.record(z.string(), z.unknown()),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { before: [made, decided], args: { mind_id: 'npc_mara' } },
    async run({ mind_id, request_id }, { store }) {
      const decision = await store.decision(mind_id, request_id ?? null)
      if (decision === undefined)
        throw new CausewayError('NO_DECISION', `Mind ${mind_id} has no such decision`, { data: { mind_id } })
      const { error_code: _, created_at: __, ...shown } = decision
      const explanation = decision.explanation as Record<string, unknown> // written by this app
      const action = decision.action as { readonly action: string } | null // written by this app
      const because = typeof explanation.because === 'string' ? `: ${explanation.because}` : ''
      return {
        ...shown,
        action: decision.action,
        explanation,
        summary: `The ${decision.decided_by === 'llm' ? 'language model' : 'policy'} chose ${action?.action ?? 'nothing'}${because}.`,
      }
    },
  })
}
