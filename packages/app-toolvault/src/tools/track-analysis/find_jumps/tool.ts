import { z } from 'zod'
import { featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { jumpAnswer, type TrackJumps } from '../../../domain/jump-answer.ts'
import { findJumps } from '../../../domain/position-jump.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** find_jumps: up to five fixes in a row that are somewhere else; gaps are none. */
export default vaultTool({
  name: 'find_jumps',
  category: 'track-analysis',
  about:
    'Position jumps of tracks: fixes far from where the track around them says. Gaps are not jumps. With remove they are taken out.',
  input: {
    tracks: featuresArgument('tracks'),
    min_offset_m: z.number().positive().default(100).describe('m; smaller offsets are noise'),
    remove: z.boolean().default(false).describe('also answer the tracks without the jumps'),
  },
  inject: { tracks: selectedTracks() },
  samples,
  *run({ tracks, min_offset_m, remove }) {
    const all = timedTracks(tracks)
    const total = all.reduce((sum, { fixes }) => sum + fixes.length, 0)
    let before = 0
    const found: TrackJumps[] = []
    for (const track of all) {
      const steps = findJumps(track, min_offset_m)
      let step = steps.next()
      for (; !step.done; step = steps.next())
        if (step.value % 64 === 0) yield { done: before + step.value, total }
      before += track.fixes.length
      found.push({ track, jumps: step.value })
    }
    return jumpAnswer(found, { min_offset_m, remove })
  },
})
