/**
 * Coulomb's cone |Ft| <= mu Fn, over the loaded points of a pair together, and at each of them: the tangents of a body that
 * spins on the spot cancel each other.
 *
 * Slack 1 % and 1e-6 N·s. Points with no normal impulse are left out: solvers leave noise in their tangents.
 */
import { excess, noise } from '../friction-cone.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'

/** Makes the law. */
export function coneLaw(): Law {
  const runs = collectRuns()
  return {
    see({ frame, touches }) {
      for (const { a, b, key, frictionRows, tangent, limit, rowTangent, rowLimit } of touches) {
        if (frictionRows === 0) continue
        const hit = (value: number, bound: number): void => {
          runs.hit(key, frame, { value, limit: bound }, { bodies: [a, b], pair: [a, b] })
        }
        const total = Math.hypot(...tangent)
        if (excess(total, limit) > noise) hit(total, limit)
        else if (excess(rowTangent, rowLimit) > noise) hit(rowTangent, rowLimit)
      }
    },
    findings: () =>
      runs.all().map((run) =>
        findingOf(run, {
          kind: 'friction_cone',
          unit: 'times mu*Fn',
          confidence: 0.95,
          value: run.limit > 0 ? run.value / run.limit : Number.POSITIVE_INFINITY,
          limit: 1,
        }),
      ),
  }
}
