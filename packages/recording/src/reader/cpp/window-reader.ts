import ndarray, { type NdArray } from 'ndarray'
import { jointFields, jointTable } from '../../formats/cpp-schema.ts'
import { solverFields, systemEnergyFields } from '../../formats/fields.ts'
import {
  type ColumnSelection,
  collisionAt,
  constraintAt,
  energyAt,
  externalAt,
  type FlatRows,
  type FrameWindow,
  frictionAt,
  jointAt,
  solverAt,
  systemAt,
  type WindowPart,
} from '../../formats/frame-window.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type { BodyId } from '../../types.ts'
import type { Connection } from './connection.ts'
import { externalTable, hasExternalForces, hasJoints } from './contact-reader.ts'
import {
  noRows,
  prepareEnergies,
  prepareRows,
  type RowLayout,
  type RowReader,
  toNumber,
} from './row-reader.ts'
import { type RawRow, xyz } from './selection.ts'
import { type BlockIndexes, prepareStates } from './state-reader.ts'

/** Ids are ascending. The first `context` frames precede the requested ones. */
export type ReadWindow = (ids: readonly number[], context: number) => FrameWindow

/** `bodies` are all bodies of the recording. */
export function createWindowReader(
  connection: Connection,
  bodies: readonly BodyId[],
  selection: ColumnSelection,
): ReadWindow {
  const parts = new Set(selection.parts)
  const selectedBodies =
    selection.bodies === undefined ? bodies : bodies.filter((id) => selection.bodies?.includes(id))
  const columnByBody = new Map(selectedBodies.map((id, column) => [id, column]))
  const frames = connection.db
    .prepare<[number, number], RawRow>(
      `SELECT id, simulation_time FROM ${frameTable} WHERE id BETWEEN ? AND ? ORDER BY id`,
    )
    .raw()
  const readStates = prepareStates(connection, parts, selection.bodies)
  const rows = prepareParts(connection, parts, selection.bodies)
  return (ids, context) => {
    const [first = 0, last = -1] = [ids[0], ids.at(-1)]
    const indexes = { rowByFrame: new Map(ids.map((id, row) => [id, row])), columnByBody }
    const range: Range = { first, last, indexes }
    return {
      from: context,
      to: ids.length,
      frames: Float64Array.from(ids),
      times: Float64Array.from(frames.all(first, last), (row) => toNumber(row[1])),
      bodies: selectedBodies,
      ...readStates(first, last, indexes),
      energies: readBodyBlock(rows.energies, range, energyAt.width),
      system: readFrameBlock(rows.system, range, systemAt.width),
      solver: readFrameBlock(rows.solver, range, solverAt.width),
      collisions: readFlatRows(rows.collisions, range, collisionAt.width),
      constraints: readFlatRows(rows.constraints, range, constraintAt.width),
      friction: readFlatRows(rows.friction, range, frictionAt.width),
      externals: readFlatRows(rows.externals, range, externalAt.width),
      joints: readFlatRows(rows.joints, range, jointAt.width),
    }
  }
}

interface Range {
  readonly first: number
  readonly last: number
  readonly indexes: BlockIndexes
}

/** Prepares readers of everything except states. Unselected parts have no rows. */
function prepareParts(
  connection: Connection,
  parts: ReadonlySet<WindowPart>,
  bodies: readonly BodyId[] | undefined,
) {
  const tables = connection.era.parts
  const prepareFrameRows = (
    part: 'system' | 'solver',
    table: string | undefined,
    names: readonly string[],
  ) => (parts.has(part) ? prepareRows(connection, table, (layout) => layout.columns(names, 0)) : noRows)
  return {
    energies: parts.has('energies') ? prepareEnergies(connection, bodies) : noRows,
    system: prepareFrameRows('system', tables.systemEnergy, systemEnergyFields),
    solver: prepareFrameRows('solver', tables.solver, solverFields),
    collisions: parts.has('collisions')
      ? prepareCollisions(connection, parts.has('collisionNormals'))
      : noRows,
    constraints: parts.has('constraints')
      ? prepareRows(connection, tables.contactConstraints, selectConstraint)
      : noRows,
    friction: parts.has('friction') ? prepareFriction(connection, parts.has('frictionVectors')) : noRows,
    externals: parts.has('externals') ? prepareExternals(connection) : noRows,
    joints:
      parts.has('joints') && hasJoints(connection)
        ? prepareRows(connection, jointTable, (layout) => layout.columns(jointFields, 0))
        : noRows,
  }
}

