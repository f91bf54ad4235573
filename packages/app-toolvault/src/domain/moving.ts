/** A track as the search for closest approaches sees it: vectors, and boxes around runs of its legs. */
import { at, chord, earthVectors, sagitta } from './earth-vector.ts'
import { commonSpan } from './motion.ts'
import { type Spans, spansOf, spanWidth } from './spans.ts'
import type { TimedTrack } from './track.ts'

/** A track with what the search needs of it, made once for all pairs. */
export interface Moving {
  readonly track: TimedTrack
  /** metres from the centre of the earth, shape [fixes, 3], row-major */
  readonly xyz: Float64Array
  /** how far the leg that begins at a vertex lies below the surface at most, m */
  readonly below: Float64Array
  readonly stretches: readonly Stretch[]
}

/** A run of legs. */
interface Stretch {
  /** ms */
  readonly start: number
  readonly end: number
  /** least and greatest x, y and z of its vertices, m, shape [2, 3] */
  readonly box: Float64Array
  /** how far its legs lie below the surface at most, m */
  readonly below: number
}

/** Legs of a stretch: few enough for a small box, and enough to spare looking at them one by one. */
const legsOfStretch = 16

/** Makes vectors and boxes. */
export function moving(track: TimedTrack): Moving {
  const xyz = earthVectors(track.places)
  const last = track.places.length - 1
  const below = Float64Array.from(track.places, (_, index) =>
    index < last ? sagitta(chord(xyz, index, index + 1)) : 0,
  )
  const stretches: Stretch[] = []
  for (let from = 0; from < last; from += legsOfStretch) {
    const to = Math.min(last, from + legsOfStretch)
    stretches.push({
      start: track.times[from] ?? 0,
      end: track.times[to] ?? 0,
      box: boxAround(xyz, from, to),
      below: below.subarray(from, to).reduce((most, depth) => Math.max(most, depth), 0),
    })
  }
  return { track, xyz, below, stretches }
}

/** The common time of two tracks, cut where either enters another stretch. */
export function windowsOf(a: Moving, b: Moving): Spans {
  const span = commonSpan([a.track, b.track])
  if (span === undefined) return spansOf(new Float64Array(0))
  const isInstant = span[0] === span[1]
  const rows = new Float64Array((a.stretches.length + b.stretches.length) * spanWidth)
  let [i, j, row] = [0, 0, 0]
  for (;;) {
    const [one, other] = [a.stretches[i], b.stretches[j]]
    if (one === undefined || other === undefined) return spansOf(rows.subarray(0, row))
    const [start, end] = [Math.max(one.start, other.start), Math.min(one.end, other.end)]
    if (start < end || (isInstant && start === end)) {
      rows[row] = start
      rows[row + 1] = end
      rows[row + 2] = start
      rows[row + 3] = leastDistance(gap(one.box, other.box) - roundingOfGap, one.below + other.below)
      row += spanWidth
    }
    if (one.end <= other.end) i++
    else j++
  }
}

/**
 * What a geodesic is at least, m, between vessels whose chord is so long and whose legs lie so far below the surface: the
 * chord, less both depths, since each vessel may be that far from its chord.
 */
export const leastDistance = (chord_m: number, below_m: number): number =>
  Math.max(0, chord_m - 1.01 * below_m - 0.01)

/** More than rounding makes of coordinates of the size of the earth, m. */
const roundingOfGap = 1e-6

function boxAround(xyz: Float64Array, from: number, to: number): Float64Array {
  const box = new Float64Array(6)
  box.fill(Number.POSITIVE_INFINITY, 0, 3)
  box.fill(Number.NEGATIVE_INFINITY, 3)
  for (let index = from * 3; index < (to + 1) * 3; index++) {
    const axis = index % 3
    box[axis] = Math.min(at(box, axis), at(xyz, index))
    box[axis + 3] = Math.max(at(box, axis + 3), at(xyz, index))
  }
  return box
}

/** Distance between two boxes, m. */
function gap(one: Float64Array, other: Float64Array): number {
  let square = 0
  for (let axis = 0; axis < 3; axis++) {
    const apart = Math.max(0, at(one, axis) - at(other, axis + 3), at(other, axis) - at(one, axis + 3))
    square += apart * apart
  }
  return Math.sqrt(square)
}
