import { formatTime } from '@causeway/app-kit/time'
import { addFeatures, createComposite, formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { formatBearing, formatPosition } from '../domain/geodesy/format-figures.ts'
import type { LatLon } from '../domain/geodesy/geodesic.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { deriveMotion, getTimeSpan, interpolatePosition, type Motion } from '../domain/track/motion.ts'
import { toCoordinates } from '../domain/track/resampling.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { ToolVaultError } from '../errors.ts'
import {
  createFeaturesArgument,
  createTimeArgument,
  injectSelectedTracks,
  readTime,
  requireArgument,
  requireTracks,
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
  inject: { tracks: injectSelectedTracks(), current_time_state: { from: 'time' } },
  run({ tracks, at, current_time_state, add_points }, newId) {
    const atMs = readTime('at', requireArgument(at ?? current_time_state?.current, 'at'))
    const trackPositions = findPositions(requireTracks(tracks), atMs)
    const time = formatTime(atMs)
    const figures = showData({
      title: `Positions at ${time}`,
      summary: `${trackPositions.map(describePosition).slice(0, 5).join('; ')} (at ${time}, ${formatCount(trackPositions.length, 'track')}).`,
      time,
      ...createTable(
        trackPositions,
        { name: 'track', key: ({ track }) => track.name },
        {
          lon: ({ position }) => roundTo(toCoordinates(position)[0] ?? 0, 8),
          lat: ({ position }) => roundTo(position.lat, 8),
          course_deg: ({ course_deg }) => roundTo(course_deg, 2),
          speed_kn: ({ speed_kn }) => roundTo(speed_kn, 2),
        },
      ),
    })
    if (!add_points) return figures
    const points = trackPositions.map(({ track, position }) => ({
      type: 'Feature' as const,
      id: newId('position'),
      geometry: { type: 'Point', coordinates: toCoordinates(position) },
      properties: { dataType: 'reference-point', name: `${track.name} ${time}`, time },
    }))
    return createComposite([addFeatures(points), figures])
  },
})

interface TrackPosition extends Motion {
  readonly track: TimedTrack
  readonly position: LatLon
}

function findPositions(tracks: readonly TimedTrack[], time: number): readonly TrackPosition[] {
  const trackPositions = tracks.flatMap((track) => {
    const position = interpolatePosition(track, time)
    return position === undefined ? [] : [{ track, position, ...deriveMotion(track, time) }]
  })
  if (trackPositions.length > 0) return trackPositions
  throw new ToolVaultError('NO_OVERLAP', `no track has a position at ${formatTime(time)}`, {
    data: {
      spans: tracks.map((track) => {
        const [start, end] = getTimeSpan(track)
        return { name: track.name, start: formatTime(start), end: formatTime(end) }
      }),
    },
  })
}

function describePosition({ track, position, course_deg, speed_kn }: TrackPosition): string {
  const motionText =
    course_deg === null || speed_kn === null
      ? ''
      : `, course ${formatBearing(course_deg)}, ${speed_kn.toFixed(1)} knots`
  return `${track.name} at ${formatPosition(position)}${motionText}`
}
