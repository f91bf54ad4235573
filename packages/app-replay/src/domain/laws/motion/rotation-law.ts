/**
 * Law `spin_matches_rotation` (docs/laws.md, Motion). Uses steps of more than a quarter turn only to detect wrong
 * units.
 */
import { stateAt } from '@causeway/recording'
import { createFinding, type Finding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../../steps/block.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import type { Step } from '../../steps/step.ts'
import { readTurn } from '../../steps/turning.ts'
import type { Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/** rad */
const slack = { free: 1e-4, contact: 0.02 } as const

/** Maximum error of integrators relative to the rotation. */
const maxRotationError = 0.5

/** Minimum number, because a stop in contact can cancel the rotation of one frame. */
const minFrozenFrames = 3

/** Requirements for mismatches within the contact slack. */
const smallMismatchRule = { minFrames: 10, maxSpread: 0.1 } as const

/** Wrong units: number per rad/s, and description. */
const otherUnits = [
  [180 / Math.PI, 'degrees per second instead of rad/s'],
  [60 / (2 * Math.PI), 'revolutions per minute instead of rad/s'],
] as const

const unitTolerance = 0.05

interface RatioSums {
  sum: number
  squares: number
  count: number
  /** Frames with a rotation of at most a quarter turn. */
  unambiguousFrames: number
}

export function rotationLaw(): Law {
  const runs = new RunCollector(2)
  /** Small mismatches of bodies that may be in contact. */
  const smallRuns = new RunCollector(2)
  const ratios = new Map<Run, RatioSums>()
  return {
    observe(step) {
      if (Number.isNaN(step.dt)) return
      for (let column = 0; column < step.scene.bodies.length; column++) {
        const mismatch = compareRotation(step, column)
        if (mismatch === null) continue
        const body = step.scene.bodies[column] ?? 0
        const subject = { bodies: [body], pair: null }
        if (mismatch.value > mismatch.limit)
          addRatio(ratios, runs.add(body, step.frame, mismatch, subject), mismatch)
        if (!step.scene.hasContacts)
          addRatio(
            ratios,
            smallRuns.add(body, step.frame, { ...mismatch, limit: mismatch.freeLimit }, subject),
            mismatch,
          )
      }
    },
    findings() {
      const clearFindings = runs.runs.flatMap((run) => toFindings(run, ratios.get(run)))
      const isKnown = ({ bodies, first, last }: Run): boolean =>
        clearFindings.some(
          ({ bodies: [body], frames }) =>
            body === bodies[0] && frames.first <= last + 1 && first <= frames.last + 1,
        )
      const smallFindings = smallRuns.runs
        .filter(
          (run) => run.frames >= smallMismatchRule.minFrames && isConstant(ratios.get(run)) && !isKnown(run),
        )
        .flatMap((run) => toFindings(run, ratios.get(run)))
      return [...clearFindings, ...smallFindings]
    },
  }
}

function addRatio(ratios: Map<Run, RatioSums>, run: Run, { ratio, isAmbiguous }: Mismatch): void {
  const sums = ratios.get(run) ?? { sum: 0, squares: 0, count: 0, unambiguousFrames: 0 }
  ratios.set(run, sums)
  if (!isAmbiguous) sums.unambiguousFrames += 1
  if (!Number.isFinite(ratio)) return
  sums.sum += ratio
  sums.squares += ratio * ratio
  sums.count += 1
}

function isConstant(ratio: RatioSums | undefined): boolean {
  if (ratio === undefined || ratio.count < smallMismatchRule.minFrames) return false
  const mean = ratio.sum / ratio.count
  const spread = Math.sqrt(Math.max(0, ratio.squares / ratio.count - mean ** 2))
  return (
    spread <= smallMismatchRule.maxSpread * Math.abs(mean) && Math.abs(mean - 1) > smallMismatchRule.maxSpread
  )
}

/** Returns a clause; `undefined` if a wrong unit does not explain this multiple of w dt. */
function describeUnit(multiple: number): string | undefined {
  const unit = otherUnits.find(([size]) => isApproximately(multiple, 1 / size))
  if (unit !== undefined) return `has an angular velocity in ${unit[1]}`
  const isDegrees = isApproximately(multiple, 180 / Math.PI)
  return isDegrees
    ? 'turns 57.3 times as fast as its angular velocity: degrees instead of radians'
    : undefined
}

const isApproximately = (multiple: number, expected: number): boolean =>
  Math.abs(multiple / expected - 1) < unitTolerance

function toFindings(run: Run, ratio: RatioSums | undefined): readonly Finding[] {
  if (ratio === undefined) return []
  const mean = ratio.count === 0 ? Number.NaN : ratio.sum / ratio.count
  const text = ratio.count < 3 ? undefined : describeUnit(mean)
  if (text !== undefined)
    return [
      createFinding(run, {
        kind: 'unit_mismatch',
        unit: 'times',
        value: mean,
        limit: 1,
        confidence: 0.95,
        text,
      }),
    ]
  if (ratio.unambiguousFrames === 0) return []
  const isFrozen = Math.abs(mean) < 0.02
  if (isFrozen && run.frames < minFrozenFrames) return []
  const kind = isFrozen ? 'frozen_orientation' : 'spin_mismatch'
  return [createFinding(run, { kind, unit: 'rad', confidence: 0.9 })]
}

interface Mismatch {
  readonly value: number
  readonly limit: number
  /** Limit of a body without contact. */
  readonly freeLimit: number
  /** Rotation along the spin, divided by w dt. */
  readonly ratio: number
  /** Whether the rotation exceeds a quarter turn. */
  readonly isAmbiguous: boolean
}

function compareRotation(step: Step, column: number): Mismatch | null {
  const s = step.window.states.data
  const [at, previousAt] = [getOffset(step, column), getOffsetBefore(step, column)]
  const [spin, before] = [read3(s, at + stateAt.spin), read3(s, previousAt + stateAt.spin)]
  const turn = step.dt * Math.max(length3(...spin), length3(...before))
  const rotation = readTurn(s, previousAt + stateAt.orientation, at + stateAt.orientation)
  if (rotation === null) return null
  const isCorrected =
    !step.scene.hasContacts ||
    step.touching[column] === 1 ||
    step.touchedBefore[column] === 1 ||
    step.joints.isJointed[column] === 1
  const expected = spin.map((part) => part * step.dt) as unknown as Point3
  const difference = length3(rotation[0] - expected[0], rotation[1] - expected[1], rotation[2] - expected[2])
  const change = length3(spin[0] - before[0], spin[1] - before[1], spin[2] - before[2]) * step.dt
  const isFrozen = length3(...rotation) <= 1e-3 * turn && turn > 1e-6
  const correction = 2 * num(step.joints.errorTurn, column)
  const rounding = num(step.errors.rotation, column) + num(step.errors.spinChange, column) * step.dt
  const usualLimit =
    0.02 * turn + Math.min(turn, maxRotationError) * turn + 1.05 * change + correction + rounding
  const freeLimit = usualLimit + (isFrozen ? 1e-6 : slack.free)
  const limit = usualLimit + (isFrozen ? 1e-6 : isCorrected ? slack.contact : slack.free)
  if (!(difference > freeLimit)) return null
  const along = rotation[0] * expected[0] + rotation[1] * expected[1] + rotation[2] * expected[2]
  const ratio = along / length3(...expected) ** 2
  const isAmbiguous = turn > Math.PI / 2
  const isOtherUnit = otherUnits.some(([size]) => isApproximately(ratio, 1 / size))
  if (isAmbiguous && !isOtherUnit) return null
  return { value: difference, limit, freeLimit, ratio, isAmbiguous }
}
