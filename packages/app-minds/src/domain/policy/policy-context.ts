import type { KnownConversation, StoredMessage } from '../conversation.ts'
import type { Situation } from '../menu.ts'
import type { Random } from '../random.ts'
import type { RecalledMemory } from '../retrieval.ts'
import type { WordRelations } from '../word-relations.ts'
import type { PolicyConstants } from './constants.ts'
import type { Places } from './place.ts'
import type { ConversationState, MindState } from './state.ts'

export interface PolicyContext {
  readonly situation: Situation
  readonly state: MindState
  readonly places: Places
  readonly weights: Readonly<Record<string, number>>
  readonly constants: PolicyConstants
  readonly conversations: readonly KnownConversation[]
  readonly newMessages: readonly StoredMessage[]
  readonly reminders: readonly RecalledMemory[]
  /** Memories that match the last message, best first. */
  readonly recollections: readonly RecalledMemory[]
  readonly mood: string
  readonly relations: WordRelations
  readonly random: Random
}

export interface ConversationContext extends PolicyContext {
  readonly conversation: KnownConversation
  readonly talk: ConversationState
}
