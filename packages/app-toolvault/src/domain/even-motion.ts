/** Intervals in which two tracks both move evenly, screened by the chord between them in closed form. */
import { at } from './earth-vector.ts'
import { fixBefore } from './motion.ts'
import { leastDistance, type Moving } from './moving.ts'
import { type Span, type Spans, spansOf, spanWidth } from './spans.ts'
import type { TimedTrack } from './track.ts'

/** The intervals of a window, each from one fix of either track to the next. */
export function intervalsOf(a: Moving, b: Moving, { start, end }: Span): Spans {
  const [timesA, timesB] = [a.track.times, b.track.times]
  let [i, j, row, time] = [fixBefore(timesA, start), fixBefore(timesB, start), 0, start]
  const most = fixBefore(timesA, end) - i + fixBefore(timesB, end) - j + 1
  const rows = new Float64Array(most * spanWidth)
  for (;;) {
    while ((timesA[i + 1] ?? Number.POSITIVE_INFINITY) <= time) i++
    while ((timesB[j + 1] ?? Number.POSITIVE_INFINITY) <= time) j++
    const next = Math.max(time, Math.min(timesA[i + 1] ?? end, timesB[j + 1] ?? end, end))
    if (screen(rows, row, { a, i, b, j, start: time, end: next })) row += spanWidth
    if (next <= time || next >= end) return spansOf(rows.subarray(0, row))
    time = next
  }
}

interface Piece {
  readonly a: Moving
  readonly i: number
  readonly b: Moving
  readonly j: number
  readonly start: number
  readonly end: number
}

/** Writes a row; false between two parts of a track, where nothing is known. */
function screen(rows: Float64Array, offset: number, { a, i, b, j, start, end }: Piece): boolean {
  const [nextA, nextB] = [legEnd(a.track, i), legEnd(b.track, j)]
  if ((nextA === i || nextB === j) && start < end) return false
  const a0 = fractionAt(a.track, i, nextA, start)
  const a1 = fractionAt(a.track, i, nextA, end)
  const b0 = fractionAt(b.track, j, nextB, start)
  const b1 = fractionAt(b.track, j, nextB, end)
  let [along, across, square] = [0, 0, 0]
  for (let axis = 0; axis < 3; axis++) {
    const pa = at(a.xyz, i * 3 + axis)
    const va = at(a.xyz, nextA * 3 + axis) - pa
    const pb = at(b.xyz, j * 3 + axis)
    const vb = at(b.xyz, nextB * 3 + axis) - pb
    const first = pb + vb * b0 - (pa + va * a0)
    const change = vb * (b1 - b0) - va * (a1 - a0)
    along += first * change
    across += change * change
    square += first * first
  }
  const share = across > 0 ? Math.min(1, Math.max(0, -along / across)) : 0
  const chord = Math.sqrt(Math.max(0, square + share * (2 * along + share * across)))
  rows[offset] = start
  rows[offset + 1] = end
  rows[offset + 2] = start + (end - start) * share
  rows[offset + 3] = leastDistance(chord, at(a.below, i) + at(b.below, j))
  return true
}

const legEnd = ({ places, breaks }: TimedTrack, index: number): number =>
  index + 1 < places.length && !breaks.has(index + 1) ? index + 1 : index

function fractionAt({ times }: TimedTrack, from: number, to: number, time: number): number {
  const [start, end] = [times[from] ?? 0, times[to] ?? 0]
  return end > start ? (time - start) / (end - start) : 0
}
