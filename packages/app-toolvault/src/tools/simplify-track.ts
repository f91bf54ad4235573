import { createComposite, retainVertices, showData, updateFeatures } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { simplifyTrack } from '../domain/track/simplification.ts'
import { readTimedTrack, readTrack } from '../domain/track/track.ts'
import { createFeaturesArgument, requireFeatures, selectedTracks } from './arguments.ts'

export default defineTool({
  name: 'simplify_track',
  category: 'track-analysis',
  title: 'Simplify tracks',
  about:
    'Remove vertices of tracks that deviate less than a tolerance (metres, geodesic) from the simplified track. Returns the tracks with aligned timestamps and lists. Use it to make large tracks smaller.',
  searchHint: 'too many points, fewer points, thin out',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    tolerance_m: z.number().positive().default(50).describe('Metres'),
    deviation: z
      .enum(['time', 'line'])
      .default('time')
      .describe('Distance to the position at the same time, which preserves speeds, or to the line'),
  },
  inject: { tracks: selectedTracks() },
  *run({ tracks, tolerance_m, deviation }) {
    const all = requireFeatures(tracks, 'tracks').map(deviation === 'time' ? readTimedTrack : readTrack)
    const total = all.reduce((sum, { places }) => sum + places.length, 0)
    let before = 0
    const rows = []
    for (const track of all) {
      const steps = simplifyTrack(track, { tolerance_m, kind: deviation })
      let step = steps.next()
      for (; !step.done; step = steps.next()) yield { done: before + step.value, total }
      before += track.places.length
      rows.push({ track, kept: step.value })
    }
    const left = rows.reduce((sum, { kept }) => sum + kept.length, 0)
    return createComposite([
      updateFeatures(rows.map(({ track, kept }) => retainVertices(track.feature, kept))),
      showData({
        title: 'Simplified tracks',
        summary: `${left} of ${total} vertices remain; no removed vertex deviates by more than ${tolerance_m} m (${deviation}).`,
        tolerance_m,
        deviation,
        ...createTable(
          rows,
          { name: 'track', key: ({ track }) => track.name },
          {
            vertices_before: ({ track }) => track.places.length,
            vertices_after: ({ kept }) => kept.length,
            kept_percent: ({ track, kept }) =>
              roundTo((100 * kept.length) / Math.max(1, track.places.length), 2),
          },
        ),
      }),
    ])
  },
})
