import { formatTime } from '@causeway/app-kit/time'
import { addFeatures, createComposite, formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { formatBearing, formatPlace } from '../domain/geodesy/format-figures.ts'
import type { Place } from '../domain/geodesy/geodesic.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { deriveMotion, getTimeSpan, interpolatePlace, type Motion } from '../domain/track/motion.ts'
import { toPosition } from '../domain/track/resampling.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { ToolVaultError } from '../errors.ts'
import {
  createFeaturesArgument,
  createTimeArgument,
  readTime,
  requireArgument,
  requireTracks,
  selectedTracks,
} from './arguments.ts'

export default defineTool({
  name: 'interpolate_position',
  category: 'track-analysis',
  title: 'Interpolate positions',
  about:
    'Find where tracks are at a time, interpolated along geodesics between fixes. Returns position, course and speed of each. Use it to compare vessels at one moment.',
  searchHint: 'where was ship at time',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    at: z.string().optional().describe('ISO 8601. Default: the current time of the plot'),
    current_time_state: createTimeArgument(),
    add_points: z.boolean().default(false).describe('Also add the positions as reference points'),
  },
  inject: { tracks: selectedTracks(), current_time_state: { from: 'time' } },
  run({ tracks, at, current_time_state, add_points }, newId) {
    const at_ms = readTime('at', requireArgument(at ?? current_time_state?.current, 'at'))
    const found = findPositions(requireTracks(tracks), at_ms)
    const time = formatTime(at_ms)
    const figures = showData({
      title: `Positions at ${time}`,
      summary: `${found.map(describe).slice(0, 5).join('; ')} (at ${time}, ${formatCount(found.length, 'track')}).`,
      time,
      ...createTable(
        found,
        { name: 'track', key: ({ track }) => track.name },
        {
          lon: ({ place }) => roundTo(toPosition(place)[0] ?? 0, 8),
          lat: ({ place }) => roundTo(place.lat, 8),
          course_deg: ({ course_deg }) => roundTo(course_deg, 2),
          speed_kn: ({ speed_kn }) => roundTo(speed_kn, 2),
        },
      ),
    })
    if (!add_points) return figures
    const points = found.map(({ track, place }) => ({
      type: 'Feature' as const,
      id: newId('position'),
      geometry: { type: 'Point', coordinates: toPosition(place) },
      properties: { dataType: 'reference-point', name: `${track.name} ${time}`, time },
    }))
    return createComposite([addFeatures(points), figures])
  },
})

interface TrackPosition extends Motion {
  readonly track: TimedTrack
  readonly place: Place
}

function findPositions(tracks: readonly TimedTrack[], time: number): readonly TrackPosition[] {
  const found = tracks.flatMap((track) => {
    const place = interpolatePlace(track, time)
    return place === undefined ? [] : [{ track, place, ...deriveMotion(track, time) }]
  })
  if (found.length > 0) return found
  throw new ToolVaultError('NO_OVERLAP', `no track has a position at ${formatTime(time)}`, {
    data: {
      spans: tracks.map((track) => {
        const [start, end] = getTimeSpan(track)
        return { name: track.name, start: formatTime(start), end: formatTime(end) }
      }),
    },
  })
}

function describe({ track, place, course_deg, speed_kn }: TrackPosition): string {
  const motion =
    course_deg === null || speed_kn === null
      ? ''
      : `, course ${formatBearing(course_deg)}, ${speed_kn.toFixed(1)} knots`
  return `${track.name} at ${formatPlace(place)}${motion}`
}
