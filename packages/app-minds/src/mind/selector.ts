/** What every selector takes and gives: one interface for the policy and for a language model. */
import type { Action } from '../domain/action.ts'
import type { FormedMemory } from '../domain/policy/form-memories.ts'
import type { CarriedState, Goal } from '../domain/policy/state.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { Recollections } from '../memory/recall.ts'
import type { LlmCallRow } from '../store/types.ts'
import type { Cycle } from './prepare.ts'

/** The four steps of the pipeline, in order. */
export const steps = ['memory_query', 'memory_retrieval', 'cognitive_update', 'action_selection'] as const

/** A step of the pipeline. */
export type Step = (typeof steps)[number]

/** What a selector may use beside the cycle. */
export interface SelectorContext {
  readonly cycle: Cycle
  recall(queries: readonly string[]): Promise<Recollections>
  /** Times a step and reports it as progress. */
  step<T>(name: Step, work: () => T | Promise<T>): Promise<T>
}

/** What a selector decides. */
export interface Choice {
  readonly action: Action
  readonly decided_by: 'llm' | 'policy'
  /** Name of the model, or of the policy. */
  readonly model: string
  readonly working_memory: WorkingMemory
  readonly memories: readonly FormedMemory[]
  readonly goal: Goal | null
  readonly talks: CarriedState['talks']
  readonly formed: CarriedState['formed']
  /** Ids of the memories that came to mind. */
  readonly recalled: readonly string[]
  /** Plain JSON: why. */
  readonly explanation: Readonly<Record<string, unknown>>
  readonly warnings: readonly string[]
  readonly calls: readonly LlmCallRow[]
}

/** Decides what a character does. */
export interface ActionSelector {
  select(context: SelectorContext): Promise<Choice>
}
