import type { KnownConversation, StoredMessage } from '../domain/conversation.ts'
import type { Postings } from '../domain/lexical.ts'
import type { Memory } from '../domain/memory.ts'
import type { MindEvent, PendingBid } from '../domain/observation.ts'
import type { Place } from '../domain/policy/place.ts'
import type { MindState } from '../domain/policy/state.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { Conclusion } from '../domain/reflect.ts'
import type { MindConfig } from '../wire/read-config.ts'

export interface MindRow {
  readonly seq: number
  readonly mind_id: string
  readonly entity_id: string
  readonly status: 'active' | 'released'
  readonly config: MindConfig
  readonly working_memory: WorkingMemory
  readonly state: MindState
  readonly rev: number
  readonly rng_seed: number
  readonly embedder_id: string | null
  readonly memory_count: number
  readonly daily_count: number
  /** Summed importance of long-term memories added since the last reflection. */
  readonly unreflected: number
  /** Incremented when long-term memories change. Caches use it as a key. */
  readonly memory_rev: number
  readonly decision_count: number
  readonly last_sim_time: number | null
}

export interface StoredConversation extends KnownConversation {
  readonly last_seen: number
}

export interface MindSnapshot {
  readonly mind: MindRow
  readonly places: readonly Place[]
  readonly conversations: readonly StoredConversation[]
  readonly events: readonly MindEvent[]
  readonly bids: readonly PendingBid[]
}

export interface DefaultMemories {
  /** The newest and the most important long-term memories. */
  readonly rows: readonly MemoryRow[]
  /** The last row with a vector in the space, or 0. */
  readonly lastVector: number
}

export interface RecallData {
  readonly today: readonly MemoryRow[]
  readonly postings: Postings
  readonly defaults: DefaultMemories
}

export interface MemoryRow extends Memory {
  readonly seq: number
  readonly superseded_by: string | null
}

export interface ReflectionRow extends MemoryRow {
  readonly evidence: readonly string[]
}

export interface NewReflection extends Conclusion {
  readonly id: string
  /** `null` for a zero vector. */
  readonly vector: Uint8Array | null
}

/** `null` means unknown, not 0. */
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

export interface ConversationChange extends Omit<KnownConversation, 'messages'> {
  readonly addedMessages: readonly StoredMessage[]
}

export interface DecisionRow {
  /** Number of the decision in this mind, counted from 1. */
  readonly ord: number
  readonly sim_time: number
  readonly observation_hash: string
  readonly selector: string
  readonly status: 'success' | 'error'
  readonly error_code: string | null
  readonly action: unknown
  readonly explanation: unknown
}

export interface RecallDataQuery {
  readonly words: readonly string[]
  readonly today?: boolean
  /** `extraCount` newest and `extraCount` most important memories, with vectors of the space `embedderId`. */
  readonly defaults?: { readonly extraCount: number; readonly embedderId: string } | undefined
}

export type FoundRecallData = Pick<RecallData, 'postings'> & Partial<RecallData>
