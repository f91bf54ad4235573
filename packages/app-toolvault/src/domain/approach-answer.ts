/** Closest approaches of all pairs of tracks, as an answer. */

import { formatTime, parseTime } from '@causeway/app-kit/time'
import { CausewayError } from '@causeway/protocol'
import { type Approach, closestApproach } from './closest-approach.ts'
import { addFeatures, composite, type DebriefCommand, showData } from './command.ts'
import { counted } from './counted.ts'
import type { Feature } from './feature.ts'
import { nauticalMile } from './geodesic.ts'
import { commonSpan, fixBefore, type Motion, motionAt, placeAt, timeSpan } from './motion.ts'
import { moving } from './moving.ts'
import { isInJump } from './position-jump.ts'
import { type Prediction, predictedApproach, type Vessel } from './predicted-approach.ts'
import { positionOf } from './resampling.ts'
import { rounded, table } from './table.ts'
import { type TimedTrack, unusable } from './track.ts'

/** What the caller wants. */
export interface ApproachOptions {
  readonly at?: string | undefined
  readonly motion: 'derived' | 'recorded'
  readonly within_nm?: number | undefined
}

/** Offsets from here on make an approach doubtful, m. */
const leastJump = 100

/** A pair of tracks. */
export interface PairApproach {
  readonly a: TimedTrack
  readonly b: TimedTrack
  readonly approach: Approach
  /** time of the prediction, ms */
  readonly predicted_at: number
  /** null where a track is not there at that time */
  readonly predicted: Prediction | null
}

/** Pairs, nearest first; yields after each. Throws `NO_OVERLAP` where no pair has a time in common. */
export function* approaches(
  tracks: readonly TimedTrack[],
  options: ApproachOptions,
): Generator<{ done: number; total: number }, readonly PairApproach[]> {
  const asked = timeAsked(options.at)
  const vesselAt = vessels(options.motion)
  const all = tracks.map(moving)
  const total = (all.length * (all.length - 1)) / 2
  const found: PairApproach[] = []
  let done = 0
  for (const [index, a] of all.entries()) {
    for (const b of all.slice(index + 1)) {
      const approach = closestApproach(a, b)
      if (approach !== undefined) {
        const predicted_at = asked ?? commonSpan([a.track, b.track])?.[0] ?? 0
        const [one, other] = [vesselAt(a.track, predicted_at), vesselAt(b.track, predicted_at)]
        const predicted = one && other ? predictedApproach(one, other) : null
        found.push({ a: a.track, b: b.track, approach, predicted_at, predicted })
      }
      yield { done: ++done, total }
    }
  }
  if (found.length > 0) return found.sort((one, other) => one.approach.distance_m - other.approach.distance_m)
  throw new CausewayError('NO_OVERLAP', 'no two of the tracks have a time in common', {
    data: {
      spans: tracks.map((track) => ({ name: track.name, ...told(track) })),
    },
  })
}

const told = (track: TimedTrack) => {
  const [start, end] = timeSpan(track)
  return { start: formatTime(start), end: formatTime(end) }
}

/** Vessels at a time, each looked up once: most pairs are asked about the same time. */
type VesselAt = (track: TimedTrack, time: number) => Vessel | undefined

function vessels(motion: ApproachOptions['motion']): VesselAt {
  const known = new Map<TimedTrack, Map<number, Vessel | undefined>>()
  const movement = motion === 'derived' ? motionAt : recordedMotion
  return (track, time) => {
    const times = known.get(track) ?? new Map<number, Vessel | undefined>()
    known.set(track, times)
    if (times.has(time)) return times.get(time)
    const place = placeAt(track, time)
    const vessel = place && { place, ...movement(track, time) }
    times.set(time, vessel)
    return vessel
  }
}

/** The time that the caller asks about; undefined for the begin of the common time. */
function timeAsked(at: string | undefined): number | undefined {
  const time = at === undefined ? undefined : parseTime(at)
  if (at === undefined || time !== undefined) return time
  throw new CausewayError('INVALID_ARGUMENTS', `at is no time: ${at}`, {
    data: { problems: [{ argument: 'at', problem: 'is no ISO 8601 time' }] },
  })
}

