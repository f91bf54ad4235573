import { type Feature, type LonLat, retainVertices, selectVertices, unwrapPath } from '@causeway/plot'
import { isObject, type JsonObject } from '@causeway/protocol'

/** Approximate metres per degree of latitude. */
export const metresPerDegree = 111_195

/** Simplifies lines, and lists with one value per vertex. */
export function simplifyFeature(feature: JsonObject, toleranceM: number): JsonObject {
  const { geometry } = feature
  if (!isObject(geometry) || !Array.isArray(geometry.coordinates)) return feature
  const { type, coordinates } = geometry
  if (type !== 'LineString' && type !== 'MultiLineString') return feature
  const lines = (type === 'LineString' ? [coordinates] : coordinates) as readonly (readonly LonLat[])[]
  let offset = 0
  const vertices = lines.flatMap((line) => {
    const firstVertex = offset
    offset += line.length
    return selectLineVertices(line, toleranceM).map((vertex) => vertex + firstVertex)
  })
  const properties = isObject(feature.properties) ? feature.properties : {}
  return { ...retainVertices({ ...feature, properties } as unknown as Feature, vertices) }
}

/** Returns the ascending indices of retained vertices. Measures deviations on a plane. */
export function selectLineVertices(line: readonly LonLat[], toleranceM: number): readonly number[] {
  if (line.length < 3) return line.map((_, vertex) => vertex)
  const points = projectToPlane(line)
  const iterator = selectVertices([{ from: 0, to: line.length - 1 }], ({ from, to }) =>
    findFarthest(points, from, to, toleranceM),
  )
  let result = iterator.next()
  while (!result.done) result = iterator.next()
  return result.value
}

/** Projects a line to metres east and north on a plane through its middle, shape [vertices, 2]. */
function projectToPlane(line: readonly LonLat[]): Float64Array {
  const points = new Float64Array(line.length * 2)
  const middleLat = line[line.length >> 1]?.[1] ?? 0
  const lonFactor = Math.cos((middleLat * Math.PI) / 180)
  for (const [vertex, [lon, lat]] of unwrapPath(line, line[0]?.[0] ?? 0).entries()) {
    points[vertex * 2] = lon * metresPerDegree * lonFactor
    points[vertex * 2 + 1] = lat * metresPerDegree
  }
  return points
}

function findFarthest(
  points: Float64Array,
  from: number,
  to: number,
  toleranceM: number,
): number | undefined {
  const getCoordinate = (index: number): number => points[index] ?? 0
  const [startX, startY] = [getCoordinate(from * 2), getCoordinate(from * 2 + 1)]
  const [dx, dy] = [getCoordinate(to * 2) - startX, getCoordinate(to * 2 + 1) - startY]
  const squaredLength = dx * dx + dy * dy
  let farthest: number | undefined
  let maxSquared = toleranceM * toleranceM
  for (let vertex = from + 1; vertex < to; vertex += 1) {
    const x = getCoordinate(vertex * 2) - startX
    const y = getCoordinate(vertex * 2 + 1) - startY
    const fraction = squaredLength === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / squaredLength))
    const squaredDistance = (x - fraction * dx) ** 2 + (y - fraction * dy) ** 2
    if (squaredDistance > maxSquared) {
      maxSquared = squaredDistance
      farthest = vertex
    }
  }
  return farthest
}
