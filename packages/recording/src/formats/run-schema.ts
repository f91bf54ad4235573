// cspell:ignore tells
import type { Migration } from '@causeway/store'
import type { Database } from 'better-sqlite3'
import { isEnvironmentId } from '../domain/body-id.ts'
import type { LambdaUnit } from '../types.ts'
import { noDetails, type RunFacts } from './lines/run-line.ts'

/** Being recorded, finished by its engine, or interrupted by a timeout or crash. */
export type RunStatus = 'live' | 'finished' | 'interrupted'

/** Column of `run` and of the run line table of exports: 1 if the engine sends contacts. */
export const contactDataColumn = 'tells_contacts'

/** SQL condition that any frame has a contact. A block begins with its number of collisions, a float64. */
export const hasContactSql = 'EXISTS (SELECT 1 FROM block WHERE substr(contacts, 1, 8) <> zeroblob(8))'

/** Narrow rows of frames for series, and a block of numbers per frame. Published migrations must not change. */
export const runMigrations: readonly Migration[] = [
  {
    name: 'run',
    up: `
      CREATE TABLE run (
        id INTEGER PRIMARY KEY CHECK (id = 1), status TEXT NOT NULL, updated_ms INTEGER NOT NULL,
        engine TEXT, dt REAL, gravity_x REAL, gravity_y REAL, gravity_z REAL, lambda_unit TEXT,
        total_frames INTEGER NOT NULL, first_frame INTEGER, last_frame INTEGER
      ) STRICT;
      CREATE TABLE body (
        position INTEGER PRIMARY KEY, body_id INTEGER NOT NULL UNIQUE, is_declared INTEGER NOT NULL, mass REAL,
        restitution REAL, friction REAL, asset_id REAL, inertia_x REAL, inertia_y REAL, inertia_z REAL,
        extent_x REAL, extent_y REAL, extent_z REAL, first_frame INTEGER
      ) STRICT;
      CREATE TABLE frame (
        id INTEGER PRIMARY KEY, time REAL, wall_time REAL,
        linear_ke REAL, rotational_ke REAL, potential_e REAL, total_e REAL, delta_e REAL,
        energy_injection INTEGER, collision_active INTEGER,
        iterations REAL, residual REAL, converged INTEGER, num_constraints INTEGER, num_contacts INTEGER
      ) STRICT;
      CREATE TABLE block (
        frame_id INTEGER PRIMARY KEY REFERENCES frame(id), contacts BLOB, bodies BLOB NOT NULL
      ) STRICT;
    `,
  },
  {
    // Distinguishes an engine that never sends contacts from one whose bodies have not touched yet.
    name: 'tells-contacts',
    up: `
      ALTER TABLE run ADD COLUMN ${contactDataColumn} INTEGER NOT NULL DEFAULT 0;
      UPDATE run SET ${contactDataColumn} = ${hasContactSql};
    `,
  },
  {
    // The name, shape and fixed pose of a body as JSON.
    name: 'body-details',
    up: 'ALTER TABLE body ADD COLUMN details TEXT;',
  },
  {
    // The engine's convention as JSON, for converting later frames.
    name: 'convention',
    up: 'ALTER TABLE run ADD COLUMN convention TEXT;',
  },
  {
    // Joint rows per frame; steps per frame; JSON of provenance.
    name: 'joints',
    up: `
      ALTER TABLE block ADD COLUMN joints BLOB;
      ALTER TABLE run ADD COLUMN substeps INTEGER;
      ALTER TABLE run ADD COLUMN provenance TEXT;
    `,
  },
]

export const runTable = 'block'

export const bodyColumns = [
  ...['body_id', 'is_declared', 'mass', 'restitution', 'friction', 'asset_id'],
  ...['inertia_x', 'inertia_y', 'inertia_z', 'extent_x', 'extent_y', 'extent_z'],
  ...['details', 'first_frame'],
] as const

interface RunRow {
  readonly engine: string | null
  readonly dt: number | null
  readonly gravity_x: number | null
  readonly gravity_y: number | null
  readonly gravity_z: number | null
  readonly lambda_unit: LambdaUnit | null
  readonly convention?: string | null
  readonly substeps?: number | null
  readonly provenance?: string | null
}

type BodyRow = Readonly<Record<string, number | null>> & { readonly details?: string | null }

export function readFacts(db: Database): RunFacts {
  const row = db.prepare<[], RunRow>('SELECT * FROM run').get()
  if (row === undefined) throw new Error('the run file has no run row')
  const { gravity_x: x, gravity_y: y, gravity_z: z } = row
  const rows = db.prepare<[], BodyRow>('SELECT * FROM body WHERE is_declared = 1 ORDER BY position').all()
  const toNumber = (value: number | null | undefined): number => value ?? Number.NaN
  return {
    engine: row.engine,
    dt: row.dt,
    gravity: x === null || y === null || z === null ? null : [x, y, z],
    lambdaUnit: row.lambda_unit,
    convention: row.convention == null ? null : JSON.parse(row.convention),
    substeps: row.substeps ?? null,
    provenance: row.provenance == null ? null : JSON.parse(row.provenance),
    bodies: rows.map((body) => ({
      id: toNumber(body.body_id),
      mass: toNumber(body.mass),
      restitution: toNumber(body.restitution),
      friction: toNumber(body.friction),
      asset: toNumber(body.asset_id),
      inertia: [toNumber(body.inertia_x), toNumber(body.inertia_y), toNumber(body.inertia_z)],
      extents: [toNumber(body.extent_x), toNumber(body.extent_y), toNumber(body.extent_z)],
      isEnvironment: isEnvironmentId(toNumber(body.body_id)),
      details: body.details == null ? noDetails : { ...noDetails, ...JSON.parse(body.details) },
    })),
  }
}
