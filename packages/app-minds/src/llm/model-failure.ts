import type { MemoryDraft } from '../domain/memory.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { MindsError } from '../errors.ts'
import type { LlmCallRow } from '../store/types.ts'

export type LlmCode = Extract<keyof typeof MindsError.definitions, `LLM_${string}`>

export interface SalvagedOutput {
  readonly working_memory?: WorkingMemory
  readonly memories: readonly MemoryDraft[]
}

/** Thrown if a model could not decide, with the calls and the valid parts of its output. Internal. */
export class ModelFailure extends Error {
  readonly code: LlmCode
  readonly calls: readonly LlmCallRow[]
  readonly salvaged: SalvagedOutput

  constructor(code: LlmCode, message: string, calls: readonly LlmCallRow[], salvaged: SalvagedOutput) {
    super(message)
    this.name = 'ModelFailure'
    this.code = code
    this.calls = calls
    this.salvaged = salvaged
  }
}
