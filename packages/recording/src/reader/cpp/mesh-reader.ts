import { listGeometry } from '../../formats/lines/run-line.ts'
import type { BodyId } from '../../types.ts'
import { readRunLine } from './body-reader.ts'
import type { Connection } from './connection.ts'

type Point = readonly [x: number, y: number, z: number]

/** Returns half extents from the run line or the collision mesh. Omits bodies without either. */
export function readExtents(connection: Connection): ReadonlyMap<BodyId, Point> {
  const line = readRunLine(connection)
  if (line !== null)
    return new Map(
      listGeometry(line).flatMap(({ body_id, half_extents }) =>
        half_extents === null ? [] : [[body_id, half_extents]],
      ),
    )
  const extents = new Map<BodyId, Point>()
  for (const [body, blob] of readMeshes(connection)) {
    const box = findBox(blob)
    if (box !== null) extents.set(body, box)
  }
  return extents
}

/**
 * Returns the outermost vertices of collision meshes, at most one for each of 128 directions. Omits bodies without a
 * mesh or with a box mesh.
 */
export function readOutlines(connection: Connection): ReadonlyMap<BodyId, readonly Point[]> {
  const outlines = new Map<BodyId, readonly Point[]>()
  for (const [body, blob] of readMeshes(connection)) {
    const box = findBox(blob)
    if (box === null) continue
    const points = findOutermost(listVertices(blob))
    if (points.length !== 8 || points.some((point) => !isCorner(point, box))) outlines.set(body, points)
  }
  return outlines
}

function readMeshes({ db, era }: Connection): readonly (readonly [BodyId, Buffer])[] {
  const { schema } = era
  const hasGeometry =
    schema.has('AssetPhysicalStaticRecord', 'body_id', 'asset_id') &&
    schema.has('ObjectRecord', 'id', 'collisionMeshRecord_id') &&
    schema.has('MeshRecord', 'id', 'vertex_data')
  if (!hasGeometry) return []
  return db
    .prepare<[], [number, Buffer]>(
      `SELECT p.body_id, m.vertex_data FROM AssetPhysicalStaticRecord p
       JOIN ObjectRecord o ON o.id = p.asset_id JOIN MeshRecord m ON m.id = o.collisionMeshRecord_id
       WHERE typeof(m.vertex_data) = 'blob'`,
    )
    .raw()
    .all()
}

/** x, y, z as little-endian doubles. */
const vertexBytes = 24

function* listVertices(blob: Buffer): Generator<Point> {
  for (let at = 0; at + vertexBytes <= blob.length; at += vertexBytes)
    yield [blob.readDoubleLE(at), blob.readDoubleLE(at + 8), blob.readDoubleLE(at + 16)]
}

/** Returns half extents; `null` for a mesh that is damaged, flat or not finite. */
function findBox(blob: Buffer): Point | null {
  if (blob.length === 0 || blob.length % vertexBytes !== 0) return null
  const half: [number, number, number] = [0, 0, 0]
  for (const vertex of listVertices(blob))
    for (const axis of [0, 1, 2] as const) half[axis] = Math.max(half[axis], Math.abs(vertex[axis]))
  return half.every((size) => Number.isFinite(size) && size > 0) ? half : null
}

/** Tolerance relative to the half extent. */
const cornerTolerance = 1e-6

const isCorner = (point: Point, box: Point): boolean =>
  ([0, 1, 2] as const).every(
    (axis) => Math.abs(Math.abs(point[axis]) - box[axis]) <= cornerTolerance * box[axis],
  )

/** Evenly spread directions: a spiral on the sphere with the golden angle. */
const directions: readonly Point[] = Array.from({ length: 128 }, (_, index) => {
  const z = 1 - (2 * index + 1) / 128
  const radius = Math.sqrt(1 - z * z)
  const angle = index * Math.PI * (3 - Math.sqrt(5))
  return [radius * Math.cos(angle), radius * Math.sin(angle), z]
})

function findOutermost(vertices: Iterable<Point>): readonly Point[] {
  const distances = directions.map(() => Number.NEGATIVE_INFINITY)
  const farthest: Point[] = []
  for (const point of vertices)
    for (const [index, [x, y, z]] of directions.entries()) {
      const distance = x * point[0] + y * point[1] + z * point[2]
      if (distance <= (distances[index] ?? 0)) continue
      distances[index] = distance
      farthest[index] = point
    }
  return [...new Map(farthest.map((point) => [point.join(), point])).values()]
}
