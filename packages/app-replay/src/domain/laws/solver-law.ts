import { createFinding } from '../findings/finding.ts'
import { StallCollector } from '../steps/solver-stall.ts'
import type { Law } from './law.ts'

/** Shorter stalls are informational. */
const minStallFrames = 3

/** Law `solver_convergence` (docs/laws.md, Contacts). */
export function solverLaw(): Law {
  const collector = new StallCollector()
  return {
    observe: (step) => collector.observe(step),
    findings: () =>
      collector.result().stalls.map(({ frames, bodies }) => {
        const value = frames.last - frames.first + 1
        const severity = value >= minStallFrames ? 'error' : 'info'
        return createFinding(
          { ...frames, bodies, pair: null, value, limit: 0 },
          { kind: 'solver_stall', severity, unit: 'frames', confidence: 0.9 },
        )
      }),
  }
}
