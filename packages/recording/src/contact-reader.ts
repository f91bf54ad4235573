import { boundsOfFrame, type Connection, ofFrame } from './connection.ts'
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
import type { Collision, ContactConstraint, ContactPoint, FrictionConstraint, Value } from './types.ts'

/** Reads what one frame holds of one kind of row. */
export type ReadRows<Row> = (frame: number) => readonly Row[]

const vector = (select: Selection, from: Source, name: string) =>
  select.leaf(from, name, 'Vector3DRecord', xyz)

const pairOf = (select: Selection) => ({
  a: select.column(select.root, 'body_a_id'),
  b: select.column(select.root, 'body_b_id'),
})

/** Prepares the reader of colliding pairs with their contact points. */
export function collisionReader(connection: Connection): ReadRows<Collision> {
  const { db, era } = connection
  const table = era.parts.collisions
  if (table === undefined) return () => []
  if (table === 'ContactRecord') return flatContactReader(connection)
  const select = selectFrom(era.schema, table)
  const id = select.column(select.root, 'id')
  const { a, b } = pairOf(select)
  const normal = vector(select, select.root, 'normal')
  const depth = select.column(select.root, 'penetrationDepth')
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  const points = pointReader(connection)
  return (frame) => {
    const rows = statement.all(frame, ...boundsOfFrame(connection, table, frame))
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

/** Contact points of the collisions of one frame, whose ids ascend: a list each, in recorded order. */
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

/** Pairs of the era that wrote one flat row a contact point: consecutive rows of a pair are one collision. */
function flatContactReader(connection: Connection): ReadRows<Collision> {
  const table = 'ContactRecord'
  const { db, era } = connection
  const select = selectFrom(era.schema, table)
  const { a, b } = pairOf(select)
  const flat = (name: string) => {
    const [x] = xyz.map((axis) => select.column(select.root, `${name}_${axis}`))
    return x ?? 0
  }
  const [pointA, pointB, normal] = [flat('point_a'), flat('point_b'), flat('normal')]
  const depth = select.column(select.root, 'depth')
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  const read = (row: RawRow): ContactPoint => ({
    point_a: vectorAt(row, pointA),
    point_b: vectorAt(row, pointB),
    depth: valueAt(row, depth),
  })
  return (frame) => {
    const pairs: RawRow[][] = []
    for (const row of statement.all(frame, ...boundsOfFrame(connection, table, frame))) {
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
        penetration_depth: deepest(contacts),
        contacts,
      }
    })
  }
}

function deepest(contacts: readonly ContactPoint[]): Value {
  const depths = contacts.map(({ depth }) => depth).filter((depth) => depth !== null)
  return depths.length > 0 ? Math.max(...depths) : null
}

/** Prepares the reader of normal constraints. */
export function constraintReader(connection: Connection): ReadRows<ContactConstraint> {
  const { db, era } = connection
  const table = era.parts.contactConstraints
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const { a, b } = pairOf(select)
  const normal = vector(select, select.root, 'normal')
  const leverA = vector(select, select.root, 'lever_arm_a')
  const leverB = vector(select, select.root, 'lever_arm_b')
  const depth = select.column(select.root, 'penetration_depth')
  const restitution = select.column(select.root, 'restitution')
  const closing = select.column(select.root, 'pre_impact_rel_vel_normal')
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  return (frame) =>
    statement.all(frame, ...boundsOfFrame(connection, table, frame)).map((row) => ({
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

/** Prepares the reader of friction constraints. */
export function frictionReader(connection: Connection): ReadRows<FrictionConstraint> {
  const { db, era } = connection
  const table = era.parts.friction
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const { a, b } = pairOf(select)
  const normal = vector(select, select.root, 'normal')
  const tangent1 = vector(select, select.root, 'tangent1')
  const tangent2 = vector(select, select.root, 'tangent2')
  const leverA = vector(select, select.root, 'lever_arm_a')
  const leverB = vector(select, select.root, 'lever_arm_b')
  const mu = select.column(select.root, 'friction_coefficient')
  const lambda = select.column(select.root, 'normal_lambda')
  const lambda1 = select.column(select.root, 'tangent1_lambda')
  const lambda2 = select.column(select.root, 'tangent2_lambda')
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  return (frame) =>
    statement.all(frame, ...boundsOfFrame(connection, table, frame)).map((row) => ({
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
