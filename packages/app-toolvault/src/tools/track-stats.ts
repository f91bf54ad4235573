import { type DebriefCommand, formatCount, showData } from '@causeway/plot'
import { z } from 'zod'
import { defineTool } from '../catalog/vault-tool.ts'
import { createTable, roundTo } from '../domain/table.ts'
import type { TimedTrack } from '../domain/track/track.ts'
import { computeStatistics, type TrackStatistics } from '../domain/track/track-statistics.ts'
import { createFeaturesArgument, injectSelectedTracks, requireTracks } from './arguments.ts'

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
  inject: { tracks: injectSelectedTracks() },
  run: ({ tracks, gap_s }) => createReport(requireTracks(tracks), gap_s),
})

function createReport(tracks: readonly TimedTrack[], gap_s: number | undefined): DebriefCommand {
  const rows = tracks.map((track) => ({ track, figures: computeStatistics(track, gap_s) }))
  const roundSpeed =
    (getSpeed: (statistics: TrackStatistics) => number | null) => (row: (typeof rows)[number]) =>
      roundTo(getSpeed(row.figures), 2)
  return showData({
    title: 'Track statistics',
    summary: rows
      .map(({ track, figures: statistics }) => describeStatistics(track.name, statistics))
      .slice(0, 5)
      .join(' '),
    tracks: rows.map(({ track, figures: statistics }) => ({
      id: track.id,
      name: track.name,
      ...statistics,
      gaps: statistics.gaps.slice(0, maxListedGaps),
      gap_count: statistics.gaps.length,
    })),
    ...createTable(
      rows,
      { name: 'track', key: ({ track }) => track.name },
      {
        fixes: ({ figures: statistics }) => statistics.fixes,
        length_nm: ({ figures: statistics }) => roundTo(statistics.length_nm, 3),
        duration_s: ({ figures: statistics }) => statistics.duration_s,
        mean_speed_kn: roundSpeed(({ mean_speed_kn }) => mean_speed_kn),
        median_speed_kn: roundSpeed(({ median_speed_kn }) => median_speed_kn),
        max_speed_kn: roundSpeed(({ max_speed_kn }) => max_speed_kn),
        recorded_median_speed_kn: roundSpeed(({ recorded_median_speed_kn }) => recorded_median_speed_kn),
        gaps: ({ figures: statistics }) => statistics.gaps.length,
      },
    ),
  })
}

function describeStatistics(name: string, statistics: TrackStatistics): string {
  const { fixes, length_nm, duration_s, mean_speed_kn, max_speed_kn, gaps } = statistics
  const speedText =
    mean_speed_kn === null
      ? ''
      : `, mean speed ${mean_speed_kn.toFixed(1)} knots, maximum ${max_speed_kn?.toFixed(1)}`
  const recordedText =
    statistics.recorded_median_speed_kn === null || statistics.median_speed_kn === null
      ? ''
      : ` (median recorded ${statistics.recorded_median_speed_kn.toFixed(1)}, derived ${statistics.median_speed_kn.toFixed(1)})`
  const gapText = gaps.length === 0 ? '' : `, ${formatCount(gaps.length, 'gap')}`
  return `${name}: ${length_nm.toFixed(3)} nm in ${(duration_s / 3600).toFixed(2)} h, ${formatCount(fixes, 'fix')}${speedText}${recordedText}${gapText}.`
}
