import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { filterByRecordedSpeed, reportFastFixes } from '../domain/track/speed-filter.ts'
import { createTrackArgument, requireTrack } from './arguments.ts'

export default defineTool({
  name: 'track_speed_filter_fast',
  category: 'track-analysis',
  title: 'Find fast fixes by recorded speed',
  about:
    'Find the times at which the recorded speed of a track (properties.speeds, knots) is at or above a speed. Returns them with their speeds. Use it when the recorded speeds are reliable.',
  searchHint: 'fast ship, recorded knots',
  input: {
    track_feature: createTrackArgument(),
    min_speed: z.number().min(0).default(10).describe('Knots'),
  },
  inject: { track_feature: { from: 'track' } },
  run({ track_feature, min_speed }) {
    const track = requireTrack(track_feature)
    return reportFastFixes(track, filterByRecordedSpeed(track, min_speed), {
      minSpeed: min_speed,
      method: 'recorded speeds',
    })
  },
})
