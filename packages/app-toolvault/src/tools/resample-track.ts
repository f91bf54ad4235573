import { createComposite, formatCount, showData, updateFeatures } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createTable } from '../domain/table.ts'
import { computeMedianInterval, resampleTrack } from '../domain/track/resampling.ts'
import { createFeaturesArgument, injectSelectedTracks, requireTracks } from './arguments.ts'

/** A pause is a gap if it exceeds both this many median intervals and two new intervals. */
const gapFactor = 10

export default defineTool({
  name: 'resample_track',
  category: 'track-analysis',
  title: 'Resample tracks',
  about:
    'Resample tracks to regular intervals, interpolated along geodesics. Returns the tracks; gaps are not filled. Use it to compare tracks fix by fix, or to reduce a dense track evenly; simplify_track keeps its shape.',
  searchHint: 'one position every minute, even spacing',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    interval_s: z.number().positive().default(60).describe('Seconds'),
    max_gap_s: z
      .number()
      .positive()
      .optional()
      .describe('Longer pauses, in seconds, are not filled. Default: 10 median intervals'),
  },
  inject: { tracks: injectSelectedTracks() },
  *run({ tracks, interval_s, max_gap_s }) {
    const parsedTracks = requireTracks(tracks)
    const rows = []
    for (const [done, track] of parsedTracks.entries()) {
      const maxGapSeconds = max_gap_s ?? Math.max(gapFactor * computeMedianInterval(track), 2 * interval_s)
      rows.push({ track, ...resampleTrack(track, { interval_s, max_gap_s: maxGapSeconds }) })
      yield { done, total: parsedTracks.length }
    }
    const fixCount = rows.reduce((sum, row) => sum + row.fixes, 0)
    const gapCount = rows.reduce((sum, row) => sum + row.gaps, 0)
    return createComposite([
      updateFeatures(rows.map(({ feature }) => feature)),
      showData({
        title: 'Resampled tracks',
        summary: `${formatCount(parsedTracks.length, 'track')} with a fix every ${interval_s} s, ${fixCount} in total; ${formatCount(gapCount, 'gap')} not filled.`,
        interval_s,
        ...createTable(
          rows,
          { name: 'track', key: ({ track }) => track.name },
          {
            fixes_before: ({ track }) => track.fixes.length,
            fixes_after: (row) => row.fixes,
            gaps: (row) => row.gaps,
          },
        ),
      }),
    ])
  },
})
