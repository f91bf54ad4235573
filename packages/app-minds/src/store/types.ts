/** What is stored of a mind, and what one decision changes. */
import type { KeptMessage } from '../domain/conversation.ts'
import type { Postings } from '../domain/lexical.ts'
import type { Cell, MindEvent, PendingBid } from '../domain/observation.ts'
import type { FormedMemory } from '../domain/policy/form-memories.ts'
import type { Place } from '../domain/policy/place.ts'
import type { CarriedState } from '../domain/policy/state.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { Conclusion } from '../domain/reflect.ts'
import type { MindConfig } from '../wire/read-config.ts'

/** A mind. */
export interface MindRow {
  readonly seq: number
  readonly mind_id: string
  readonly entity_id: string
  readonly status: 'active' | 'released'
  readonly config: MindConfig
  readonly working_memory: WorkingMemory
  readonly state: CarriedState
  /** Goes up with each change; a commit names the one it was computed from. */
  readonly rev: number
  readonly rng_seed: number
  /** The space in which every lasting memory has a vector. */
  readonly embedder_id: string | null
  readonly memory_count: number
  readonly daily_count: number
  /** Importance of lasting memories since it last reflected. */
  readonly unreflected: number
  /** Goes up with each change of lasting memories: what is kept in memory of them is kept under it. */
  readonly memory_rev: number
  readonly decision_count: number
  readonly last_sim_time: number | null
}

/** A conversation that is open, with what was said. */
export interface StoredConversation {
  readonly interaction_id: string
  readonly interaction_name: string
  readonly participants: readonly string[]
  readonly initiator_id: string | null
  readonly last_seen: number
  readonly messages: readonly KeptMessage[]
}

/** All that a decision starts from. */
export interface MindSnapshot {
  readonly mind: MindRow
  readonly places: readonly Place[]
  readonly conversations: readonly StoredConversation[]
  readonly events: readonly MindEvent[]
  readonly bids: readonly PendingBid[]
}

/** What every question to one mind begins with, all but vectors. */
export interface StandingMaterial {
  /** The newest and the most important memories that last. */
  readonly rows: readonly MemoryRow[]
  /** The last row that has a vector in the space, 0 where none has. */
  readonly lastVector: number
}

/** What the data file has for some questions to one mind. */
export interface Material {
  /** Memories of the day. */
  readonly today: readonly MemoryRow[]
  /** For each word the lasting memories that have it. */
  readonly postings: Postings
  readonly standing: StandingMaterial
}

/** A memory with its id. */
export interface NewMemory extends FormedMemory {
  readonly id: string
}

/** A memory of today, or one that lasts. */
export interface MemoryRow {
  readonly seq: number
  readonly id: string
  readonly content: string
  readonly importance: number
  readonly sim_time: number | null
  readonly location: Cell | null
  readonly kind: 'episodic' | 'seed' | 'reflection' | 'fact'
  readonly subject: string | null
  readonly tags: readonly string[]
  readonly superseded_by: string | null
}

/** A conclusion of a mind, with the ids of the memories that it rests on. */
export interface ReflectionRow extends MemoryRow {
  readonly evidence: readonly string[]
}

/** A conclusion that is about to last. */
export interface NewReflection extends Conclusion {
  readonly id: string
  /** null where its text has no direction in the space */
  readonly vector: Uint8Array | null
}

/** One attempt at a model; null is unknown and not 0. */
export interface LlmCallRow {
  readonly step: string
  readonly attempt: number
  readonly model_requested: string
  readonly model_served: string | null
  readonly status: number | null
  readonly error_code: string | null
  readonly latency_ms: number
  readonly prompt_tokens: number | null
  readonly completion_tokens: number | null
  readonly cached_tokens: number | null
  readonly cache_write_tokens: number | null
  readonly cost: number | null
  readonly cost_source: 'provider' | 'price_table' | 'unknown'
}

/** A conversation as one observation changed it. */
export interface ConversationChange extends Omit<StoredConversation, 'messages' | 'last_seen'> {
  readonly added: readonly KeptMessage[]
}

/** The row of a decision. */
export interface DecisionRow {
  /** Of this mind, from 1. */
  readonly ord: number
  readonly sim_time: number
  readonly observation_hash: string
  readonly selector: string
  readonly status: 'success' | 'error'
  readonly error_code: string | null
  readonly action: unknown
  readonly explanation: unknown
}

/** An answer that a repeat of the request gets. */
export interface AnsweredRequest {
  readonly mind_id: string
  readonly request_id: string
  readonly tool: string
  /** undefined: nothing is kept */
  readonly answer: unknown
}

/** Everything that one decision changes, for one transaction. */
export interface DecisionChange {
  readonly seq: number
  readonly rev: number
  readonly working_memory: WorkingMemory
  readonly state: CarriedState
  readonly time: number
  /** Changed ones. */
  readonly places: readonly Place[]
  /** Places known, changed or not. */
  readonly knownPlaces: number
  readonly conversations: readonly ConversationChange[]
  /** False where none was open and none is. */
  readonly hasConversations: boolean
  /** Ended by the game. */
  readonly closed: readonly string[]
  readonly events: readonly MindEvent[]
  readonly bids: { readonly received: readonly PendingBid[]; readonly settled: readonly string[] }
  readonly memories: readonly NewMemory[]
  /** Ids of memories that came to mind. */
  readonly recalled: readonly string[]
  readonly decision: DecisionRow
  readonly calls: readonly LlmCallRow[]
  readonly request: AnsweredRequest
}

/** What is known of a decision afterwards. */
export interface StoredDecision {
  readonly request_id: string
  readonly current_simulation_time: number
  readonly decided_by: string
  readonly status: string
  readonly error_code: string | null
  readonly action: unknown
  readonly explanation: unknown
  readonly created_at: number
}
