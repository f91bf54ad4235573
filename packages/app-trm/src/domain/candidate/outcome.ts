import type { ChangedLineCounter } from './changed-lines.ts'
import { lineFeeds } from './edited-text.ts'
import type { Operation } from './plan.ts'
import type { CandidateWarning, FileContent, FileReport, HunkPlacement } from './types.ts'

/** What an operation made of its file. */
export interface Outcome {
  readonly operation: Operation
  readonly before: FileContent | undefined
  readonly after: FileContent | null
  readonly hunks: readonly HunkPlacement[]
  readonly warnings: readonly CandidateWarning[]
}

/** True where nothing would have to be written. */
export function isEqual(before: FileContent | undefined, after: FileContent | null): boolean {
  if (typeof before === 'string' || typeof after === 'string') return before === after
  return before === undefined ? after === null : before === after
}

/** What became of the file, for answers. */
export function reportOf({ operation, before, after }: Outcome, counter: ChangedLineCounter): FileReport {
  const { path } = operation
  const isDiff = operation.type === 'diff'
  const isRename = isDiff && operation.effect === 'rename'
  const executable = isDiff && operation.executable !== undefined ? { executable: operation.executable } : {}
  const [linesRemoved, linesAdded] = counter.count(textOrNone(before), textOrNone(after))
  const kind = isRename ? 'renamed' : kindOf(before, after)
  return {
    path,
    kind,
    linesAdded,
    linesRemoved,
    ...executable,
    ...(isRename ? { from: operation.from } : {}),
  }
}

function kindOf(before: FileContent | undefined, after: FileContent | null): FileReport['kind'] {
  if (after === null) return 'deleted'
  if (before === undefined) return 'created'
  return isEqual(before, after) ? 'unchanged' : 'modified'
}

const textOrNone = (content: FileContent | null | undefined): string =>
  typeof content === 'string' ? lineFeeds(content) : ''
