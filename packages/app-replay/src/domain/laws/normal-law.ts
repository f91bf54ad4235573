/**
 * The normals of a lasting contact turn slowly: less than 30 degrees from a frame to the next.
 *
 * A pair may touch in several places, as a box in a corner does whose floor and wall are one body: a normal is held against
 * the nearest one of the frame before, and one that came to those before it is a new place, no turn. A pair that had
 * more normals than are kept is not judged: the nearest may be among those that were dropped.
 */
import { turnLimit } from '../turn-limit.ts'
import { findingOf } from './finding.ts'
import type { Law } from './law.ts'
import { collectRuns } from './run.ts'
import { cosineOf, mostNormals, type Normals } from './touch.ts'

/** Makes the law. */
export function normalLaw(): Law {
  const runs = collectRuns(2)
  return {
    see({ frame, touches }) {
      for (const { a, b, key, before, normals, normalsBefore } of touches) {
        if (before !== frame - 1 || normals.count > normalsBefore.count) continue
        if (normalsBefore.count === mostNormals) continue
        const angle = greatestTurn(normals, normalsBefore)
        if (angle > turnLimit)
          runs.hit(key, frame, { value: angle, limit: turnLimit }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () =>
      runs.all().map((run) => findingOf(run, { kind: 'normal_flip', unit: 'rad', confidence: 0.9 })),
  }
}

/** The greatest angle of a normal to the nearest one of before, rad. */
function greatestTurn(now: Normals, then: Normals): number {
  let least = 1
  for (let i = 0; i < now.count; i++) {
    let nearest = -1
    for (let j = 0; j < then.count; j++)
      nearest = Math.max(nearest, cosineOf(now.vectors, 3 * i, then.vectors, 3 * j))
    least = Math.min(least, nearest)
  }
  return Math.acos(Math.min(1, Math.max(-1, least)))
}