function prepareCollisions(connection: Connection, hasNormals: boolean): RowReader {
  const table = connection.era.parts.collisions
  const isFlat = table === 'ContactRecord'
  return prepareRows(connection, table, (layout) => {
    layout.columns(pair, collisionAt.a)
    layout.columns([isFlat ? 'depth' : 'penetrationDepth'], collisionAt.depth)
    if (hasNormals && isFlat) layout.columns(['normal_x', 'normal_y', 'normal_z'], collisionAt.normal)
    else if (hasNormals) layout.leaf(layout.root, 'normal', vector, collisionAt.normal)
  })
}

function selectConstraint(layout: RowLayout): void {
  layout.columns(pair, constraintAt.a)
  layout.leaf(layout.root, 'normal', vector, constraintAt.normal)
  layout.leaf(layout.root, 'lever_arm_a', vector, constraintAt.leverA)
  layout.leaf(layout.root, 'lever_arm_b', vector, constraintAt.leverB)
  layout.columns(['penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'], constraintAt.depth)
}

const frictionVectors = [
  ['normal', frictionAt.normal],
  ['tangent1', frictionAt.tangent1],
  ['tangent2', frictionAt.tangent2],
  ['lever_arm_a', frictionAt.leverA],
  ['lever_arm_b', frictionAt.leverB],
] as const

function prepareFriction(connection: Connection, hasVectors: boolean): RowReader {
  return prepareRows(connection, connection.era.parts.friction, (layout) => {
    layout.columns(pair, frictionAt.a)
    const scalars = ['friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda']
    layout.columns(scalars, frictionAt.mu)
    if (hasVectors) for (const [name, to] of frictionVectors) layout.leaf(layout.root, name, vector, to)
  })
}

function prepareExternals(connection: Connection): RowReader {
  if (!hasExternalForces(connection)) return noRows
  const statement = connection.db
    .prepare<[number, number], RawRow>(
      `SELECT s.frame_id, s.body_id, f.x, f.y, f.z, t.x, t.y, t.z, p.x, p.y, p.z FROM ${externalTable} l
       JOIN AssetDynamicStateRecord s ON s.id = l.AssetDynamicStateRecord_id
       JOIN ExternalForceRecord e ON e.id = l.ExternalForceRecord_id
       JOIN ForceVectorRecord f ON f.id = e.force_id JOIN TorqueVectorRecord t ON t.id = e.torque_id
       LEFT JOIN CoordinateRecord p ON p.id = e.applicationPoint_id
       WHERE +s.frame_id BETWEEN ? AND ? ORDER BY s.frame_id, l.rowid`,
    )
    .raw()
  return {
    read: (first, last) => statement.all(first, last),
    write(row, block, at) {
      for (let i = 0; i < externalAt.width; i++) block[at + i] = toNumber(row[i + 1])
    },
  }
}

const pair = ['body_a_id', 'body_b_id']
const vector = { table: 'Vector3DRecord', components: xyz }

const createNaNArray = (length: number): Float64Array => new Float64Array(length).fill(Number.NaN)

function readFrameBlock({ read, write }: RowReader, { first, last, indexes }: Range, width: number) {
  const { rowByFrame } = indexes
  const data = createNaNArray(rowByFrame.size * width)
  for (const row of read(first, last)) {
    const frame = rowByFrame.get(toNumber(row[0]))
    if (frame !== undefined) write(row, data, frame * width)
  }
  return ndarray(data, [rowByFrame.size, width])
}

function readBodyBlock(
  { read, write }: RowReader,
  { first, last, indexes }: Range,
  width: number,
): NdArray<Float64Array> {
  const { rowByFrame, columnByBody } = indexes
  const data = createNaNArray(rowByFrame.size * columnByBody.size * width)
  read(first, last).forEach((row) => {
    const frame = rowByFrame.get(toNumber(row[0]))
    const column = columnByBody.get(toNumber(row[1]))
    if (frame !== undefined && column !== undefined)
      write(row, data, (frame * columnByBody.size + column) * width)
  })
  return ndarray(data, [rowByFrame.size, columnByBody.size, width])
}

function readFlatRows({ read, write }: RowReader, { first, last, indexes }: Range, width: number): FlatRows {
  const { rowByFrame } = indexes
  const offset = new Uint32Array(rowByFrame.size + 1)
  const knownRows = read(first, last).filter((row) => rowByFrame.has(toNumber(row[0])))
  const data = createNaNArray(knownRows.length * width)
  knownRows.forEach((row, i) => {
    const frame = rowByFrame.get(toNumber(row[0])) ?? 0
    offset[frame + 1] = (offset[frame + 1] ?? 0) + 1
    write(row, data, i * width)
  })
  for (let frame = 0; frame < rowByFrame.size; frame++)
    offset[frame + 1] = (offset[frame + 1] ?? 0) + (offset[frame] ?? 0)
  return { offset, data: ndarray(data, [knownRows.length, width]) }
}
