/** What was imported, as an answer: the features, how many fixes they have, and what was left out and why. */
import { CausewayError } from '@causeway/protocol'
import { addFeatures, composite, type DebriefCommand, showData } from '../command.ts'
import { counted } from '../counted.ts'
import { type Feature, kindOf, nameOf, vertexCount } from '../feature.ts'
import { table } from '../table.ts'

/** Counts what is left out of an import, by reason. */
export interface Skipped {
  add(reason: string): void
  readonly counts: Readonly<Record<string, number>>
}

/** No line left out yet. */
export function skipping(): Skipped {
  const counts: Record<string, number> = {}
  return {
    counts,
    add(reason) {
      counts[reason] = (counts[reason] ?? 0) + 1
    },
  }
}

/** An import that has come to its end. */
export interface Imported {
  /** `NMEA 0183` */
  readonly format: string
  readonly features: readonly Feature[]
  readonly lines: number
  readonly skipped: Skipped
  /** sentences about what was assumed */
  readonly notes?: readonly string[]
}

/** The answer; throws `NOTHING_IMPORTED` where there are no features. */
export function importAnswer({ format, features, lines, skipped, notes = [] }: Imported): DebriefCommand {
  const left = Object.values(skipped.counts).reduce((sum, count) => sum + count, 0)
  if (features.length === 0)
    throw new CausewayError('NOTHING_IMPORTED', `no positions in ${format} among ${counted(lines, 'line')}`, {
      data: { lines, skipped: skipped.counts },
    })
  const tracks = features.filter((feature) => kindOf(feature) === 'track')
  const fixes = tracks.reduce((sum, feature) => sum + vertexCount(feature), 0)
  const others = features.length - tracks.length
  return composite([
    addFeatures(features),
    showData({
      title: `Import of ${format}`,
      summary: [
        `${counted(tracks.length, 'track')} with ${counted(fixes, 'fix')}${others > 0 ? ` and ${counted(others, 'other feature')}` : ''} from ${counted(lines, 'line')}; ${left} left out.`,
        ...notes,
      ].join(' '),
      format,
      lines,
      skipped: skipped.counts,
      ...table(
        features,
        { name: 'feature', key: nameOf },
        {
          kind: kindOf,
          positions: vertexCount,
          start: ({ properties }) => timeAt(properties, 0),
          end: ({ properties }) => timeAt(properties, -1),
        },
      ),
    }),
  ])
}

function timeAt({ timestamps, time }: Readonly<Record<string, unknown>>, index: number): string | null {
  const found = Array.isArray(timestamps) ? timestamps.at(index) : time
  return typeof found === 'string' ? found : null
}
