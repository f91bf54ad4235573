import { runLineTable } from '../../formats/cpp-schema.ts'
import { type RunFacts, readRun } from '../../formats/lines/run-line.ts'
import type { Body, BodyId, RecordingSummary } from '../../types.ts'
import type { Connection } from './connection.ts'
import { countAt, flagAt, type RawRow, selectFrom, valueAt } from './selection.ts'

/** Returns the run line of an exported run; null for other recordings. */
export function readRunLine({ db, era }: Connection): RunFacts | null {
  if (!era.schema.has(runLineTable, 'run')) return null
  const line = db.prepare<[], string>(`SELECT run FROM ${runLineTable}`).pluck().get()
  return line === undefined ? null : readRun(JSON.parse(line), null)
}

export function readBodies({ db, era }: Connection): readonly Body[] {
  const table = era.parts.metadata
  if (table === undefined) return []
  const select = selectFrom(era.schema, table)
  const hasAssets =
    table === 'AssetInertialStaticRecord' &&
    era.schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id')
  // Joined by body_id: the row ids of the two tables are unrelated.
  const assets = hasAssets
    ? select.join(select.root, 'body_id', 'AssetPhysicalStaticRecord', 'body_id')
    : select.root
  const id = select.column(select.root, 'body_id')
  const mass = select.column(select.root, 'mass')
  const restitution = select.column(select.root, 'restitution')
  const friction = select.column(select.root, 'friction')
  const asset = select.column(assets, 'asset_id')
  const environment = select.column(assets, 'is_environment')
  return db
    .prepare<[], RawRow>(select.sql('ORDER BY t.rowid'))
    .raw()
    .all()
    .map((row) => ({
      body_id: countAt(row, id),
      mass: valueAt(row, mass),
      restitution: valueAt(row, restitution),
      friction: valueAt(row, friction),
      asset_id: valueAt(row, asset),
      is_environment: flagAt(row, environment),
    }))
}

/** Reads the first frame with a state or energy row of each body, sorted by body id. */
export function readAppearances(
  { db, era }: Connection,
  frames: readonly number[],
): RecordingSummary['appearances'] {
  const { states, bodyEnergy } = era.parts
  const tables = [states, bodyEnergy].filter((name) => name !== undefined && era.schema.has(name, 'body_id'))
  const [first, last] = [frames[0], frames.at(-1)]
  if (tables.length === 0 || first === undefined || last === undefined) return []
  const firsts = tables
    .map(
      (name) =>
        `SELECT body_id, min(frame_id) AS frame_id FROM "${name}" WHERE body_id > 0 AND frame_id BETWEEN @first AND @last GROUP BY body_id`,
    )
    .join(' UNION ALL ')
  return db
    .prepare<[{ first: number; last: number }], { body_id: number; first_frame: number }>(
      `SELECT body_id, min(frame_id) AS first_frame FROM (${firsts}) GROUP BY body_id ORDER BY body_id`,
    )
    .all({ first, last })
}

/**
 * Reads the half extents of bodies along their axes, m: the bounding box of the collision mesh. Bodies without a mesh
 * are omitted.
 */
export function readExtents({ db, era }: Connection): ReadonlyMap<BodyId, readonly [number, number, number]> {
  const { schema } = era
  const hasGeometry =
    schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id') &&
    schema.has('ObjectRecord', 'id', 'collisionMeshRecord_id') &&
    schema.has('MeshRecord', 'id', 'vertex_data')
  if (!hasGeometry) return new Map()
  const rows = db
    .prepare<[], [number, Buffer | null]>(
      `SELECT p.body_id, m.vertex_data FROM AssetPhysicalStaticRecord p
       JOIN ObjectRecord o ON o.id = p.asset_id JOIN MeshRecord m ON m.id = o.collisionMeshRecord_id`,
    )
    .raw()
    .all()
  const extents = new Map<BodyId, readonly [number, number, number]>()
  for (const [body, blob] of rows) {
    const box = blob === null ? null : findBox(blob)
    if (box !== null) extents.set(body, box)
  }
  return extents
}

/** Size of a vertex of a collision mesh: x, y, z as little-endian doubles. */
const vertexBytes = 24

function findBox(blob: Buffer): readonly [number, number, number] | null {
  if (blob.length === 0 || blob.length % vertexBytes !== 0) return null
  const half: [number, number, number] = [0, 0, 0]
  for (let at = 0; at < blob.length; at += vertexBytes)
    for (const axis of [0, 1, 2] as const)
      half[axis] = Math.max(half[axis], Math.abs(blob.readDoubleLE(at + 8 * axis)))
  return half.every((size) => Number.isFinite(size) && size > 0) ? half : null
}
