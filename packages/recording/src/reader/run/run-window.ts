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
import { type FrameRows, fillLeverArms } from './lever-arms.ts'
import type { ReadFrames } from './run-frame.ts'

/** `bodies` are the columns of states and energies. */
export function createRunWindowReader(readFrames: ReadFrames, bodies: readonly BodyId[]): ReadWindow {
  const columnByBody = new Map(bodies.map((id, column) => [id, column]))
  return (ids, context) => {
    const frames = [...readFrames(ids[0] ?? 0, ids.at(-1) ?? -1)]
    const contacts = frames.map((frame) => unpackContacts(frame.contacts))
    const flat = (name: ContactList, width: number, columnCount: number) =>
      createFlatRows(
        contacts.map((lists) => lists[name]),
        width,
        columnCount,
      )
    const constraints = flat('constraints', 14, constraintAt.width)
    const friction = flat('friction', 21, frictionAt.width)
    frames.forEach((frame, i) => {
      const [before, lists] = [frames[i - 1], contacts[i]]
      if (lists === undefined) return
      const step = { before, frame, lists }
      fillLeverArms(
        selectRows(constraints, i, constraintAt.width),
        selectRows(friction, i, frictionAt.width),
        step,
      )
    })
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(frames, ({ time }) => time),
      bodies,
      present: markPresent(frames, columnByBody),
      states: createBodyBlock(frames, columnByBody, stateAt.width, writeState),
      energies: createBodyBlock(frames, columnByBody, energyAt.width, writeEnergy),
      system: createFrameBlock(frames, systemAt.width, ({ system }) => system && listSystem(system)),
      solver: createFrameBlock(frames, solverAt.width, ({ solver }) => solver && listSolver(solver)),
      collisions: flat('collisions', 7, collisionAt.width),
      constraints,
      friction,
      externals: flat('externals', 10, externalAt.width),
      joints: createFlatRows(
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

function createBodyBlock(
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
  const readValue = (offset: number): number => rows[from + offset] ?? Number.NaN
  for (let i = 0; i < 6; i++) to[at + i] = readValue(bodyAt.position + i)
  for (let i = 0; i < 4; i++) to[at + 6 + i] = readValue(bodyAt.orientation + i)
  const [w, x, y, z] = [readValue(11), readValue(12), readValue(13), readValue(14)]
  const [rw, rx, ry, rz] = [readValue(15), readValue(16), readValue(17), readValue(18)]
  to[at + 10] = 2 * (w * rx - x * rw - y * rz + z * ry)
  to[at + 11] = 2 * (w * ry + x * rz - y * rw - z * rx)
  to[at + 12] = 2 * (w * rz - x * ry + y * rx - z * rw)
}

const writeEnergy: WriteBody = (rows, from, to, at) => {
  if (((rows[from + bodyAt.parts] ?? 0) & hasEnergy) === 0) return
  for (let i = 0; i < 4; i++) to[at + i] = rows[from + bodyAt.energy + i] ?? Number.NaN
}

function createFrameBlock(
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

/** Joins the frames' lists. Copies only the first `columnCount` columns of each row. */
function createFlatRows(lists: readonly Float64Array[], width: number, columnCount: number): FlatRows {
  const offset = new Uint32Array(lists.length + 1)
  lists.forEach((list, i) => {
    offset[i + 1] = (offset[i] ?? 0) + list.length / width
  })
  const length = offset[lists.length] ?? 0
  const data = new Float64Array(length * columnCount)
  let to = 0
  for (const list of lists) {
    for (let at = 0; at < list.length; at += width) {
      data.set(list.subarray(at, at + columnCount), to)
      to += columnCount
    }
  }
  return { offset, data: ndarray(data, [length, columnCount]) }
}

const selectRows = ({ offset, data }: FlatRows, frame: number, width: number): FrameRows => ({
  rows: data.data.subarray((offset[frame] ?? 0) * width, (offset[frame + 1] ?? 0) * width),
  width,
})
