/** A second judgement, with the files that judge as they were at the start: a candidate may not write its own verdict. */
import { type Decision, passes } from './halting.ts'
import type { SignalValue } from './signal.ts'

/** What that judgement came to. */
export interface Guard {
  /** the files that were put back for it */
  readonly files: readonly string[]
  readonly score: number
  /** null where there is no test command, or its output could not be read */
  readonly tests: { readonly passed: number; readonly failed: number; readonly total: number } | null
  /** whether the checks pass with them too */
  readonly passes: boolean
  /** what they say is wrong: `test: 1 of 3 passed, exit 1` */
  readonly why: readonly string[]
}

/** The guard from the evaluation with these files put back. */
export const guardOf = (
  files: readonly string[],
  { score, tests, signals }: Pick<Guard, 'score' | 'tests'> & { readonly signals: readonly SignalValue[] },
): Guard => ({
  files,
  score,
  tests,
  passes: passes(signals),
  why: signals.filter(({ ok }) => !ok).map(({ name, why }) => `${name}: ${why}`),
})

/** A success that holds only with judges of the candidate's own is none. */
export function guarded(decision: Decision, guard: Guard | null): Decision {
  if (decision.rule !== 'success' || guard === null || guard.passes) return decision
  return { shouldHalt: false, rule: null, reasons: [guardText(guard)] }
}

/** What a client is told. */
export const guardText = ({ files, why }: Guard): string =>
  `no success: with ${files.join(', ')} as at the start the checks do not pass (${why.join('; ')}). Correct the code, or start with options.protect [] where the change of ${files.length === 1 ? 'this file' : 'these files'} is wanted`
