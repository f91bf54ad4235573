import type { Connection } from './connection.ts'
import type { BodyId } from './types.ts'

/** Half extents of bodies along their own axes, m: the box around the collision mesh. Bodies without a mesh are absent. */
export function readExtents({ db, era }: Connection): ReadonlyMap<BodyId, readonly [number, number, number]> {
  const { schema } = era
  const isThere =
    schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id') &&
    schema.has('ObjectRecord', 'id', 'collisionMeshRecord_id') &&
    schema.has('MeshRecord', 'id', 'vertex_data')
  if (!isThere) return new Map()
  const rows = db
    .prepare<[], [number, Buffer | null]>(
      `SELECT p.body_id, m.vertex_data FROM AssetPhysicalStaticRecord p
       JOIN ObjectRecord o ON o.id = p.asset_id JOIN MeshRecord m ON m.id = o.collisionMeshRecord_id`,
    )
    .raw()
    .all()
  const extents = new Map<BodyId, readonly [number, number, number]>()
  for (const [body, blob] of rows) {
    const box = blob === null ? null : boxOf(blob)
    if (box !== null) extents.set(body, box)
  }
  return extents
}

/** Bytes of a vertex of a collision mesh: x, y, z as little-endian doubles. */
const vertexBytes = 24

function boxOf(blob: Buffer): readonly [number, number, number] | null {
  if (blob.length === 0 || blob.length % vertexBytes !== 0) return null
  const half: [number, number, number] = [0, 0, 0]
  for (let at = 0; at < blob.length; at += vertexBytes)
    for (const axis of [0, 1, 2] as const)
      half[axis] = Math.max(half[axis], Math.abs(blob.readDoubleLE(at + 8 * axis)))
  return half.every((size) => Number.isFinite(size) && size > 0) ? half : null
}
