import {
  addFeatures,
  countVertices,
  createComposite,
  type DebriefCommand,
  type Feature,
  formatCount,
  getKind,
  getLabel,
  showData,
} from '@causeway/plot'
import { ToolVaultError } from '../../errors.ts'
import { createTable } from '../table.ts'

interface SkippedLine {
  /** Number of the line from 1, or `null` if unknown. */
  readonly line: number | null
  readonly reason: string
}

const maxListedLines = 100

/** Counts skipped lines and positions by reason, and lists the first hundred. */
export class SkipCounter {
  readonly counts: Record<string, number> = {}
  readonly firstSkipped: SkippedLine[] = []

  add(reason: string, line: number | null, count = 1): void {
    this.counts[reason] = (this.counts[reason] ?? 0) + count
    if (this.firstSkipped.length < maxListedLines) this.firstSkipped.push({ line, reason })
  }

  get total(): number {
    return Object.values(this.counts).reduce((sum, count) => sum + count, 0)
  }
}

interface ImportSummary {
  /** Display name, such as `NMEA 0183`. */
  readonly format: string
  readonly features: readonly Feature[]
  readonly lines: number
  readonly skipped: SkipCounter
  readonly notes?: readonly string[]
}

/** Throws `NOTHING_IMPORTED` if there are no features. */
export function reportImport({
  format,
  features,
  lines,
  skipped,
  notes = [],
}: ImportSummary): DebriefCommand {
  if (features.length === 0)
    throw new ToolVaultError('NOTHING_IMPORTED', `no ${format} positions in ${formatCount(lines, 'line')}`, {
      data: { lines, skipped: skipped.counts, skipped_lines: skipped.firstSkipped },
    })
  const tracks = features.filter((feature) => getKind(feature) === 'track')
  const fixes = tracks.reduce((sum, feature) => sum + countVertices(feature), 0)
  const otherCount = features.length - tracks.length
  return createComposite([
    addFeatures(features),
    showData({
      title: `Import of ${format}`,
      summary: [
        `${formatCount(tracks.length, 'track')} with ${formatCount(fixes, 'fix')}${otherCount > 0 ? ` and ${formatCount(otherCount, 'other feature')}` : ''} from ${formatCount(lines, 'line')}; ${skipped.total} skipped.`,
        ...notes,
      ].join(' '),
      format,
      lines,
      skipped: skipped.counts,
      ...(skipped.total === 0 ? {} : { skipped_lines: skipped.firstSkipped }),
      ...createTable(
        features,
        { name: 'feature', key: getLabel },
        {
          kind: getKind,
          positions: countVertices,
          start: ({ properties }) => getTime(properties, 0),
          end: ({ properties }) => getTime(properties, -1),
        },
      ),
    }),
  ])
}

function getTime({ timestamps, time }: Feature['properties'], index: number): string | null {
  const timeText = Array.isArray(timestamps) ? timestamps.at(index) : time
  return typeof timeText === 'string' ? timeText : null
}
