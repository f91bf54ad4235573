/**
 * Law `sliding` (docs/laws.md, Contacts). Soft contacts build up friction with the slip, so slow slips are not
 * judged.
 */
import { createFinding } from '../../findings/finding.ts'
import { getOffsetBefore, length3, num, readWorldSpin } from '../../steps/block.ts'
import { getImpulseTolerance, getSlipError, readContactImpulse, readSlip } from '../../steps/momentum.ts'
import type { MovingSurfaces } from '../../steps/motion.ts'
import { type Run, RunCollector } from '../../steps/run.ts'
import { getImpulseFactor } from '../../steps/scene.ts'
import { impulseKnowledge, type Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { add, dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'

/**
 * Thresholds relative to mu Jn: lost friction, complete friction, too much friction, and an impulse along the slip
 * that is not friction.
 */
const frictionShare = { lost: 0.65, present: 0.9, excess: 1.5, driven: 0.1 } as const

/** Minimum speed in m/s, and minimum time in s in which friction could stop the point. */
const slidingRule = { minSpeed: 0.02, minStopTime: 0.05 } as const

const minLostFrames = 3

/** Values in N·s. */
interface Friction {
  readonly tangent: number
  readonly limit: number
  readonly isRecorded: boolean
  /** Impulse on the first body, if derived from the motion. */
  readonly across: Point3 | null
}

export function slidingLaw(): Law {
  const lostFriction = { recorded: new RunCollector(), derived: new RunCollector() }
  const excess = new RunCollector()
  const lastCompleteByPair = new Map<number, number>()
  const suddenLosses = new Set<Run>()
  let surfaces: MovingSurfaces | undefined
  return {
    observe(step) {
      surfaces = step.surfaces
      if (Number.isNaN(step.dt) || Number.isNaN(step.scene.g) || step.scene.hasSubsteps) return
      for (const touch of step.touches) {
        const { a, b, key, firstFrame } = touch
        if (firstFrame === step.frame || touch.frictionRows === 0 || touch.leverRows === 0) continue
        const friction = measureFriction(step, touch)
        if (friction === null) continue
        const { tangent, limit, isRecorded } = friction
        const subject = { bodies: [a, b], pair: [a, b] } as const
        if (!isRecorded && tangent > frictionShare.excess * limit) {
          excess.add(key, step.frame, { value: tangent, limit }, subject)
          continue
        }
        if (!isSliding(step, touch, limit) || isDriven(step, touch, friction)) continue
        if (tangent >= frictionShare.present * limit) lastCompleteByPair.set(key, step.frame)
        if (!(tangent < frictionShare.lost * limit)) continue
        const runs = isRecorded ? lostFriction.recorded : lostFriction.derived
        const run = runs.add(key, step.frame, { value: tangent, limit, excess: 1 - tangent / limit }, subject)
        if (lastCompleteByPair.get(key) === run.first - 1) suddenLosses.add(run)
      }
    },
    findings: () => [
      ...(['recorded', 'derived'] as const).flatMap((source) =>
        lostFriction[source].runs
          .filter((run) => run.frames >= minLostFrames || suddenLosses.has(run))
          .filter(({ bodies }) => surfaces?.has(bodies) !== true)
          .map((run) =>
            createFinding(run, {
              kind: 'friction_lost',
              unit: 'times mu*Fn',
              value: run.value / run.limit,
              limit: 1,
              confidence: source === 'recorded' ? 0.9 : 0.7,
            }),
          ),
      ),
      ...excess.runs.map((run) =>
        createFinding(run, {
          kind: 'friction_cone',
          unit: 'times mu*Fn',
          value: run.value / run.limit,
          limit: 1,
          confidence: 0.7,
          text: 'slows down more than mu*Fn allows',
        }),
      ),
    ],
  }
}

function isDriven(step: Step, touch: Touch, { across, limit }: Friction): boolean {
  if (across === null) return false
  const slip = readSlip(step, step.row, touch)
  return dot3(across, slip) > frictionShare.driven * limit * length3(...slip)
}

function measureFriction(step: Step, touch: Touch): Friction | null {
  const column = touch.columnA >= 0 ? touch.columnA : touch.columnB
  if (Number.isNaN(touch.tangent[0])) return deriveFriction(step, touch, column)
  const factor = getImpulseFactor(step.scene, step.dt)
  const [tangent, limit] = [length3(...touch.tangent) * factor, touch.limit * factor]
  // Some engines do not report tangential impulses.
  return limit > 0 && isBalanced(step, column, limit)
    ? { tangent, limit, isRecorded: true, across: null }
    : null
}

/** Whether the recorded impulses explain the motion, within a fifth of the friction limit. */
function isBalanced(step: Step, column: number, limit: number): boolean {
  if (step.impulseKnown[column] !== impulseKnowledge.complete) return false
  const contactImpulse = readContactImpulse(step, column)
  const difference = contactImpulse.map((part, i) => part - num(step.impulse, 3 * column + i)) as [
    number,
    number,
    number,
  ]
  return length3(...difference) <= 0.2 * limit && num(step.errors.impulse, column) <= 0.1 * limit
}

/** Returns `null` if the body has other contacts or joints, or a small limit. */
function deriveFriction(step: Step, touch: Touch, column: number): Friction | null {
  const { normal, normals, maxFriction, minFriction } = touch
  if (num(step.partners, column) !== 1 || normals.count !== 1 || step.joints.isJointed[column] === 1)
    return null
  if (!(maxFriction > 0) || !(minFriction >= 0.95 * maxFriction)) return null
  const received = readContactImpulse(step, column)
  const along = dot3(received, normal)
  const across = add(received, normal, -along)
  const size = length3(...across)
  const limit = maxFriction * Math.abs(along)
  return limit > 2 * getImpulseTolerance(step, column, 0.05)
    ? {
        tangent: size,
        limit,
        isRecorded: false,
        across: column === touch.columnA ? across : add([0, 0, 0], across, -1),
      }
    : null
}

/** Whether all points slide in one direction, too fast for friction to stop them. */
function isSliding(step: Step, touch: Touch, limit: number): boolean {
  const [before, after] = [step.row - 1, step.row].map((row) => readSlip(step, row, touch)) as [
    Point3,
    Point3,
  ]
  const [speedBefore, speedAfter] = [length3(...before), length3(...after)]
  const mass = getReducedMass(step, touch)
  const minSpeed = Math.max(
    slidingRule.minSpeed,
    2 * step.scene.g * step.dt,
    (slidingRule.minStopTime * limit) / (mass * step.dt),
    5 * measureSpinAbout(step, touch),
    5 * getSlipError(step, touch),
  )
  return (
    speedBefore > minSpeed && speedAfter > minSpeed && dot3(before, after) > 0.9 * speedBefore * speedAfter
  )
}

function getReducedMass({ scene }: Step, { columnA, columnB }: Touch): number {
  const inverseMasses = [columnA, columnB].map((column) => (column < 0 ? 0 : 1 / num(scene.masses, column)))
  return 1 / ((inverseMasses[0] ?? 0) + (inverseMasses[1] ?? 0))
}

/** Returns the speed in m/s due to spins about the normal. */
function measureSpinAbout(step: Step, { columnA, columnB, leverA, leverB, normal }: Touch): number {
  const { scene, window } = step
  const speed = (column: number, lever: Point3): number => {
    if (column < 0) return 0
    const half = scene.extents[column]
    const reach = half === undefined ? 2 * length3(...lever) : length3(...half)
    return Math.abs(dot3(readWorldSpin(window.states.data, getOffsetBefore(step, column)), normal)) * reach
  }
  return speed(columnA, leverA) + speed(columnB, leverB)
}
