import type { Columns, SolverField } from '@causeway/recording'
import { formatList, formatNumber } from '../sentence.ts'
import { filterRows, getColumn } from '../series/columns.ts'
import { computeTotals } from '../series/totals.ts'

interface Convergence {
  /** Number of frames with constraints and a recorded `converged`. */
  readonly converged_judged: number
  readonly not_converged: readonly number[]
  readonly max_iterations: number | null
  readonly max_residual: number | null
  readonly max_residual_frame: number | null
}

export function judgeConvergence(solver: Columns<SolverField>): Convergence {
  const [frames, converged, constraints] = [
    getColumn(solver, 'frame_id'),
    getColumn(solver, 'converged'),
    getColumn(solver, 'num_constraints'),
  ]
  const judged = filterRows(
    solver.length,
    (row) => constraints.get(row) > 0 && !Number.isNaN(converged.get(row)),
  )
  const residual = computeTotals(getColumn(solver, 'residual'), frames)
  return {
    converged_judged: judged.length,
    not_converged: judged.filter((row) => converged.get(row) === 0).map((row) => frames.get(row)),
    max_iterations: computeTotals(getColumn(solver, 'iterations'), frames).max,
    max_residual: residual.max,
    max_residual_frame: residual.max_frame,
  }
}

/** `frames` describes the frames, and which of them are listed. */
export function summarizeConvergence(frames: string, verdict: Convergence): string {
  const { converged_judged, not_converged, max_iterations, max_residual, max_residual_frame } = verdict
  const head = `Retrieved solver diagnostics for ${frames}, ${converged_judged} of them with constraints`
  if (converged_judged === 0) return `${head}: nothing to solve, or convergence was not recorded.`
  const failed =
    not_converged.length === 0
      ? 'all converged'
      : `not converged in ${not_converged.length} (${formatList(not_converged)})`
  return `${head}: ${failed}. Maximum iterations ${formatNumber(max_iterations)}, maximum residual ${formatNumber(max_residual)} in frame ${max_residual_frame}.`
}
