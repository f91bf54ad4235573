/** Tools that make, release, forget and list minds. */
import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { Minds } from '../store.ts'
import { mindId, named, requestId } from './arguments.ts'

const replayed = z.boolean().optional()
const made = {
  tool: 'create_mind',
  args: { mind_id: 'npc_mara', config: { entity_id: 'npc_mara', traits: ['curious'] } },
}

/** Declares the tools. */
export function lifeTools(app: Registrar<Minds, object>): void {
  app.tool('create_mind', {
    about: 'Makes a mind for a character of a game, or takes up the one of this id again with its memories.',
    input: {
      mind_id: mindId,
      config: z
        .looseObject({})
        .describe(
          'entity_id, traits[]; optional: initial_working_memory, initial_long_term_memories[], personality_dimensions, selector (auto|llm|policy), llm_model, on_llm_failure (policy|wait|error), llm_gate, pipeline, memory_query, seed, budget, retrieval, policy, recall_daily, reflect_after',
        ),
      entity_id: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('the body it drives; default: config.entity_id, else mind_id'),
      if_exists: z.enum(['resume', 'error', 'replace']).optional().describe('default resume: keeps memories'),
      request_id: requestId,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      message: z.string().nullable().optional(),
      resumed: z.boolean().optional(),
      seeded_count: z.int().optional(),
      selector_effective: z.string().optional(),
      embedding_model_effective: z.string().optional(),
      warnings: z.array(z.string()).optional(),
      replayed,
    },
    hints: { destructive: false, idempotent: true },
    example: { args: made.args },
    run: ({ request_id, ...args }, { store, requestId: own }) =>
      named(request_id ?? own, () => store.create({ ...args, request_id: request_id ?? own })),
  })

  app.tool('cleanup_mind', {
    about: 'Releases a mind. Its memories stay, and create_mind takes it up again, unless purge is true.',
    input: {
      mind_id: mindId,
      purge: z.boolean().default(false).describe('true deletes the mind with all its memories'),
      request_id: requestId,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      existed: z.boolean().optional(),
      retained: z.boolean().optional(),
      replayed,
    },
    hints: { destructive: true, idempotent: true },
    example: { before: [made], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, purge, request_id = '' }, { store, requestId: own }) =>
      named(request_id || own, async () => {
        const answer = await store.cleanup({ mind_id, purge, request_id: request_id || own })
        return { status: 'removed', mind_id, ...answer, retained: answer.existed && !purge }
      }),
  })

  app.tool('forget_mind', {
    about: 'Deletes a mind with all its memories. Answers forgotten, or not_found where there was none.',
    input: { mind_id: mindId, request_id: requestId },
    output: { status: z.string(), mind_id: z.string().optional(), replayed },
    hints: { destructive: true, idempotent: true },
    example: { before: [made], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, request_id = '' }, { store, requestId: own }) =>
      named(request_id || own, async () => {
        const { existed, ...rest } = await store.forget({ mind_id, request_id: request_id || own })
        return { status: existed ? 'forgotten' : 'not_found', mind_id, ...rest }
      }),
  })

  app.tool('relink_mind', {
    about: 'Lets a mind drive another body; its memories stay as they are.',
    input: {
      mind_id: mindId,
      entity_id: z.string().min(1).max(256).describe('the entity that it drives from now on'),
      request_id: requestId,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      entity_id: z.string().optional(),
      previous_entity_id: z.string().optional(),
      replayed,
    },
    hints: { destructive: false, idempotent: true },
    example: { before: [made], args: { mind_id: 'npc_mara', entity_id: 'npc_mara_2' } },
    run: ({ mind_id, entity_id, request_id = '' }, { store, requestId: own }) =>
      named(request_id || own, async () => ({
        status: 'relinked',
        mind_id,
        entity_id,
        ...(await store.relink({ mind_id, entity_id, request_id: request_id || own })),
      })),
  })

  app.tool('list_minds', {
    about: 'Minds of this server, active and released, with the counts of their memories.',
    input: {
      after: z
        .string()
        .max(128)
        .default('')
        .describe('mind_id after which to go on: next_after of the page before'),
      limit: z.int().min(1).max(500).default(100).describe('minds on a page'),
    },
    output: {
      minds: z.array(
        z.object({
          mind_id: z.string(),
          entity_id: z.string(),
          status: z.string(),
          selector: z.string(),
          daily_memories_count: z.int(),
          long_term_memory_count: z.int(),
          decisions: z.int(),
        }),
      ),
      next_after: z.string().nullable(),
      summary: z.string(),
    },
    hints: { readOnly: true },
    example: { before: [made], args: {} },
    async run({ after, limit }, { store }) {
      const rows = await store.list(after, limit + 1)
      const page = rows.slice(0, limit)
      const minds = page.map(
        ({ mind_id, entity_id, status, config, daily_count, memory_count, decision_count }) => ({
          mind_id,
          entity_id,
          status,
          selector: store.selectorOf(config),
          daily_memories_count: daily_count,
          long_term_memory_count: memory_count,
          decisions: decision_count,
        }),
      )
      const active = minds.filter(({ status }) => status === 'active').length
      return {
        minds,
        next_after: rows.length > limit ? (page.at(-1)?.mind_id ?? null) : null,
        summary: `${minds.length} minds, ${active} of them active.`,
      }
    },
  })
}
