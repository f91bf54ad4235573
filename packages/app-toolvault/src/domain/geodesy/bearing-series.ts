import { formatTime, parseTime } from '@causeway/app-kit/time'
import { type Feature, getKind, getLabel, listParts } from '@causeway/plot'
import { CausewayError } from '@causeway/protocol'
import { ToolVaultError } from '../../errors.ts'
import { createFeatureError } from '../feature/read-features.ts'
import { deriveMotion, getTimeSpan, interpolatePosition, type TimeSpan } from '../track/motion.ts'
import { isTrack, readTimedTrack } from '../track/track.ts'
import { type Bearing, computeBearing, type RangeUnit, rangeUnits, type Sighting } from './range-bearing.ts'

export interface Target {
  readonly name: string
  /** `undefined` for a point that is always valid. */
  readonly span: TimeSpan | undefined
  /** Returns `undefined` if the target has no position at `time`. */
  findSighting(time: number | null): Sighting | undefined
}

export interface BearingRow extends Bearing {
  /** `null` if neither feature has times. */
  readonly time: number | null
  readonly range: number
}

const maxRows = 20_000

/** Throws the errors of `readTimedTrack`, and `FEATURE_UNUSABLE` for neither a track nor a point. */
export function readTarget(feature: Feature): Target {
  if (isTrack(feature)) {
    const track = readTimedTrack(feature)
    return {
      name: track.name,
      span: getTimeSpan(track),
      findSighting(time) {
        const position = time === null ? undefined : interpolatePosition(track, time)
        return position === undefined || time === null
          ? undefined
          : { position, ...deriveMotion(track, time) }
      },
    }
  }
  const [position] = listParts(feature.geometry)[0] ?? []
  if (feature.geometry?.type !== 'Point' || position === undefined)
    throw createFeatureError(feature, `is neither a track nor a point but a ${getKind(feature)}`)
  const [lon = 0, lat = 0] = position
  const [start, end] = [parseTime(feature.properties.time), parseTime(feature.properties.timeEnd)]
  const span = start !== undefined && end !== undefined ? ([start, end] as const) : undefined
  return {
    name: getLabel(feature),
    span,
    findSighting: (time) =>
      span !== undefined && time !== null && (time < span[0] || time > span[1])
        ? undefined
        : { position: { lon, lat }, course_deg: null, speed_kn: null },
  }
}

interface RequestedTimes {
  readonly at: (() => number) | undefined
  readonly current: (() => number) | undefined
  readonly step_s: number | undefined
}

/**
 * Throws `INVALID_ARGUMENTS`, and `NO_OVERLAP` if the targets have no common time or no position at a requested time.
 */
export function listTimes(
  targets: readonly [Target, Target],
  { at, current, step_s }: RequestedTimes,
): readonly (number | null)[] {
  const timeSpans = targets.map(({ span }) => span).filter((span) => span !== undefined)
  if (timeSpans.length === 0 && at === undefined) return [null]
  const start = Math.max(...timeSpans.map(([first]) => first))
  const end = Math.min(...timeSpans.map(([, last]) => last))
  const formatOptionalTime = (time: number | undefined) => (time === undefined ? null : formatTime(time))
  const spans = targets.map(({ name, span }) => ({
    name,
    start: formatOptionalTime(span?.[0]),
    end: formatOptionalTime(span?.[1]),
  }))
  if (start > end) throw new ToolVaultError('NO_OVERLAP', noOverlapMessage, { data: { spans } })
  if (step_s !== undefined) return createSeries([start, end], step_s * 1000)
  const time = (at ?? current)?.() ?? start
  if (time >= start && time <= end) return [time]
  throw new ToolVaultError('NO_OVERLAP', `at ${formatTime(time)} one of the features has no position`, {
    remedy: `pass at between ${formatTime(start)} and ${formatTime(end)}`,
    data: { spans },
  })
}

const noOverlapMessage = 'the features have no time in common'

function createSeries([start, end]: TimeSpan, stepMs: number): number[] {
  const count = Math.floor((end - start) / stepMs) + 1
  if (count > maxRows)
    throw new CausewayError(
      'INVALID_ARGUMENTS',
      `the series would have ${count} rows, more than ${maxRows}`,
      {
        remedy: 'pass a longer step_s',
      },
    )
  return Array.from({ length: count }, (_, index) => start + index * stepMs)
}

/** Omits times at which a target has no position. Throws `NO_OVERLAP` if no time remains. */
export function computeBearingSeries(
  [a, b]: readonly [Target, Target],
  times: readonly (number | null)[],
  { line, unit }: { readonly line: 'geodesic' | 'rhumb'; readonly unit: RangeUnit },
): readonly BearingRow[] {
  const rows = times.flatMap((time) => {
    const [from, to] = [a.findSighting(time), b.findSighting(time)]
    if (from === undefined || to === undefined) return []
    const bearing = computeBearing(from, to, line)
    return [{ time, range: bearing.range_m / rangeUnits[unit], ...bearing }]
  })
  if (rows.length > 0) return rows
  throw new ToolVaultError('NO_OVERLAP', noOverlapMessage)
}
