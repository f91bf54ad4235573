import { z } from 'zod'
import { policyConstants } from '../domain/policy/constants.ts'
import type { Limits } from '../limits.ts'
import { parseInput, requireWithinLimit } from './validation.ts'

const shareSchema = z.number().min(0).max(1)
const constantsSchema = z.strictObject(
  Object.fromEntries(
    Object.keys(policyConstants).map((name) => [name, z.number().min(0).optional()]),
  ) as Record<keyof typeof policyConstants, z.ZodOptional<z.ZodNumber>>,
)

const configSchema = z.looseObject({
  entity_id: z.string().min(1).max(256).optional(),
  traits: z.array(z.string()).default([]),
  llm_model: z.string().min(1).max(200).optional(),
  embedding_model: z.string().min(1).max(200).optional(),
  memory_storage_path: z.string().max(1024).optional(),
  initial_working_memory: z.looseObject({}).nullish(),
  initial_long_term_memories: z.array(z.string()).default([]),
  personality_dimensions: z.record(z.string(), shareSchema).default({}),
  selector: z.enum(['auto', 'llm', 'policy']).default('auto'),
  llm_provider: z.string().max(64).optional(),
  temperature: z.number().min(0).max(2).default(0),
  max_tokens: z.number().int().min(64).max(4096).default(1024),
  on_llm_failure: z.enum(['policy', 'wait', 'error']).default('policy'),
  llm_gate: z.enum(['off', 'on_change']).default('off'),
  memory_query: z.enum(['llm', 'heuristic']).default('llm'),
  pipeline: z.enum(['four_node', 'merged']).default('four_node'),
  seed: z.number().int().min(0).max(4_294_967_295).optional(),
  budget: z
    .strictObject({
      tokens_per_game_day: z.number().int().min(0).optional(),
      cost_per_hour: z.number().min(0).optional(),
    })
    .default({}),
  retrieval: z
    .strictObject({
      relevance: shareSchema.optional(),
      importance: shareSchema.optional(),
      recency: shareSchema.optional(),
      per_query: z.number().int().min(1).max(20).optional(),
      most: z.number().int().min(1).max(50).optional(),
      half_life_minutes: z.number().positive().optional(),
    })
    .default({}),
  policy: constantsSchema.default({}),
  if_exists: z.enum(['resume', 'error', 'replace']).default('resume'),
  recall_daily: z.boolean().default(true),
  reflect_after: z.number().min(0).default(150),
})

export type MindConfig = z.output<typeof configSchema>

export const defaultModel = 'google/gemini-2.0-flash-lite-001'

/** Default of `embedding_model`, which is only reported: the server's settings determine the model. */
export const requestedEmbedding = 'all-MiniLM-L6-v2'

/** Throws `INVALID_CONFIG` and `LIMIT_EXCEEDED`. */
export function readConfig(
  value: unknown,
  limits: Limits,
): { config: MindConfig; warnings: readonly string[] } {
  const config = parseInput('config', configSchema, value ?? {})
  requireWithinLimit('traits', config.traits.length, limits.traits)
  for (const trait of config.traits) requireWithinLimit('trait_chars', trait.length, limits.trait_chars)
  requireWithinLimit('seed_memories', config.initial_long_term_memories.length, limits.seed_memories)
  for (const memory of config.initial_long_term_memories)
    requireWithinLimit('memory_chars', memory.length, limits.memory_chars)
  const workingMemoryBytes = Buffer.byteLength(JSON.stringify(config.initial_working_memory ?? null))
  requireWithinLimit('working_memory_bytes', workingMemoryBytes, limits.working_memory_bytes)
  const unknownFields = Object.keys(config).filter((key) => !(key in configSchema.shape))
  const path = config.memory_storage_path
  return {
    config,
    warnings: [
      ...(unknownFields.length === 0 ? [] : [`config: unknown and ignored: ${unknownFields.join(', ')}`]),
      ...(path === undefined
        ? []
        : ['memory_storage_path is stored as a label only; memories are in the data folder']),
    ],
  }
}

export const parseStoredConfig = (json: string): MindConfig => configSchema.parse(JSON.parse(json))
