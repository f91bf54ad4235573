/** A model that could not decide: why, what it cost, and what it said well before it failed. */
import type { ErrorCode } from '@causeway/protocol'
import type { FormedMemory } from '../domain/policy/form-memories.ts'
import type { WorkingMemory } from '../domain/policy/working-memory.ts'
import type { LlmCallRow } from '../store/types.ts'

/** Codes that begin with LLM_. */
export type LlmCode = Extract<ErrorCode, `LLM_${string}`>

/** Parts of an answer that are sound. */
export interface Salvaged {
  readonly working_memory?: WorkingMemory
  readonly memories: readonly FormedMemory[]
}

/** Thrown by the selector of a model; it never leaves this package. */
export class ModelFailure extends Error {
  readonly code: LlmCode
  readonly calls: readonly LlmCallRow[]
  readonly salvaged: Salvaged

  constructor(code: LlmCode, message: string, calls: readonly LlmCallRow[], salvaged: Salvaged) {
    super(message)
    this.name = 'ModelFailure'
    this.code = code
    this.calls = calls
    this.salvaged = salvaged
  }
}
