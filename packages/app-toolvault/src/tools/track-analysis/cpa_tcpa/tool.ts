import { z } from 'zod'
import { featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { approachAnswer, approaches } from '../../../domain/approach-answer.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** cpa_tcpa: what was, and what would have been on steady courses. */
export default vaultTool({
  name: 'cpa_tcpa',
  category: 'track-analysis',
  about:
    'Closest point of approach of every pair of tracks: as it happened, between fixes included, and as predicted from course and speed at a time.',
  input: {
    tracks: featuresArgument('2 to 200 tracks'),
    at: z.string().optional().describe('time of the prediction; default: begin of the common time'),
    motion: z
      .enum(['derived', 'recorded'])
      .default('derived')
      .describe('course and speed from positions, or from properties.courses and speeds'),
    within_nm: z.number().positive().optional().describe('only pairs that came closer'),
    draw: z.boolean().default(false).describe('also add a line for each approach'),
  },
  inject: { tracks: selectedTracks(2, 200) },
  samples,
  *run({ tracks, ...options }, { newId }) {
    const all = timedTracks(tracks, { min: 2 })
    const found = yield* approaches(all, options)
    return approachAnswer(all, found, { ...options, newId })
  },
})
