/**
 * Coulomb's cone |Ft| <= mu Fn, for the loaded points of a pair together and for each of them: the tangents of a body
 * that spins in place cancel each other. Tolerance 1 % and 1e-6 N·s. Points without normal impulse are ignored,
 * because solvers leave noise in their tangents.
 *
 * Engines that limit each tangential direction alone (a friction pyramid) reach 1.41 mu Fn. In their recordings, no part along
 * a tangent exceeds mu Fn, and parts of sliding points are equal to it: such an excess is an info, not an error.
 */
import { coneExcess, coneNoise } from '../../contacts/friction-cone.ts'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Law } from '../law.ts'

/** Share of mu Fn from which a part along a tangent is at its limit, and of such rows from which an engine has a pyramid. */
const [saturated, pyramidShare] = [0.99, 0.2] as const

export function coneLaw(): Law {
  const runs = new RunCollector()
  /** Rows whose parts along the tangents are within mu Fn. */
  const corners = new RunCollector()
  let [cornerRows, saturatedRows] = [0, 0]
  return {
    observe({ frame, touches }) {
      for (const touch of touches) {
        const { a, b, key, frictionRows, tangent, limit, rowTangent, rowAxis, rowLimit } = touch
        if (frictionRows === 0) continue
        const subject = { bodies: [a, b], pair: [a, b] } as const
        const isRow = coneExcess(rowTangent, rowLimit) > coneNoise
        const total = Math.hypot(...tangent)
        const isTotal = coneExcess(total, limit) > coneNoise
        if (!isRow && !isTotal) continue
        const excess = isTotal ? { value: total, limit } : { value: rowTangent, limit: rowLimit }
        if (isRow && !(coneExcess(rowAxis, rowLimit) > coneNoise)) {
          corners.add(key, frame, excess, subject)
          cornerRows += 1
          if (rowAxis >= saturated * rowLimit) saturatedRows += 1
        } else runs.add(key, frame, excess, subject)
      }
    },
    findings() {
      const isPyramid = saturatedRows > 0 && saturatedRows >= pyramidShare * cornerRows
      return [
        ...runs.runs.map((run) => toFinding(run, false)),
        ...corners.runs.map((run) => toFinding(run, isPyramid)),
      ]
    },
  }
}

function toFinding(run: Run, isPyramid: boolean): Finding {
  const options = { kind: 'friction_cone', confidence: 0.95 } as const
  // Without a limit there is no ratio.
  if (!(run.limit > coneNoise))
    return createFinding(run, { ...options, unit: 'as recorded', text: 'friction acts where mu*Fn is 0' })
  const ratio = { ...options, unit: 'times mu*Fn', value: run.value / run.limit, limit: 1 } as const
  if (!isPyramid) return createFinding(run, ratio)
  const text =
    'friction exceeds mu*Fn between its tangents, each of which is limited alone (friction pyramid)'
  return createFinding(run, { ...ratio, severity: 'info', text })
}
