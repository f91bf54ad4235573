import ndarray from 'ndarray'
import { type FrameWindow, stateAt, type WindowPart } from '../../formats/frame-window.ts'
import type { BodyId } from '../../types.ts'
import type { Connection } from './connection.ts'
import { listMarks, noRows, prepareEnergies, prepareRows, type RowReader, toNumber } from './row-reader.ts'
import { type RawRow, wxyz, xyz } from './selection.ts'

export interface BlockIndexes {
  readonly rowByFrame: ReadonlyMap<number, number>
  readonly columnByBody: ReadonlyMap<number, number>
}

type ReadStates = (
  first: number,
  last: number,
  indexes: BlockIndexes,
) => Pick<FrameWindow, 'present' | 'states'>

const stateParts: readonly WindowPart[] = ['position', 'velocity', 'orientation', 'spin']

const bodyIndex = 1

/** Reads states, with the spin 2 vec(conj(q) dq/dt) instead of the quaternion's rate. */
export function prepareStates(
  connection: Connection,
  parts: ReadonlySet<WindowPart>,
  bodies: readonly BodyId[] | undefined,
): ReadStates {
  if (!stateParts.some((part) => parts.has(part)))
    return (_first, _last, indexes) => createStateBlock([], [], indexes, noRows.write)
  const energies = prepareEnergies(connection)
  const allStates = prepareStateRows(connection, parts)
  // Only this table has body ids. Rows without an id are identified by their position in the frame.
  const isFiltered = bodies !== undefined && connection.era.parts.states === 'AssetDynamicStateRecord'
  const selectedStates = isFiltered ? prepareStateRows(connection, parts, bodies) : allStates
  return (first, last, indexes) => {
    const stateRows = selectedStates.read(first, last)
    const haveBodyIds = stateRows.every((row) => toNumber(row[bodyIndex]) > 0)
    const rows = haveBodyIds || !isFiltered ? stateRows : allStates.read(first, last)
    return createStateBlock(
      rows,
      haveBodyIds ? [] : energies.read(first, last),
      indexes,
      selectedStates.write,
    )
  }
}

function prepareStateRows(
  connection: Connection,
  parts: ReadonlySet<WindowPart>,
  bodies?: readonly BodyId[],
): RowReader {
  const table = connection.era.parts.states
  let [orientation, rate] = [-1, -1]
  const { read, write } = prepareRows(
    connection,
    table,
    (layout) => {
      const state =
        table === 'AssetDynamicStateRecord'
          ? layout.join('kinematicState_id', 'InertialStateRecord')
          : layout.root
      layout.read('body_id')
      if (parts.has('position')) layout.leaf(state, 'position', positionLeaf, stateAt.position)
      if (parts.has('velocity')) layout.leaf(state, 'velocity', velocity, stateAt.velocity)
      if (parts.has('orientation') || parts.has('spin'))
        orientation = layout.leaf(state, 'orientation', quaternion, stateAt.orientation)
      if (parts.has('spin')) rate = layout.readLeaf(state, 'quaternionRate', quaternionRate)
    },
    bodies && {
      sql: `AND (t.body_id IN (${listMarks(bodies)}) OR t.body_id IS NULL OR t.body_id <= 0)`,
      values: bodies,
    },
  )
  if (rate === -1) return { read, write }
  return {
    read,
    write(row, block, at) {
      write(row, block, at)
      writeSpin(row, orientation, rate, block, at + stateAt.spin)
    },
  }
}

const positionLeaf = { table: 'CoordinateRecord', components: xyz }
const velocity = { table: 'VelocityRecord', components: xyz }
const quaternion = { table: 'QuaternionDRecord', components: wxyz }
const quaternionRate = { table: 'Vector4DRecord', components: wxyz }

function writeSpin(row: RawRow, orientation: number, rate: number, block: Float64Array, at: number): void {
  const w = toNumber(row[orientation])
  const x = toNumber(row[orientation + 1])
  const y = toNumber(row[orientation + 2])
  const z = toNumber(row[orientation + 3])
  const rw = toNumber(row[rate])
  const rx = toNumber(row[rate + 1])
  const ry = toNumber(row[rate + 2])
  const rz = toNumber(row[rate + 3])
  block[at] = 2 * (w * rx - x * rw - y * rz + z * ry)
  block[at + 1] = 2 * (w * ry + x * rz - y * rw - z * rx)
  block[at + 2] = 2 * (w * rz - x * ry + y * rx - z * rw)
}

function createStateBlock(
  rows: readonly RawRow[],
  energies: readonly RawRow[],
  { rowByFrame, columnByBody }: BlockIndexes,
  write: RowReader['write'],
): Pick<FrameWindow, 'present' | 'states'> {
  const width = stateAt.width
  const present = new Uint8Array(rowByFrame.size * columnByBody.size)
  const data = new Float64Array(present.length * width).fill(Number.NaN)
  let rowInFrame = 0
  let previousId = Number.NaN
  let energyIndex = 0
  for (const row of rows) {
    const id = toNumber(row[0])
    rowInFrame = id === previousId ? rowInFrame + 1 : 0
    previousId = id
    const frame = rowByFrame.get(id)
    // The oldest states have no body ids (see `prepareFrameReader`).
    while (energyIndex < energies.length && toNumber(energies[energyIndex]?.[0]) < id) energyIndex++
    const body =
      toNumber(row[bodyIndex]) || toNumber(energies[energyIndex + rowInFrame]?.[bodyIndex]) || rowInFrame + 1
    const column = columnByBody.get(body)
    if (frame === undefined || column === undefined) continue
    const at = frame * columnByBody.size + column
    present[at] = Math.min(255, (present[at] ?? 0) + 1)
    write(row, data, at * width)
  }
  return { present, states: ndarray(data, [rowByFrame.size, columnByBody.size, width]) }
}
