import type { EvalResult } from '../domain/evaluation/result.ts'
import type { StepRow } from '../store/rows.ts'

/** Returns the evaluated steps that were not undone, without the baseline. */
export const listLiveSteps = (steps: readonly StepRow[]): readonly StepRow[] =>
  steps.filter(
    ({ status, undone_ms, kind }) => status === 'done' && undone_ms === null && kind !== 'baseline',
  )

/** Returns the last live step, else the baseline. */
export const findLastStep = (steps: readonly StepRow[]): StepRow | undefined =>
  listLiveSteps(steps).at(-1) ?? steps.find(({ kind, status }) => kind === 'baseline' && status === 'done')

export const findLastResult = (steps: readonly StepRow[]): EvalResult | undefined =>
  findLastStep(steps)?.result ?? undefined
