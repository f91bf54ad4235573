/** Computes lever arms that were not sent: the contact point minus the body's position before the step, in m. */
import { constraintAt, frictionAt } from '../../formats/frame-window.ts'
import { bodyAt, bodyWidth, type ContactList, type PackedFrame } from '../../formats/packed-frame.ts'

/** Rows of one frame with `width` columns, beginning with those of `constraintAt` or `frictionAt`. */
export interface FrameRows {
  readonly rows: Float64Array
  readonly width: number
}

interface Step {
  readonly before: PackedFrame | undefined
  readonly frame: PackedFrame
  readonly lists: Readonly<Record<ContactList, Float64Array>>
}

/** Widths of a collision and of a point; offset of the point on b. */
const [collisionWidth, pointWidth, offsetB] = [7, 7, 3]

/**
 * Computes missing lever arms of constraints in place, unless the previous frame is unknown or a point has no
 * constraint. Copies them to friction rows.
 */
export function fillLeverArms(constraints: FrameRows, friction: FrameRows, step: Step): void {
  fillConstraints(constraints, step)
  copyToFriction(constraints, friction)
}

function fillConstraints({ rows, width }: FrameRows, { before, frame, lists }: Step): void {
  if (before?.id !== frame.id - 1 || !isAnyMissing(rows, width)) return
  if (rows.length / width !== lists.points.length / pointWidth) return
  const positions = findPositions(before.bodies)
  let [row, point] = [0, 0]
  for (let at = 0; at < lists.collisions.length; at += collisionWidth) {
    const [a = -1, b = -1] = lists.collisions.subarray(at, at + 2)
    for (let count = lists.collisions[at + 6] ?? 0; count > 0; count--) {
      if (rows[row] === a && rows[row + 1] === b) {
        fill(rows, row + constraintAt.leverA, lists.points.subarray(point, point + 3), positions.get(a))
        fill(
          rows,
          row + constraintAt.leverB,
          lists.points.subarray(point + offsetB, point + 6),
          positions.get(b),
        )
      }
      row += width
      point += pointWidth
    }
  }
}

function copyToFriction(constraints: FrameRows, friction: FrameRows): void {
  const [from, to] = [constraints.rows, friction.rows]
  if (from.length / constraints.width !== to.length / friction.width) return
  for (let at = 0, source = 0; at < to.length; at += friction.width, source += constraints.width) {
    if (to[at] !== from[source] || to[at + 1] !== from[source + 1]) continue
    for (let i = 0; i < 6; i++)
      if (Number.isNaN(to[at + frictionAt.leverA + i]))
        to[at + frictionAt.leverA + i] = from[source + constraintAt.leverA + i] ?? Number.NaN
  }
}

function isAnyMissing(rows: Float64Array, width: number): boolean {
  for (let at = 0; at < rows.length; at += width)
    if (Number.isNaN(rows[at + constraintAt.leverA]) || Number.isNaN(rows[at + constraintAt.leverB]))
      return true
  return false
}

function findPositions(bodies: Float64Array): ReadonlyMap<number, Float64Array> {
  const positions = new Map<number, Float64Array>()
  for (let at = 0; at < bodies.length; at += bodyWidth)
    positions.set(
      bodies[at + bodyAt.id] ?? -1,
      bodies.subarray(at + bodyAt.position, at + bodyAt.position + 3),
    )
  return positions
}

function fill(rows: Float64Array, at: number, point: Float64Array, position: Float64Array | undefined): void {
  if (position === undefined || !Number.isNaN(rows[at])) return
  for (let i = 0; i < 3; i++) rows[at + i] = (point[i] ?? Number.NaN) - (position[i] ?? Number.NaN)
}
