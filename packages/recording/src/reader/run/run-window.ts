import ndarray, { type NdArray } from 'ndarray'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  frictionAt,
  jointAt,
  solverAt,
  stateAt,
  systemAt,
} from '../../formats/frame-window.ts'
import {
  bodyAt,
  bodyWidth,
  type ContactList,
  hasEnergy,
  hasState,
  listSolver,
  listSystem,
  type PackedFrame,
  unpackContacts,
} from '../../formats/packed-frame.ts'
import type { BodyId } from '../../types.ts'
import type { ReadWindow } from '../cpp/window-reader.ts'
import type { ReadFrames } from './run-frame.ts'

/**
 * Prepares windows of a run. `bodies` are the columns of states and energies. Lever arms that were not sent are
 * computed from points and positions.
 */
export function runWindowReader(readFrames: ReadFrames, bodies: readonly BodyId[]): ReadWindow {
  const columnByBody = new Map(bodies.map((id, column) => [id, column]))
  return (ids, context) => {
    const frames = [...readFrames(ids[0] ?? 0, ids.at(-1) ?? -1)]
    const contacts = frames.map((frame) => unpackContacts(frame.contacts))
    const flat = (name: ContactList, width: number, kept: number) =>
      flatRows(
        contacts.map((lists) => lists[name]),
        width,
        kept,
      )
    const constraints = flat('constraints', 14, constraintAt.width)
    fillLeverArms(constraints, frames, contacts)
    const friction = flat('friction', 21, frictionAt.width)
    copyLeverArms(constraints, friction)
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(frames, ({ time }) => time),
      bodies,
      present: markPresent(frames, columnByBody),
      states: bodyBlock(frames, columnByBody, stateAt.width, writeState),
      energies: bodyBlock(frames, columnByBody, energyAt.width, writeEnergy),
      system: frameBlock(frames, systemAt.width, ({ system }) => system && listSystem(system)),
      solver: frameBlock(frames, solverAt.width, ({ solver }) => solver && listSolver(solver)),
      collisions: flat('collisions', 7, collisionAt.width),
      constraints,
      friction,
      externals: flat('externals', 10, externalAt.width),
      joints: flatRows(
        frames.map(({ joints }) => joints ?? noJoints),
        jointAt.width,
        jointAt.width,
      ),
    }
  }
}

const noJoints = new Float64Array(0)

function markPresent(frames: readonly PackedFrame[], columnByBody: ReadonlyMap<number, number>): Uint8Array {
  const present = new Uint8Array(frames.length * columnByBody.size)
  frames.forEach(({ bodies: rows }, frame) => {
    for (let at = 0; at < rows.length; at += bodyWidth) {
      const column = columnByBody.get(rows[at + bodyAt.id] ?? -1)
      const hasStateRow = ((rows[at + bodyAt.parts] ?? 0) & hasState) !== 0
      if (column !== undefined && hasStateRow) present[frame * columnByBody.size + column] = 1
    }
  })
  return present
}

type WriteBody = (rows: Float64Array, from: number, to: Float64Array, at: number) => void

function bodyBlock(
  frames: readonly PackedFrame[],
  columnByBody: ReadonlyMap<number, number>,
  width: number,
  write: WriteBody,
): NdArray<Float64Array> {
  const data = new Float64Array(frames.length * columnByBody.size * width).fill(Number.NaN)
  frames.forEach(({ bodies: rows }, frame) => {
    for (let from = 0; from < rows.length; from += bodyWidth) {
      const column = columnByBody.get(rows[from + bodyAt.id] ?? -1)
      if (column !== undefined) write(rows, from, data, (frame * columnByBody.size + column) * width)
    }
  })
  return ndarray(data, [frames.length, columnByBody.size, width])
}

