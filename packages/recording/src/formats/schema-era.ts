import type { Database } from 'better-sqlite3'
import type { Capability, Era, TableColumns } from '../types.ts'

export interface Schema {
  has(table: string, ...columns: readonly string[]): boolean
  target(table: string, column: string): string | undefined
}

interface Parts {
  readonly states: 'AssetDynamicStateRecord' | 'InertialStateRecord' | undefined
  readonly bodyEnergy: 'EnergyRecord' | undefined
  readonly systemEnergy: 'SystemEnergyRecord' | undefined
  readonly collisions: 'CollisionResultRecord' | 'ContactRecord' | undefined
  readonly contactPoints: 'CollisionResultRecord_ContactPointRecord' | undefined
  readonly contactConstraints: 'UnifiedContactConstraintRecord' | 'ContactConstraintRecord' | undefined
  readonly friction: 'UnifiedContactConstraintRecord' | 'FrictionConstraintRecord' | undefined
  readonly solver: 'SolverDiagnosticRecord' | undefined
  readonly metadata: 'AssetInertialStaticRecord' | 'BodyMetadataRecord' | undefined
}

export interface EraMap {
  readonly era: Era
  readonly schema: Schema
  readonly parts: Parts
  readonly capabilities: readonly Capability[]
  readonly missing: readonly Capability[]
}

export const frameTable = 'SimulationFrameRecord'

export function readSchema(db: Database): Schema {
  const columns = new Map<string, Set<string>>()
  const targets = new Map<string, string>()
  const rows = db
    .prepare<[], { table: string; column: string }>(
      `SELECT s.name AS "table", c.name AS "column" FROM sqlite_schema s JOIN pragma_table_info(s.name) c WHERE s.type = 'table'`,
    )
    .all()
  for (const { table, column } of rows) {
    const columnNames = columns.get(table) ?? new Set()
    columns.set(table, columnNames.add(column))
  }
  const keys = db
    .prepare<[], { table: string; column: string; target: string }>(
      `SELECT s.name AS "table", k."from" AS "column", k."table" AS target FROM sqlite_schema s JOIN pragma_foreign_key_list(s.name) k WHERE s.type = 'table'`,
    )
    .all()
  for (const { table, column, target } of keys) targets.set(`${table}.${column}`, target)
  return {
    has: (table, ...names) => {
      const tableColumns = columns.get(table)
      return tableColumns !== undefined && names.every((name) => tableColumns.has(name))
    },
    target: (table, column) => targets.get(`${table}.${column}`),
  }
}

export const readTables = (db: Database): readonly TableColumns[] =>
  db
    .prepare<[], TableColumns>(
      `SELECT s.name, group_concat(c.name, ', ') AS columns FROM sqlite_schema s JOIN pragma_table_info(s.name) c
       WHERE s.type = 'table' GROUP BY s.name LIMIT 500`,
    )
    .all()

export const isRecordingSchema = (schema: Schema): boolean => schema.has(frameTable, 'id', 'simulation_time')

export function makeEraMap(schema: Schema): EraMap {
  const parts = findParts(schema)
  const presence: Record<Capability, boolean> = {
    states: parts.states !== undefined,
    body_energy: parts.bodyEnergy !== undefined,
    system_energy: parts.systemEnergy !== undefined,
    collisions: parts.collisions !== undefined,
    contact_points: parts.contactPoints !== undefined || parts.collisions === 'ContactRecord',
    contact_constraints: parts.contactConstraints !== undefined,
    friction: parts.friction !== undefined,
    tangent_lambdas:
      parts.friction !== undefined && schema.has(parts.friction, 'tangent1_lambda', 'tangent2_lambda'),
    solver: parts.solver !== undefined,
    metadata: parts.metadata !== undefined,
    geometry: schema.has('MeshRecord', 'vertex_data') && schema.has('ObjectRecord', 'collisionMeshRecord_id'),
  }
  const allCapabilities = Object.keys(presence) as Capability[]
  return {
    era: findEra(parts, presence.tangent_lambdas),
    schema,
    parts,
    capabilities: allCapabilities.filter((capability) => presence[capability]),
    missing: allCapabilities.filter((capability) => !presence[capability]),
  }
}

function findParts({ has }: Schema): Parts {
  const perFrame = <Name extends string>(...names: readonly Name[]) =>
    names.find((name) => has(name, 'id', 'frame_id'))
  return {
    states: perFrame('AssetDynamicStateRecord', 'InertialStateRecord'),
    bodyEnergy: perFrame('EnergyRecord'),
    systemEnergy: perFrame('SystemEnergyRecord'),
    collisions: perFrame('CollisionResultRecord', 'ContactRecord'),
    contactPoints: has('ContactPointRecord', 'id')
      ? (['CollisionResultRecord_ContactPointRecord'] as const).find((name) =>
          has(name, 'CollisionResultRecord_id', 'ContactPointRecord_id'),
        )
      : undefined,
    contactConstraints: perFrame('UnifiedContactConstraintRecord', 'ContactConstraintRecord'),
    friction: perFrame('UnifiedContactConstraintRecord', 'FrictionConstraintRecord'),
    solver: perFrame('SolverDiagnosticRecord'),
    metadata: (['AssetInertialStaticRecord', 'BodyMetadataRecord'] as const).find((name) =>
      has(name, 'body_id'),
    ),
  }
}

function findEra(parts: Parts, hasTangents: boolean): Era {
  if (parts.friction === 'UnifiedContactConstraintRecord') return 'unified'
  if (parts.friction !== undefined) return hasTangents ? 'current' : 'friction'
  if (parts.collisions === 'CollisionResultRecord') return 'collision'
  return parts.collisions === 'ContactRecord' ? 'flat-contact' : 'inertial'
}
