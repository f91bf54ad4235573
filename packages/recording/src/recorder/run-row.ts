import type { Database } from 'better-sqlite3'
import { isEnvironmentId } from '../domain/body-id.ts'
import type { LambdaUnit } from '../types.ts'
import type { RunFacts } from './run-facts.ts'

/** Columns of a body's row, without its place. */
export const bodyColumns = [
  ...['body_id', 'is_declared', 'mass', 'restitution', 'friction', 'asset_id'],
  ...['inertia_x', 'inertia_y', 'inertia_z', 'extent_x', 'extent_y', 'extent_z', 'first_frame'],
] as const

interface RunRow {
  readonly engine: string | null
  readonly dt: number | null
  readonly gravity_x: number | null
  readonly gravity_y: number | null
  readonly gravity_z: number | null
  readonly lambda_unit: LambdaUnit | null
}

type BodyRow = Readonly<Record<string, number | null>>

/** What run lines have said of a run, from its file. */
export function readFacts(db: Database): RunFacts {
  const row = db
    .prepare<[], RunRow>('SELECT engine, dt, gravity_x, gravity_y, gravity_z, lambda_unit FROM run')
    .get()
  if (row === undefined) throw new Error('a run file without its row')
  const { gravity_x: x, gravity_y: y, gravity_z: z } = row
  const rows = db.prepare<[], BodyRow>('SELECT * FROM body WHERE is_declared = 1 ORDER BY position').all()
  const of = (value: number | null | undefined): number => value ?? Number.NaN
  return {
    engine: row.engine,
    dt: row.dt,
    gravity: x === null || y === null || z === null ? null : [x, y, z],
    lambdaUnit: row.lambda_unit,
    bodies: rows.map((body) => ({
      id: of(body.body_id),
      mass: of(body.mass),
      restitution: of(body.restitution),
      friction: of(body.friction),
      asset: of(body.asset_id),
      inertia: [of(body.inertia_x), of(body.inertia_y), of(body.inertia_z)],
      extents: [of(body.extent_x), of(body.extent_y), of(body.extent_z)],
      isEnvironment: isEnvironmentId(of(body.body_id)),
    })),
  }
}
