import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { filterByDerivedSpeed, reportFastFixes } from '../domain/track/speed-filter.ts'
import { createTrackArgument, requireTrack } from './arguments.ts'

export default defineTool({
  name: 'track_speed_filter',
  category: 'track-analysis',
  title: 'Find fast fixes by derived speed',
  about:
    'Find the times at which a track was at or above a speed, derived from its positions (geodesic) and times. Returns them with their speeds. Use it when the track has no recorded speeds or they are doubtful.',
  searchHint: 'when was ship faster than, knots',
  input: {
    track_feature: createTrackArgument(),
    min_speed: z.number().min(0).default(10).describe('Knots'),
    assumeIntervalSeconds: z
      .number()
      .positive()
      .optional()
      .describe('Seconds between fixes, instead of their times; the original tool assumed 60'),
  },
  inject: { track_feature: { from: 'track' } },
  run({ track_feature, min_speed, assumeIntervalSeconds }) {
    const track = requireTrack(track_feature)
    return reportFastFixes(track, filterByDerivedSpeed(track, min_speed, assumeIntervalSeconds), {
      minSpeed: min_speed,
      method: assumeIntervalSeconds === undefined ? 'derived from positions and times' : 'assumed interval',
    })
  },
})
