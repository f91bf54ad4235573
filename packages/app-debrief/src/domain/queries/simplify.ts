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
    const first = offset
    offset += line.length
    return selectLineVertices(line, toleranceM).map((vertex) => vertex + first)
  })
  const properties = isObject(feature.properties) ? feature.properties : {}
  return { ...retainVertices({ ...feature, properties } as unknown as Feature, vertices) }
}

/** Returns the ascending indices of retained vertices. Measures deviations on a plane. */
export function selectLineVertices(line: readonly LonLat[], toleranceM: number): readonly number[] {
  if (line.length < 3) return line.map((_, vertex) => vertex)
  const points = toPlane(line)
  const steps = selectVertices([{ from: 0, to: line.length - 1 }], ({ from, to }) =>
    findFarthest(points, from, to, toleranceM),
  )
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value
}

/** Projects a line to metres east and north on a plane through its middle, shape [vertices, 2]. */
function toPlane(line: readonly LonLat[]): Float64Array {
  const points = new Float64Array(line.length * 2)
  const middle = line[line.length >> 1]?.[1] ?? 0
  const shrink = Math.cos((middle * Math.PI) / 180)
  for (const [vertex, [lon, lat]] of unwrapPath(line, line[0]?.[0] ?? 0).entries()) {
    points[vertex * 2] = lon * metresPerDegree * shrink
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
  const at = (index: number): number => points[index] ?? 0
  const [startX, startY] = [at(from * 2), at(from * 2 + 1)]
  const [dx, dy] = [at(to * 2) - startX, at(to * 2 + 1) - startY]
  const length = dx * dx + dy * dy
  let farthest: number | undefined
  let max = toleranceM * toleranceM
  for (let vertex = from + 1; vertex < to; vertex += 1) {
    const x = at(vertex * 2) - startX
    const y = at(vertex * 2 + 1) - startY
    const share = length === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / length))
    const square = (x - share * dx) ** 2 + (y - share * dy) ** 2
    if (square > max) {
      max = square
      farthest = vertex
    }
  }
  return farthest
}
