/** Fewer vertices for a look at a line: Douglas and Peucker (1973), with everything that belongs to a vertex kept beside it. */
import { isObject, type JsonObject } from '@causeway/protocol'
import { unwrapped } from './bounds.ts'
import { type LonLat, propertiesOf } from './feature.ts'

/** Metres of one degree of latitude, about; a look needs no geodesy. */
const metresPerDegree = 111_195

/** The feature with a thinned line or lines, and the times, speeds and courses of the vertices that are left. */
export function simplified(feature: JsonObject, toleranceM: number): JsonObject {
  const { geometry } = feature
  if (!isObject(geometry) || !Array.isArray(geometry.coordinates)) return feature
  const { type, coordinates } = geometry
  if (type === 'LineString') {
    const kept = keptVertices(coordinates as readonly LonLat[], toleranceM)
    return thinned(feature, { ...geometry, coordinates: pick(coordinates, kept) }, kept)
  }
  if (type !== 'MultiLineString') return feature
  let offset = 0
  const all: number[] = []
  const lines = (coordinates as readonly (readonly LonLat[])[]).map((line) => {
    const kept = keptVertices(line, toleranceM)
    for (const place of kept) all.push(place + offset)
    offset += line.length
    return pick(line, kept)
  })
  return thinned(feature, { ...geometry, coordinates: lines }, all)
}

/** Depth from which a run is split in the middle: lines of ships stay below it, and a zigzag would be as deep as it is long. */
const maxDepth = 48

/**
 * Returns the places of the vertices that stay: the first, the last, and those further than the tolerance from the line
 * without them. Takes at most `maxDepth + log2(n)` distances for each vertex.
 */
export function keptVertices(line: readonly LonLat[], toleranceM: number): readonly number[] {
  if (line.length < 3) return line.map((_, place) => place)
  const points = planar(line)
  const isKept = new Uint8Array(line.length)
  isKept[0] = 1
  isKept[line.length - 1] = 1
  const pending = [{ first: 0, last: line.length - 1, depth: 0 }]
  for (let run = pending.pop(); run !== undefined; run = pending.pop()) {
    const { first, last, depth } = run
    const farthest = farthestVertex(points, first, last, toleranceM)
    if (farthest < 0) continue
    const split = depth < maxDepth ? farthest : (first + last) >> 1
    isKept[split] = 1
    pending.push({ first, last: split, depth: depth + 1 }, { first: split, last, depth: depth + 1 })
  }
  return line.flatMap((_, place) => (isKept[place] === 1 ? place : []))
}

function thinned(feature: JsonObject, geometry: JsonObject, kept: readonly number[]): JsonObject {
  const properties = propertiesOf(feature)
  const lists = ['timestamps', 'speeds', 'courses'].flatMap((name) => {
    const list = properties[name]
    return Array.isArray(list) ? [[name, pick(list, kept)]] : []
  })
  return { ...feature, geometry, properties: { ...properties, ...Object.fromEntries(lists) } }
}

const pick = <T>(list: readonly T[], places: readonly number[]): T[] =>
  places.flatMap((place) => (place < list.length ? [list[place] as T] : []))

/** Metres east and north on a plane through the middle of the line. */
function planar(line: readonly LonLat[]): Float64Array {
  const points = new Float64Array(line.length * 2)
  const start = line[0]?.[0] ?? 0
  const middle = line[line.length >> 1]?.[1] ?? 0
  const shrink = Math.cos((middle * Math.PI) / 180)
  for (const [place, [lon, lat]] of unwrapped(line, start).entries()) {
    points[place * 2] = lon * metresPerDegree * shrink
    points[place * 2 + 1] = lat * metresPerDegree
  }
  return points
}

/** Returns the vertex between two others that is farthest from their line; -1 if all are within the tolerance. */
function farthestVertex(points: Float64Array, first: number, last: number, toleranceM: number): number {
  const at = (index: number): number => points[index] ?? 0
  const [startX, startY] = [at(first * 2), at(first * 2 + 1)]
  const [dx, dy] = [at(last * 2) - startX, at(last * 2 + 1) - startY]
  const length = dx * dx + dy * dy
  let farthest = -1
  let largest = toleranceM * toleranceM
  for (let place = first + 1; place < last; place += 1) {
    const x = at(place * 2) - startX
    const y = at(place * 2 + 1) - startY
    const share = length === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / length))
    const square = (x - share * dx) ** 2 + (y - share * dy) ** 2
    if (square > largest) {
      largest = square
      farthest = place
    }
  }
  return farthest
}
