/** Law `contact_normal` (docs/laws.md, Contacts). Compares each normal with the nearest one in the previous frame. */

import { maxNormalTurn } from '../../contacts/contact-history.ts'
import { createFinding } from '../../findings/finding.ts'
import { RunCollector } from '../../steps/run.ts'
import { getCosine, maxNormals, type Normals } from '../../steps/touch.ts'
import type { Law } from '../law.ts'

export function normalLaw(): Law {
  const runs = new RunCollector(2)
  return {
    observe({ frame, touches, breach }) {
      if (breach !== null) return
      for (const { a, b, key, previousFrame, normals, normalsBefore } of touches) {
        if (previousFrame !== frame - 1 || normals.count > normalsBefore.count) continue
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
function getMaxTurn(current: Normals, previous: Normals): number {
  let minCosine = 1
  for (let i = 0; i < current.count; i++) {
    let maxCosine = -1
    for (let j = 0; j < previous.count; j++)
      maxCosine = Math.max(maxCosine, getCosine(current.vectors, 3 * i, previous.vectors, 3 * j))
    minCosine = Math.min(minCosine, maxCosine)
  }
  return Math.acos(Math.min(1, Math.max(-1, minCosine)))
}
