import { formatTime, parseTime } from '@causeway/app-kit/time'
import {
  type Feature,
  formatCount,
  getFeatureId,
  getGeometryType,
  getKind,
  getLabel,
  listParts,
  unwrapLongitudes,
} from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { createFeatureError } from '../feature/read-features.ts'
import type { LatLon } from '../geodesy/geodesic.ts'

export interface Fix extends LatLon {
  /** Unix milliseconds. */
  readonly time: number
}

/** A track. Lists have one entry per vertex, over all parts of a MultiLineString. */
export interface Track {
  readonly feature: Feature
  readonly id: string | null
  readonly name: string
  /** Unwrapped: each longitude is within 180 degrees of the previous one. */
  readonly positions: readonly LatLon[]
  /** Vertices that start a new part of a MultiLineString. No leg leads to them. */
  readonly breaks: ReadonlySet<number>
  /** Elevations in metres, negative below the surface. */
  readonly elevations: readonly (number | null)[]
  /** Unix milliseconds. */
  readonly times: readonly number[] | undefined
  /** Knots. */
  readonly speeds: readonly (number | null)[] | undefined
  /** Degrees. */
  readonly courses: readonly (number | null)[] | undefined
}

export interface TimedTrack extends Track {
  readonly times: readonly number[]
  readonly fixes: readonly Fix[]
}

const isLine = (feature: Feature): boolean =>
  ['LineString', 'MultiLineString'].includes(getGeometryType(feature) ?? '')

export const isTrack = (feature: Feature): boolean =>
  isLine(feature) && ['track', 'linestring', 'multilinestring'].includes(getKind(feature))

/** Throws `FEATURE_UNUSABLE` if the feature is not a line or a list does not match its vertices. */
export function readTrack(feature: Feature): Track {
  if (!isLine(feature)) throw createFeatureError(feature, `is not a track but a ${getKind(feature)}`)
  const parts = listParts(feature.geometry)
  const positions = parts.flat()
  const lons = unwrapLongitudes(positions.map(([lon = 0]) => lon))
  return {
    feature,
    id: getFeatureId(feature),
    name: getLabel(feature),
    positions: positions.map(([, lat = 0], index) => ({ lon: lons[index] ?? 0, lat })),
    breaks: new Set(findBreaks(parts.map(({ length }) => length))),
    elevations: positions.map(([, , z]) => z ?? null),
    times: readTimes(feature, positions.length),
    speeds: readNumbers(feature, 'speeds', positions.length),
    courses: readNumbers(feature, 'courses', positions.length),
  }
}

/**
 * Throws the errors of `readTrack`, `NO_TIME_DATA`, and `FEATURE_UNUSABLE` for descending times or fewer than two
 * fixes.
 */
export function readTimedTrack(feature: Feature): TimedTrack {
  const track = readTrack(feature)
  const { times, positions } = track
  if (times === undefined)
    throw new ToolVaultError('NO_TIME_DATA', `the track has no timestamps: ${track.name}`, {
      data: { id: track.id },
    })
  if (positions.length < 2)
    throw createFeatureError(
      feature,
      `has ${formatCount(positions.length, 'fix')}; at least two are required`,
    )
  const descendingIndex = times.findIndex((time, index) => index > 0 && time < (times[index - 1] ?? 0))
  if (descendingIndex > 0)
    throw createFeatureError(
      feature,
      `goes back in time at vertex ${descendingIndex}, from ${formatTime(times[descendingIndex - 1] ?? 0)} to ${formatTime(times[descendingIndex] ?? 0)}`,
    )
  return {
    ...track,
    times,
    fixes: positions.map((position, index) => ({ ...position, time: times[index] ?? 0 })),
  }
}

function findBreaks(lengths: readonly number[]): number[] {
  let vertex = 0
  return lengths.slice(0, -1).map((length) => {
    vertex += length
    return vertex
  })
}

function readTimes(feature: Feature, vertices: number): readonly number[] | undefined {
  const { timestamps } = feature.properties
  if (timestamps === undefined || timestamps === null) return undefined
  if (!Array.isArray(timestamps)) throw createFeatureError(feature, 'has timestamps that are not a list')
  if (timestamps.length !== vertices)
    throw createFeatureError(feature, `has ${timestamps.length} timestamps for ${vertices} vertices`)
  return timestamps.map((text, index) => {
    const time = parseTime(text)
    if (time === undefined)
      throw createFeatureError(feature, `has an invalid time at vertex ${index}: ${JSON.stringify(text)}`)
    return time
  })
}

function readNumbers(
  feature: Feature,
  name: 'speeds' | 'courses',
  vertices: number,
): readonly (number | null)[] | undefined {
  const values = feature.properties[name]
  if (values === undefined || values === null) return undefined
  if (!Array.isArray(values) || values.length !== vertices)
    throw createFeatureError(feature, `has ${name} that do not match its ${vertices} vertices`)
  return values.map((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null))
}