/** What the recorder said at the last fix before. */
function recordedMotion(track: TimedTrack, time: number): Motion {
  const { speeds, courses, times, feature } = track
  if (speeds === undefined || courses === undefined)
    throw unusable(feature, 'has no recorded speeds and courses; pass motion: derived')
  const index = Math.max(0, fixBefore(times, time))
  return { course_deg: courses[index] ?? null, speed_kn: speeds[index] ?? null }
}

/** The answer: nearest pair in words, all pairs as a table, and lines where they are to be drawn. */
export function approachAnswer(
  tracks: readonly TimedTrack[],
  pairs: readonly PairApproach[],
  { motion, within_nm, draw, newId }: ApproachOptions & { draw: boolean; newId(prefix: string): string },
): DebriefCommand {
  const near = pairs.filter(
    ({ approach }) => within_nm === undefined || approach.distance_m <= within_nm * nauticalMile,
  )
  const [closest] = near
  const possible = (tracks.length * (tracks.length - 1)) / 2
  const figures = showData({
    title: 'Closest points of approach',
    summary: summaryOf(closest, { near: near.length, overlapping: pairs.length, possible, within_nm }),
    pairs: possible,
    without_overlap: possible - pairs.length,
    motion,
    approaches: near.map(pairFigures),
    ...table(
      near,
      { name: 'pair', key: ({ a, b }) => `${a.name} / ${b.name}` },
      {
        time: ({ approach }) => formatTime(approach.time),
        cpa_m: ({ approach }) => rounded(approach.distance_m, 2),
        cpa_nm: ({ approach }) => rounded(approach.distance_m / nauticalMile, 4),
        bearing_deg: ({ approach }) => rounded(approach.bearing_deg, 2),
        tcpa_s: ({ predicted }) => rounded(predicted?.tcpa_s ?? null, 1),
        dcpa_m: ({ predicted }) => rounded(predicted?.dcpa_m ?? null, 1),
      },
    ),
  })
  return draw && near.length > 0
    ? composite([addFeatures(near.map((pair) => lineOf(pair, newId('cpa')))), figures])
    : figures
}

const pairFigures = ({ a, b, approach, predicted, predicted_at }: PairApproach) => ({
  a: a.id,
  b: b.id,
  names: [a.name, b.name],
  time: formatTime(approach.time),
  cpa_m: approach.distance_m,
  cpa_nm: approach.distance_m / nauticalMile,
  bearing_deg: approach.bearing_deg,
  place_a: positionOf(approach.a),
  place_b: positionOf(approach.b),
  predicted: predicted === null ? null : { at: formatTime(predicted_at), ...predicted },
})

function summaryOf(
  closest: PairApproach | undefined,
  counts: {
    readonly near: number
    readonly overlapping: number
    readonly possible: number
    readonly within_nm: number | undefined
  },
): string {
  const { near, overlapping, possible, within_nm } = counts
  const others =
    overlapping < possible ? ` ${counted(possible - overlapping, 'pair')} without a common time.` : ''
  if (closest === undefined) return `No two tracks came closer than ${within_nm} nm.${others}`
  const { a, b, approach } = closest
  const metres = approach.distance_m.toFixed(approach.distance_m < 10_000 ? 1 : 0)
  const miles = (approach.distance_m / nauticalMile).toFixed(3)
  const of = possible === 1 ? '' : ` The closest of ${near} of ${possible} pairs.`
  const jumping = [a, b].filter((track) => isInJump(track, approach.time, leastJump)).map(({ name }) => name)
  const doubt =
    jumping.length === 0
      ? ''
      : ` In doubt: ${jumping.join(' and ')} has a position jump there; run find_jumps first.`
  return `${a.name} and ${b.name} were closest at ${formatTime(Math.round(approach.time))}: ${metres} m (${miles} nm, geodesic), ${b.name} bearing ${approach.bearing_deg.toFixed(1)} degrees from ${a.name}.${doubt}${of}${others}`
}

const lineOf = ({ a, b, approach }: PairApproach, id: string): Feature => ({
  type: 'Feature',
  id,
  geometry: { type: 'LineString', coordinates: [positionOf(approach.a), positionOf(approach.b)] },
  properties: {
    dataType: 'annotation',
    annotationType: 'measurement',
    name: `CPA ${a.name} / ${b.name}`,
    text: `${approach.distance_m.toFixed(0)} m`,
    color: '#CC0066',
    time: formatTime(Math.round(approach.time)),
  },
})
