/** Whether the solver converged, judged only where it had something to solve. */
import type { Columns, SolverField } from '@causeway/recording'
import { column, rowsWhere } from './columns.ts'
import { readable, several } from './sentence.ts'
import { totals } from './totals.ts'

/** The verdict over a range of frames. */
export interface Convergence {
  /** frames with constraints: in the others the solver had nothing to do, and `converged` says nothing */
  readonly converged_judged: number
  /** frames with constraints in which it did not converge */
  readonly not_converged: readonly number[]
  readonly max_iterations: number | null
  readonly max_residual: number | null
  readonly max_residual_frame: number | null
}

/** Judges every frame of the columns. */
export function judgeConvergence(solver: Columns<SolverField>): Convergence {
  const [frames, converged, constraints] = [
    column(solver, 'frame_id'),
    column(solver, 'converged'),
    column(solver, 'num_constraints'),
  ]
  const judged = rowsWhere(solver.length, (row) => constraints.get(row) > 0)
  const residual = totals(column(solver, 'residual'), frames)
  return {
    converged_judged: judged.length,
    not_converged: judged.filter((row) => converged.get(row) === 0).map((row) => frames.get(row)),
    max_iterations: totals(column(solver, 'iterations'), frames).max,
    max_residual: residual.max,
    max_residual_frame: residual.max_frame,
  }
}

/** The verdict in words; `frames` says how many were looked at and which are listed. */
export function convergenceSummary(frames: string, verdict: Convergence): string {
  const { converged_judged, not_converged, max_iterations, max_residual, max_residual_frame } = verdict
  const head = `Retrieved solver diagnostics for ${frames}, ${converged_judged} of them with constraints`
  if (converged_judged === 0) return `${head}: nothing to solve.`
  const failed =
    not_converged.length === 0
      ? 'all converged'
      : `not converged in ${not_converged.length} (${several(not_converged)})`
  return `${head}: ${failed}. Most iterations ${readable(max_iterations)}, greatest residual ${readable(max_residual)} in frame ${max_residual_frame}.`
}
