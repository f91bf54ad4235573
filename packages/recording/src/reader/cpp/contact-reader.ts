import { jointFields, jointTable } from '../../formats/cpp-schema.ts'
import type {
  Collision,
  ContactConstraint,
  ContactPoint,
  ExternalForce,
  FrictionConstraint,
  Joint,
  Value,
} from '../../types.ts'
import {
  readConstraint,
  readCountAt,
  readExternal,
  readFriction,
  readJoint,
  readPair,
  readPoint,
  readValueAt,
} from '../frame-records.ts'
import { type Connection, createRowReader, prepareFrameRows, type ReadRows } from './connection.ts'
import { allRows } from './row-bounds.ts'
import { type RawRow, type Selection, selectFrom, xyz } from './selection.ts'

/** Selects the columns that `readPair` reads: the bodies, then the vectors. */
function selectPair(select: Selection, ...vectors: readonly string[]): void {
  select.columns(['body_a_id', 'body_b_id'])
  for (const name of vectors) select.leaf(select.root, name, 'Vector3DRecord', xyz)
}

export function createCollisionReader(connection: Connection): ReadRows<Collision> {
  const { era } = connection
  const table = era.parts.collisions
  if (table === undefined) return () => []
  if (table === 'ContactRecord') return createFlatContactReader(connection)
  const select = selectFrom(era.schema, table)
  selectPair(select, 'normal')
  const depth = select.column(select.root, 'penetrationDepth')
  const id = select.column(select.root, 'id')
  const readRows = prepareFrameRows(connection, select)
  const points = createPointReader(connection)
  return (frame) => {
    const rows = readRows(frame)
    const contacts = points(rows.map((row) => readCountAt(row, id)))
    return rows.map((row, i) => ({
      ...readPair(row, 0),
      penetration_depth: readValueAt(row, depth),
      contacts: contacts[i] ?? [],
    }))
  }
}

/** The returned reader expects ascending collision ids. It returns the points of each collision in recorded order. */
function createPointReader(
  connection: Connection,
): (collisions: readonly number[]) => readonly ContactPoint[][] {
  const { db, era, bounds, isIndexed } = connection
  const table = era.parts.contactPoints
  if (table === undefined) return () => []
  const parent = 'CollisionResultRecord_id'
  const select = selectFrom(era.schema, table)
  const point = select.join(select.root, 'ContactPointRecord_id', 'ContactPointRecord')
  for (const name of ['pointA', 'pointB']) select.leaf(point, name, 'CoordinateRecord', xyz)
  select.column(point, 'depth')
  const clauses = `WHERE t.${parent} = ? AND t.rowid BETWEEN ? AND ? ORDER BY t.rowid`
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(clauses)).raw()
  return (collisions) => {
    const [first, last] = [collisions[0], collisions.at(-1)]
    if (first === undefined || last === undefined) return []
    const rowRange = isIndexed() ? allRows : bounds.links(table, parent, first, last)
    return collisions.map((collision) =>
      statement.all(collision, ...rowRange).map((row) => readPoint(row, 0)),
    )
  }
}

const listVectorColumns = (name: string): readonly string[] => xyz.map((axis) => `${name}_${axis}`)

/** Reads recordings with one row per contact point. Consecutive rows of a pair are one collision. */
function createFlatContactReader(connection: Connection): ReadRows<Collision> {
  const select = selectFrom(connection.era.schema, 'ContactRecord')
  select.columns(['body_a_id', 'body_b_id', ...listVectorColumns('normal')])
  const point = select.column(select.root, 'point_a_x')
  select.columns([...listVectorColumns('point_a').slice(1), ...listVectorColumns('point_b'), 'depth'])
  const readRows = prepareFrameRows(connection, select)
  return (frame) => {
    const pairs: RawRow[][] = []
    for (const row of readRows(frame)) {
      const last = pairs.at(-1)
      const isSame = last?.[0]?.[0] === row[0] && last?.[0]?.[1] === row[1]
      if (last && isSame) last.push(row)
      else pairs.push([row])
    }
    return pairs.map((rows) => {
      const contacts = rows.map((row) => readPoint(row, point))
      return { ...readPair(rows[0] ?? [], 0), penetration_depth: findDeepest(contacts), contacts }
    })
  }
}

