/** Law `reaction` (docs/laws.md, Contacts). A violation that begins after the contact is a push. */
import { createFinding } from '../../findings/finding.ts'
import { length3, num } from '../../steps/block.ts'
import { getImpulseTolerance, readContactImpulse } from '../../steps/momentum.ts'
import { RunCollector } from '../../steps/run.ts'
import { countPartners, impulseKnowledge, type Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** Share of the larger impulse below which a body does not react. */
const noReaction = 0.02

const tolerance = 0.05

/** Values in N·s. */
interface Reaction {
  readonly isMissing: boolean
  readonly off: number
  readonly allowed: number
}

export function reactionLaw(): Law {
  const collectors = { missing: new RunCollector(2), unequal: new RunCollector(2) }
  const lastByPair = new Map<number, number>()
  return {
    observe(step) {
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || step.scene.hasSubsteps) return
      const partners = countPartners(step)
      for (const touch of step.touches) {
        const { a, b, key, since, columnA, columnB } = touch
        if (columnA < 0 || columnB < 0) continue
        const isRecent = since === step.frame || step.frame - (lastByPair.get(key) ?? -2) <= 2
        if (!isRecent) continue
        const isIsolated = num(partners, columnA) === 1 && num(partners, columnB) === 1
        const found = isIsolated ? compareIsolated(step, touch) : compareRecorded(step, touch)
        if (found === null) continue
        lastByPair.set(key, step.frame)
        const runs = found.isMissing ? collectors.missing : collectors.unequal
        runs.add(
          key,
          step.frame,
          { value: found.off, limit: found.allowed },
          { bodies: [a, b], pair: [a, b] },
        )
      }
    },
    findings: () => [
      ...collectors.missing.runs.map((run) =>
        createFinding(run, { kind: 'missing_reaction', unit: 'N·s', confidence: 0.9 }),
      ),
      ...collectors.unequal.runs.map((run) =>
        createFinding(run, { kind: 'unequal_reaction', unit: 'N·s', confidence: 0.9 }),
      ),
    ],
  }
}

function compareIsolated(step: Step, { columnA, columnB }: Touch): Reaction | null {
  const [a, b] = [readContactImpulse(step, columnA), readContactImpulse(step, columnB)]
  const off = length3(a[0] + b[0], a[1] + b[1], a[2] + b[2])
  const allowed = Math.max(
    getImpulseTolerance(step, columnA, tolerance),
    getImpulseTolerance(step, columnB, tolerance),
  )
  if (!(off > allowed)) return null
  const sizes = [length3(...a), length3(...b)] as const
  return { isMissing: Math.min(...sizes) < noReaction * Math.max(...sizes), off, allowed }
}

function compareRecorded(step: Step, touch: Touch): Reaction | null {
  const columns = [touch.columnA, touch.columnB] as const
  if (columns.some((column) => step.impulseKnown[column] !== impulseKnowledge.complete)) return null
  const factor = step.scene.impulseFactor(step.dt)
  const size = length3(...touch.impulse) * factor
  const [a, b] = columns.map((column) => {
    const left = measureResidual(step, column)
    const rounding = num(step.errors.impulse, column)
    const allowed = getImpulseTolerance(step, column, tolerance) + tolerance * size + rounding
    return { left, off: length3(...left), allowed }
  }) as [Residual, Residual]
  const wrong = a.off > a.allowed ? a : b
  const right = wrong === a ? b : a
  if (!(wrong.off > wrong.allowed) || !(right.off <= right.allowed) || !(size > 0)) return null
  const sign = wrong === a ? 1 : -1
  const along = dot3(wrong.left, touch.impulse) * factor * sign
  if (!(Math.abs(along) > 0.98 * wrong.off * size)) return null
  // -1 if the body received nothing of the recorded impulse.
  const share = along / size ** 2
  return { isMissing: Math.abs(share + 1) < noReaction, off: wrong.off, allowed: wrong.allowed }
}

interface Residual {
  readonly left: Point3
  readonly off: number
  readonly allowed: number
}

function measureResidual(step: Step, column: number): Point3 {
  const received = readContactImpulse(step, column)
  const { impulse } = step
  return [
    received[0] - num(impulse, 3 * column),
    received[1] - num(impulse, 3 * column + 1),
    received[2] - num(impulse, 3 * column + 2),
  ]
}
