import { getCoordinate } from '../geodesy/earth-vector.ts'
import { findFixBefore } from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { computeMinDistance, type IndexedTrack } from './indexed-track.ts'
import { type Span, SpanQueue, valuesPerSpan } from './span-queue.ts'

/** Splits a window at every fix of either track. */
export function listIntervals(a: IndexedTrack, b: IndexedTrack, { start, end }: Span): SpanQueue {
  const [timesA, timesB] = [a.track.times, b.track.times]
  let [i, j, row, time] = [findFixBefore(timesA, start), findFixBefore(timesB, start), 0, start]
  const maxIntervals = findFixBefore(timesA, end) - i + findFixBefore(timesB, end) - j + 1
  const rows = new Float64Array(maxIntervals * valuesPerSpan)
  for (;;) {
    while ((timesA[i + 1] ?? Number.POSITIVE_INFINITY) <= time) i++
    while ((timesB[j + 1] ?? Number.POSITIVE_INFINITY) <= time) j++
    const next = Math.max(time, Math.min(timesA[i + 1] ?? end, timesB[j + 1] ?? end, end))
    if (writeInterval(rows, row, { a, i, b, j, start: time, end: next })) row += valuesPerSpan
    if (next <= time || next >= end) return new SpanQueue(rows.subarray(0, row))
    time = next
  }
}

interface Interval {
  readonly a: IndexedTrack
  readonly i: number
  readonly b: IndexedTrack
  readonly j: number
  readonly start: number
  readonly end: number
}

/** Writes a row. Returns `false` if the interval is between two parts of a track. */
function writeInterval(rows: Float64Array, offset: number, { a, i, b, j, start, end }: Interval): boolean {
  const [endA, endB] = [findLegEnd(a.track, i), findLegEnd(b.track, j)]
  if ((endA === i || endB === j) && start < end) return false
  const a0 = computeFraction(a.track, i, endA, start)
  const a1 = computeFraction(a.track, i, endA, end)
  const b0 = computeFraction(b.track, j, endB, start)
  const b1 = computeFraction(b.track, j, endB, end)
  let [startDotChange, squaredChange, squaredStart] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const pa = getCoordinate(a.xyz, i * 3 + axis)
    const va = getCoordinate(a.xyz, endA * 3 + axis) - pa
    const pb = getCoordinate(b.xyz, j * 3 + axis)
    const vb = getCoordinate(b.xyz, endB * 3 + axis) - pb
    const startDelta = pb + vb * b0 - (pa + va * a0)
    const deltaChange = vb * (b1 - b0) - va * (a1 - a0)
    startDotChange += startDelta * deltaChange
    squaredChange += deltaChange * deltaChange
    squaredStart += startDelta * startDelta
  }
  const fraction = squaredChange > 0 ? Math.min(1, Math.max(0, -startDotChange / squaredChange)) : 0
  const chord = Math.sqrt(
    Math.max(0, squaredStart + fraction * (2 * startDotChange + fraction * squaredChange)),
  )
  rows[offset] = start
  rows[offset + 1] = end
  rows[offset + 2] = start + (end - start) * fraction
  rows[offset + 3] = computeMinDistance(
    chord,
    getCoordinate(a.chordDepths, i) + getCoordinate(b.chordDepths, j),
  )
  return true
}

const findLegEnd = ({ positions, breaks }: TimedTrack, index: number): number =>
  index + 1 < positions.length && !breaks.has(index + 1) ? index + 1 : index

function computeFraction({ times }: TimedTrack, from: number, to: number, time: number): number {
  const [start, end] = [times[from] ?? 0, times[to] ?? 0]
  return end > start ? (time - start) / (end - start) : 0
}
