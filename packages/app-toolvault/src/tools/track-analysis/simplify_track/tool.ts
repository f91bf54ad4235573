import { z } from 'zod'
import { features, featuresArgument, selectedTracks } from '../../../arguments.ts'
import { composite, showData, updateFeatures } from '../../../domain/command.ts'
import { keptVertices } from '../../../domain/simplification.ts'
import { rounded, table } from '../../../domain/table.ts'
import { readTimedTrack, readTrack } from '../../../domain/track.ts'
import { withVertices } from '../../../domain/vertex-list.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** simplify_track: timestamps, speeds, courses and every other list stay with their vertices. */
export default vaultTool({
  name: 'simplify_track',
  category: 'track-analysis',
  about:
    'Tracks with fewer vertices, none of those left out further than the tolerance (m, geodesic) from where the new track is at its time. Timestamps stay aligned.',
  input: {
    tracks: featuresArgument('tracks'),
    tolerance_m: z.number().positive().default(50).describe('m'),
    deviation: z
      .enum(['time', 'line'])
      .default('time')
      .describe('to the place at the same time (keeps speeds), or to the line'),
  },
  inject: { tracks: selectedTracks() },
  samples,
  *run({ tracks, tolerance_m, deviation }) {
    const all = features(tracks, 'tracks').map(deviation === 'time' ? readTimedTrack : readTrack)
    const total = all.reduce((sum, { places }) => sum + places.length, 0)
    let before = 0
    const rows = []
    for (const track of all) {
      const steps = keptVertices(track, { tolerance_m, kind: deviation })
      let step = steps.next()
      for (; !step.done; step = steps.next()) yield { done: before + step.value, total }
      before += track.places.length
      rows.push({ track, kept: step.value })
    }
    const left = rows.reduce((sum, { kept }) => sum + kept.length, 0)
    return composite([
      updateFeatures(rows.map(({ track, kept }) => withVertices(track.feature, kept))),
      showData({
        title: 'Simplified tracks',
        summary: `${total} vertices became ${left}; none deviates by more than ${tolerance_m} m (${deviation}).`,
        tolerance_m,
        deviation,
        ...table(
          rows,
          { name: 'track', key: ({ track }) => track.name },
          {
            vertices_before: ({ track }) => track.places.length,
            vertices_after: ({ kept }) => kept.length,
            kept_percent: ({ track, kept }) =>
              rounded((100 * kept.length) / Math.max(1, track.places.length), 2),
          },
        ),
      }),
    ])
  },
})
