/** Mutants that no test can distinguish from the original, with the reason. Identified by content, not by line number. */
export interface Equivalent {
  readonly file: string
  /** The line before and after the change, as the check prints them. */
  readonly before: string
  readonly after: string
  readonly reason: string
}

export const equivalents: readonly Equivalent[] = []
