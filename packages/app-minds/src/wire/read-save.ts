import { z } from 'zod'
import { storedMessageSchema } from '../domain/conversation.ts'
import { memorySchema } from '../domain/memory.ts'
import { bidSchema, eventSchema, nameSchema } from '../domain/observation.ts'
import { placeSchema } from '../domain/policy/place.ts'
import { stateSchema } from '../domain/policy/state.ts'
import { workingMemorySchema } from '../domain/policy/working-memory.ts'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { parseInput, requireWithinLimit } from './validation.ts'

const saveVersion = 1

const timeSchema = z.int().nullable()

const longTermMemorySchema = memorySchema.extend({
  valid_to: timeSchema,
  superseded_by: nameSchema.nullable(),
  merged_count: z.int().min(0),
  access_count: z.int().min(0),
  last_access_sim_time: timeSchema,
  /** `null` if the memory is not a conclusion. */
  reflection: z.strictObject({ about: z.string(), evidence: z.array(z.string()) }).nullable(),
})

const conversationSchema = z.strictObject({
  interaction_id: nameSchema,
  interaction_name: nameSchema,
  participants: z.array(z.string()),
  initiator_id: nameSchema.nullable(),
  opened_at: z.int(),
  last_seen: z.int(),
  closed_at: timeSchema,
  messages: z.array(storedMessageSchema),
})

const saveSchema = z.strictObject({
  format: z.literal('causeway-mind'),
  version: z.literal(saveVersion),
  mind_id: z.string(),
  entity_id: z.string().min(1).max(256),
  rng_seed: z.int(),
  config: z.looseObject({}),
  working_memory: workingMemorySchema,
  state: stateSchema,
  last_sim_time: timeSchema,
  decision_count: z.int().min(0),
  unreflected: z.number().min(0),
  daily_memories: z.array(memorySchema.extend({ kind: z.enum(['episodic', 'fact']) })),
  long_term_memories: z.array(longTermMemorySchema),
  places: z.array(placeSchema),
  conversations: z.array(conversationSchema),
  events: z.array(eventSchema),
  bids: z.array(bidSchema),
})

/** A mind with everything except vectors, past decisions and usage of language models. */
export type SavedMind = z.output<typeof saveSchema>

export function readSave(value: unknown, limits: Limits): SavedMind {
  const { format, version } = Object(value) as { readonly format?: unknown; readonly version?: unknown }
  if (format === 'causeway-mind' && typeof version === 'number' && version > saveVersion)
    throw new MindsError(
      'INVALID_SAVE',
      `the save has version ${version}, and this server reads version ${saveVersion}`,
      { data: { version, supported: saveVersion } },
    )
  const save = parseInput('save', saveSchema, value)
  requireSaveable(save.long_term_memories.length + save.daily_memories.length, limits)
  for (const { content } of [...save.long_term_memories, ...save.daily_memories])
    requireWithinLimit('memory_chars', content.length, limits.memory_chars)
  const workingMemoryBytes = Buffer.byteLength(JSON.stringify(save.working_memory))
  requireWithinLimit('working_memory_bytes', workingMemoryBytes, limits.working_memory_bytes)
  const ids = new Set([...save.long_term_memories, ...save.daily_memories].map(({ id }) => id))
  if (ids.size < save.long_term_memories.length + save.daily_memories.length)
    throw new MindsError('INVALID_SAVE', 'Invalid save format: two memories have the same id')
  return save
}

/** Throws `LIMIT_EXCEEDED`. */
export const requireSaveable = (memoryCount: number, limits: Limits): void =>
  requireWithinLimit('save_memories', memoryCount, limits.save_memories)
