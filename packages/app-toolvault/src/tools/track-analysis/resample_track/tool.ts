import { z } from 'zod'
import { featuresArgument, selectedTracks, timedTracks } from '../../../arguments.ts'
import { composite, showData, updateFeatures } from '../../../domain/command.ts'
import { counted } from '../../../domain/counted.ts'
import { medianInterval, resampled } from '../../../domain/resampling.ts'
import { table } from '../../../domain/table.ts'
import { vaultTool } from '../../../vault-tool.ts'
import { samples } from './samples.ts'

/** Pauses this many times the usual one, and twice the new interval, stay gaps. */
const gapFactor = 10

/** resample_track: even times, interpolated along geodesics; nothing is invented inside gaps. */
export default vaultTool({
  name: 'resample_track',
  category: 'track-analysis',
  about: 'Tracks with fixes at even times, interpolated along geodesics. Gaps stay gaps.',
  input: {
    tracks: featuresArgument('tracks'),
    interval_s: z.number().positive().default(60).describe('s'),
    max_gap_s: z
      .number()
      .positive()
      .optional()
      .describe('longer pauses are not filled; default: 10 median intervals'),
  },
  inject: { tracks: selectedTracks() },
  samples,
  *run({ tracks, interval_s, max_gap_s }) {
    const all = timedTracks(tracks)
    const rows = []
    for (const [done, track] of all.entries()) {
      const gap = max_gap_s ?? Math.max(gapFactor * medianInterval(track), 2 * interval_s)
      rows.push({ track, ...resampled(track, { interval_s, max_gap_s: gap }) })
      yield { done, total: all.length }
    }
    const fixes = rows.reduce((sum, row) => sum + row.fixes, 0)
    const gaps = rows.reduce((sum, row) => sum + row.gaps, 0)
    return composite([
      updateFeatures(rows.map(({ feature }) => feature)),
      showData({
        title: 'Resampled tracks',
        summary: `${counted(all.length, 'track')} with a fix every ${interval_s} s, ${fixes} in all; ${counted(gaps, 'gap')} left open.`,
        interval_s,
        ...table(
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
