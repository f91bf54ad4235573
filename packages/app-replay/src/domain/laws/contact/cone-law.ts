/**
 * Law `friction_cone` (docs/laws.md, Contacts). Checks points as well as pairs, because the tangents of a body that
 * spins in place cancel.
 */
import { coneNoise, getConeExcess } from '../../contacts/friction-cone.ts'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { length3 } from '../../steps/block.ts'
import { getTouchError, readSlip } from '../../steps/momentum.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import type { Law } from '../law.ts'

/** Ratio to mu Fn above which friction is at its limit. */
const atLimit = 0.99

/** Minimum number of rows that excludes a friction pyramid. */
const minConeRows = 4

/** m/s */
const minSlipSpeed = 0.02

export function coneLaw(): Law {
  const runs = new RunCollector()
  /** Friction that only a pyramid allows. */
  const corners = { sliding: new RunCollector(), sticking: new RunCollector() }
  let [pyramidRows, coneRows] = [0, 0]
  return {
    observe(step) {
      const { frame, touches } = step
      for (const touch of touches) {
        const { a, b, key, frictionRows, tangent, limit, rowTangent, rowAxis, rowLimit } = touch
        if (frictionRows === 0) continue
        const noise = coneNoise + 2 * getTouchError(step, touch)
        const isRowExceeded = getConeExcess(rowTangent, rowLimit) > noise
        // Sticking friction can by chance stay close to mu Fn for many frames.
        if (touch.coneRows > 0) coneRows += isSliding(step, touch) ? touch.coneRows : touch.exactConeRows
        pyramidRows += touch.pyramidRows
        const total = length3(...tangent)
        const isTotalExceeded = getConeExcess(total, limit) > noise
        if (!isRowExceeded && !isTotalExceeded) continue
        const excess = isTotalExceeded ? { value: total, limit } : { value: rowTangent, limit: rowLimit }
        const subject = { bodies: [a, b], pair: [a, b] } as const
        if (!isRowExceeded || getConeExcess(rowAxis, rowLimit) > noise) runs.add(key, frame, excess, subject)
        else {
          const isSaturated = rowAxis >= atLimit * rowLimit
          const collector = !isSaturated && isSliding(step, touch) ? corners.sliding : corners.sticking
          collector.add(key, frame, excess, subject)
        }
      }
    },
    findings: () => [
      ...runs.runs.map((run) => toFinding(run, false)),
      ...corners.sliding.runs.map((run) => toFinding(run, pyramidRows > coneRows)),
      ...corners.sticking.runs.map((run) =>
        toFinding(run, pyramidRows > 0 ? pyramidRows > coneRows : coneRows < minConeRows),
      ),
    ],
  }
}

const isSliding = (step: Step, touch: Touch): boolean =>
  length3(...readSlip(step, step.row, touch)) > minSlipSpeed

function toFinding(run: Run, isPyramid: boolean): Finding {
  const options = { kind: 'friction_cone', confidence: 0.95 } as const
  // Without a limit, the ratio is undefined.
  if (!(run.limit > coneNoise))
    return createFinding(run, { ...options, unit: 'as recorded', text: 'friction acts where mu*Fn is 0' })
  const ratio = { ...options, unit: 'times mu*Fn', value: run.value / run.limit, limit: 1 } as const
  if (!isPyramid) return createFinding(run, ratio)
  const text =
    'friction exceeds mu*Fn between its tangents, each of which is limited alone (friction pyramid)'
  return createFinding(run, { ...ratio, severity: 'info', text })
}
