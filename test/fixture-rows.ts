import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Database } from 'better-sqlite3'
import { type Manifest, openCopy } from '../fixtures/generate/manifest.ts'

/** Folder of the committed recordings. */
export const recordings = join(import.meta.dirname, '..', 'fixtures', 'recordings')

/** The committed list of files. */
export const manifest: Manifest = JSON.parse(readFileSync(join(recordings, 'manifest.json'), 'utf8'))

/** World vector as a recording stores it. */
export interface Xyz {
  readonly x: number
  readonly y: number
  readonly z: number
}

/** Sidecar of a recording: fields as `fixtures/generate/recordings/expected.ts` writes them. */
// biome-ignore lint/suspicious/noExplicitAny: a sidecar is JSON of many shapes; the assertions are its type
export const readExpected = (name: string): any =>
  JSON.parse(readFileSync(join(recordings, name.replace(/\.db$/, '.expected.json')), 'utf8'))

/** One state row with its frame, by plain SQL. */
export interface StateRow {
  readonly frame_id: number
  readonly body_id: number
  readonly position: Xyz
  readonly velocity: Xyz
  readonly orientation: Xyz & { readonly w: number }
  readonly angular_velocity: Xyz
}

/** One friction row, by plain SQL. */
export interface FrictionRow {
  readonly frame_id: number
  readonly body_a_id: number
  readonly body_b_id: number
  readonly normal: Xyz
  readonly tangent1: Xyz
  readonly tangent2: Xyz
  readonly lever_arm_a: Xyz
  readonly lever_arm_b: Xyz
  readonly friction_coefficient: number
  readonly normal_lambda: number
  readonly tangent1_lambda: number
  readonly tangent2_lambda: number
}

type Flat = Record<string, number>

/** A private copy of a committed recording; the file is not touched. */
export const open = (name: string): Database => openCopy(join(recordings, name))

/** Rows of a query as plain objects. */
export const rows = <Row = Flat>(db: Database, sql: string): Row[] => db.prepare(sql).all() as Row[]

const xyz = (row: Flat, prefix: string): Xyz => ({
  x: row[`${prefix}x`] as number,
  y: row[`${prefix}y`] as number,
  z: row[`${prefix}z`] as number,
})

/** All states in spawn order per frame. The rate is twice the vector part of conj(q) times the quaternion rate. */
export function states(db: Database): StateRow[] {
  const flat = rows(
    db,
    `SELECT d.frame_id, d.body_id, p.x AS px, p.y AS py, p.z AS pz, v.x AS vx, v.y AS vy, v.z AS vz,
      q.w AS qw, q.x AS qx, q.y AS qy, q.z AS qz, r.x AS rx, r.y AS ry, r.z AS rz, r.w AS rw
    FROM AssetDynamicStateRecord d JOIN InertialStateRecord s ON s.id = d.kinematicState_id
    JOIN CoordinateRecord p ON p.id = s.position_id JOIN VelocityRecord v ON v.id = s.velocity_id
    JOIN QuaternionDRecord q ON q.id = s.orientation_id JOIN Vector4DRecord r ON r.id = s.quaternionRate_id
    ORDER BY d.id`,
  )
  return flat.map((row) => ({
    frame_id: row.frame_id as number,
    body_id: row.body_id as number,
    position: xyz(row, 'p'),
    velocity: xyz(row, 'v'),
    orientation: { w: row.qw as number, ...xyz(row, 'q') },
    angular_velocity: rate(
      { w: row.qw as number, ...xyz(row, 'q') },
      { w: row.rw as number, ...xyz(row, 'r') },
    ),
  }))
}

function rate(q: StateRow['orientation'], r: StateRow['orientation']): Xyz {
  return {
    x: 2 * (q.w * r.x - r.w * q.x - (q.y * r.z - q.z * r.y)),
    y: 2 * (q.w * r.y - r.w * q.y - (q.z * r.x - q.x * r.z)),
    z: 2 * (q.w * r.z - r.w * q.z - (q.x * r.y - q.y * r.x)),
  }
}

/** All friction rows of a recording that has tangent impulses. */
export function frictionRows(db: Database): FrictionRow[] {
  const vectors = ['normal', 'tangent1', 'tangent2', 'lever_arm_a', 'lever_arm_b']
  const columns = vectors.flatMap((v) => ['x', 'y', 'z'].map((axis) => `${v}.${axis} AS ${v}_${axis}`))
  const joins = vectors.map((v) => `JOIN Vector3DRecord ${v} ON ${v}.id = f.${v}_id`)
  const flat = rows(
    db,
    `SELECT f.frame_id, f.body_a_id, f.body_b_id, f.friction_coefficient, f.normal_lambda, f.tangent1_lambda,
      f.tangent2_lambda, ${columns.join(', ')} FROM FrictionConstraintRecord f ${joins.join(' ')} ORDER BY f.id`,
  )
  return flat.map((row) => ({
    frame_id: row.frame_id as number,
    body_a_id: row.body_a_id as number,
    body_b_id: row.body_b_id as number,
    normal: xyz(row, 'normal_'),
    tangent1: xyz(row, 'tangent1_'),
    tangent2: xyz(row, 'tangent2_'),
    lever_arm_a: xyz(row, 'lever_arm_a_'),
    lever_arm_b: xyz(row, 'lever_arm_b_'),
    friction_coefficient: row.friction_coefficient as number,
    normal_lambda: row.normal_lambda as number,
    tangent1_lambda: row.tangent1_lambda as number,
    tangent2_lambda: row.tangent2_lambda as number,
  }))
}

/** Impulse of a friction row on its body a, N*s: -n along the normal, +t1 and +t2 along the tangents. */
export function impulseOnA(row: FrictionRow): Xyz {
  const along = (axis: 'x' | 'y' | 'z') =>
    -row.normal[axis] * row.normal_lambda +
    row.tangent1[axis] * row.tangent1_lambda +
    row.tangent2[axis] * row.tangent2_lambda
  return { x: along('x'), y: along('y'), z: along('z') }
}

/** Euclidean length. */
export const norm = ({ x, y, z }: Xyz): number => Math.hypot(x, y, z)
