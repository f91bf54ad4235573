import { jointFields, jointTable } from '../../formats/cpp-schema.ts'
import { jointAt, jointKinds } from '../../formats/frame-window.ts'
import type {
  Collision,
  ContactConstraint,
  ContactPoint,
  ExternalForce,
  FrictionConstraint,
  Joint,
  Value,
  Vector,
} from '../../types.ts'
import { type Connection, prepareFrameRows } from './connection.ts'
import { everyRow } from './row-bounds.ts'
import {
  countAt,
  type RawRow,
  type Selection,
  type Source,
  selectFrom,
  valueAt,
  vectorAt,
  xyz,
} from './selection.ts'

export type ReadRows<Row> = (frame: number) => readonly Row[]

const vector = (select: Selection, from: Source, name: string) =>
  select.leaf(from, name, 'Vector3DRecord', xyz)

const selectPair = (select: Selection) => ({
  a: select.column(select.root, 'body_a_id'),
  b: select.column(select.root, 'body_b_id'),
})

export function collisionReader(connection: Connection): ReadRows<Collision> {
  const { era } = connection
  const table = era.parts.collisions
  if (table === undefined) return () => []
  if (table === 'ContactRecord') return flatContactReader(connection)
  const select = selectFrom(era.schema, table)
  const id = select.column(select.root, 'id')
  const { a, b } = selectPair(select)
  const normal = vector(select, select.root, 'normal')
  const depth = select.column(select.root, 'penetrationDepth')
  const readRows = prepareFrameRows(connection, select)
  const points = pointReader(connection)
  return (frame) => {
    const rows = readRows(frame)
    const contacts = points(rows.map((row) => countAt(row, id)))
    return rows.map((row, i) => ({
      body_a_id: countAt(row, a),
      body_b_id: countAt(row, b),
      normal: vectorAt(row, normal),
      penetration_depth: valueAt(row, depth),
      contacts: contacts[i] ?? [],
    }))
  }
}

/** Reads a list of points, in recorded order, for each of the ascending collision ids. */
function pointReader(connection: Connection): (collisions: readonly number[]) => readonly ContactPoint[][] {
  const { db, era, bounds, isIndexed } = connection
  const table = era.parts.contactPoints
  if (table === undefined) return () => []
  const parent = 'CollisionResultRecord_id'
  const select = selectFrom(era.schema, table)
  const point = select.join(select.root, 'ContactPointRecord_id', 'ContactPointRecord')
  const a = select.leaf(point, 'pointA', 'CoordinateRecord', xyz)
  const b = select.leaf(point, 'pointB', 'CoordinateRecord', xyz)
  const depth = select.column(point, 'depth')
  const rest = `WHERE t.${parent} = ? AND t.rowid BETWEEN ? AND ? ORDER BY t.rowid`
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(rest)).raw()
  return (collisions) => {
    const [first, last] = [collisions[0], collisions.at(-1)]
    if (first === undefined || last === undefined) return []
    const within = isIndexed() ? everyRow : bounds.links(table, parent, first, last)
    return collisions.map((collision) =>
      statement.all(collision, ...within).map((row) => ({
        point_a: vectorAt(row, a),
        point_b: vectorAt(row, b),
        depth: valueAt(row, depth),
      })),
    )
  }
}

/** For the era with one row per contact point: consecutive rows of a pair are one collision. */
function flatContactReader(connection: Connection): ReadRows<Collision> {
  const table = 'ContactRecord'
  const { era } = connection
  const select = selectFrom(era.schema, table)
  const { a, b } = selectPair(select)
  const flat = (name: string) => {
    const [x] = xyz.map((axis) => select.column(select.root, `${name}_${axis}`))
    return x ?? 0
  }
  const [pointA, pointB, normal] = [flat('point_a'), flat('point_b'), flat('normal')]
  const depth = select.column(select.root, 'depth')
  const readRows = prepareFrameRows(connection, select)
  const read = (row: RawRow): ContactPoint => ({
    point_a: vectorAt(row, pointA),
    point_b: vectorAt(row, pointB),
    depth: valueAt(row, depth),
  })
  return (frame) => {
    const pairs: RawRow[][] = []
    for (const row of readRows(frame)) {
      const last = pairs.at(-1)
      const isSame = last?.[0]?.[a] === row[a] && last?.[0]?.[b] === row[b]
      if (last && isSame) last.push(row)
      else pairs.push([row])
    }
    return pairs.map((rows) => {
      const [first = []] = rows
      const contacts = rows.map(read)
      return {
        body_a_id: countAt(first, a),
        body_b_id: countAt(first, b),
        normal: vectorAt(first, normal),
        penetration_depth: findDeepest(contacts),
        contacts,
      }
    })
  }
}

function findDeepest(contacts: readonly ContactPoint[]): Value {
  const depths = contacts.map(({ depth }) => depth).filter((depth) => depth !== null)
  return depths.length > 0 ? Math.max(...depths) : null
}

export function constraintReader(connection: Connection): ReadRows<ContactConstraint> {
  const { era } = connection
  const table = era.parts.contactConstraints
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const { a, b } = selectPair(select)
  const normal = vector(select, select.root, 'normal')
  const leverA = vector(select, select.root, 'lever_arm_a')
  const leverB = vector(select, select.root, 'lever_arm_b')
  const depth = select.column(select.root, 'penetration_depth')
  const restitution = select.column(select.root, 'restitution')
  const closing = select.column(select.root, 'pre_impact_rel_vel_normal')
  const readRows = prepareFrameRows(connection, select)
  return (frame) =>
    readRows(frame).map((row) => ({
      body_a_id: countAt(row, a),
      body_b_id: countAt(row, b),
      normal: vectorAt(row, normal),
      lever_arm_a: vectorAt(row, leverA),
      lever_arm_b: vectorAt(row, leverB),
      penetration_depth: valueAt(row, depth),
      restitution: valueAt(row, restitution),
      pre_impact_rel_vel_normal: valueAt(row, closing),
    }))
}

