import ndarray, { type NdArray } from 'ndarray'
import { bodyEnergyFields, solverFields, systemEnergyFields } from '../../formats/fields.ts'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  solverAt,
  stateAt,
  systemAt,
} from '../../formats/frame-window.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type { BodyId } from '../../types.ts'
import type { Connection } from './connection.ts'
import { externalTable, hasExternalForces } from './contact-reader.ts'
import { type RawRow, type Selection, type Source, selectFrom, wxyz, xyz } from './selection.ts'

/** Reads frames with ascending ids as one window. The first `context` frames precede the requested ones. */
export type ReadWindow = (ids: readonly number[], context: number) => FrameWindow

export function windowReader(connection: Connection, bodies: readonly BodyId[]): ReadWindow {
  const { db, era } = connection
  const { parts } = era
  const times = db
    .prepare<[number, number], RawRow>(
      `SELECT id, simulation_time FROM ${frameTable} WHERE id BETWEEN ? AND ? ORDER BY id`,
    )
    .raw()
  const states = columnReader(connection, parts.states, (select, root) => {
    const state =
      parts.states === 'AssetDynamicStateRecord'
        ? select.join(root, 'kinematicState_id', 'InertialStateRecord')
        : root
    select.column(root, 'body_id')
    select.leaf(state, 'position', 'CoordinateRecord', xyz)
    select.leaf(state, 'velocity', 'VelocityRecord', xyz)
    select.leaf(state, 'orientation', 'QuaternionDRecord', wxyz)
    select.leaf(state, 'quaternionRate', 'Vector4DRecord', wxyz)
  })
  const plain = (table: string | undefined, names: readonly string[]) =>
    columnReader(connection, table, (select, root) => addColumns(select, root, names))
  const energies = plain(parts.bodyEnergy, ['body_id', ...bodyEnergyFields])
  const system = plain(parts.systemEnergy, systemEnergyFields)
  const solver = plain(parts.solver, solverFields)
  const collisions = columnReader(connection, parts.collisions, selectCollision)
  const constraints = columnReader(connection, parts.contactConstraints, selectConstraint)
  const friction = columnReader(connection, parts.friction, selectFriction)
  const externals = hasExternalForces(connection)
    ? db
        .prepare<[number, number], RawRow>(
          `SELECT s.frame_id, s.body_id, f.x, f.y, f.z, t.x, t.y, t.z, p.x, p.y, p.z FROM ${externalTable} l
           JOIN AssetDynamicStateRecord s ON s.id = l.AssetDynamicStateRecord_id
           JOIN ExternalForceRecord e ON e.id = l.ExternalForceRecord_id
           JOIN ForceVectorRecord f ON f.id = e.force_id JOIN TorqueVectorRecord t ON t.id = e.torque_id
           LEFT JOIN CoordinateRecord p ON p.id = e.applicationPoint_id
           WHERE +s.frame_id BETWEEN ? AND ? ORDER BY s.frame_id, l.rowid`,
        )
        .raw()
    : undefined

  return (ids, context) => {
    const [first = 0, last = -1] = [ids[0], ids.at(-1)]
    const rowByFrame = new Map(ids.map((id, row) => [id, row]))
    const energyRows = energies(first, last)
    const byBody = new Map(bodies.map((id, column) => [id, column]))
    const found = times.all(first, last)
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(found, (row) => numberAt(row[1])),
      bodies,
      ...stateBlock(states(first, last), energyRows, rowByFrame, byBody),
      energies: bodyBlock(energyRows, rowByFrame, byBody, energyAt.width),
      system: frameBlock(system(first, last), rowByFrame, systemAt.width),
      solver: frameBlock(solver(first, last), rowByFrame, solverAt.width),
      collisions: flatRows(collisions(first, last), rowByFrame, collisionAt.width),
      constraints: flatRows(constraints(first, last), rowByFrame, constraintAt.width),
      friction: flatRows(friction(first, last), rowByFrame, frictionAt.width),
      externals: flatRows(externals?.all(first, last) ?? [], rowByFrame, externalAt.width),
    }
  }
}

const selectCollision: SelectColumns = (select, root) => {
  const isFlat = root.table === 'ContactRecord'
  addColumns(select, root, ['body_a_id', 'body_b_id'])
  if (isFlat) addColumns(select, root, ['normal_x', 'normal_y', 'normal_z'])
  else vectorColumns(select, root, 'normal')
  select.column(root, isFlat ? 'depth' : 'penetrationDepth')
}

const selectConstraint: SelectColumns = (select, root) => {
  addColumns(select, root, ['body_a_id', 'body_b_id'])
  vectorColumns(select, root, 'normal', 'lever_arm_a', 'lever_arm_b')
  addColumns(select, root, ['penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'])
}

const selectFriction: SelectColumns = (select, root) => {
  addColumns(select, root, ['body_a_id', 'body_b_id'])
  vectorColumns(select, root, 'normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b')
  addColumns(select, root, ['friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'])
}

const addColumns = (select: Selection, from: Source, names: readonly string[]): void => {
  for (const name of names) select.column(from, name)
}

const absent = (length: number): Float64Array => new Float64Array(length).fill(Number.NaN)