const writeState: WriteBody = (rows, from, to, at) => {
  if (((rows[from + bodyAt.parts] ?? 0) & hasState) === 0) return
  const value = (offset: number): number => rows[from + offset] ?? Number.NaN
  for (let i = 0; i < 6; i++) to[at + i] = value(bodyAt.position + i)
  for (let i = 0; i < 4; i++) to[at + 6 + i] = value(bodyAt.orientation + i)
  const [w, x, y, z] = [value(11), value(12), value(13), value(14)]
  const [rw, rx, ry, rz] = [value(15), value(16), value(17), value(18)]
  to[at + 10] = 2 * (w * rx - x * rw - y * rz + z * ry)
  to[at + 11] = 2 * (w * ry + x * rz - y * rw - z * rx)
  to[at + 12] = 2 * (w * rz - x * ry + y * rx - z * rw)
}

const writeEnergy: WriteBody = (rows, from, to, at) => {
  if (((rows[from + bodyAt.parts] ?? 0) & hasEnergy) === 0) return
  for (let i = 0; i < 4; i++) to[at + i] = rows[from + bodyAt.energy + i] ?? Number.NaN
}

function frameBlock(
  frames: readonly PackedFrame[],
  width: number,
  read: (frame: PackedFrame) => readonly number[] | null,
): NdArray<Float64Array> {
  const data = new Float64Array(frames.length * width).fill(Number.NaN)
  frames.forEach((frame, i) => {
    data.set(read(frame) ?? [], i * width)
  })
  return ndarray(data, [frames.length, width])
}

/** Joins the lists of frames; takes the first `kept` columns of each row. */
function flatRows(lists: readonly Float64Array[], width: number, kept: number): FlatRows {
  const offset = new Uint32Array(lists.length + 1)
  lists.forEach((list, i) => {
    offset[i + 1] = (offset[i] ?? 0) + list.length / width
  })
  const length = offset[lists.length] ?? 0
  const data = new Float64Array(length * kept)
  let to = 0
  for (const list of lists) {
    for (let at = 0; at < list.length; at += width) {
      data.set(list.subarray(at, at + kept), to)
      to += kept
    }
  }
  return { offset, data: ndarray(data, [length, kept]) }
}

type Lists = Readonly<Record<ContactList, Float64Array>>

/** Widths of a collision and of a point; offset of the point on b. */
const [collisionWidth, pointWidth, ofB] = [7, 7, 3]

/**
 * Computes missing lever arms of consecutive frames, m: the point, which is in the pose before the step, minus the
 * position in the previous frame. Skips frames in which not every point has a constraint.
 */
function fillLeverArms(
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
    const positions = findPositions(before.bodies)
    let [row, point] = [from * constraintAt.width, 0]
    for (let at = 0; at < lists.collisions.length; at += collisionWidth) {
      const [a = -1, b = -1] = lists.collisions.subarray(at, at + 2)
      for (let count = lists.collisions[at + 6] ?? 0; count > 0; count--) {
        if (rows[row] === a && rows[row + 1] === b) {
          fill(rows, row + constraintAt.leverA, lists.points.subarray(point, point + 3), positions.get(a))
          fill(
            rows,
            row + constraintAt.leverB,
            lists.points.subarray(point + ofB, point + 6),
            positions.get(b),
          )
        }
        row += constraintAt.width
        point += pointWidth
      }
    }
  }
}

/** Copies lever arms to the friction rows of frames in which every constraint has a friction row. */
function copyLeverArms(constraints: FlatRows, friction: FlatRows): void {
  const [from, to] = [constraints.data.data, friction.data.data]
  for (let frame = 0; frame + 1 < friction.offset.length; frame++) {
    const [first, next] = [friction.offset[frame] ?? 0, friction.offset[frame + 1] ?? 0]
    const other = constraints.offset[frame] ?? 0
    if (next - first !== (constraints.offset[frame + 1] ?? 0) - other) continue
    for (let row = first; row < next; row++) {
      const at = row * frictionAt.width
      const was = (other + row - first) * constraintAt.width
      if (to[at] !== from[was] || to[at + 1] !== from[was + 1]) continue
      for (let i = 0; i < 6; i++)
        if (Number.isNaN(to[at + frictionAt.leverA + i]))
          to[at + frictionAt.leverA + i] = from[was + constraintAt.leverA + i] ?? Number.NaN
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

/** Returns the positions of the bodies of a frame, m. */
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
