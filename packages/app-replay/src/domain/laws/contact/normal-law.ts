/** Law `contact_normal` (docs/laws.md, Contacts). Compares each normal with the nearest one in the previous frame. */

import { maxNormalTurn } from '../../contacts/contact-history.ts'
import { createFinding } from '../../findings/finding.ts'
import { RunCollector } from '../../steps/run.ts'
import { cosineBetween, maxNormals, type Normals } from '../../steps/touch.ts'
import type { Law } from '../law.ts'

export function normalLaw(): Law {
  const runs = new RunCollector(2)
  return {
    observe({ frame, touches, breach }) {
      if (breach !== null) return
      for (const { a, b, key, before, normals, normalsBefore } of touches) {
        if (before !== frame - 1 || normals.count > normalsBefore.count) continue
        if (normalsBefore.count === maxNormals) continue
        const angle = getMaxTurn(normals, normalsBefore)
        if (angle > maxNormalTurn)
          runs.add(key, frame, { value: angle, limit: maxNormalTurn }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () =>
      runs.runs.map((run) => createFinding(run, { kind: 'normal_flip', unit: 'rad', confidence: 0.9 })),
  }
}

/** Returns the largest angle in rad. */
function getMaxTurn(now: Normals, then: Normals): number {
  let least = 1
  for (let i = 0; i < now.count; i++) {
    let nearest = -1
    for (let j = 0; j < then.count; j++)
      nearest = Math.max(nearest, cosineBetween(now.vectors, 3 * i, then.vectors, 3 * j))
    least = Math.min(least, nearest)
  }
  return Math.acos(Math.min(1, Math.max(-1, least)))
}
