/** What the solver said, frame by frame. */
import type { Registrar } from '@causeway/app-kit'
import { points } from '../domain/columns.ts'
import { convergenceSummary, judgeConvergence } from '../domain/convergence.ts'
import { frameRange } from '../domain/frame-range.ts'
import { count } from '../domain/sentence.ts'
import { partNote, seriesPart } from '../domain/series.ts'
import { opened, type ReplaySession } from '../session.ts'
import type { Replay } from '../store.ts'
import { hints, partArguments, rangeArguments, recordingArgument, rows, stamp } from './shape.ts'

/** Declares get_solver_diagnostics. */
export function solverTools(app: Registrar<Replay, ReplaySession>): void {
  app.tool('get_solver_diagnostics', {
    about:
      'Iterations, residual and convergence of the solver over frames; converged is judged only with constraints.',
    hints,
    input: { ...rangeArguments, ...partArguments, ...recordingArgument },
    output: {
      ...stamp,
      diagnostics: rows(),
    },
    example: { args: { recording: 'solver_stall' } },
    async run({ cursor, max_points, recording: asked, ...bounds }, ctx) {
      const { recording, stamp } = await opened(ctx, asked)
      const solver = await recording.solver(frameRange(bounds, recording.summary.frames))
      const { rows, ...part } = seriesPart(solver, 'residual', { cursor, limit: max_points })
      const verdict = judgeConvergence(solver)
      return {
        ...stamp,
        diagnostics: points(solver, rows, ['converged']),
        ...part,
        ...verdict,
        not_converged: verdict.not_converged.slice(0, max_points),
        not_converged_count: verdict.not_converged.length,
        summary: convergenceSummary(`${count(solver.length, 'frame')}${partNote(part)}`, verdict),
      }
    },
  })
}
