/**
 * Law `reaction` (docs/laws.md, Contacts). Skips violations that begin later than the contact, as external pushes do.
 */
import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, length3, num, read3 } from '../../steps/block.ts'
import { getJointTolerance } from '../../steps/joint-forces.ts'
import { getImpulseTolerance, readContactImpulse } from '../../steps/momentum.ts'
import { RunCollector } from '../../steps/run.ts'
import { getImpulseFactor, type Scene } from '../../steps/scene.ts'
import { impulseKnowledge, type Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** Share of the larger impulse below which a body does not react. */
const noReaction = 0.02

const tolerance = 0.05

/**
 * Residual levels of bodies over `ratio` times as heavy as the lightest, after `steps` steps. A level decays by the
 * factor `kept` per step.
 */
const levelRule = { ratio: 10, steps: 5, kept: 0.9, factor: 3 } as const

/** Values in N·s. */
interface Reaction {
  readonly isMissing: boolean
  readonly off: number
  readonly allowed: number
}

export function reactionLaw(): Law {
  const collectors = { missing: new RunCollector(2), unequal: new RunCollector(2) }
  const lastByPair = new Map<number, number>()
  const levels = new ResidualLevels()
  return {
    observe(step) {
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || step.scene.hasSubsteps) return
      levels.begin(step)
      for (const touch of step.touches) {
        const { a, b, key, since, columnA, columnB } = touch
        if (columnA < 0 || columnB < 0) continue
        const isRecent = since === step.frame || step.frame - (lastByPair.get(key) ?? -2) <= 2
        if (!isRecent) continue
        const isIsolated = num(step.partners, columnA) === 1 && num(step.partners, columnB) === 1
        const found = isIsolated ? compareIsolated(step, touch, levels) : compareRecorded(step, touch, levels)
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
      levels.observe(step)
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

/** Recent maxima of a heavy body in N·s. `load` is the sum of its contact impulses. */
interface Level {
  readonly residual: number
  readonly load: number
  readonly steps: number
}

const noLevel: Level = { residual: 0, load: 0, steps: 0 }

/** Recent residuals of heavy bodies, which are far below the tolerance if all forces are recorded. */
class ResidualLevels {
  #heavy: readonly number[] | undefined
  #loads = new Float64Array()
  readonly #levels = new Map<number, Level>()

  begin(step: Step): void {
    this.#heavy ??= listHeavy(step.scene)
    if (this.#heavy.length > 0) this.#loads = sumLoads(step)
  }

  observe(step: Step): void {
    for (const column of this.#heavy ?? []) {
      const isKnown = step.touching[column] === 0 || step.impulseKnown[column] === impulseKnowledge.complete
      const size = isKnown ? length3(...measureResidual(step, column)) : Number.NaN
      if (Number.isNaN(size)) this.#levels.delete(column)
      else {
        const { residual, load, steps } = this.#levels.get(column) ?? noLevel
        this.#levels.set(column, {
          residual: Math.max(size, levelRule.kept * residual),
          load: Math.max(num(this.#loads, column), levelRule.kept * load),
          steps: steps + 1,
        })
      }
    }
  }

  /** Returns the tolerance in N·s for an impulse of this size on the body. */
  getTolerance(step: Step, column: number, size: number): number {
    const usual = getImpulseTolerance(step, column, tolerance)
    const { residual, load, steps } = this.#levels.get(column) ?? noLevel
    if (steps < levelRule.steps) return usual
    const { errors, scene, window } = step
    const mass = num(scene.masses, column)
    const speed = length3(...read3(window.states.data, getOffset(step, column) + stateAt.velocity))
    const rounding = mass * (2e-6 * speed + num(errors.changed, column)) + num(errors.impulse, column)
    // Errors of the solver grow with the load.
    const added = Math.max(size, num(this.#loads, column) - load || 0)
    const own = 1e-6 + tolerance * added + levelRule.factor * residual + rounding
    return Math.min(usual, own + getJointTolerance(step, column, tolerance))
  }
}

function listHeavy({ masses }: Scene): readonly number[] {
  const lightest = Math.min(...masses.filter((mass) => mass > 0))
  return [...masses.keys()].filter((column) => num(masses, column) > levelRule.ratio * lightest)
}

function sumLoads({ scene, touches, dt }: Step): Float64Array<ArrayBuffer> {
  const sums = new Float64Array(scene.bodies.length)
  const factor = getImpulseFactor(scene, dt)
  for (const { columnA, columnB, impulse } of touches)
    for (const column of [columnA, columnB])
      if (column >= 0) sums[column] = num(sums, column) + length3(...impulse) * factor
  return sums
}

function compareIsolated(step: Step, { columnA, columnB }: Touch, levels: ResidualLevels): Reaction | null {
  const [a, b] = [readContactImpulse(step, columnA), readContactImpulse(step, columnB)]
  const off = length3(a[0] + b[0], a[1] + b[1], a[2] + b[2])
  const sizes = [length3(...a), length3(...b)] as const
  const size = Math.max(...sizes)
  const allowed = Math.max(levels.getTolerance(step, columnA, size), levels.getTolerance(step, columnB, size))
  if (!(off > allowed)) return null
  return { isMissing: Math.min(...sizes) < noReaction * Math.max(...sizes), off, allowed }
}

function compareRecorded(step: Step, touch: Touch, levels: ResidualLevels): Reaction | null {
  const columns = [touch.columnA, touch.columnB] as const
  if (columns.some((column) => step.impulseKnown[column] !== impulseKnowledge.complete)) return null
  const factor = getImpulseFactor(step.scene, step.dt)
  const size = length3(...touch.impulse) * factor
  const [a, b] = columns.map((column) => {
    const left = measureResidual(step, column)
    const rounding = num(step.errors.impulse, column)
    const allowed = levels.getTolerance(step, column, size) + tolerance * size + rounding
    return { left, off: length3(...left), allowed }
  }) as [Residual, Residual]
  const wrong = a.off > a.allowed ? a : b
  const right = wrong === a ? b : a
  if (!(wrong.off > wrong.allowed) || !(right.off <= right.allowed) || !(size > 0)) return null
  const sign = wrong === a ? 1 : -1
  const along = dot3(wrong.left, touch.impulse) * factor * sign
  if (!(Math.abs(along) > 0.98 * wrong.off * size)) return null
  // -1 if the body did not receive the recorded impulse.
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
