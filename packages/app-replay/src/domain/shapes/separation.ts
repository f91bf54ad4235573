/**
 * Signed distances between solids in m, negative if they overlap. Exact, except between separated boxes: a lower bound
 * (separating axis theorem, Gottschalk 1996).
 */
import { add, dot3, type Point3, rotate, rotateInverse } from '../vector.ts'
import type { Pose, Solid } from './solid.ts'

type Round = Extract<Solid, { kind: 'round' }>
type Box = Extract<Solid, { kind: 'box' }>

export function measureSeparation(a: Solid, poseA: Pose, b: Solid, poseB: Pose): number {
  if (a.kind === 'plane') return b.kind === 'plane' ? Number.POSITIVE_INFINITY : measureAbove(b, poseB, poseA)
  if (b.kind === 'plane') return measureAbove(a, poseA, poseB)
  if (a.kind === 'round')
    return b.kind === 'round' ? measureRound(a, poseA, b, poseB) : measureRoundBox(a, poseA, b, poseB)
  return b.kind === 'round' ? measureRoundBox(b, poseB, a, poseA) : measureBoxes(a, poseA, b, poseB)
}

const axes: readonly Point3[] = [
  [1, 0, 0],
  [0, 1, 0],
  [0, 0, 1],
]

function measureAbove(solid: Round | Box, pose: Pose, plane: Pose): number {
  const normal = rotate(plane.rotation, [0, 0, 1])
  const height = dot3(add(pose.at, plane.at, -1), normal)
  const local = rotateInverse(pose.rotation, normal)
  if (solid.kind === 'round') return height - Math.abs(local[2]) * solid.halfLength - solid.radius
  return height - [0, 1, 2].reduce((sum, i) => sum + Math.abs(local[i] ?? 0) * (solid.half[i] ?? 0), 0)
}

const getEnds = ({ halfLength }: Round, { at, rotation }: Pose): readonly [Point3, Point3] => {
  const axis = rotate(rotation, [0, 0, halfLength])
  return [add(at, axis, -1), add(at, axis)]
}

function measureRound(a: Round, poseA: Pose, b: Round, poseB: Pose): number {
  const [a0, a1] = getEnds(a, poseA)
  const [b0, b1] = getEnds(b, poseB)
  return measureSegments([a0, a1], [b0, b1]) - a.radius - b.radius
}

/** Returns the distance between two segments (Ericson, Real-Time Collision Detection, 5.1.9). */
function measureSegments(segmentA: readonly [Point3, Point3], segmentB: readonly [Point3, Point3]): number {
  const d1 = add(segmentA[1], segmentA[0], -1)
  const d2 = add(segmentB[1], segmentB[0], -1)
  const r = add(segmentA[0], segmentB[0], -1)
  const [a, e, f, c, b] = [dot3(d1, d1), dot3(d2, d2), dot3(d2, r), dot3(d1, r), dot3(d1, d2)]
  const clamp = (value: number): number => Math.min(1, Math.max(0, value))
  const denominator = a * e - b * b
  let s = denominator > 1e-12 * a * e && a > 0 && e > 0 ? clamp((b * f - c * e) / denominator) : 0
  let t = e > 0 ? (b * s + f) / e : 0
  if (t < 0 || t > 1 || e === 0) {
    t = clamp(t)
    s = a > 0 ? clamp((b * t - c) / a) : 0
  }
  const gap = add(add(r, d1, s), d2, -t)
  return Math.hypot(...gap)
}

/** Searches along the segment, where the distance to a convex solid is convex. */
function measureRoundBox(round: Round, pose: Pose, box: Box, boxPose: Pose): number {
  const [from, to] = getEnds(round, pose).map((end) =>
    rotateInverse(boxPose.rotation, add(end, boxPose.at, -1)),
  ) as [Point3, Point3]
  const along = add(to, from, -1)
  const measure = (t: number): number => measureDistanceToBox(add(from, along, t), box.half)
  if (round.halfLength === 0) return measure(0) - round.radius
  let [low, high] = [0, 1]
  for (let i = 0; i < 40; i++) {
    const [third, twoThirds] = [low + (high - low) / 3, high - (high - low) / 3]
    if (measure(third) < measure(twoThirds)) high = twoThirds
    else low = third
  }
  return measure((low + high) / 2) - round.radius
}

function measureDistanceToBox([x, y, z]: Point3, half: Point3): number {
  const [dx, dy, dz] = [Math.abs(x) - half[0], Math.abs(y) - half[1], Math.abs(z) - half[2]]
  const outside = Math.hypot(Math.max(dx, 0), Math.max(dy, 0), Math.max(dz, 0))
  return outside > 0 ? outside : Math.max(dx, dy, dz)
}

function measureBoxes(a: Box, poseA: Pose, b: Box, poseB: Pose): number {
  const axesA = axes.map((axis) => rotate(poseA.rotation, axis))
  const axesB = axes.map((axis) => rotate(poseB.rotation, axis))
  const offset = add(poseB.at, poseA.at, -1)
  const getReach = (directions: readonly Point3[], half: Point3, axis: Point3): number =>
    directions.reduce((sum, direction, i) => sum + Math.abs(dot3(direction, axis)) * (half[i] ?? 0), 0)
  let largest = Number.NEGATIVE_INFINITY
  const testAxis = (axis: Point3): void => {
    const size = Math.hypot(...axis)
    if (size < 1e-6) return
    const gap = Math.abs(dot3(offset, axis)) - getReach(axesA, a.half, axis) - getReach(axesB, b.half, axis)
    largest = Math.max(largest, gap / size)
  }
  for (const axis of [...axesA, ...axesB]) testAxis(axis)
  for (const axisA of axesA)
    for (const axisB of axesB)
      testAxis([
        axisA[1] * axisB[2] - axisA[2] * axisB[1],
        axisA[2] * axisB[0] - axisA[0] * axisB[2],
        axisA[0] * axisB[1] - axisA[1] * axisB[0],
      ])
  return largest
}
