/** Figures of tracks, as an answer. */

import { type DebriefCommand, showData } from './command.ts'
import { counted } from './counted.ts'
import { rounded, table } from './table.ts'
import type { TimedTrack } from './track.ts'
import { statisticsOf, type TrackStatistics } from './track-statistics.ts'

/** Most gaps of a track that are listed. */
const mostGaps = 20

/** The longest track in words, and all as a table. */
export function statisticsAnswer(tracks: readonly TimedTrack[], gap_s: number | undefined): DebriefCommand {
  const rows = tracks.map((track) => ({ track, figures: statisticsOf(track, gap_s) }))
  const speed = (read: (figures: TrackStatistics) => number | null) => (row: (typeof rows)[number]) =>
    rounded(read(row.figures), 2)
  return showData({
    title: 'Track statistics',
    summary: rows
      .map(({ track, figures }) => sentence(track.name, figures))
      .slice(0, 5)
      .join(' '),
    tracks: rows.map(({ track, figures }) => ({
      id: track.id,
      name: track.name,
      ...figures,
      gaps: figures.gaps.slice(0, mostGaps),
      gap_count: figures.gaps.length,
    })),
    ...table(
      rows,
      { name: 'track', key: ({ track }) => track.name },
      {
        fixes: ({ figures }) => figures.fixes,
        length_nm: ({ figures }) => rounded(figures.length_nm, 3),
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

function sentence(name: string, figures: TrackStatistics): string {
  const { fixes, length_nm, duration_s, mean_speed_kn, max_speed_kn, gaps } = figures
  const speeds =
    mean_speed_kn === null
      ? ''
      : `, ${mean_speed_kn.toFixed(1)} knots in the mean and ${max_speed_kn?.toFixed(1)} at most`
  const recorded =
    figures.recorded_median_speed_kn === null || figures.median_speed_kn === null
      ? ''
      : ` (recorded median ${figures.recorded_median_speed_kn.toFixed(1)}, derived ${figures.median_speed_kn.toFixed(1)})`
  const pauses = gaps.length === 0 ? '' : `, ${counted(gaps.length, 'gap')}`
  return `${name}: ${length_nm.toFixed(3)} nm in ${(duration_s / 3600).toFixed(2)} h, ${counted(fixes, 'fix')}${speeds}${recorded}${pauses}.`
}
