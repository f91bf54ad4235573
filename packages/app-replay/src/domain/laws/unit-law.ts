/**
 * Law `impulse_units` (docs/laws.md, Contacts). Fits the recorded impulses to the motion of each body, only along the
 * normal if tangential impulses are unknown.
 */
import { createFinding, type Finding } from '../findings/finding.ts'
import { length3, num, read3 } from '../steps/block.ts'
import { getImpulseTolerance, readContactImpulse } from '../steps/momentum.ts'
import { impulseKnowledge, type Step } from '../steps/step.ts'
import type { Point3 } from '../vector.ts'
import type { Law } from './law.ts'

const rule = { minSteps: 3, maxSpread: 0.03, tolerance: 0.05 } as const

interface Fit {
  readonly first: number
  last: number
  count: number
  /** Sums of the multiple's logarithm and its square. */
  sum: number
  squares: number
}

export function unitLaw(): Law {
  const fitByBody = new Map<number, Fit>()
  let dt = Number.NaN
  return {
    observe(step) {
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || step.scene.hasSubsteps) return
      dt = step.scene.dt
      for (let column = 0; column < step.scene.bodies.length; column++) {
        if (step.touching[column] !== 1 || step.impulseKnown[column] === impulseKnowledge.none) continue
        const multiple = fitMultiple(step, column)
        if (!(multiple > 0)) continue
        const body = step.scene.bodies[column] ?? 0
        const fit = fitByBody.get(body) ?? { first: step.frame, last: 0, count: 0, sum: 0, squares: 0 }
        fitByBody.set(body, fit)
        fit.last = step.frame
        fit.count += 1
        fit.sum += Math.log(multiple)
        fit.squares += Math.log(multiple) ** 2
      }
    },
    findings: () => [...fitByBody].flatMap(([body, fit]) => toFindings(body, fit, dt)),
  }
}

function fitMultiple(step: Step, column: number): number {
  const recorded = read3(step.impulse, 3 * column)
  const contactImpulse = removeUnknownPart(step, column, readContactImpulse(step, column))
  const size = length3(...recorded)
  const change = length3(...contactImpulse)
  if (!(size > 0) || !(change > 4 * getImpulseTolerance(step, column, 0))) return Number.NaN
  // The multiple of an impulse with few digits would be arbitrary.
  if (!(0.01 * size > num(step.errors.impulse, column))) return Number.NaN
  const along =
    contactImpulse[0] * recorded[0] + contactImpulse[1] * recorded[1] + contactImpulse[2] * recorded[2]
  return along > 0.95 * size * change ? along / size ** 2 : Number.NaN
}

/** Without tangential impulses, returns the part along the normal. */
function removeUnknownPart({ impulseKnown, contactAxis }: Step, column: number, [x, y, z]: Point3): Point3 {
  if (impulseKnown[column] === impulseKnowledge.complete) return [x, y, z]
  const [a, b, c] = read3(contactAxis, 3 * column)
  const along = x * a + y * b + z * c
  return [along * a, along * b, along * c]
}

function toFindings(body: number, { first, last, count, sum, squares }: Fit, dt: number): readonly Finding[] {
  if (count < rule.minSteps) return []
  const mean = sum / count
  if (!(Math.sqrt(Math.max(0, squares / count - mean ** 2)) < rule.maxSpread)) return []
  const unitErrors = [
    [dt, 'has contact impulses of 1/dt times their effect: forces in N instead of impulses in N·s'],
    [1 / dt, 'has contact impulses of dt times their effect: impulses in N·s instead of forces in N'],
    [1000, 'has 1000 times the mass that its impulses move: g instead of kg'],
    [1 / 1000, 'has a thousandth of the mass that its impulses move: kg instead of g'],
  ] as const
  const match = unitErrors.find(([factor]) => Math.abs(mean - Math.log(factor)) < rule.tolerance)
  if (match === undefined) return []
  const run = { first, last, peak: first, bodies: [body], pair: null, value: Math.exp(mean), limit: 1 }
  return [createFinding(run, { kind: 'unit_mismatch', unit: 'times', confidence: 0.95, text: match[1] })]
}