function findDeepest(contacts: readonly ContactPoint[]): Value {
  const depths = contacts.map(({ depth }) => depth).filter((depth) => depth !== null)
  return depths.length > 0 ? Math.max(...depths) : null
}

export const createConstraintReader = (connection: Connection): ReadRows<ContactConstraint> =>
  createRowReader(connection, connection.era.parts.contactConstraints, readConstraint, (select) => {
    selectPair(select, 'normal', 'lever_arm_a', 'lever_arm_b')
    select.columns(['penetration_depth', 'restitution', 'pre_impact_rel_vel_normal'])
  })

export const createFrictionReader = (connection: Connection): ReadRows<FrictionConstraint> =>
  createRowReader(connection, connection.era.parts.friction, readFriction, (select) => {
    selectPair(select, 'normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b')
    select.columns(['friction_coefficient', 'normal_lambda', 'tangent1_lambda', 'tangent2_lambda'])
  })

const stateTable = 'AssetDynamicStateRecord'
const parent = 'AssetDynamicStateRecord_id'

export const externalTable = 'AssetDynamicStateRecord_ExternalForceRecord'

/** Returns `false` if the tables are missing or empty, as in most files. */
export const hasExternalForces = ({ db, era: { parts, schema } }: Connection): boolean =>
  parts.states === stateTable &&
  schema.has(externalTable, parent, 'ExternalForceRecord_id') &&
  schema.has('ExternalForceRecord', 'id', 'force_id', 'torque_id') &&
  schema.has('ForceVectorRecord', 'x') &&
  schema.has('TorqueVectorRecord', 'x') &&
  db.prepare(`SELECT 1 FROM ${externalTable} LIMIT 1`).get() !== undefined

export function createExternalReader(connection: Connection): ReadRows<ExternalForce> {
  const { db, era, bounds } = connection
  if (!hasExternalForces(connection)) return () => []
  const stateRange = db
    .prepare<[number, number, number], [first: number | null, last: number | null]>(
      `SELECT min(id), max(id) FROM ${stateTable} WHERE frame_id = ? AND id BETWEEN ? AND ?`,
    )
    .raw()
  const select = selectFrom(era.schema, externalTable)
  const state = select.join(select.root, parent, stateTable)
  const external = select.join(select.root, 'ExternalForceRecord_id', 'ExternalForceRecord')
  select.column(state, 'body_id')
  select.leaf(external, 'force', 'ForceVectorRecord', xyz)
  select.leaf(external, 'torque', 'TorqueVectorRecord', xyz)
  select.leaf(external, 'applicationPoint', 'CoordinateRecord', xyz)
  const statement = db
    .prepare<[number, number, number, number, number], RawRow>(
      select.sql(
        `WHERE t.rowid BETWEEN ? AND ? AND t.${parent} BETWEEN ? AND ? AND ${state.alias}.frame_id = ? ORDER BY t.rowid`,
      ),
    )
    .raw()
  return (frame) => {
    const [first, last] =
      stateRange.get(
        frame,
        ...(connection.isIndexed() ? allRows : bounds.frames(stateTable, frame, frame)),
      ) ?? []
    if (first == null || last == null) return []
    const [low, high] = bounds.links(externalTable, parent, first, last)
    return statement.all(low, high, first, last, frame).map((row) => readExternal(row, 0))
  }
}

export const hasJoints = ({ era: { schema } }: Connection): boolean => schema.has(jointTable, ...jointFields)

export const createJointReader = (connection: Connection): ReadRows<Joint> =>
  createRowReader(connection, hasJoints(connection) ? jointTable : undefined, readJoint, (select) =>
    select.columns(jointFields),
  )
