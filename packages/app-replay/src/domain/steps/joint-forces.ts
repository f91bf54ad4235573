import { type FrameWindow, jointAt, stateAt } from '@causeway/recording'
import { add, cross, dot3, type Point3 } from '../vector.ts'
import { getOffset, getOffsetBefore, length3, num, read3, readVelocityAt, readWorldSpin } from './block.ts'
import { type BodyGroup, getImpulseFactor, type Scene } from './scene.ts'

/** Forces of joints in a step, in SI units. */
export interface JointForces {
  /** Whether each body belongs to a group or has a joint, 0 or 1. */
  readonly isJointed: Uint8Array
  /** Whether the impulses of all joints of each body are known, 0 or 1. */
  readonly isKnown: Uint8Array
  /** Whether torques and points are known as well, 0 or 1. */
  readonly isTorqueKnown: Uint8Array
  /** Impulse on each body, shape [bodies, 3]. */
  readonly impulse: Float64Array
  /** Torque about the centre of mass before the step, shape [bodies, 3]. */
  readonly torque: Float64Array
  /** Angular impulse on each body due to joint ends that have drifted apart. */
  readonly drift: Float64Array
  /** Sum of the position errors of each body's joints, and the rotation that closes them. */
  readonly error: Float64Array
  readonly errorTurn: Float64Array
  /** Whether a joint connects each group to the environment. */
  readonly isAnchored: Uint8Array
  /** Whether each group's joints to other bodies are known. */
  readonly isGroupKnown: Uint8Array
  /** Work of each group's joints: whether known, sum, and sum of absolute values. */
  readonly isWorkKnown: Uint8Array
  readonly work: Float64Array
  readonly workSize: Float64Array
  /** Momentum that a correct step of each group may leave unexplained. */
  readonly slack: Float64Array
  /** Whether any joint lacks its impulse or torque. */
  isIncomplete: boolean
  totalWork: number
  isUsed: boolean
}

interface JointStep {
  readonly scene: Scene
  readonly window: FrameWindow
  readonly row: number
  readonly dt: number
  readonly joints: JointForces
}

export function createJointForces({ bodies, groups }: Scene): JointForces {
  const [count, groupCount] = [bodies.length, groups.length]
  return {
    isJointed: new Uint8Array(count),
    isKnown: new Uint8Array(count).fill(1),
    isTorqueKnown: new Uint8Array(count).fill(1),
    impulse: new Float64Array(3 * count),
    torque: new Float64Array(3 * count),
    drift: new Float64Array(count),
    error: new Float64Array(count),
    errorTurn: new Float64Array(count),
    isAnchored: new Uint8Array(groupCount),
    isGroupKnown: new Uint8Array(groupCount),
    isWorkKnown: new Uint8Array(groupCount),
    work: new Float64Array(groupCount),
    workSize: new Float64Array(groupCount),
    slack: new Float64Array(groupCount),
    isIncomplete: false,
    totalWork: 0,
    isUsed: false,
  }
}

export function readJoints(step: JointStep): void {
  const { scene, window, row, joints } = step
  const { offset } = window.joints
  const [from, to] = [offset[row] ?? 0, offset[row + 1] ?? 0]
  if (scene.groups.length === 0 && from === to && !joints.isUsed) return
  joints.isUsed = true
  const { isJointed, isKnown, isTorqueKnown } = joints
  isJointed.fill(0)
  isKnown.fill(1)
  isTorqueKnown.fill(1)
  const { impulse, torque, drift, error, errorTurn, work, workSize } = joints
  for (const list of [impulse, torque, drift, error, errorTurn, work, workSize]) list.fill(0)
  joints.isAnchored.fill(0)
  joints.isGroupKnown.fill(1)
  joints.isWorkKnown.fill(1)
  joints.isIncomplete = false
  joints.totalWork = 0
  const before = row > 0 && from - (offset[row - 1] ?? 0) === to - from ? 2 * from - to : from
  for (let i = 0; i < to - from; i++) addJoint(step, (from + i) * jointAt.width, (before + i) * jointAt.width)
  for (const [index, group] of scene.groups.entries()) {
    for (const column of group.columns)
      if (isJointed[column] === 0) {
        // If a body of a group has no joint in this frame, its joints were not recorded.
        isJointed[column] = 1
        isKnown[column] = 0
        isTorqueKnown[column] = 0
        joints.isWorkKnown[index] = 0
        joints.isIncomplete = true
      }
    joints.slack[index] = row === 0 ? Number.NaN : measureSlack(step, group, joints.isAnchored[index] === 1)
  }
}

