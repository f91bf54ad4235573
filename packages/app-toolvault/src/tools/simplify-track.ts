import { createComposite, retainVertices, showData, updateFeatures } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import { simplifyTrack } from '../domain/track/simplification.ts'
import { readTimedTrack, readTrack } from '../domain/track/track.ts'
import { createFeaturesArgument, injectSelectedTracks, requireFeatures } from './arguments.ts'

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
  inject: { tracks: injectSelectedTracks() },
  *run({ tracks, tolerance_m, deviation }) {
    const parsedTracks = requireFeatures(tracks, 'tracks').map(
      deviation === 'time' ? readTimedTrack : readTrack,
    )
    const total = parsedTracks.reduce((sum, { positions }) => sum + positions.length, 0)
    let finishedVertices = 0
    const rows = []
    for (const track of parsedTracks) {
      const iterator = simplifyTrack(track, { tolerance_m, kind: deviation })
      let result = iterator.next()
      for (; !result.done; result = iterator.next()) yield { done: finishedVertices + result.value, total }
      finishedVertices += track.positions.length
      rows.push({ track, kept: result.value })
    }
    const remainingCount = rows.reduce((sum, { kept: retained }) => sum + retained.length, 0)
    return createComposite([
      updateFeatures(rows.map(({ track, kept: retained }) => retainVertices(track.feature, retained))),
      showData({
        title: 'Simplified tracks',
        summary: `${remainingCount} of ${total} vertices remain; no removed vertex deviates by more than ${tolerance_m} m (${deviation}).`,
        tolerance_m,
        deviation,
        ...createTable(
          rows,
          { name: 'track', key: ({ track }) => track.name },
          {
            vertices_before: ({ track }) => track.positions.length,
            vertices_after: ({ kept: retained }) => retained.length,
            kept_percent: ({ track, kept: retained }) =>
              roundTo((100 * retained.length) / Math.max(1, track.positions.length), 2),
          },
        ),
      }),
    ])
  },
})
