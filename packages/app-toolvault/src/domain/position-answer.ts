/** Places of tracks at a time, as an answer. */

import { formatTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { addFeatures, composite, type DebriefCommand, showData } from './command.ts'
import { counted } from './counted.ts'
import type { Place } from './geodesic.ts'
import { type Motion, motionAt, placeAt, timeSpan } from './motion.ts'
import { positionOf } from './resampling.ts'
import { rounded, table } from './table.ts'
import type { TimedTrack } from './track.ts'

/** Where a track is. */
export interface TrackPosition extends Motion {
  readonly track: TimedTrack
  readonly place: Place
}

/** Tracks that are somewhere at the time; throws `NO_OVERLAP` where none is. */
export function positionsAt(tracks: readonly TimedTrack[], time: number): readonly TrackPosition[] {
  const found = tracks.flatMap((track) => {
    const place = placeAt(track, time)
    return place === undefined ? [] : [{ track, place, ...motionAt(track, time) }]
  })
  if (found.length > 0) return found
  throw new CausewayError('NO_OVERLAP', `no track has a place at ${formatTime(time)}`, {
    data: {
      spans: tracks.map((track) => {
        const [start, end] = timeSpan(track)
        return { name: track.name, start: formatTime(start), end: formatTime(end) }
      }),
    },
  })
}

/** The places, and with `add_points` points for the plot. */
export function positionAnswer(
  found: readonly TrackPosition[],
  options: { readonly time: number; readonly add_points: boolean; newId(prefix: string): string },
): DebriefCommand {
  const time = formatTime(options.time)
  const figures = showData({
    title: `Positions at ${time}`,
    summary: `${found.map(sentence).slice(0, 5).join('; ')} (at ${time}, ${counted(found.length, 'track')}).`,
    time,
    ...table(
      found,
      { name: 'track', key: ({ track }) => track.name },
      {
        lon: ({ place }) => rounded(positionOf(place)[0] ?? 0, 8),
        lat: ({ place }) => rounded(place.lat, 8),
        course_deg: ({ course_deg }) => rounded(course_deg, 2),
        speed_kn: ({ speed_kn }) => rounded(speed_kn, 2),
      },
    ),
  })
  if (!options.add_points) return figures
  const points = found.map(({ track, place }) => ({
    type: 'Feature' as const,
    id: options.newId('position'),
    geometry: { type: 'Point', coordinates: positionOf(place) },
    properties: { dataType: 'reference-point', name: `${track.name} ${time}`, time },
  }))
  return composite([addFeatures(points), figures])
}

const sentence = ({ track, place, course_deg, speed_kn }: TrackPosition): string => {
  const [lon = 0, lat = 0] = positionOf(place)
  const motion =
    course_deg === null || speed_kn === null
      ? ''
      : `, course ${course_deg.toFixed(1)}, ${speed_kn.toFixed(1)} knots`
  return `${track.name} at ${lat.toFixed(6)}, ${lon.toFixed(6)} (latitude, longitude)${motion}`
}
