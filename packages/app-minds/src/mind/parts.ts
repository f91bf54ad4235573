/** Everything that the work on minds is made of, opened once. */
import type { Log } from '@causeway/app-kit'
import type { Limits } from '../limits.ts'
import type { Models } from '../llm/models.ts'
import type { Embedding } from '../memory/embedding.ts'
import type { Shelf } from '../memory/shelf.ts'
import type { DaySearch } from '../memory/today.ts'
import type { VectorSearch } from '../memory/vector-search.ts'
import type { MindQueue } from '../mind-queue.ts'
import type { MindsFile } from '../store/minds-file.ts'

/** The parts. */
export interface MindParts {
  readonly file: MindsFile
  readonly queue: MindQueue
  readonly embedding: Embedding
  readonly search: VectorSearch
  readonly shelf: Shelf
  readonly day: DaySearch
  readonly models: Models
  readonly limits: Limits
  readonly log: Log
  /** Milliseconds since the epoch. */
  readonly now: () => number
  /** Tells clients that a mind is another one. */
  readonly changed: (mindId: string) => void
}
