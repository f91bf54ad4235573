import type { MemoryDraft } from '../domain/memory.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { MindsError } from '../errors.ts'
import type { LlmCallRow } from '../store/types.ts'

export type LlmCode = Extract<keyof typeof MindsError.definitions, `LLM_${string}`>

export interface ModelFailure {
  readonly code: LlmCode
  readonly message: string
  readonly calls: readonly LlmCallRow[]
  readonly salvaged: SalvagedOutput
}

export interface SalvagedOutput {
  readonly working_memory?: WorkingMemory
  readonly memories: readonly MemoryDraft[]
}
