import type { Log } from '@causeway/app-kit'
import type { Limits } from '../limits.ts'
import type { LanguageModels } from '../llm/language-models.ts'
import type { RecallServices } from '../memory/recall.ts'
import type { MindQueue } from './mind-queue.ts'

export interface MindServices extends RecallServices {
  readonly queue: MindQueue
  readonly models: LanguageModels
  readonly limits: Limits
  readonly log: Log
  readonly now: () => number
  readonly markChanged: (mindId: string) => void
}