export function frictionReader(connection: Connection): ReadRows<FrictionConstraint> {
  const { era } = connection
  const table = era.parts.friction
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const { a, b } = selectPair(select)
  const normal = vector(select, select.root, 'normal')
  const tangent1 = vector(select, select.root, 'tangent1')
  const tangent2 = vector(select, select.root, 'tangent2')
  const leverA = vector(select, select.root, 'lever_arm_a')
  const leverB = vector(select, select.root, 'lever_arm_b')
  const mu = select.column(select.root, 'friction_coefficient')
  const lambda = select.column(select.root, 'normal_lambda')
  const lambda1 = select.column(select.root, 'tangent1_lambda')
  const lambda2 = select.column(select.root, 'tangent2_lambda')
  const readRows = prepareFrameRows(connection, select)
  return (frame) =>
    readRows(frame).map((row) => ({
      body_a_id: countAt(row, a),
      body_b_id: countAt(row, b),
      normal: vectorAt(row, normal),
      tangent1: vectorAt(row, tangent1),
      tangent2: vectorAt(row, tangent2),
      lever_arm_a: vectorAt(row, leverA),
      lever_arm_b: vectorAt(row, leverB),
      friction_coefficient: valueAt(row, mu),
      normal_lambda: valueAt(row, lambda),
      tangent1_lambda: valueAt(row, lambda1),
      tangent2_lambda: valueAt(row, lambda2),
    }))
}

const stateTable = 'AssetDynamicStateRecord'
const parent = 'AssetDynamicStateRecord_id'

export const externalTable = 'AssetDynamicStateRecord_ExternalForceRecord'

/** Most files have only empty tables of external forces. */
export const hasExternalForces = ({ db, era: { parts, schema } }: Connection): boolean =>
  parts.states === stateTable &&
  schema.has(externalTable, parent, 'ExternalForceRecord_id') &&
  schema.has('ExternalForceRecord', 'id', 'force_id', 'torque_id') &&
  schema.has('ForceVectorRecord', 'x') &&
  schema.has('TorqueVectorRecord', 'x') &&
  db.prepare(`SELECT 1 FROM ${externalTable} LIMIT 1`).get() !== undefined

export function externalReader(connection: Connection): ReadRows<ExternalForce> {
  const { db, era, bounds } = connection
  if (!hasExternalForces(connection)) return () => []
  const ofStates = db
    .prepare<[number, number, number], [first: number | null, last: number | null]>(
      `SELECT min(id), max(id) FROM ${stateTable} WHERE frame_id = ? AND id BETWEEN ? AND ?`,
    )
    .raw()
  const select = selectFrom(era.schema, externalTable)
  const state = select.join(select.root, parent, stateTable)
  const external = select.join(select.root, 'ExternalForceRecord_id', 'ExternalForceRecord')
  const body = select.column(state, 'body_id')
  const force = select.leaf(external, 'force', 'ForceVectorRecord', xyz)
  const torque = select.leaf(external, 'torque', 'TorqueVectorRecord', xyz)
  const place = select.leaf(external, 'applicationPoint', 'CoordinateRecord', xyz)
  const statement = db
    .prepare<[number, number, number, number, number], RawRow>(
      select.sql(
        `WHERE t.rowid BETWEEN ? AND ? AND t.${parent} BETWEEN ? AND ? AND ${state.alias}.frame_id = ? ORDER BY t.rowid`,
      ),
    )
    .raw()
  return (frame) => {
    const [first, last] =
      ofStates.get(frame, ...(connection.isIndexed() ? everyRow : bounds.frames(stateTable, frame, frame))) ??
      []
    if (first == null || last == null) return []
    const [low, high] = bounds.links(externalTable, parent, first, last)
    return statement.all(low, high, first, last, frame).map((row) => ({
      body_id: countAt(row, body),
      force: vectorAt(row, force),
      torque: vectorAt(row, torque),
      at: vectorAt(row, place),
    }))
  }
}

/** Whether an exported run has joints. */
export const hasJoints = ({ era: { schema } }: Connection): boolean => schema.has(jointTable, ...jointFields)

export function jointReader(connection: Connection): ReadRows<Joint> {
  if (!hasJoints(connection)) return () => []
  const select = selectFrom(connection.era.schema, jointTable)
  for (const name of jointFields) select.column(select.root, name)
  const rows = prepareFrameRows(connection, select)
  const vector = (row: RawRow, at: number): Vector => ({
    x: valueAt(row, at),
    y: valueAt(row, at + 1),
    z: valueAt(row, at + 2),
  })
  return (frame) =>
    rows(frame).map((row) => ({
      body_a_id: countAt(row, jointAt.a),
      body_b_id: countAt(row, jointAt.b),
      kind: jointKinds[countAt(row, jointAt.kind)] ?? 'other',
      point: vector(row, jointAt.point),
      impulse: vector(row, jointAt.impulse),
      torque: vector(row, jointAt.torque),
      position_error: valueAt(row, jointAt.error),
    }))
}
