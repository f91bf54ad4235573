import { getCoordinate, measureChord, measureSagitta, toEarthVectors } from '../geodesy/earth-vector.ts'
import { findCommonSpan } from '../track/motion.ts'
import type { TimedTrack } from '../track/track.ts'
import { SpanQueue, valuesPerSpan } from './span-queue.ts'

export interface IndexedTrack {
  readonly track: TimedTrack
  /** Metres from the centre of the earth, shape [fixes, 3], row-major. */
  readonly xyz: Float64Array
  /** Maximum depth of each leg's chord below the surface in metres, indexed by the first vertex of the leg. */
  readonly chordDepths: Float64Array
  readonly sections: readonly TrackSection[]
}

interface TrackSection {
  /** Unix milliseconds. */
  readonly start: number
  readonly end: number
  /** Minimum and maximum of the vertices in metres, shape [2, 3]. */
  readonly box: Float64Array
  /** Maximum depth of the chords in metres. */
  readonly maxDepth: number
}

const legsPerSection = 16

export function indexTrack(track: TimedTrack): IndexedTrack {
  const xyz = toEarthVectors(track.positions)
  const last = track.positions.length - 1
  const chordDepths = Float64Array.from(track.positions, (_, index) =>
    index < last ? measureSagitta(measureChord(xyz, index, index + 1)) : 0,
  )
  const sections: TrackSection[] = []
  for (let from = 0; from < last; from += legsPerSection) {
    const to = Math.min(last, from + legsPerSection)
    sections.push({
      start: track.times[from] ?? 0,
      end: track.times[to] ?? 0,
      box: findBox(xyz, from, to),
      maxDepth: chordDepths.subarray(from, to).reduce((max, depth) => Math.max(max, depth), 0),
    })
  }
  return { track, xyz, chordDepths, sections }
}

/** Splits the common time span wherever a track enters a new section. */
export function listWindows(a: IndexedTrack, b: IndexedTrack): SpanQueue {
  const span = findCommonSpan([a.track, b.track])
  if (span === undefined) return new SpanQueue(new Float64Array(0))
  const isSingleInstant = span[0] === span[1]
  const rows = new Float64Array((a.sections.length + b.sections.length) * valuesPerSpan)
  let [i, j, row] = [0, 0, 0]
  for (;;) {
    const [sectionA, sectionB] = [a.sections[i], b.sections[j]]
    if (sectionA === undefined || sectionB === undefined) return new SpanQueue(rows.subarray(0, row))
    const [start, end] = [Math.max(sectionA.start, sectionB.start), Math.min(sectionA.end, sectionB.end)]
    if (start < end || (isSingleInstant && start === end)) {
      rows[row] = start
      rows[row + 1] = end
      rows[row + 2] = start
      rows[row + 3] = computeMinDistance(
        measureGap(sectionA.box, sectionB.box) - gapTolerance,
        sectionA.maxDepth + sectionB.maxDepth,
      )
      row += valuesPerSpan
    }
    if (sectionA.end <= sectionB.end) i++
    else j++
  }
}

/** Returns a lower bound of the distance in metres. `depth_m` is the sum of both chords' depths below the surface. */
export const computeMinDistance = (chord_m: number, depth_m: number): number =>
  Math.max(0, chord_m - 1.01 * depth_m - 0.01)

/** More than the rounding error of a coordinate, in metres. */
const gapTolerance = 1e-6

function findBox(xyz: Float64Array, from: number, to: number): Float64Array {
  const box = new Float64Array(6)
  box.fill(Number.POSITIVE_INFINITY, 0, 3)
  box.fill(Number.NEGATIVE_INFINITY, 3)
  for (let index = from * 3; index < (to + 1) * 3; index++) {
    const axis = index % 3
    box[axis] = Math.min(getCoordinate(box, axis), getCoordinate(xyz, index))
    box[axis + 3] = Math.max(getCoordinate(box, axis + 3), getCoordinate(xyz, index))
  }
  return box
}

function measureGap(a: Float64Array, b: Float64Array): number {
  let squaredDistance = 0
  for (let axis = 0; axis < 3; axis++) {
    const separation = Math.max(
      0,
      getCoordinate(a, axis) - getCoordinate(b, axis + 3),
      getCoordinate(b, axis) - getCoordinate(a, axis + 3),
    )
    squaredDistance += separation * separation
  }
  return Math.sqrt(squaredDistance)
}
