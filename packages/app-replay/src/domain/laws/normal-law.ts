/** The normal of a lasting contact turns slowly: less than 30 degrees from a frame to the next. */
import { turnLimit } from '../turn-limit.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'

/** Makes the law. */
export function normalLaw(): Law {
  const runs = collectRuns(2)
  return {
    see({ frame, touches }) {
      for (const { a, b, key, before, normal, normalBefore } of touches) {
        if (before !== frame - 1) continue
        const cosine = normal[0] * normalBefore[0] + normal[1] * normalBefore[1] + normal[2] * normalBefore[2]
        const angle = Math.acos(Math.min(1, Math.max(-1, cosine)))
        if (angle > turnLimit)
          runs.hit(key, frame, { value: angle, limit: turnLimit }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () =>
      runs.all().map((run) => findingOf(run, { kind: 'normal_flip', unit: 'rad', confidence: 0.9 })),
  }
}
