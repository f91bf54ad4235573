import { type DebriefCommand, formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { computeStatistics, type TrackStatistics } from '../domain/track/track-statistics.ts'
import { createFeaturesArgument, requireTracks, selectedTracks } from './arguments.ts'

const maxListedGaps = 20

export default defineTool({
  name: 'track_stats',
  category: 'track-analysis',
  title: 'Compute track statistics',
  about:
    'Compute statistics of tracks: geodesic length, duration, derived and recorded speeds, and gaps. Returns the figures of each track. Use it for an overview of what a vessel did; for the speed at every fix use derive_speed_course.',
  searchHint: 'how long, distance sailed, duration',
  input: {
    tracks: createFeaturesArgument('Tracks'),
    gap_s: z
      .number()
      .positive()
      .optional()
      .describe('A longer pause, in seconds, is a gap. Default: 10 median intervals'),
  },
  inject: { tracks: selectedTracks() },
  run: ({ tracks, gap_s }) => report(requireTracks(tracks), gap_s),
})

function report(tracks: readonly TimedTrack[], gap_s: number | undefined): DebriefCommand {
  const rows = tracks.map((track) => ({ track, figures: computeStatistics(track, gap_s) }))
  const speed = (read: (figures: TrackStatistics) => number | null) => (row: (typeof rows)[number]) =>
    roundTo(read(row.figures), 2)
  return showData({
    title: 'Track statistics',
    summary: rows
      .map(({ track, figures }) => describe(track.name, figures))
      .slice(0, 5)
      .join(' '),
    tracks: rows.map(({ track, figures }) => ({
      id: track.id,
      name: track.name,
      ...figures,
      gaps: figures.gaps.slice(0, maxListedGaps),
      gap_count: figures.gaps.length,
    })),
    ...createTable(
      rows,
      { name: 'track', key: ({ track }) => track.name },
      {
        fixes: ({ figures }) => figures.fixes,
        length_nm: ({ figures }) => roundTo(figures.length_nm, 3),
        duration_s: ({ figures }) => figures.duration_s,
        mean_speed_kn: speed(({ mean_speed_kn }) => mean_speed_kn),
        median_speed_kn: speed(({ median_speed_kn }) => median_speed_kn),
        max_speed_kn: speed(({ max_speed_kn }) => max_speed_kn),
        recorded_median_speed_kn: speed(({ recorded_median_speed_kn }) => recorded_median_speed_kn),
        gaps: ({ figures }) => figures.gaps.length,
      },
    ),
  })
}

function describe(name: string, figures: TrackStatistics): string {
  const { fixes, length_nm, duration_s, mean_speed_kn, max_speed_kn, gaps } = figures
  const speeds =
    mean_speed_kn === null
      ? ''
      : `, mean speed ${mean_speed_kn.toFixed(1)} knots, maximum ${max_speed_kn?.toFixed(1)}`
  const recorded =
    figures.recorded_median_speed_kn === null || figures.median_speed_kn === null
      ? ''
      : ` (median recorded ${figures.recorded_median_speed_kn.toFixed(1)}, derived ${figures.median_speed_kn.toFixed(1)})`
  const pauses = gaps.length === 0 ? '' : `, ${formatCount(gaps.length, 'gap')}`
  return `${name}: ${length_nm.toFixed(3)} nm in ${(duration_s / 3600).toFixed(2)} h, ${formatCount(fixes, 'fix')}${speeds}${recorded}${pauses}.`
}
