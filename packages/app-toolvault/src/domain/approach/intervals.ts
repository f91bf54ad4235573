import { getCoordinate } from '../geodesy/earth-vector.ts'
import { findFixBefore } from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { computeMinDistance, type IndexedTrack } from './indexed-track.ts'
import { type Span, SpanQueue, spanWidth } from './span-queue.ts'

/** Splits a window at every fix of either track. */
export function listIntervals(a: IndexedTrack, b: IndexedTrack, { start, end }: Span): SpanQueue {
  const [timesA, timesB] = [a.track.times, b.track.times]
  let [i, j, row, time] = [findFixBefore(timesA, start), findFixBefore(timesB, start), 0, start]
  const max = findFixBefore(timesA, end) - i + findFixBefore(timesB, end) - j + 1
  const rows = new Float64Array(max * spanWidth)
  for (;;) {
    while ((timesA[i + 1] ?? Number.POSITIVE_INFINITY) <= time) i++
    while ((timesB[j + 1] ?? Number.POSITIVE_INFINITY) <= time) j++
    const next = Math.max(time, Math.min(timesA[i + 1] ?? end, timesB[j + 1] ?? end, end))
    if (writeInterval(rows, row, { a, i, b, j, start: time, end: next })) row += spanWidth
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

/** Returns `false` if the interval is between two parts of a track. */
function writeInterval(rows: Float64Array, offset: number, { a, i, b, j, start, end }: Interval): boolean {
  const [nextA, nextB] = [findLegEnd(a.track, i), findLegEnd(b.track, j)]
  if ((nextA === i || nextB === j) && start < end) return false
  const a0 = computeFraction(a.track, i, nextA, start)
  const a1 = computeFraction(a.track, i, nextA, end)
  const b0 = computeFraction(b.track, j, nextB, start)
  const b1 = computeFraction(b.track, j, nextB, end)
  let [along, across, square] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const pa = getCoordinate(a.xyz, i * 3 + axis)
    const va = getCoordinate(a.xyz, nextA * 3 + axis) - pa
    const pb = getCoordinate(b.xyz, j * 3 + axis)
    const vb = getCoordinate(b.xyz, nextB * 3 + axis) - pb
    const first = pb + vb * b0 - (pa + va * a0)
    const change = vb * (b1 - b0) - va * (a1 - a0)
    along += first * change
    across += change * change
    square += first * first
  }
  const fraction = across > 0 ? Math.min(1, Math.max(0, -along / across)) : 0
  const chord = Math.sqrt(Math.max(0, square + fraction * (2 * along + fraction * across)))
  rows[offset] = start
  rows[offset + 1] = end
  rows[offset + 2] = start + (end - start) * fraction
  rows[offset + 3] = computeMinDistance(chord, getCoordinate(a.depths, i) + getCoordinate(b.depths, j))
  return true
}

const findLegEnd = ({ places, breaks }: TimedTrack, index: number): number =>
  index + 1 < places.length && !breaks.has(index + 1) ? index + 1 : index

function computeFraction({ times }: TimedTrack, from: number, to: number, time: number): number {
  const [start, end] = [times[from] ?? 0, times[to] ?? 0]
  return end > start ? (time - start) / (end - start) : 0
}
