// cspell:ignore heard -- a stored field
import { z } from 'zod'
import { MindsError } from '../errors.ts'
import type { Limits } from '../limits.ts'
import { listProblems, requireWithin } from './validation.ts'

const saveVersion = 1

const time = z.int().nullable()
const cell = z.tuple([z.int(), z.int()])
const name = z.string().max(4096)
const shares = z.record(z.string(), z.number())
const nullable = <T extends z.ZodType>(type: T) => type.nullable()

const memory = {
  id: z.string().min(1).max(200),
  content: z.string(),
  importance: z.number().min(0).max(10),
  sim_time: time,
  location: nullable(cell),
  kind: z.enum(['episodic', 'seed', 'reflection', 'fact']),
  subject: nullable(name),
  tags: z.array(z.string()),
}

const longTermMemory = z.strictObject({
  ...memory,
  valid_to: time,
  superseded_by: nullable(name),
  merged_count: z.int().min(0),
  access_count: z.int().min(0),
  last_access_sim_time: time,
  /** Only for conclusions. */
  reflection: nullable(z.strictObject({ about: z.string(), evidence: z.array(z.string()) })),
})

const goal = z.strictObject({
  entity_id: name,
  interaction_name: name,
  need: nullable(name),
  score: z.number(),
})
const action = z.strictObject({ action: name, parameters: z.record(z.string(), z.unknown()) })

const state = z.strictObject({
  counter: z.int().min(0),
  last: nullable(
    z.strictObject({ action, time: z.int(), position: nullable(cell), needs: shares, goal: nullable(goal) }),
  ),
  stay: nullable(
    z.strictObject({
      name,
      entity_id: nullable(name),
      fills: z.array(z.string()),
      since: z.int(),
      needs: shares,
    }),
  ),
  gains: z.record(z.string(), z.strictObject({ mean: z.number(), samples: z.int() })),
  talks: z.record(
    z.string(),
    z.strictObject({
      own_turns: z.int(),
      heard_at: z.int(),
      has_nudged: z.boolean(),
      has_parted: z.boolean(),
    }),
  ),
  news: z.array(z.strictObject({ speaker_id: name, speaker_name: name, text: z.string(), time: z.int() })),
  shared: z.array(z.number()),
  critical: z.array(z.string()),
  formed: z.strictObject({ day: z.int(), keys: z.array(z.string()) }),
  blocked: nullable(z.string()),
  gate: nullable(z.strictObject({ digest: z.string(), at: z.int() })),
  warned: z.array(z.string()),
})

const interaction = z.strictObject({
  name,
  description: z.string(),
  fills: z.array(z.string()),
  drains: z.array(z.string()),
  rates: shares,
  minutes: z.number().nullable(),
  refused_at: time,
})

const place = z.strictObject({
  entity_id: name,
  display_name: z.string(),
  position: nullable(cell),
  interactions: z.array(interaction),
  first_seen: z.int(),
  last_seen: z.int(),
  last_busy: time,
  last_refused: time,
  gone: z.boolean(),
})

const message = z.strictObject({
  speaker_id: name,
  speaker_name: name,
  message: z.string(),
  timestamp: z.number().nullable(),
  is_system: z.boolean(),
  gap: z.boolean(),
})

const conversation = z.strictObject({
  interaction_id: name,
  interaction_name: name,
  participants: z.array(z.string()),
  initiator_id: nullable(name),
  opened_at: z.int(),
  last_seen: z.int(),
  closed_at: time,
  messages: z.array(message),
})

const shape = z.strictObject({
  format: z.literal('causeway-mind'),
  version: z.literal(saveVersion),
  mind_id: z.string(),
  entity_id: z.string().min(1).max(256),
  rng_seed: z.int(),
  config: z.looseObject({}),
  working_memory: z.looseObject({
    situation_assessment: z.string(),
    active_goals: z.array(z.string()),
    recent_events: z.array(z.string()),
    current_plan: z.array(z.string()),
    emotional_state: z.string(),
  }),
  state,
  last_sim_time: time,
  decision_count: z.int().min(0),
  unreflected: z.number().min(0),
  daily_memories: z.array(z.strictObject({ ...memory, kind: z.enum(['episodic', 'fact']) })),
  long_term_memories: z.array(longTermMemory),
  places: z.array(place),
  conversations: z.array(conversation),
  events: z.array(
    z.strictObject({
      timestamp: z.number(),
      event_type: z.string(),
      payload: z.record(z.string(), z.unknown()),
    }),
  ),
  bids: z.array(
    z.strictObject({
      bid_id: name,
      bidder_id: name,
      bidder_name: name,
      interaction_name: name,
      received_at: z.int(),
    }),
  ),
})

/** A saved mind: everything except vectors, past decisions and the use of language models. */
export type SavedMind = z.output<typeof shape>

export function readSave(value: unknown, limits: Limits): SavedMind {
  const { format, version } = Object(value) as { readonly format?: unknown; readonly version?: unknown }
  if (format === 'causeway-mind' && typeof version === 'number' && version > saveVersion)
    throw new MindsError(
      'INVALID_SAVE',
      `the save has version ${version}, and this server reads version ${saveVersion}`,
      { data: { version, supported: saveVersion } },
    )
  const parsed = shape.safeParse(value)
  if (!parsed.success) {
    const problems = listProblems(parsed.error)
    throw new MindsError('INVALID_SAVE', `Invalid save format: ${problems.join('; ')}`, {
      data: { problems },
    })
  }
  const save = parsed.data
  requireSaveable(save.long_term_memories.length + save.daily_memories.length, limits)
  for (const { content } of [...save.long_term_memories, ...save.daily_memories])
    requireWithin('memory_chars', content.length, limits.memory_chars)
  const working = Buffer.byteLength(JSON.stringify(save.working_memory))
  requireWithin('working_memory_bytes', working, limits.working_memory_bytes)
  const ids = new Set([...save.long_term_memories, ...save.daily_memories].map(({ id }) => id))
  if (ids.size < save.long_term_memories.length + save.daily_memories.length)
    throw new MindsError('INVALID_SAVE', 'Invalid save format: two memories have the same id')
  return save
}

/** Throws `LIMIT_EXCEEDED`. */
export const requireSaveable = (memories: number, limits: Limits): void =>
  requireWithin('save_memories', memories, limits.save_memories)
