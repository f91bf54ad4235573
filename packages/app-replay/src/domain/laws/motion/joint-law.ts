/** Law `joint_error` (docs/laws.md, Motion). */
import { type BodyId, jointAt, stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { getOffset, getOffsetBefore, length3, num, read3, readPose, readRotation } from '../../steps/block.ts'
import { RunCollector } from '../../steps/run.ts'
import { isEnvironment } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { add, type Point3, rotate, rotateInverse } from '../../vector.ts'
import type { Law } from '../law.ts'

/** `slack` is in m. A step corrects 1 / `correctionFrames` of the error. */
const jointRule = { slack: 0.01, correctionFrames: 5, minFrames: 2 } as const

/** Indexes of `jointKinds` whose ends coincide: fixed, hinge, ball. */
const coincidentKinds: readonly number[] = [1, 2, 4]

interface JointEnds {
  readonly a: Point3
  readonly b: Point3
}

export function jointLaw(): Law {
  const runs = new RunCollector(2)
  /** Ends by pair and joint number. */
  const ends = new Map<string, JointEnds>()
  return {
    observe(step) {
      const { window, row, scene, frame } = step
      const { offset, data } = window.joints
      const counts = new Map<string, number>()
      for (let i = offset[row] ?? 0; i < (offset[row + 1] ?? 0); i++) {
        const at = i * jointAt.width
        const pair: readonly [BodyId, BodyId] = [
          num(data.data, at + jointAt.a),
          num(data.data, at + jointAt.b),
        ]
        const index = counts.get(`${pair}`) ?? 0
        counts.set(`${pair}`, index + 1)
        const key = `${pair} ${index}`
        const columns = [scene.columnById.get(pair[0]) ?? -1, scene.columnById.get(pair[1]) ?? -1] as const
        const recorded = Math.abs(num(data.data, at + jointAt.error))
        const measured = measureDrift(step, at, { key, columns, ends })
        const value = Number.isNaN(recorded) ? measured : Math.max(recorded, measured || 0)
        const limit = getJointLimit(step, at, columns)
        if (value > limit)
          runs.add(
            key,
            frame,
            { value, limit },
            { bodies: pair.filter((id) => !isEnvironment(scene, id)), pair },
          )
      }
    },
    findings: () =>
      runs.runs
        .filter(({ frames }) => frames >= jointRule.minFrames)
        .map((run) => createFinding(run, { kind: 'joint_drift', unit: 'm', confidence: 0.85 })),
  }
}

interface Subject {
  readonly key: string
  readonly columns: readonly [number, number]
  readonly ends: Map<string, JointEnds>
}

/** Returns the distance between the ends in m; NaN if unknown. */
function measureDrift(step: Step, at: number, { key, columns, ends }: Subject): number {
  const { window, row } = step
  if (!coincidentKinds.includes(num(window.joints.data.data, at + jointAt.kind))) return Number.NaN
  let localEnds = ends.get(key)
  if (localEnds === undefined) {
    const point = read3(window.joints.data.data, at + jointAt.point)
    if (row === 0 || !point.every(Number.isFinite)) return Number.NaN
    localEnds = { a: toBody(step, columns[0], point), b: toBody(step, columns[1], point) }
    if (![...localEnds.a, ...localEnds.b].every(Number.isFinite)) return Number.NaN
    ends.set(key, localEnds)
  }
  const gap = add(toWorld(step, columns[0], localEnds.a), toWorld(step, columns[1], localEnds.b), -1)
  return length3(...gap)
}

/** Uses the pose before the step. The environment is fixed. */
function toBody(step: Step, column: number, point: Point3): Point3 {
  if (column < 0) return point
  const { at, rotation } = readPose(step.window.states.data, getOffsetBefore(step, column))
  return rotateInverse(rotation, add(point, at, -1))
}

function toWorld(step: Step, column: number, local: Point3): Point3 {
  if (column < 0) return local
  const { at, rotation } = readPose(step.window.states.data, getOffset(step, column))
  return add(at, rotate(rotation, local))
}

function getJointLimit(step: Step, at: number, columns: readonly [number, number]): number {
  const { window, dt, row } = step
  const point = read3(window.joints.data.data, at + jointAt.point)
  let limit: number = jointRule.slack
  for (const column of columns) {
    if (column < 0 || row === 0) continue
    const s = window.states.data
    const turn = length3(...read3(s, getOffset(step, column) + stateAt.spin)) * dt
    const reach = length3(...add(point, read3(s, getOffsetBefore(step, column)), -1))
    limit += (jointRule.correctionFrames * reach * turn ** 2) / 2 || 0
    limit += num(step.errors.displacement, column) + reach * num(step.errors.rotation, column) || 0
  }
  return limit
}

/** Whether a joint has a recorded error, or two known ends. */
export function hasJointError(step: Step, at: number): boolean {
  const rows = step.window.joints.data.data
  if (!Number.isNaN(num(rows, at + jointAt.error))) return true
  return (
    coincidentKinds.includes(num(rows, at + jointAt.kind)) &&
    read3(rows, at + jointAt.point).every(Number.isFinite) &&
    [jointAt.a, jointAt.b].every((part) => {
      const column = step.scene.columnById.get(num(rows, at + part)) ?? -1
      const turn = readRotation(step.window.states.data, getOffset(step, Math.max(0, column)))
      return column < 0 || turn.every(Number.isFinite)
    })
  )
}
