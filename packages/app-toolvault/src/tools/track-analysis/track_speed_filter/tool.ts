import { z } from 'zod'
import { timedTrack, trackArgument } from '../../../arguments.ts'
import { fastByLegs, fastFixes } from '../../../domain/fast-fixes.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** track_speed_filter: speeds by the times of the track; the one-minute assumption of the original only when asked for. */
export default vaultTool({
  name: 'track_speed_filter',
  category: 'track-analysis',
  about:
    'Times at which a track was at least so fast. Speeds are derived from its positions (geodesic) and times.',
  input: {
    track_feature: trackArgument(),
    min_speed: z.number().min(0).default(10).describe('knots'),
    assumeIntervalSeconds: z
      .number()
      .positive()
      .optional()
      .describe('s between fixes, instead of their times; 60 as the original tool'),
  },
  inject: { track_feature: { from: 'track' } },
  samples,
  run({ track_feature, min_speed, assumeIntervalSeconds }) {
    const track = timedTrack(track_feature)
    return fastFixes(track, fastByLegs(track, min_speed, assumeIntervalSeconds), {
      min: min_speed,
      method: assumeIntervalSeconds === undefined ? 'derived from positions and times' : 'assumed interval',
    })
  },
})
