/**
 * Position jumps: fixes far from where the track before and after them says, the track being whole without them. A gap
 * is none: nothing is missing from a track that goes on as fast as it went.
 */
import { distance, walk } from './geodesic.ts'
import { fixBefore } from './motion.ts'
import type { Fix, TimedTrack } from './track.ts'

/** A run of fixes that are somewhere else. */
export interface Jump {
  readonly first: number
  readonly last: number
  readonly start_ms: number
  readonly end_ms: number
  /** greatest distance from the track that the other fixes make, m */
  readonly offset_m: number
}

/** A pause so many times longer than the one behind the run is a gap. */
const gapRatio = 5

/** Longest run of fixes that is still a jump and not another track. */
const longestRun = 5

/** Legs to each side by which the usual speed is judged. */
const neighbours = 8

/** How many times the usual speed a vessel may make between two fixes. */
const allowance = 3

/** Jumps of at least so many metres; yields the number of fixes that are done with. */
export function* findJumps(track: TimedTrack, least_m: number): Generator<number, Jump[]> {
  const { fixes } = track
  const speeds = legSpeeds(fixes)
  const jumps: Jump[] = []
  for (let index = 0; index < fixes.length; ) {
    const jump = jumpAt(track, speeds, index, least_m)
    if (jump !== undefined) jumps.push(jump)
    index = (jump?.last ?? index) + 1
    yield index
  }
  return jumps
}

/** True where a track is in a jump at a time, or on its way to or from one: what it seems to do there it did not do. */
export function isInJump(track: TimedTrack, time: number, least_m: number): boolean {
  const from = Math.max(0, fixBefore(track.times, time) - longestRun)
  const speeds = legSpeeds(track.fixes)
  for (let index = from; index <= from + 2 * longestRun; index++) {
    const jump = jumpAt(track, speeds, index, least_m)
    if (jump === undefined) continue
    const [before, after] = [track.fixes[jump.first - 1], track.fixes[jump.last + 1]]
    if ((before?.time ?? time) <= time && time <= (after?.time ?? time)) return true
    index = jump.last
  }
  return false
}

function jumpAt(
  { fixes, breaks }: TimedTrack,
  speeds: Float64Array,
  first: number,
  least: number,
): Jump | undefined {
  const before = fixes[first - 1]
  if (before === undefined || breaks.has(first)) return undefined
  const usual = usualSpeed(speeds, first)
  for (let last = first; last < first + longestRun; last++) {
    const after = fixes[last + 1]
    if (after === undefined || breaks.has(last + 1)) return undefined
    const run = fixes.slice(first, last + 1)
    const offset = leastOffset(before, run, after, { usual, least })
    if (offset === undefined) return undefined
    const seconds = (after.time - before.time) / 1000
    // The track must be whole without the run.
    if (distance(before, after) > least + allowance * usual * seconds) continue
    if (isTrackItself(fixes, { first, last, usual, least })) return undefined
    return {
      first,
      last,
      start_ms: run[0]?.time ?? 0,
      end_ms: run.at(-1)?.time ?? 0,
      offset_m: offset,
    }
  }
  return undefined
}

/**
 * Behind a gap the fix that comes first may be right and those after it a jump: it is the track if more of what follows
 * can be reached from it than from the fix after the run.
 */
function isTrackItself(
  fixes: readonly Fix[],
  { first, last, usual, least }: { first: number; last: number; usual: number; least: number },
): boolean {
  const [before, run, end, after] = [fixes[first - 1], fixes[first], fixes[last], fixes[last + 1]]
  if (before === undefined || run === undefined || end === undefined || after === undefined) return false
  if (run.time - before.time < gapRatio * (after.time - end.time)) return false
  const next = fixes.slice(last + 2, last + 2 + 2 * longestRun)
  const reached = (from: Fix): number =>
    next.filter((to) => distance(from, to) <= least + (allowance * usual * (to.time - from.time)) / 1000)
      .length
  return reached(end) > reached(after)
}

/** The greatest offset of a run whose every fix is further off than a vessel could be; undefined for any other. */
function leastOffset(
  before: Fix,
  run: readonly Fix[],
  after: Fix,
  { usual, least }: { readonly usual: number; readonly least: number },
): number | undefined {
  const line = walk(before, after)
  let most = 0
  for (const fix of run) {
    const passed = (fix.time - before.time) / 1000
    const left = (after.time - fix.time) / 1000
    const expected = line.at(passed + left > 0 ? passed / (passed + left) : 0)
    const offset = distance(expected, fix)
    if (offset <= least + allowance * usual * Math.min(passed, left)) return undefined
    most = Math.max(most, offset)
  }
  return most
}

/** Metres a second of each leg, by the index of the vertex where it ends. */
function legSpeeds(fixes: readonly Fix[]): Float64Array {
  const speeds = new Float64Array(fixes.length).fill(Number.NaN)
  for (const [index, fix] of fixes.entries()) {
    const before = fixes[index - 1]
    if (before === undefined || fix.time <= before.time) continue
    speeds[index] = distance(before, fix) / ((fix.time - before.time) / 1000)
  }
  return speeds
}

/** The median speed around a fix, the legs that touch it left out. */
function usualSpeed(speeds: Float64Array, index: number): number {
  const around = [
    ...speeds.subarray(Math.max(0, index - neighbours), Math.max(0, index)),
    ...speeds.subarray(index + 2, index + 2 + neighbours),
  ]
    .filter((speed) => !Number.isNaN(speed))
    .sort((a, b) => a - b)
  return around[around.length >> 1] ?? 0
}
