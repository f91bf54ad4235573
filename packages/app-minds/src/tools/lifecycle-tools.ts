import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import type { Minds } from '../mind/minds.ts'
import { exampleCalls, exampleSave, mindIdArgument, requestIdArgument, withRequestId } from './arguments.ts'

const replayed = z.boolean().optional()
const { create: createCall } = exampleCalls

export function declareLifecycleTools(app: Registrar<Minds, object>): void {
  declareCreateTool(app)
  declareRemoveTools(app)
  declareRelinkTool(app)
  declareSaveTools(app)
  declareListTool(app)
}

function declareCreateTool(app: Registrar<Minds, object>): void {
  app.tool('create_mind', {
    title: 'Create mind',
    about:
      'Create a mind for a game character, or resume the mind with this id and its memories. Use it before the first decide_action, and after a restart of the game.',
    searchHint: 'make NPC, villager, agent, character, personality',
    input: {
      mind_id: mindIdArgument,
      config: z
        .looseObject({})
        .describe(
          'All optional: entity_id, traits[], initial_working_memory, initial_long_term_memories[], personality_dimensions, selector (auto|llm|policy), llm_model, on_llm_failure (policy|wait|error), llm_gate, pipeline, memory_query, seed, budget, retrieval, policy, recall_daily, reflect_after',
        ),
      entity_id: z
        .string()
        .min(1)
        .max(256)
        .optional()
        .describe('Entity that the mind drives. Default: config.entity_id, else mind_id'),
      if_exists: z
        .enum(['resume', 'error', 'replace'])
        .optional()
        .describe('Default: resume, which keeps the memories'),
      request_id: requestIdArgument,
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
    isCore: true,
    alwaysLoad: true,
    example: { args: { ...createCall.args, config: { entity_id: 'npc_mara', traits: ['curious'] } } },
    run: ({ request_id: givenRequestId, ...args }, ctx) =>
      withRequestId(givenRequestId, ctx, (request_id) => ctx.store.create({ ...args, request_id })),
  })
}

function declareRemoveTools(app: Registrar<Minds, object>): void {
  app.tool('cleanup_mind', {
    title: 'Release mind',
    about:
      'Release a mind and keep its memories. create_mind resumes it. Use it when the character leaves the game. With `purge`, deletes the mind and its memories.',
    searchHint: 'NPC leaves level, keep what it knows',
    input: {
      mind_id: mindIdArgument,
      purge: z.boolean().default(false).describe('Whether to delete the mind with all its memories'),
      request_id: requestIdArgument,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      existed: z.boolean().optional(),
      retained: z.boolean().optional(),
      replayed,
    },
    hints: { destructive: true, idempotent: true },
    example: { before: [createCall], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, purge, request_id: givenRequestId }, ctx) =>
      withRequestId(givenRequestId, ctx, async (request_id) => {
        const result = await ctx.store.cleanup({ mind_id, purge, request_id })
        return { status: 'removed', mind_id, ...result, retained: result.existed && !purge }
      }),
  })

  app.tool('forget_mind', {
    title: 'Delete mind',
    about:
      'Delete a mind with all its memories. Returns `forgotten`, or `not_found` if the mind does not exist. Use it only if the character never returns.',
    searchHint: 'erase character, delete NPC, remove all',
    input: { mind_id: mindIdArgument, request_id: requestIdArgument },
    output: { status: z.string(), mind_id: z.string().optional(), replayed },
    hints: { destructive: true, idempotent: true },
    example: { before: [createCall], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, request_id: givenRequestId }, ctx) =>
      withRequestId(givenRequestId, ctx, async (request_id) => {
        const { existed, ...rest } = await ctx.store.forget({ mind_id, request_id })
        return { status: existed ? 'forgotten' : 'not_found', mind_id, ...rest }
      }),
  })
}

