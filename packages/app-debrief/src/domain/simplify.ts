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
    all.push(...kept.map((place) => place + offset))
    offset += line.length
    return pick(line, kept)
  })
  return thinned(feature, { ...geometry, coordinates: lines }, all)
}

/** Places of the vertices that stay: the first, the last, and those further than the tolerance from the line without them. */
export function keptVertices(line: readonly LonLat[], toleranceM: number): readonly number[] {
  if (line.length < 3) return line.map((_, place) => place)
  const points = planar(line)
  const isKept = new Uint8Array(line.length)
  isKept[0] = 1
  isKept[line.length - 1] = 1
  const waiting: [number, number][] = [[0, line.length - 1]]
  for (let run = waiting.pop(); run !== undefined; run = waiting.pop()) {
    const [first, last] = run
    let worst = -1
    let distance = toleranceM
    for (let place = first + 1; place < last; place += 1) {
      const away = distanceTo(points, place, first, last)
      if (away > distance) {
        distance = away
        worst = place
      }
    }
    if (worst < 0) continue
    isKept[worst] = 1
    waiting.push([first, worst], [worst, last])
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

function distanceTo(points: Float64Array, place: number, first: number, last: number): number {
  const at = (index: number): number => points[index] ?? 0
  const [x, y] = [at(place * 2) - at(first * 2), at(place * 2 + 1) - at(first * 2 + 1)]
  const [dx, dy] = [at(last * 2) - at(first * 2), at(last * 2 + 1) - at(first * 2 + 1)]
  const length = dx * dx + dy * dy
  const share = length === 0 ? 0 : Math.min(1, Math.max(0, (x * dx + y * dy) / length))
  return Math.hypot(x - share * dx, y - share * dy)
}
