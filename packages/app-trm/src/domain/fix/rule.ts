/** What a repair rule is given, and what it gives. */
import type { Edit } from '../candidate/types.ts'
import type { Problem } from '../feedback/problem.ts'

/** What rules know of the project. */
export interface FixContext {
  /** The text of every file that a problem names. */
  readonly files: ReadonlyMap<string, string>
  /** Top-level names of the project's Python modules: name -> dotted modules that define it. */
  readonly definitions: ReadonlyMap<string, readonly string[]>
}

/** What a rule makes of a problem in a file. */
export interface Repair {
  readonly edits: readonly Edit[]
  readonly rationale: string
}

/** A rule: a repair, or nothing where it is not sure. */
export type Rule = (problem: Problem, text: string, context: FixContext) => Repair | undefined