function frameBlock(rows: readonly RawRow[], rowByFrame: ReadonlyMap<number, number>, width: number) {
  const data = absent(rowByFrame.size * width)
  for (const row of rows) {
    const frame = rowByFrame.get(numberAt(row[0]))
    if (frame === undefined) continue
    for (let i = 0; i < width; i++) data[frame * width + i] = numberAt(row[i + 1])
  }
  return ndarray(data, [rowByFrame.size, width])
}

function bodyBlock(
  rows: readonly RawRow[],
  rowByFrame: ReadonlyMap<number, number>,
  columnByBody: ReadonlyMap<number, number>,
  width: number,
): NdArray<Float64Array> {
  const data = absent(rowByFrame.size * columnByBody.size * width)
  for (const row of rows) {
    const frame = rowByFrame.get(numberAt(row[0]))
    const column = columnByBody.get(numberAt(row[1]))
    if (frame === undefined || column === undefined) continue
    const at = (frame * columnByBody.size + column) * width
    for (let i = 0; i < width; i++) data[at + i] = numberAt(row[i + 2])
  }
  return ndarray(data, [rowByFrame.size, columnByBody.size, width])
}

/** Builds states with the angular velocity 2 vec(conj(q) dq/dt) instead of the rate of the quaternion. */
function stateBlock(
  rows: readonly RawRow[],
  energyRows: readonly RawRow[],
  rowByFrame: ReadonlyMap<number, number>,
  columnByBody: ReadonlyMap<number, number>,
): Pick<FrameWindow, 'present' | 'states'> {
  const width = stateAt.width
  const present = new Uint8Array(rowByFrame.size * columnByBody.size)
  const data = absent(rowByFrame.size * columnByBody.size * width)
  let nth = 0
  let before = Number.NaN
  let named = 0
  for (const row of rows) {
    const id = numberAt(row[0])
    nth = id === before ? nth + 1 : 0
    before = id
    const frame = rowByFrame.get(id)
    // The oldest states have no body id. Their energies were written in the same order.
    while (named < energyRows.length && numberAt(energyRows[named]?.[0]) < id) named++
    const body = numberAt(row[1]) || numberAt(energyRows[named + nth]?.[1]) || nth + 1
    const column = columnByBody.get(body)
    if (frame === undefined || column === undefined) continue
    present[frame * columnByBody.size + column] = 1
    const at = (frame * columnByBody.size + column) * width
    for (let i = 0; i < 10; i++) data[at + i] = numberAt(row[i + 2])
    const [w, x, y, z] = [8, 9, 10, 11].map((i) => numberAt(row[i])) as [number, number, number, number]
    const [rw, rx, ry, rz] = [12, 13, 14, 15].map((i) => numberAt(row[i])) as [number, number, number, number]
    data[at + 10] = 2 * (w * rx - x * rw - y * rz + z * ry)
    data[at + 11] = 2 * (w * ry + x * rz - y * rw - z * rx)
    data[at + 12] = 2 * (w * rz - x * ry + y * rx - z * rw)
  }
  return { present, states: ndarray(data, [rowByFrame.size, columnByBody.size, width]) }
}

/** Reads the rows of a range of frames in frame order. The first column is the frame. */
type ReadColumns = (first: number, last: number) => readonly RawRow[]

type SelectColumns = (select: Selection, root: Source) => void

function columnReader(
  { db, era, bounds, isIndexed }: Connection,
  table: string | undefined,
  columns: SelectColumns,
): ReadColumns {
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  select.column(select.root, 'frame_id')
  columns(select, select.root)
  const statement = (rest: string) => db.prepare<number[], RawRow>(select.sql(rest)).raw()
  // In frame order, a range of rowids is one scan; the index would cost one look-up per row.
  const byRow = statement('WHERE t.id BETWEEN ? AND ? AND +t.frame_id BETWEEN ? AND ? ORDER BY t.id')
  const byFrame = statement(
    'WHERE t.frame_id BETWEEN ? AND ? AND t.id BETWEEN ? AND ? ORDER BY t.frame_id, t.id',
  )
  return (first, last) => {
    if (bounds.isOrdered(table)) return byRow.all(...bounds.frames(table, first, last), first, last)
    const within = isIndexed() ? everyId : bounds.frames(table, first, last)
    return byFrame.all(first, last, ...within)
  }
}

const everyId = [Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER] as const

const vectorColumns = (select: Selection, from: Source, ...names: readonly string[]): void => {
  for (const name of names) select.leaf(from, name, 'Vector3DRecord', xyz)
}

/** Returns a number; NaN if it is not recorded. Keeps infinities, because analyses report them. */
const numberAt = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)

function flatRows(rows: readonly RawRow[], rowByFrame: ReadonlyMap<number, number>, width: number): FlatRows {
  const offset = new Uint32Array(rowByFrame.size + 1)
  const known = rows.filter((row) => rowByFrame.has(numberAt(row[0])))
  const data = new Float64Array(known.length * width)
  let at = 0
  for (const row of known) {
    const frame = rowByFrame.get(numberAt(row[0])) ?? 0
    offset[frame + 1] = (offset[frame + 1] ?? 0) + 1
    for (let i = 0; i < width; i++) data[at++] = numberAt(row[i + 1])
  }
  for (let frame = 0; frame < rowByFrame.size; frame++)
    offset[frame + 1] = (offset[frame + 1] ?? 0) + (offset[frame] ?? 0)
  return { offset, data: ndarray(data, [known.length, width]) }
}
