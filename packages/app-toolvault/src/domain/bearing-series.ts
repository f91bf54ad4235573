/** Range and bearing between two features over time: tracks move, points stand where they are while they are valid. */

import { formatTime, parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { type Feature, kindOf, nameOf, partsOf } from './feature.ts'
import { motionAt, placeAt, timeSpan } from './motion.ts'
import { type Bearing, bearingOf, type RangeUnit, rangeUnits, type Sighted } from './range-bearing.ts'
import { isTrack, readTimedTrack, unusable } from './track.ts'

/** A feature that can be seen from another. */
export interface Sightable {
  readonly name: string
  /** undefined for what stands outside time */
  readonly span: readonly [start: number, end: number] | undefined
  /** undefined outside its span */
  at(time: number | null): Sighted | undefined
}

/** One row of the series; `time` is null where both features stand outside time. */
export interface BearingRow extends Bearing {
  readonly time: number | null
  /** in the unit asked for */
  readonly range: number
}

/** Most rows of a series. */
const mostRows = 20_000

/** Reads a track or a point; throws `FEATURE_UNUSABLE` for anything else. */
export function sightable(feature: Feature): Sightable {
  if (isTrack(feature)) {
    const track = readTimedTrack(feature)
    return {
      name: track.name,
      span: timeSpan(track),
      at(time) {
        const place = time === null ? undefined : placeAt(track, time)
        return place === undefined || time === null ? undefined : { place, ...motionAt(track, time) }
      },
    }
  }
  const [position] = partsOf(feature.geometry)[0] ?? []
  if (feature.geometry?.type !== 'Point' || position === undefined)
    throw unusable(feature, `is neither a track nor a point but a ${kindOf(feature)}`)
  const [lon = 0, lat = 0] = position
  const [start, end] = [parseTime(feature.properties.time), parseTime(feature.properties.timeEnd)]
  const span = start !== undefined && end !== undefined ? ([start, end] as const) : undefined
  return {
    name: nameOf(feature),
    span,
    at: (time) =>
      span !== undefined && time !== null && (time < span[0] || time > span[1])
        ? undefined
        : { place: { lon, lat }, course_deg: null, speed_kn: null },
  }
}

/** The times to look at; throws `INVALID_ARGUMENTS` and `NO_OVERLAP`. */
export function timesAsked(
  pair: readonly [Sightable, Sightable],
  asked: {
    readonly at: string | undefined
    readonly current: string | undefined
    readonly step_s: number | undefined
  },
): readonly (number | null)[] {
  const spans = pair.map(({ span }) => span).filter((span) => span !== undefined)
  if (spans.length === 0 && asked.at === undefined) return [null]
  const start = Math.max(...spans.map(([first]) => first))
  const end = Math.min(...spans.map(([, last]) => last))
  const told = pair.map(({ name, span }) => ({ name, start: toldTime(span?.[0]), end: toldTime(span?.[1]) }))
  if (start > end) throw new CausewayError('NO_OVERLAP', noOverlap, { data: { spans: told } })
  if (asked.step_s !== undefined) return series([start, end], asked.step_s * 1000)
  const text = asked.at ?? asked.current
  const time = text === undefined ? start : parseTime(text)
  if (time === undefined)
    throw new CausewayError('INVALID_ARGUMENTS', `at is no time: ${text}`, {
      data: { problems: [{ argument: 'at', problem: 'is no ISO 8601 time' }] },
    })
  if (time >= start && time <= end) return [time]
  throw new CausewayError('NO_OVERLAP', `at ${formatTime(time)} not both features are there`, {
    remedy: `pass at between ${formatTime(start)} and ${formatTime(end)}`,
    data: { spans: told },
  })
}

const noOverlap = 'the features have no time in common'

const toldTime = (time: number | undefined): string | null => (time === undefined ? null : formatTime(time))

function series([start, end]: readonly [number, number], step: number): number[] {
  const count = Math.floor((end - start) / step) + 1
  if (count > mostRows)
    throw new CausewayError(
      'INVALID_ARGUMENTS',
      `the series would have ${count} rows, more than ${mostRows}`,
      {
        remedy: 'pass a longer step_s',
      },
    )
  return Array.from({ length: count }, (_, index) => start + index * step)
}

/** The rows at these times; one at which a feature is not there is left out. Throws `NO_OVERLAP` where none is left. */
export function bearingSeries(
  [a, b]: readonly [Sightable, Sightable],
  times: readonly (number | null)[],
  { line, unit }: { readonly line: 'geodesic' | 'rhumb'; readonly unit: RangeUnit },
): readonly BearingRow[] {
  const rows = times.flatMap((time) => {
    const [from, to] = [a.at(time), b.at(time)]
    if (from === undefined || to === undefined) return []
    const bearing = bearingOf(from, to, line)
    return [{ time, range: bearing.range_m / rangeUnits[unit], ...bearing }]
  })
  if (rows.length > 0) return rows
  throw new CausewayError('NO_OVERLAP', noOverlap)
}

/** The first row in words, and how many there are. */
export function bearingSummary(
  [a, b]: readonly [Sightable, Sightable],
  rows: readonly BearingRow[],
  { line, unit }: { readonly line: string; readonly unit: RangeUnit },
): string {
  const [first] = rows
  if (first === undefined) return ''
  const when = first.time === null ? '' : ` at ${formatTime(first.time)}`
  const relative =
    first.relative_bearing_deg === null
      ? ''
      : `, relative bearing ${first.relative_bearing_deg.toFixed(1)} degrees`
  const atb =
    first.atb_deg === null ? '' : `, angle on the bow of ${b.name} ${first.atb_deg.toFixed(1)} degrees`
  const more = rows.length === 1 ? '' : ` ${rows.length} times in all.`
  return `${b.name} bears ${first.bearing_deg.toFixed(3)} degrees from ${a.name}, range ${first.range.toFixed(4)} ${unit} (${line})${when}${relative}${atb}.${more}`
}
