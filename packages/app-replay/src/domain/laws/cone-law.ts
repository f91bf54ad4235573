/**
 * Coulomb's cone |Ft| <= mu Fn, over the loaded points of a pair.
 *
 * Slack 1 % and 1e-6 N·s. Points with no normal impulse are left out: solvers leave noise in their tangents.
 */
import { epsilon, noise } from '../friction-cone.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'

/** Makes the law. */
export function coneLaw(): Law {
  const runs = collectRuns()
  return {
    see({ frame, touches }) {
      for (const { a, b, key, frictionRows, tangent, limit } of touches) {
        if (frictionRows === 0) continue
        const total = Math.hypot(...tangent)
        if (!(total > limit * (1 + epsilon) + noise)) continue
        runs.hit(key, frame, { value: total, limit }, { bodies: [a, b], pair: [a, b] })
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
