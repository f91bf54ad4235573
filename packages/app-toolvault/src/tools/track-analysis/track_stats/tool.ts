import { z } from 'zod'
import { featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { statisticsAnswer } from '../../../domain/statistics-answer.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** track_stats: derived speeds, with the recorded ones beside them and never among them. */
export default vaultTool({
  name: 'track_stats',
  category: 'track-analysis',
  about: 'Length (geodesic), duration, derived speeds, recorded speeds and gaps of tracks.',
  input: {
    tracks: featuresArgument('tracks'),
    gap_s: z.number().positive().optional().describe('a longer pause is a gap; default: 10 median intervals'),
  },
  inject: { tracks: selectedTracks() },
  samples,
  run: ({ tracks, gap_s }) => statisticsAnswer(timedTracks(tracks), gap_s),
})
