import type { Columns, SolverField } from '@causeway/recording'
import t from 'tap'
import { convergenceSummary, judgeConvergence } from '../../src/domain/convergence.ts'

/** Frames 1..n as `[iterations, residual, converged, constraints]`. */
function solver(rows: readonly (readonly [number, number, number, number])[]): Columns<SolverField> {
  const fields = ['frame_id', 'iterations', 'residual', 'converged', 'num_constraints'] as const
  const data = Float64Array.from(rows.flatMap((row, index) => [index + 1, ...row]))
  return { fields, length: rows.length, data }
}

t.test('convergence: is judged only in frames with constraints', async (t) => {
  const verdict = judgeConvergence(
    solver([
      [0, 0, 0, 0],
      [7, 1e98, 0, 8],
      [3, 1e-9, 1, 8],
    ]),
  )
  t.same(verdict, {
    converged_judged: 2,
    not_converged: [2],
    max_iterations: 7,
    max_residual: 1e98,
    max_residual_frame: 2,
  })
  t.match(
    convergenceSummary('3 frames', verdict),
    /3 frames, 2 of them .*not converged in 1 \(2\).* 1e98 in frame 2/,
  )
})

t.test('convergence: free flight has nothing to judge', async (t) => {
  const verdict = judgeConvergence(solver([[0, 0, 0, 0]]))
  t.match(convergenceSummary('1 frame', verdict), /nothing to solve/)
})
