/** A track as numbers: places, times and what the recorder said about them. */

import { formatTime, parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { type Feature, idOf, kindOf, nameOf, partsOf } from './feature.ts'
import type { Place } from './geodesic.ts'
import { unwrapped } from './longitude.ts'

/** A place with its time. */
export interface Fix extends Place {
  /** ms since 1970-01-01T00:00:00Z */
  readonly time: number
}

/** A track. The lists run in parallel, over all parts of a MultiLineString. */
export interface Track {
  readonly feature: Feature
  readonly id: string | null
  readonly name: string
  /** longitudes unwrapped: each within half a turn of the one before */
  readonly places: readonly Place[]
  /** vertices at which a further part of a MultiLineString begins: no leg leads there */
  readonly breaks: ReadonlySet<number>
  /** metres, negative for a depth; null where the vertex has none */
  readonly elevations: readonly (number | null)[]
  /** ms since 1970; undefined for a track without times */
  readonly times: readonly number[] | undefined
  /** as recorded, knots, never mixed with derived speeds */
  readonly speeds: readonly (number | null)[] | undefined
  /** as recorded, degrees */
  readonly courses: readonly (number | null)[] | undefined
}

/** A track whose vertices have times, in order. */
export interface TimedTrack extends Track {
  readonly times: readonly number[]
  readonly fixes: readonly Fix[]
}

const lines: readonly string[] = ['LineString', 'MultiLineString']

/** True for a feature that can be read as a track. */
export const isTrack = (feature: Feature): boolean =>
  lines.includes(feature.geometry?.type ?? '') &&
  ['track', 'linestring', 'multilinestring'].includes(kindOf(feature))

/** Reads a track; throws `FEATURE_UNUSABLE` for what is none, and for lists that do not fit its vertices. */
export function readTrack(feature: Feature): Track {
  if (!lines.includes(feature.geometry?.type ?? ''))
    throw unusable(feature, `is not a track but a ${kindOf(feature)}`)
  const parts = partsOf(feature.geometry)
  const positions = parts.flat()
  const lons = unwrapped(positions.map(([lon = 0]) => lon))
  const { speeds, courses } = feature.properties
  return {
    feature,
    id: idOf(feature),
    name: nameOf(feature),
    places: positions.map(([, lat = 0], index) => ({ lon: lons[index] ?? 0, lat })),
    breaks: new Set(breaksOf(parts.map(({ length }) => length))),
    elevations: positions.map(([, , z]) => z ?? null),
    times: timesOf(feature, positions.length),
    speeds: numbersOf(feature, 'speeds', speeds, positions.length),
    courses: numbersOf(feature, 'courses', courses, positions.length),
  }
}

/** The same with times in order and at least two fixes; throws `NO_TIME_DATA` where there are none. */
export function readTimedTrack(feature: Feature): TimedTrack {
  const track = readTrack(feature)
  const { times, places } = track
  if (times === undefined)
    throw new CausewayError('NO_TIME_DATA', `the track has no timestamps: ${track.name}`, {
      data: { id: track.id },
    })
  if (places.length < 2) throw unusable(feature, `has ${places.length} fixes; two are needed`)
  const back = times.findIndex((time, index) => index > 0 && time < (times[index - 1] ?? 0))
  if (back > 0)
    throw unusable(
      feature,
      `goes back in time at vertex ${back}, from ${formatTime(times[back - 1] ?? 0)} to ${formatTime(times[back] ?? 0)}`,
    )
  return {
    ...track,
    times,
    fixes: places.map((place, index) => ({ ...place, time: times[index] ?? 0 })),
  }
}

function breaksOf(lengths: readonly number[]): number[] {
  let vertex = 0
  return lengths.slice(0, -1).map((length) => {
    vertex += length
    return vertex
  })
}

function timesOf(feature: Feature, vertices: number): readonly number[] | undefined {
  const { timestamps } = feature.properties
  if (timestamps === undefined || timestamps === null) return undefined
  if (!Array.isArray(timestamps)) throw unusable(feature, 'has timestamps that are no list')
  if (timestamps.length !== vertices)
    throw unusable(feature, `has ${timestamps.length} timestamps for ${vertices} vertices`)
  return timestamps.map((text, index) => {
    const time = parseTime(text)
    if (time === undefined) throw unusable(feature, `has no time at vertex ${index}: ${JSON.stringify(text)}`)
    return time
  })
}

function numbersOf(
  feature: Feature,
  name: string,
  values: unknown,
  vertices: number,
): readonly (number | null)[] | undefined {
  if (values === undefined || values === null) return undefined
  if (!Array.isArray(values) || values.length !== vertices)
    throw unusable(feature, `has ${name} that do not fit its ${vertices} vertices`)
  return values.map((value) => (typeof value === 'number' && Number.isFinite(value) ? value : null))
}

/** `FEATURE_UNUSABLE` about one feature. */
export const unusable = (feature: Feature, reason: string): CausewayError =>
  new CausewayError('FEATURE_UNUSABLE', `${nameOf(feature)} ${reason}`, {
    data: { problems: [{ id: idOf(feature), reason }] },
  })
