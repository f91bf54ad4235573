import { type LonLat, listPaths, measureRangeAndBearing, type PlotFeature } from '../../domain/plot.ts'

/** A position of a track, with the course in degrees and the speed in knots. */
export interface TrackPoint {
  readonly position: LonLat
  readonly course: number
  readonly speed: number
}

/** Interpolates a track at a time in Unix milliseconds. Returns `undefined` outside the track's times. */
export function findTrackPoint(feature: PlotFeature, ms: number): TrackPoint | undefined {
  const times = feature.properties?.timestamps ?? feature.properties?.times
  const [path] = listPaths(feature)
  if (feature.geometry?.type !== 'LineString' || !Array.isArray(times) || path === undefined) return undefined
  const at = (index: number): number => Date.parse(String(times[index]))
  const last = Math.min(times.length, path.length) - 1
  if (last < 1 || !(ms >= at(0) && ms <= at(last))) return undefined
  let [low, high] = [0, last]
  while (high - low > 1) {
    const middle = (low + high) >> 1
    if (at(middle) <= ms) low = middle
    else high = middle
  }
  const [from, to] = [path[low], path[high]] as [LonLat, LonLat]
  const [start, end] = [at(low), at(high)]
  const share = end > start ? (ms - start) / (end - start) : 0
  const { range, bearing } = measureRangeAndBearing(from, to)
  return {
    position: [from[0] + (to[0] - from[0]) * share, from[1] + (to[1] - from[1]) * share],
    course: bearing,
    speed: end > start ? range / ((end - start) / 3_600_000) : 0,
  }
}
