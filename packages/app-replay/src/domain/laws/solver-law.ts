/** The solver converges wherever it has constraints to solve. The bodies in contact are those of its island. */
import { solverAt } from '@causeway/recording'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns, type Run } from './run.ts'

/** Frames from which on a stall is more than a hard moment. */
const lasting = 3

/** Makes the law. */
export function solverLaw(): Law {
  const runs = collectRuns()
  const stalled = new Map<Run, Set<number>>()
  return {
    see({ frame, window, row, scene, touching }) {
      const at = row * solverAt.width
      const solver = window.solver.data
      if (!((solver[at + solverAt.constraints] ?? 0) > 0) || solver[at + solverAt.converged] !== 0) return
      const residual = solver[at + solverAt.residual] ?? Number.NaN
      const run = runs.hit('', frame, { value: residual, limit: 0 }, { bodies: [], pair: null })
      const bodies = stalled.get(run) ?? new Set()
      stalled.set(run, bodies)
      for (const [column, body] of scene.bodies.entries()) if (touching[column] === 1) bodies.add(body)
    },
    findings: () =>
      runs.all().map((run) =>
        findingOf(
          { ...run, bodies: [...(stalled.get(run) ?? [])].sort((a, b) => a - b) },
          {
            kind: 'solver_stall',
            severity: run.frames >= lasting ? 'error' : 'info',
            unit: 'frames',
            confidence: 0.9,
            value: run.frames,
            limit: 0,
          },
        ),
      ),
  }
}
