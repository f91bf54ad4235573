/**
 * Coulomb's cone |Ft| <= mu Fn, for the loaded points of a pair together and for each of them: the tangents of a body
 * that spins in place cancel each other. Tolerance 1 % and 1e-6 N·s. Points without normal impulse are ignored,
 * because solvers leave noise in their tangents.
 */
import { coneExcess, coneNoise } from '../../contacts/friction-cone.ts'
import { createFinding } from '../../findings/finding.ts'
import { RunCollector } from '../../steps/run.ts'
import type { Law } from '../law.ts'

export function coneLaw(): Law {
  const runs = new RunCollector()
  return {
    observe({ frame, touches }) {
      for (const { a, b, key, frictionRows, tangent, limit, rowTangent, rowLimit } of touches) {
        if (frictionRows === 0) continue
        const hit = (value: number, bound: number): void => {
          runs.add(key, frame, { value, limit: bound }, { bodies: [a, b], pair: [a, b] })
        }
        const total = Math.hypot(...tangent)
        if (coneExcess(total, limit) > coneNoise) hit(total, limit)
        else if (coneExcess(rowTangent, rowLimit) > coneNoise) hit(rowTangent, rowLimit)
      }
    },
    findings: () =>
      runs.runs.map((run) => {
        const options = { kind: 'friction_cone', confidence: 0.95 } as const
        // Without a limit there is no ratio.
        return run.limit > coneNoise
          ? createFinding(run, { ...options, unit: 'times mu*Fn', value: run.value / run.limit, limit: 1 })
          : createFinding(run, { ...options, unit: 'as recorded', text: 'friction acts where mu*Fn is 0' })
      }),
  }
}
