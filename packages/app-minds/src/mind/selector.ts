import type { Action } from '../domain/action.ts'
import type { MemoryDraft } from '../domain/memory.ts'
import type { Goal, MindState } from '../domain/policy/state.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { WordRelations } from '../domain/word-relations.ts'
import type { RecallResult } from '../memory/recall.ts'
import type { LlmCallRow } from '../store/types.ts'
import type { Cycle } from './prepare.ts'

export const steps = ['memory_query', 'memory_retrieval', 'cognitive_update', 'action_selection'] as const

export type Step = (typeof steps)[number]

export interface SelectorContext {
  readonly cycle: Cycle
  readonly relations: WordRelations
  recall(queries: readonly string[]): Promise<RecallResult>
  step<T>(name: Step, work: () => T | Promise<T>): Promise<T>
}

export interface Choice {
  readonly action: Action
  readonly decided_by: 'llm' | 'policy'
  readonly model: string
  readonly working_memory: WorkingMemory
  readonly memories: readonly MemoryDraft[]
  readonly goal: Goal | null
  readonly talks: MindState['talks']
  /** Absent if the character says nothing. */
  readonly shared?: MindState['shared']
  readonly formed: MindState['formed']
  readonly recalled: readonly string[]
  /** Plain JSON for `explain_decision`. */
  readonly explanation: Readonly<Record<string, unknown>>
  readonly warnings: readonly string[]
  readonly calls: readonly LlmCallRow[]
}
