/** Lever arms that an engine does not send, from where its contact points and its bodies were. */
import { constraintAt, type FlatRows } from '../window-types.ts'
import { bodyAt, bodyWidth, type ContactList, type PackedFrame } from './packed-frame.ts'

type Lists = Readonly<Record<ContactList, Float64Array>>

/** Numbers of a collision and of a point; points of b begin in the middle. */
const [collisionWidth, pointWidth, ofB] = [7, 7, 3]

/**
 * Fills the lever arms that are absent from the constraints of consecutive frames, m: the point, which stands at the pose
 * before the step, less the position in the frame before. It stays absent in the first frame, behind a gap, for what has
 * no position, and in a frame whose points do not each have a constraint.
 */
export function fillLeverArms(
  { offset, data }: FlatRows,
  frames: readonly PackedFrame[],
  contacts: readonly Lists[],
): void {
  const rows = data.data
  for (let i = 1; i < frames.length; i++) {
    const [before, frame, lists] = [frames[i - 1], frames[i], contacts[i]]
    const [from, to] = [offset[i] ?? 0, offset[i + 1] ?? 0]
    if (before === undefined || lists === undefined || before.id + 1 !== frame?.id) continue
    if (!lacksAny(rows, from, to) || to - from !== lists.points.length / pointWidth) continue
    const places = placesIn(before.bodies)
    let [row, point] = [from * constraintAt.width, 0]
    for (let at = 0; at < lists.collisions.length; at += collisionWidth) {
      const [a = -1, b = -1] = lists.collisions.subarray(at, at + 2)
      for (let count = lists.collisions[at + 6] ?? 0; count > 0; count--) {
        if (rows[row] === a && rows[row + 1] === b) {
          fill(rows, row + constraintAt.leverA, lists.points.subarray(point, point + 3), places.get(a))
          fill(rows, row + constraintAt.leverB, lists.points.subarray(point + ofB, point + 6), places.get(b))
        }
        row += constraintAt.width
        point += pointWidth
      }
    }
  }
}

function lacksAny(rows: Float64Array, from: number, to: number): boolean {
  for (let row = from; row < to; row++) {
    const at = row * constraintAt.width
    if (Number.isNaN(rows[at + constraintAt.leverA]) || Number.isNaN(rows[at + constraintAt.leverB]))
      return true
  }
  return false
}

/** Positions of the bodies of a frame, m. */
function placesIn(bodies: Float64Array): ReadonlyMap<number, Float64Array> {
  const places = new Map<number, Float64Array>()
  for (let at = 0; at < bodies.length; at += bodyWidth)
    places.set(bodies[at + bodyAt.id] ?? -1, bodies.subarray(at + bodyAt.position, at + bodyAt.position + 3))
  return places
}

function fill(rows: Float64Array, at: number, point: Float64Array, place: Float64Array | undefined): void {
  if (place === undefined || !Number.isNaN(rows[at])) return
  for (let i = 0; i < 3; i++) rows[at + i] = (point[i] ?? Number.NaN) - (place[i] ?? Number.NaN)
}