function declareRelinkTool(app: Registrar<Minds, object>): void {
  app.tool('relink_mind', {
    title: 'Relink mind',
    about:
      'Connect a mind to another entity and keep its memories. Use it when the game gives the character a new entity id.',
    searchHint: 'NPC has new id, respawn',
    input: {
      mind_id: mindIdArgument,
      entity_id: z.string().min(1).max(256).describe('New entity that the mind drives'),
      request_id: requestIdArgument,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      entity_id: z.string().optional(),
      previous_entity_id: z.string().optional(),
      replayed,
    },
    hints: { destructive: false, idempotent: true },
    example: { before: [createCall], args: { mind_id: 'npc_mara', entity_id: 'npc_mara_2' } },
    run: ({ mind_id, entity_id, request_id: givenRequestId }, ctx) =>
      withRequestId(givenRequestId, ctx, async (request_id) => ({
        status: 'relinked',
        mind_id,
        entity_id,
        ...(await ctx.store.relink({ mind_id, entity_id, request_id })),
      })),
  })
}

function declareSaveTools(app: Registrar<Minds, object>): void {
  app.tool('export_mind', {
    title: 'Export mind',
    about:
      'Export a mind as one JSON object: configuration, memories, state, places and conversations. Use it for a save slot of the game; import_mind restores it.',
    searchHint: 'save game, back up NPC, write save slot',
    input: { mind_id: mindIdArgument },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      save: z.looseObject({}).optional().describe('Pass it to import_mind unchanged'),
      summary: z.string().optional(),
    },
    hints: { readOnly: true },
    example: { before: [createCall], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id }, ctx) =>
      withRequestId(undefined, ctx, async () => {
        const save = await ctx.store.export(mind_id)
        const count = save.daily_memories.length + save.long_term_memories.length
        const summary = `${mind_id} with ${count} ${count === 1 ? 'memory' : 'memories'}.`
        return { status: 'exported', mind_id, save, summary }
      }),
  })

  app.tool('import_mind', {
    title: 'Import mind',
    about:
      'Create a mind from a save of export_mind. Use it when the game loads a save slot, or to copy a character under another id.',
    searchHint: 'load game, read save slot, clone NPC',
    input: {
      save: z.looseObject({}).describe('`save` of export_mind'),
      mind_id: mindIdArgument.optional().describe('Default: the id in the save'),
      entity_id: z.string().min(1).max(256).optional().describe('Default: the entity in the save'),
      if_exists: z
        .enum(['error', 'replace'])
        .default('error')
        .describe('`replace` deletes the existing mind first'),
      request_id: requestIdArgument,
    },
    output: {
      status: z.string(),
      mind_id: z.string().optional(),
      entity_id: z.string().optional(),
      daily_memories_count: z.int().optional(),
      long_term_memory_count: z.int().optional(),
      replayed,
    },
    hints: { destructive: true, idempotent: true },
    example: { args: { save: exampleSave, if_exists: 'replace' } },
    run: ({ request_id: givenRequestId, ...args }, ctx) =>
      withRequestId(givenRequestId, ctx, async (request_id) => ({
        status: 'imported',
        ...(await ctx.store.import({ ...args, request_id })),
      })),
  })
}

function declareListTool(app: Registrar<Minds, object>): void {
  app.tool('list_minds', {
    title: 'List minds',
    about:
      'List the active and released minds of this server with the numbers of their memories and decisions. Use it to find a mind_id.',
    searchHint: 'which characters, NPCs exist',
    input: {
      after: z
        .string()
        .max(128)
        .default('')
        .describe('Start after this mind_id: next_after of the last page'),
      limit: z.int().min(1).max(500).default(100).describe('Maximum number of minds to return'),
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
    example: { before: [createCall], args: {} },
    async run({ after, limit }, { store }) {
      const rows = await store.list(after, limit + 1)
      const page = rows.slice(0, limit)
      const minds = page.map(({ mind_id, entity_id, status, ...mind }) => ({
        mind_id,
        entity_id,
        status,
        selector: store.getEffectiveSelector(mind.config),
        daily_memories_count: mind.daily_count,
        long_term_memory_count: mind.memory_count,
        decisions: mind.decision_count,
      }))
      const activeCount = minds.filter(({ status }) => status === 'active').length
      return {
        minds,
        next_after: rows.length > limit ? (page.at(-1)?.mind_id ?? null) : null,
        summary: `${minds.length} ${minds.length === 1 ? 'mind' : 'minds'}, ${activeCount} active.`,
      }
    },
  })
}
