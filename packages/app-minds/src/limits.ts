/** How much a mind takes in and keeps. Every limit can be set: `CAUSEWAY_MINDS_LIMITS`, a JSON object of these names. */
import { z } from 'zod'

const count = (value: number) => z.number().int().min(1).default(value)

/** The limits with their defaults. */
export const limitsSchema = z.strictObject({
  traits: count(64),
  trait_chars: count(200),
  seed_memories: count(1000),
  memory_chars: count(2000),
  observation_bytes: count(262_144),
  visible_entities: count(200),
  prompt_entities: count(30),
  /** State of a cycle as a model is told it: about 3,000 tokens. Beyond it less is told of each thing. */
  prompt_chars: count(10_500),
  interactions_per_entity: count(50),
  conversation_messages: count(200),
  open_conversations: count(50),
  /** Places that a mind knows, the last seen before the others. */
  places: count(500),
  event_minutes: count(60),
  events: count(15),
  working_memory_bytes: count(32_768),
  minds: count(10_000),
  memories: count(250_000),
  /** Daily memories at which consolidation starts by itself. */
  daily_memories: count(500),
  /** Calls that wait for one mind, and for one that a language model decides for. */
  queue: count(256),
  model_queue: count(8),
  /** Decisions under way in all minds. */
  concurrent_decisions: count(64),
  /** Memories of a mind from which on a worker searches them. */
  worker_search_from: count(5000),
  /** Vectors kept in memory, bytes, and memories with the words that they were found by. */
  vector_cache_bytes: count(268_435_456),
  memory_cache_bytes: count(100_663_296),
  /** A repeated request id gets the first answer for so long, ms. */
  repeat_ms: count(600_000),
  /** Decision rows kept of each mind. */
  decisions_kept: count(1000),
})

/** The limits, in force. */
export type Limits = Readonly<z.output<typeof limitsSchema>>

/** `^[A-Za-z0-9_.-]{1,128}$`: what a mind id may be, so that it is a segment of a resource's URI as it is. */
export const mindIdPattern = /^[A-Za-z0-9_.-]{1,128}$/
