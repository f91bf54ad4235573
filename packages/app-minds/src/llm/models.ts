/** The language models of a server: which mind may use which, and whether the budget allows it. */
import type { ActionSelector } from '../mind/selector.ts'
import type { MindRow } from '../store/types.ts'
import type { MindConfig } from '../wire/read-config.ts'

/** The models. */
export interface Models {
  /** False where no mind can be decided for by a model. */
  readonly isConfigured: boolean
  /** True where the mind is decided for by a model. */
  usableFor(config: MindConfig): boolean
  /** The selector, undefined for the policy. Throws `LLM_NOT_CONFIGURED` for a mind that insists on a model. */
  selectorFor(config: MindConfig, mindId: string): ActionSelector | undefined
  /** True where a budget of the mind or of the server is spent. */
  isOverBudget(mind: MindRow, time: number): Promise<boolean>
  /** For `/health`; never a key. */
  health(): Readonly<Record<string, unknown>>
  close(): Promise<void>
}
