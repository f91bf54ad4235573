import ndarray, { type NdArray } from 'ndarray'
import type { Connection } from './connection.ts'
import { frameTable } from './era.ts'
import { externalTable, hasExternalForces } from './external-reader.ts'
import { type RawRow, wxyz, xyz } from './selection.ts'
import { columnReader, flatRows, numberAt, vectorColumns } from './table-columns.ts'
import type { BodyId } from './types.ts'
import {
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FrameWindow,
  frictionAt,
  solverAt,
  stateAt,
  systemAt,
} from './window-types.ts'

const systemNames = [
  'total_linear_ke',
  'total_rotational_ke',
  'total_potential_e',
  'total_system_e',
  'delta_e',
  'energy_injection',
  'collision_active',
]

const solverNames = ['iterations', 'residual', 'converged', 'num_constraints', 'num_contacts']

/** Reads the frames of these ids, which ascend, as one window; the first `context` of them are not asked for. */
export type ReadWindow = (ids: readonly number[], context: number) => FrameWindow

/** Prepares the statements of all tables; `bodies` are the columns of states and energies. */
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
    columnReader(connection, table, (select, root) => {
      for (const name of names) select.column(root, name)
    })
  const energies = plain(parts.bodyEnergy, [
    'body_id',
    'linear_ke',
    'rotational_ke',
    'potential_e',
    'total_e',
  ])
  const system = plain(parts.systemEnergy, systemNames)
  const solver = plain(parts.solver, solverNames)
  const isFlat = parts.collisions === 'ContactRecord'
  const collisions = columnReader(connection, parts.collisions, (select, root) => {
    for (const name of ['body_a_id', 'body_b_id']) select.column(root, name)
    if (isFlat) for (const name of ['normal_x', 'normal_y', 'normal_z']) select.column(root, name)
    else vectorColumns(select, root, 'normal')
    select.column(root, isFlat ? 'depth' : 'penetrationDepth')
  })
  const constraints = columnReader(connection, parts.contactConstraints, (select, root) => {
    for (const name of ['body_a_id', 'body_b_id']) select.column(root, name)
    vectorColumns(select, root, 'normal', 'lever_arm_a', 'lever_arm_b')
    for (const name of ['penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'])
      select.column(root, name)
  })
  const friction = columnReader(connection, parts.friction, (select, root) => {
    for (const name of ['body_a_id', 'body_b_id']) select.column(root, name)
    vectorColumns(select, root, 'normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b')
    for (const name of ['friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'])
      select.column(root, name)
  })
  const externals = hasExternalForces(connection)
    ? db
        .prepare<[number, number], RawRow>(
          `SELECT s.frame_id, s.body_id, f.x, f.y, f.z, t.x, t.y, t.z FROM ${externalTable} l
           JOIN AssetDynamicStateRecord s ON s.id = l.AssetDynamicStateRecord_id
           JOIN ExternalForceRecord e ON e.id = l.ExternalForceRecord_id
           JOIN ForceVectorRecord f ON f.id = e.force_id JOIN TorqueVectorRecord t ON t.id = e.torque_id
           WHERE +s.frame_id BETWEEN ? AND ? ORDER BY s.frame_id, l.rowid`,
        )
        .raw()
    : undefined

  return (ids, context) => {
    const [first = 0, last = -1] = [ids[0], ids.at(-1)]
    const rowOf = new Map(ids.map((id, row) => [id, row]))
    const energyRows = energies(first, last)
    const byBody = new Map(bodies.map((id, column) => [id, column]))
    const found = times.all(first, last)
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(found, (row) => numberAt(row[1])),
      bodies,
      ...stateBlock(states(first, last), energyRows, rowOf, byBody),
      energies: bodyBlock(energyRows, rowOf, byBody, energyAt.width),
      system: frameBlock(system(first, last), rowOf, systemAt.width),
      solver: frameBlock(solver(first, last), rowOf, solverAt.width),
      collisions: flatRows(collisions(first, last), rowOf, collisionAt.width),
      constraints: flatRows(constraints(first, last), rowOf, constraintAt.width),
      friction: flatRows(friction(first, last), rowOf, frictionAt.width),
      externals: flatRows(externals?.all(first, last) ?? [], rowOf, externalAt.width),
    }
  }
}

const absent = (length: number): Float64Array => new Float64Array(length).fill(Number.NaN)

function frameBlock(rows: readonly RawRow[], rowOf: ReadonlyMap<number, number>, width: number) {
  const data = absent(rowOf.size * width)
  for (const row of rows) {
    const frame = rowOf.get(numberAt(row[0]))
    if (frame === undefined) continue
    for (let i = 0; i < width; i++) data[frame * width + i] = numberAt(row[i + 1])
  }
  return ndarray(data, [rowOf.size, width])
}

function bodyBlock(
  rows: readonly RawRow[],
  rowOf: ReadonlyMap<number, number>,
  columnOf: ReadonlyMap<number, number>,
  width: number,
): NdArray<Float64Array> {
  const data = absent(rowOf.size * columnOf.size * width)
  for (const row of rows) {
    const frame = rowOf.get(numberAt(row[0]))
    const column = columnOf.get(numberAt(row[1]))
    if (frame === undefined || column === undefined) continue
    const at = (frame * columnOf.size + column) * width
    for (let i = 0; i < width; i++) data[at + i] = numberAt(row[i + 2])
  }
  return ndarray(data, [rowOf.size, columnOf.size, width])
}

/** States with the angular velocity 2 vec(conj(q) dq/dt) in place of the rate of the quaternion. */
function stateBlock(
  rows: readonly RawRow[],
  energyRows: readonly RawRow[],
  rowOf: ReadonlyMap<number, number>,
  columnOf: ReadonlyMap<number, number>,
): Pick<FrameWindow, 'present' | 'states'> {
  const width = stateAt.width
  const present = new Uint8Array(rowOf.size * columnOf.size)
  const data = absent(rowOf.size * columnOf.size * width)
  let nth = 0
  let before = Number.NaN
  let named = 0
  for (const row of rows) {
    const id = numberAt(row[0])
    nth = id === before ? nth + 1 : 0
    before = id
    const frame = rowOf.get(id)
    // The oldest states carry no body id; their energies were written beside them, in the same order.
    while (named < energyRows.length && numberAt(energyRows[named]?.[0]) < id) named++
    const body = numberAt(row[1]) || numberAt(energyRows[named + nth]?.[1]) || nth + 1
    const column = columnOf.get(body)
    if (frame === undefined || column === undefined) continue
    present[frame * columnOf.size + column] = 1
    const at = (frame * columnOf.size + column) * width
    for (let i = 0; i < 10; i++) data[at + i] = numberAt(row[i + 2])
    const [w, x, y, z] = [8, 9, 10, 11].map((i) => numberAt(row[i])) as [number, number, number, number]
    const [rw, rx, ry, rz] = [12, 13, 14, 15].map((i) => numberAt(row[i])) as [number, number, number, number]
    data[at + 10] = 2 * (w * rx - x * rw - y * rz + z * ry)
    data[at + 11] = 2 * (w * ry + x * rz - y * rw - z * rx)
    data[at + 12] = 2 * (w * rz - x * ry + y * rx - z * rw)
  }
  return { present, states: ndarray(data, [rowOf.size, columnOf.size, width]) }
}
