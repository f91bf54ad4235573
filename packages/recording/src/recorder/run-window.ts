/** Frames of a run as a window of columns. */
import ndarray, { type NdArray } from 'ndarray'
import type { BodyId } from '../types.ts'
import type { ReadWindow } from '../window-reader.ts'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  frictionAt,
  solverAt,
  stateAt,
  systemAt,
} from '../window-types.ts'
import { fillLeverArms } from './lever-arms.ts'
import {
  bodyAt,
  bodyWidth,
  type ContactList,
  hasEnergy,
  hasState,
  type PackedFrame,
  unpackContacts,
} from './packed-frame.ts'
import type { ReadFrames } from './run-rows.ts'

/**
 * Prepares windows over the frames of a run; `bodies` are the columns of states and energies. Lever arms that were not sent
 * are worked out where points and positions tell them.
 */
export function runWindowReader(readFrames: ReadFrames, bodies: readonly BodyId[]): ReadWindow {
  const columnOf = new Map(bodies.map((id, column) => [id, column]))
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
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(frames, ({ time }) => time),
      bodies,
      present: presence(frames, columnOf),
      states: bodyBlock(frames, columnOf, stateAt.width, writeState),
      energies: bodyBlock(frames, columnOf, energyAt.width, writeEnergy),
      system: frameBlock(frames, systemAt.width, ({ system }) =>
        system === null
          ? undefined
          : [
              ...[system.linear, system.rotational, system.potential, system.total, system.delta],
              ...[Number(system.injection), Number(system.active)],
            ],
      ),
      solver: frameBlock(frames, solverAt.width, ({ solver }) =>
        solver === null
          ? undefined
          : [
              solver.iterations,
              solver.residual,
              Number(solver.converged),
              solver.constraints,
              solver.contacts,
            ],
      ),
      collisions: flat('collisions', 7, collisionAt.width),
      constraints,
      friction: flat('friction', 21, frictionAt.width),
      externals: flat('externals', 10, externalAt.width),
    }
  }
}

function presence(frames: readonly PackedFrame[], columnOf: ReadonlyMap<number, number>): Uint8Array {
  const present = new Uint8Array(frames.length * columnOf.size)
  frames.forEach(({ bodies: rows }, frame) => {
    for (let at = 0; at < rows.length; at += bodyWidth) {
      const column = columnOf.get(rows[at + bodyAt.id] ?? -1)
      const isHere = ((rows[at + bodyAt.parts] ?? 0) & hasState) !== 0
      if (column !== undefined && isHere) present[frame * columnOf.size + column] = 1
    }
  })
  return present
}

type WriteBody = (rows: Float64Array, from: number, to: Float64Array, at: number) => void

function bodyBlock(
  frames: readonly PackedFrame[],
  columnOf: ReadonlyMap<number, number>,
  width: number,
  write: WriteBody,
): NdArray<Float64Array> {
  const data = new Float64Array(frames.length * columnOf.size * width).fill(Number.NaN)
  frames.forEach(({ bodies: rows }, frame) => {
    for (let from = 0; from < rows.length; from += bodyWidth) {
      const column = columnOf.get(rows[from + bodyAt.id] ?? -1)
      if (column !== undefined) write(rows, from, data, (frame * columnOf.size + column) * width)
    }
  })
  return ndarray(data, [frames.length, columnOf.size, width])
}

/** Position, velocity and orientation as they are, then the angular velocity 2 vec(conj(q) dq/dt). */
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
  read: (frame: PackedFrame) => readonly number[] | undefined,
): NdArray<Float64Array> {
  const data = new Float64Array(frames.length * width).fill(Number.NaN)
  frames.forEach((frame, i) => {
    data.set(read(frame) ?? [], i * width)
  })
  return ndarray(data, [frames.length, width])
}

/** Lists of frames behind each other; of each row the first `kept` columns. */
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