/** `previousAt` is the offset of the joint in the previous frame. */
function addJoint(step: JointStep, at: number, previousAt: number): void {
  const { scene, window, row, dt, joints } = step
  const rows = window.joints.data.data
  const a = scene.columnById.get(num(rows, at + jointAt.a)) ?? -1
  const b = scene.columnById.get(num(rows, at + jointAt.b)) ?? -1
  const factor = getImpulseFactor(scene, dt)
  const scale = (vector: Point3): Point3 => [vector[0] * factor, vector[1] * factor, vector[2] * factor]
  const impulse = scale(read3(rows, at + jointAt.impulse))
  const torque = scale(read3(rows, at + jointAt.torque))
  const point = read3(rows, at + jointAt.point)
  const isKnown = impulse.every(Number.isFinite)
  let isTorqueKnown = isKnown && torque.every(Number.isFinite)
  const error = Math.max(...[at, previousAt].map((joint) => Math.abs(num(rows, joint + jointAt.error)) || 0))
  for (const [column, sign] of [
    [a, 1],
    [b, -1],
  ] as const) {
    if (column < 0) continue
    joints.isJointed[column] = 1
    const lever = row === 0 ? point : add(point, read3(window.states.data, getOffsetBefore(step, column)), -1)
    const reach = length3(...lever)
    joints.error[column] = num(joints.error, column) + error
    if (reach > error) joints.errorTurn[column] = num(joints.errorTurn, column) + error / reach
    const moment = cross(lever, impulse)
    if (!moment.every(Number.isFinite)) isTorqueKnown = false
    if (!isKnown) joints.isKnown[column] = 0
    if (!isTorqueKnown) joints.isTorqueKnown[column] = 0
    if (!isKnown) continue
    joints.drift[column] = num(joints.drift, column) + error * length3(...impulse)
    for (const i of [0, 1, 2] as const) {
      joints.impulse[3 * column + i] = num(joints.impulse, 3 * column + i) + sign * impulse[i]
      joints.torque[3 * column + i] = num(joints.torque, 3 * column + i) + sign * (torque[i] + moment[i])
    }
  }
  if (!isTorqueKnown) joints.isIncomplete = true
  const groups = [a, b].map((column) => (column < 0 ? -1 : (scene.groupByColumn[column] ?? -1)))
  const work = isTorqueKnown && row > 0 ? measureWork(step, [a, b], { point, impulse, torque }) : Number.NaN
  joints.totalWork += work || 0
  for (const group of new Set(groups)) {
    if (group < 0) continue
    if (a < 0 || b < 0) joints.isAnchored[group] = 1
    if (groups[0] !== groups[1] && !isKnown) joints.isGroupKnown[group] = 0
    // A joint to a body outside the group exchanges energy with it.
    if (groups[0] !== groups[1] || Number.isNaN(work)) joints.isWorkKnown[group] = 0
    else {
      joints.work[group] = num(joints.work, group) + work
      joints.workSize[group] = num(joints.workSize, group) + Math.abs(work)
    }
  }
}

interface JointLoad {
  readonly point: Point3
  readonly impulse: Point3
  readonly torque: Point3
}

/** Returns the work in J, with mean velocities. */
function measureWork(
  step: JointStep,
  [a, b]: readonly [number, number],
  { point, impulse, torque }: JointLoad,
): number {
  const states = step.window.states.data
  let work = 0
  for (const row of [step.row - 1, step.row])
    for (const [column, sign] of [
      [a, 0.5],
      [b, -0.5],
    ] as const) {
      if (column < 0) continue
      const lever = add(point, read3(states, getOffsetBefore(step, column)), -1)
      const at = (row * step.scene.bodies.length + column) * stateAt.width
      work +=
        sign * (dot3(impulse, readVelocityAt(states, at, lever)) + dot3(torque, readWorldSpin(states, at)))
    }
  return work
}

/** Returns the momentum in N·s that a step of joint coordinates may leave unexplained (docs/laws.md, Joints). */
function measureSlack(step: JointStep, { columns }: BodyGroup, isAnchored: boolean): number {
  const { scene, window, dt } = step
  const s = window.states.data
  const now: [number, number, number] = [0, 0, 0]
  const before: [number, number, number] = [0, 0, 0]
  const mass = columns.reduce((sum, column) => sum + num(scene.masses, column), 0)
  let turn = 0
  for (const column of columns) {
    const share = num(scene.masses, column) / mass
    const [at, was] = [getOffset(step, column), getOffsetBefore(step, column)]
    for (const i of [0, 1, 2] as const) {
      if (isAnchored) continue
      now[i] += share * num(s, at + stateAt.velocity + i)
      before[i] += share * num(s, was + stateAt.velocity + i)
    }
    for (const from of [at, was]) turn = Math.max(turn, length3(...read3(s, from + stateAt.spin)) * dt || 0)
  }
  let slack = 0
  for (const column of columns) {
    const after = add(read3(s, getOffset(step, column) + stateAt.velocity), now, -1)
    const then = add(read3(s, getOffsetBefore(step, column) + stateAt.velocity), before, -1)
    const change = add(after, then, -1)
    slack += num(scene.masses, column) * (length3(...change) * turn + 0.5 * length3(...after) * turn ** 2)
  }
  return slack
}

/** Multiple of the slack beyond which a step is wrong. MuJoCo simulations stay below 1.3. */
const slackLimit = 1.5

/** Returns the tolerance in N·s. */
export function getJointTolerance(
  { scene, joints }: Pick<JointStep, 'scene' | 'joints'>,
  column: number,
  share: number,
): number {
  if (joints.isJointed[column] !== 1) return 0
  const group = scene.groupByColumn[column] ?? -1
  const slack = group < 0 ? 0 : slackLimit * num(joints.slack, group)
  return share * length3(...read3(joints.impulse, 3 * column)) + slack
}

export const getGroupTolerance = ({ joints }: Pick<JointStep, 'joints'>, group: number): number =>
  slackLimit * num(joints.slack, group)
