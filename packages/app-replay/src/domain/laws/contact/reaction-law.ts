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

/** Ratio to the larger impulse below which a body does not react. */
const minReactionShare = 0.02

const tolerance = 0.05

/**
 * Residual levels of bodies over `minMassRatio` times as heavy as the lightest, after `minSteps` steps. `decay` is a
 * factor per step.
 */
const levelRule = { minMassRatio: 10, minSteps: 5, decay: 0.9, residualFactor: 3 } as const

/** Values in N·s. */
interface Reaction {
  readonly isMissing: boolean
  readonly difference: number
  readonly limit: number
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
        const { a, b, key, firstFrame, columnA, columnB } = touch
        if (columnA < 0 || columnB < 0) continue
        const isRecent = firstFrame === step.frame || step.frame - (lastByPair.get(key) ?? -2) <= 2
        if (!isRecent) continue
        const isIsolated = num(step.partners, columnA) === 1 && num(step.partners, columnB) === 1
        const reaction = isIsolated
          ? compareIsolated(step, touch, levels)
          : compareRecorded(step, touch, levels)
        if (reaction === null) continue
        lastByPair.set(key, step.frame)
        const runs = reaction.isMissing ? collectors.missing : collectors.unequal
        runs.add(
          key,
          step.frame,
          { value: reaction.difference, limit: reaction.limit },
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
  #heavyColumns: readonly number[] | undefined
  #loads = new Float64Array()
  readonly #levels = new Map<number, Level>()

  begin(step: Step): void {
    this.#heavyColumns ??= listHeavyColumns(step.scene)
    if (this.#heavyColumns.length > 0) this.#loads = sumLoads(step)
  }

  observe(step: Step): void {
    for (const column of this.#heavyColumns ?? []) {
      const isKnown = step.touching[column] === 0 || step.impulseKnown[column] === impulseKnowledge.complete
      const size = isKnown ? length3(...measureResidual(step, column)) : Number.NaN
      if (Number.isNaN(size)) this.#levels.delete(column)
      else {
        const { residual, load, steps } = this.#levels.get(column) ?? noLevel
        this.#levels.set(column, {
          residual: Math.max(size, levelRule.decay * residual),
          load: Math.max(num(this.#loads, column), levelRule.decay * load),
          steps: steps + 1,
        })
      }
    }
  }

  /** Returns the tolerance in N·s for an impulse of this size on the body. */
  getTolerance(step: Step, column: number, size: number): number {
    const usualTolerance = getImpulseTolerance(step, column, tolerance)
    const { residual, load, steps } = this.#levels.get(column) ?? noLevel
    if (steps < levelRule.minSteps) return usualTolerance
    const { errors, scene, window } = step
    const mass = num(scene.masses, column)
    const speed = length3(...read3(window.states.data, getOffset(step, column) + stateAt.velocity))
    const rounding = mass * (2e-6 * speed + num(errors.velocityChange, column)) + num(errors.impulse, column)
    // Errors of the solver grow with the load.
    const addedLoad = Math.max(size, num(this.#loads, column) - load || 0)
    const reducedTolerance = 1e-6 + tolerance * addedLoad + levelRule.residualFactor * residual + rounding
    return Math.min(usualTolerance, reducedTolerance + getJointTolerance(step, column, tolerance))
  }
}

function listHeavyColumns({ masses }: Scene): readonly number[] {
  const minMass = Math.min(...masses.filter((mass) => mass > 0))
  return [...masses.keys()].filter((column) => num(masses, column) > levelRule.minMassRatio * minMass)
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
  const difference = length3(a[0] + b[0], a[1] + b[1], a[2] + b[2])
  const sizes = [length3(...a), length3(...b)] as const
  const size = Math.max(...sizes)
  const limit = Math.max(levels.getTolerance(step, columnA, size), levels.getTolerance(step, columnB, size))
  if (!(difference > limit)) return null
  return { isMissing: Math.min(...sizes) < minReactionShare * Math.max(...sizes), difference, limit }
}

function compareRecorded(step: Step, touch: Touch, levels: ResidualLevels): Reaction | null {
  const columns = [touch.columnA, touch.columnB] as const
  if (columns.some((column) => step.impulseKnown[column] !== impulseKnowledge.complete)) return null
  const factor = getImpulseFactor(step.scene, step.dt)
  const size = length3(...touch.impulse) * factor
  const [a, b] = columns.map((column) => {
    const vector = measureResidual(step, column)
    const rounding = num(step.errors.impulse, column)
    const limit = levels.getTolerance(step, column, size) + tolerance * size + rounding
    return { vector, size: length3(...vector), limit }
  }) as [Residual, Residual]
  const failed = a.size > a.limit ? a : b
  const passed = failed === a ? b : a
  if (!(failed.size > failed.limit) || !(passed.size <= passed.limit) || !(size > 0)) return null
  const sign = failed === a ? 1 : -1
  const along = dot3(failed.vector, touch.impulse) * factor * sign
  if (!(Math.abs(along) > 0.98 * failed.size * size)) return null
  // -1 if the body did not receive the recorded impulse.
  const ratio = along / size ** 2
  return {
    isMissing: Math.abs(ratio + 1) < minReactionShare,
    difference: failed.size,
    limit: failed.limit,
  }
}

interface Residual {
  readonly vector: Point3
  readonly size: number
  readonly limit: number
}

function measureResidual(step: Step, column: number): Point3 {
  const contactImpulse = readContactImpulse(step, column)
  const { impulse } = step
  return [
    contactImpulse[0] - num(impulse, 3 * column),
    contactImpulse[1] - num(impulse, 3 * column + 1),
    contactImpulse[2] - num(impulse, 3 * column + 2),
  ]
}
