import { z } from 'zod'

const count = (value: number) => z.number().int().min(1).default(value)

/** Limits with their defaults, which the JSON object `CAUSEWAY_MINDS_LIMITS` overrides. */
export const limitsSchema = z.strictObject({
  traits: count(64),
  trait_chars: count(200),
  seed_memories: count(1000),
  memory_chars: count(2000),
  observation_bytes: count(262_144),
  visible_entities: count(200),
  prompt_entities: count(30),
  /** Maximum characters of the state in a prompt, about 3,000 tokens. A longer state contains less detail. */
  prompt_chars: count(10_500),
  interactions_per_entity: count(50),
  conversation_messages: count(200),
  open_conversations: count(50),
  /** The least recently seen places are removed first. */
  places: count(500),
  event_minutes: count(60),
  events: count(15),
  working_memory_bytes: count(32_768),
  minds: count(10_000),
  memories: count(250_000),
  /** Maximum memories of an exported or imported mind. */
  save_memories: count(5000),
  /** Number of daily memories that triggers a consolidation. */
  daily_memories: count(500),
  /** Maximum queued calls of a mind. `model_queue` applies to minds with a language model. */
  queue: count(256),
  model_queue: count(8),
  concurrent_decisions: count(64),
  /** Minimum number of long-term memories for which vectors are searched in a worker. */
  worker_search_from: count(5000),
  vector_cache_bytes: count(268_435_456),
  memory_cache_bytes: count(100_663_296),
  /** How long a repeated request id returns the stored result. */
  repeat_ms: count(600_000),
  decisions_kept: count(1000),
})

export type Limits = Readonly<z.output<typeof limitsSchema>>

/** Restricted, because mind ids are segments of resource URIs. */
export const mindIdPattern = /^[A-Za-z0-9_.-]{1,128}$/
