import type { Registrar } from '@causeway/app-kit'
import { z } from 'zod'
import { MindsError } from '../errors.ts'
import type { Minds } from '../mind/minds.ts'
import { exampleCalls, mindIdArgument, requestIdArgument, withRequestId } from './arguments.ts'

const { create: createCall, decide: decideCall } = exampleCalls

export function declareThoughtTools(app: Registrar<Minds, object>): void {
  declareDecideTool(app)
  declareConsolidateTool(app)
  declareRecallTool(app)
  declareExplainTool(app)
}

function declareDecideTool(app: Registrar<Minds, object>): void {
  app.tool('decide_action', {
    title: 'Decide action',
    about:
      'Choose one legal action for what a character observes now. `decided_by` is `llm` for a language model or `policy` for the rule-based policy. Use it once per decision cycle of the game. To give the character a fact, pass it as a message in observation.conversations.',
    searchHint: 'what will NPC do next, sees, learn fact, news, behaviour, AI',
    widget: 'decision',
    input: {
      mind_id: mindIdArgument,
      observation: z
        .unknown()
        .describe(
          'entity_id, current_simulation_time (game minutes), status?, needs? (full = satisfied), vision?, conversations?',
        ),
      events: z
        .unknown()
        .optional()
        .describe(
          'What happened since the last call: [{timestamp, event_type, payload}]. The rule-based policy reads only events about interactions, movements and errors',
        ),
      request_id: requestIdArgument,
      explain: z
        .boolean()
        .default(false)
        .describe('Whether to add the best candidates and recalled memories'),
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
    example: { before: [createCall], args: decideCall.args },
    run: ({ request_id: givenRequestId, ...args }, ctx) =>
      withRequestId(givenRequestId, ctx, (request_id) =>
        ctx.store.decide({
          mind_id: args.mind_id,
          observation: args.observation,
          events: args.events,
          explain: args.explain,
          request_id,
          hasRequestId: givenRequestId !== undefined,
          progress: ctx.progress,
        }),
      ),
  })
}

function declareConsolidateTool(app: Registrar<Minds, object>): void {
  app.tool('consolidate_memories', {
    title: 'Consolidate memories',
    about:
      "Move a mind's memories of the day to long-term memory, merge duplicates, and sometimes draw conclusions. Returns the counts. Use it when the character sleeps. Safe to repeat.",
    searchHint: 'NPC goes to sleep, night, summarize day',
    input: { mind_id: mindIdArgument, request_id: requestIdArgument },
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
    example: { before: [createCall, decideCall], args: { mind_id: 'npc_mara' } },
    run: ({ mind_id, request_id: givenRequestId }, ctx) =>
      withRequestId(
        givenRequestId,
        ctx,
        (request_id) => ctx.store.consolidate({ mind_id, request_id }, ctx.progress),
        { consolidated_count: 0 },
      ),
  })
}

function declareRecallTool(app: Registrar<Minds, object>): void {
  app.tool('recall_memories', {
    title: 'Recall memories',
    about:
      'Search the memories of a mind. Returns relevant memories with scores, best first, or none; conclusions list the ids of their evidence. Use it to ask what a character knows; it adds nothing.',
    searchHint: 'what does NPC remember about player',
    input: {
      mind_id: mindIdArgument,
      query: z.string().min(1).max(2000).describe('A question or keywords'),
      k: z.int().min(1).max(50).default(5).describe('Maximum number of memories to return'),
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
    example: { before: [createCall], args: { mind_id: 'npc_mara', query: 'Where is the stove?' } },
    async run({ mind_id, query, k }, { store }) {
      const { recalled, warnings } = await store.recall(mind_id, query, k)
      const conclusions = recalled.filter(({ tags }) => tags.includes('reflection')).map(({ id }) => id)
      const evidence = await store.read(mind_id, ({ reflections }) => reflections.readEvidence(conclusions))
      const memories = recalled.map(
        ({ id, content, importance, sim_time, score, relevance, is_superseded }) => ({
          id,
          content,
          importance,
          timestamp: sim_time,
          score,
          relevance,
          superseded: is_superseded,
          ...(evidence.has(id) ? { evidence: evidence.get(id) } : {}),
        }),
      )
      return {
        memories,
        ...(warnings.length === 0 ? {} : { warnings }),
        summary: summarizeMemories(memories.map(({ content }) => content)),
      }
    },
  })
}

function summarizeMemories([bestMemory, ...otherMemories]: readonly string[]): string {
  if (bestMemory === undefined) return 'No relevant memories.'
  return otherMemories.length === 0
    ? `1 memory: ${bestMemory}`
    : `${otherMemories.length + 1} memories. Best: ${bestMemory}`
}

function declareExplainTool(app: Registrar<Minds, object>): void {
  app.tool('explain_decision', {
    title: 'Explain decision',
    about:
      'Explain a decision of a mind: who decided, the candidates with the terms of their scores, and the recalled memories. Use it when an action of a character is unexpected.',
    searchHint: 'why did NPC do that, run away, attack',
    input: {
      mind_id: mindIdArgument,
      request_id: z
        .string()
        .max(256)
        .optional()
        .describe('request_id of the decision. Default: the last decision'),
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
    example: { before: [createCall, decideCall], args: { mind_id: 'npc_mara' } },
    async run({ mind_id, request_id }, { store }) {
      const decision = await store.read(mind_id, ({ records }, { seq }) =>
        records.readDecision(seq, request_id ?? null),
      )
      if (decision === undefined)
        throw new MindsError('NO_DECISION', `Mind ${mind_id} has no such decision`, { data: { mind_id } })
      const { error_code: _, created_at: __, ...visibleDecision } = decision
      const explanation = decision.explanation as Record<string, unknown>
      const action = decision.action as { readonly action: string } | null
      const because = typeof explanation.because === 'string' ? `: ${explanation.because}` : ''
      const selector = decision.decided_by === 'llm' ? 'language model' : 'policy'
      return {
        ...visibleDecision,
        action,
        explanation,
        summary: `The ${selector} chose ${action?.action ?? 'no action'}${because}.`,
      }
    },
  })
}
