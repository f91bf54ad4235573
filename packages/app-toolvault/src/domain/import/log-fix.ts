/** A position of a log, and a whole log as a track feature. */

import { formatTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import type { Feature } from '../feature.ts'
import { mostFixes } from '../resampling.ts'

/** What a log says of a position; null where it says nothing. */
export interface LogFix {
  /** ms since 1970 */
  readonly time: number | null
  readonly lon: number
  readonly lat: number
  readonly speed_kn: number | null
  readonly course_deg: number | null
  /** metres, negative for a depth */
  readonly elevation_m: number | null
}

/** How a track is made of fixes. */
export interface TrackMaking {
  readonly id: string
  readonly name: string
  readonly source: string
  /** fixes nearer in time to the one kept before are left out */
  readonly min_interval_s?: number | undefined
  readonly properties?: Readonly<Record<string, unknown>>
}

/** Adds a fix; throws `IMPORT_TOO_LARGE` beyond a million. */
export function keep(fixes: LogFix[], fix: LogFix): void {
  if (fixes.length >= mostFixes)
    throw new CausewayError(
      'IMPORT_TOO_LARGE',
      `the log has more than ${mostFixes} positions of one vessel`,
      {
        data: { most: mostFixes },
      },
    )
  fixes.push(fix)
}

/** In the order of time, one fix for each time; a log of which any fix has no time stays as it is. */
function ordered(fixes: readonly LogFix[], min_interval_s = 0): LogFix[] {
  if (fixes.some(({ time }) => time === null)) return [...fixes]
  const sorted = fixes.toSorted((a, b) => (a.time ?? 0) - (b.time ?? 0))
  let last = Number.NEGATIVE_INFINITY
  return sorted.filter(({ time }) => {
    const isNew = (time ?? 0) > last && (time ?? 0) - last >= min_interval_s * 1000
    if (isNew) last = time ?? 0
    return isNew
  })
}

/** A track of two fixes or more, a point of one; undefined of none. */
export function featureOf(
  log: readonly LogFix[],
  { id, name, source, min_interval_s, properties }: TrackMaking,
): Feature | undefined {
  const fixes = ordered(log, min_interval_s)
  const [first] = fixes
  if (first === undefined) return undefined
  if (fixes.length === 1)
    return {
      type: 'Feature',
      id,
      geometry: { type: 'Point', coordinates: positionOf(first) },
      properties: {
        dataType: 'reference-point',
        name,
        ...(first.time === null ? {} : { time: formatTime(first.time) }),
        source,
        ...properties,
      },
    }
  const isTimed = fixes.every(({ time }) => time !== null)
  return {
    type: 'Feature',
    id,
    geometry: { type: 'LineString', coordinates: fixes.map(positionOf) },
    properties: {
      dataType: 'track',
      name,
      ...(isTimed ? { timestamps: fixes.map(({ time }) => formatTime(time ?? 0)) } : {}),
      ...(fixes.some(({ speed_kn }) => speed_kn !== null)
        ? { speeds: fixes.map(({ speed_kn }) => speed_kn) }
        : {}),
      ...(fixes.some(({ course_deg }) => course_deg !== null)
        ? { courses: fixes.map(({ course_deg }) => course_deg) }
        : {}),
      source,
      ...properties,
    },
  }
}

const positionOf = ({ lon, lat, elevation_m }: LogFix): readonly number[] =>
  elevation_m === null ? [lon, lat] : [lon, lat, elevation_m]
