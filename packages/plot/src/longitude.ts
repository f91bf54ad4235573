import type { LonLat } from './feature.ts'

/** East exceeds 180 if the span crosses the antimeridian. */
type LonSpan = readonly [west: number, east: number]

/** Returns a longitude from -180 to 180. 180 remains 180. */
export function normalizeLongitude(lon: number): number {
  if (lon >= -180 && lon <= 180) return lon
  return ((((lon + 180) % 360) + 360) % 360) - 180
}

/** Returns the longitude of the same meridian closest to a reference. */
export const findNearestLongitude = (lon: number, reference: number): number =>
  lon - 360 * Math.round((lon - reference) / 360)

/** Each returned longitude is within 180 degrees of the previous one. */
export function unwrapLongitudes(lons: readonly number[]): number[] {
  const unwrapped: number[] = []
  for (const lon of lons) unwrapped.push(findNearestLongitude(lon, unwrapped.at(-1) ?? lon))
  return unwrapped
}

/** Unwraps longitudes. The first becomes its equivalent closest to `start`. */
export function unwrapPath(path: readonly LonLat[], start: number): readonly LonLat[] {
  let lastLon = start
  return path.map(([lon, lat]) => {
    lastLon = findNearestLongitude(lon, lastLon)
    return [lastLon, lat]
  })
}

/** Returns the smallest span that covers all spans: the circle without the widest gap. */
export function coverSpans(spans: readonly LonSpan[]): LonSpan | null {
  const sorted = spans
    .map(([west, east]): LonSpan => {
      const start = normalizeLongitude(west)
      return [start, start + (east - west)]
    })
    .sort(([a], [b]) => a - b)
  const [first] = sorted
  if (first === undefined) return null
  let coveredEast = first[1]
  let gap = { width: -1, from: first[0] }
  for (const [west, east] of sorted.slice(1)) {
    if (west - coveredEast > gap.width) gap = { width: west - coveredEast, from: west }
    coveredEast = Math.max(coveredEast, east)
  }
  // This gap is across the antimeridian.
  if (first[0] + 360 - coveredEast >= gap.width) gap = { width: first[0] + 360 - coveredEast, from: first[0] }
  if (gap.width <= 0) return [-180, 180]
  const eastEnds = sorted.map(([west, east]) => (west < gap.from ? east + 360 : east))
  return [gap.from, Math.max(...eastEnds)]
}
