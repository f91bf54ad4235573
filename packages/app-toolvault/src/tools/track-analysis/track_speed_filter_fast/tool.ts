import { z } from 'zod'
import { timedTrack, trackArgument } from '../../../arguments.ts'
import { fastByRecord, fastFixes } from '../../../domain/fast-fixes.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** track_speed_filter_fast: only what the recorder said; derived speeds are never mixed in. */
export default vaultTool({
  name: 'track_speed_filter_fast',
  category: 'track-analysis',
  about: 'Times at which the recorded speeds of a track (properties.speeds, knots) are at least so high.',
  input: {
    track_feature: trackArgument(),
    min_speed: z.number().min(0).default(10).describe('knots'),
  },
  inject: { track_feature: { from: 'track' } },
  samples,
  run({ track_feature, min_speed }) {
    const track = timedTrack(track_feature)
    return fastFixes(track, fastByRecord(track, min_speed), { min: min_speed, method: 'recorded speeds' })
  },
})
