import { computeDistance, createLine } from '../geodesy/geodesic.ts'
import { findFixBefore } from './motion.ts'
import type { Fix, TimedTrack } from './track.ts'

/** Consecutive bad fixes that the vessel cannot have reached from the adjacent fixes. */
export interface Jump {
  readonly first: number
  readonly last: number
  readonly start_ms: number
  readonly end_ms: number
  /** Maximum distance from the line between the adjacent good fixes, or from the only adjacent good fix. */
  readonly offset_m: number
}

/** Maximum number of fixes in a jump. */
const maxRun = 5

/** Cost of a leg that no vessel can sail. A removed fix costs 1. */
const brokenLegCost = 3 * maxRun

/** A run is a jump if retaining any of its fixes adds at least this cost per fix. */
const minMargin = 1.5

/** Number of legs on each side that determine the usual speed. */
const neighbours = 8

/** Minimum number of legs that determine the usual speed. */
const minLegs = 3

/** A vessel's maximum speed as a multiple of the usual speed nearby. */
const allowance = 3

/** Speed in metres per second up to which a leg always counts as usual. */
const ordinarySpeed = 25

/** Yields the number of processed fixes. */
export function* findJumps(track: TimedTrack, min_m: number): Generator<number, Jump[]> {
  const jumps: Jump[] = []
  let first = 0
  for (const end of [...track.breaks, track.fixes.length].sort((a, b) => a - b)) {
    const found = yield* new TrackPart(track.fixes.slice(first, end), min_m).findJumps(first)
    jumps.push(...found)
    first = end
  }
  return jumps
}

/** Number of fixes on each side that decide whether a fix is bad. */
const surroundings = 2 * (maxRun + neighbours)

/** Whether a time is in a jump or on the leg to or from it. */
export function isInJump(track: TimedTrack, time: number, min_m: number): boolean {
  const index = findFixBefore(track.times, time)
  const from = Math.max(0, index - surroundings)
  const fixes = track.fixes.slice(from, index + surroundings)
  const breaks = [...track.breaks].map((at) => at - from).filter((at) => at > 0 && at < fixes.length)
  const steps = findJumps({ ...track, fixes, breaks: new Set(breaks) }, min_m)
  let step = steps.next()
  while (!step.done) step = steps.next()
  return step.value.some(({ first, last }) => {
    const [before, after] = [fixes[first - 1] ?? fixes[first], fixes[last + 1] ?? fixes[last]]
    return (before?.time ?? time) <= time && time <= (after?.time ?? time)
  })
}

/** Minimizes the cost of removed fixes and impossible legs, as in the Viterbi algorithm. */
class TrackPart {
  readonly #fixes: readonly Fix[]
  readonly #min: number
  /** Leg speeds in metres per second, indexed by last fix. NaN if unknown or unusual. */
  readonly #speeds: Float64Array
  /** Whether no vessel can sail the leg, indexed by its last fix. */
  readonly #isBroken: Uint8Array
  readonly #removable = new Map<number, readonly number[]>()
  readonly #count: number

  constructor(fixes: readonly Fix[], min: number) {
    this.#fixes = fixes
    this.#min = min
    this.#count = fixes.length
    this.#speeds = computeLegSpeeds(fixes)
    this.#isBroken = new Uint8Array(fixes.length)
  }

  *findJumps(offset: number): Generator<number, Jump[]> {
    for (let index = 1; index < this.#count; index++) {
      this.#isBroken[index] = this.#isReachable(index - 1, index) ? 0 : 1
      yield offset + index
    }
    if (!this.#isBroken.includes(1)) return []
    for (let index = 1; index <= this.#count; index++) this.#listRemovable(index)
    return this.#listRuns().map(([first, last]) => ({
      first: offset + first,
      last: offset + last,
      start_ms: this.#fixes[first]?.time ?? 0,
      end_ms: this.#fixes[last]?.time ?? 0,
      offset_m: this.#measureOffset(first, last),
    }))
  }

  #listRuns(): (readonly [first: number, last: number])[] {
    const costs = this.#computeCosts()
    const best = costs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    const runs: (readonly [number, number])[] = []
    for (let first = 0; first < this.#count; first++) {
      let [end, margin] = [first, Number.POSITIVE_INFINITY]
      for (; end < this.#count && (costs[end] ?? 0) > best; end++)
        margin = Math.min(margin, (costs[end] ?? 0) - best)
      if (end > first && margin >= minMargin * (end - first)) runs.push([first, end - 1])
      first = end
    }
    return runs
  }

  #computeCosts(): Float64Array {
    const to = new Float64Array(this.#count + 1).fill(Number.POSITIVE_INFINITY)
    const from = new Float64Array(this.#count + 1).fill(Number.POSITIVE_INFINITY)
    to[0] = 0
    for (let index = 1; index <= this.#count; index++) {
      let best = (to[index - 1] ?? 0) + this.#getLegCost(index)
      for (const length of this.#removable.get(index) ?? [])
        best = Math.min(best, (index === length ? 0 : (to[index - length - 1] ?? 0)) + length)
      to[index] = best
    }
    from[this.#count] = 0
    for (let index = this.#count; index > 0; index--) {
      const cost = from[index] ?? 0
      from[index - 1] = Math.min(from[index - 1] ?? 0, cost + this.#getLegCost(index))
      for (const length of this.#removable.get(index) ?? []) {
        const before = index - length - 1
        if (before >= 0) from[before] = Math.min(from[before] ?? 0, cost + length)
      }
    }
    return to.slice(0, -1).map((cost, index) => cost + (from[index] ?? 0))
  }

  #getLegCost = (index: number): number => (this.#isBroken[index] === 1 ? brokenLegCost : 0)

  /** Stores the lengths of the runs before a fix that can be removed: the track is plausible without them. */
  #listRemovable(after: number): void {
    const lengths: number[] = []
    let hasBrokenLeg = this.#isBroken[after] === 1
    for (let length = 1; length <= Math.min(maxRun, after); length++) {
      hasBrokenLeg ||= this.#isBroken[after - length] === 1
      if (hasBrokenLeg && this.#isRemovable(after - length, after)) lengths.push(length)
    }
    if (lengths.length > 0) this.#removable.set(after, lengths)
  }

  #isRemovable(first: number, after: number): boolean {
    const run = Array.from({ length: after - first }, (_, index) => first + index)
    if (first === 0)
      return after < this.#count && run.every((index) => !this.#isReachable(index, after, ordinarySpeed))
    const before = first - 1
    if (after === this.#count) return run.every((index) => !this.#isReachable(before, index, ordinarySpeed))
    if (!this.#isReachable(before, after)) return false
    const line = this.#interpolate(before, after)
    const speed = this.#getMaxSpeed(before, after)
    return run.every((index) => {
      const nearest = Math.min(this.#getSeconds(before, index), this.#getSeconds(index, after))
      return line(index) > this.#min + speed * nearest
    })
  }

  /** Whether the vessel could sail from one fix to another at its maximum speed, or `minSpeed` if higher. */
  #isReachable(from: number, to: number, minSpeed = 0): boolean {
    const [a, b] = [this.#fixes[from], this.#fixes[to]]
    if (a === undefined || b === undefined) return true
    const metres = computeDistance(a, b)
    if (metres <= this.#min) return true
    const speed = Math.max(minSpeed, this.#getMaxSpeed(from, to))
    return metres <= this.#min + speed * this.#getSeconds(from, to)
  }

  #getSeconds = (from: number, to: number): number =>
    ((this.#fixes[to]?.time ?? 0) - (this.#fixes[from]?.time ?? 0)) / 1000

  /** Uses the usual speed before or after, whichever is higher: the vessel can accelerate or stop between the fixes. */
  #getMaxSpeed(from: number, to: number): number {
    const before = this.#speeds.subarray(Math.max(0, from - neighbours + 1), from + 1)
    const after = this.#speeds.subarray(to + 1, to + 1 + neighbours)
    const [slow, fast] = [before, after].map(findMedian).sort((a, b) => (a ?? -1) - (b ?? -1))
    const usual = fast ?? slow ?? findMedian(new Float64Array([...before, ...after]))
    return usual === undefined ? Number.POSITIVE_INFINITY : allowance * usual
  }

  #interpolate(before: number, after: number): (index: number) => number {
    const [a, b] = [this.#fixes[before], this.#fixes[after]]
    if (a === undefined || b === undefined) return () => 0
    const line = createLine(a, b)
    return (index) => {
      const fraction = this.#getSeconds(before, index) / this.#getSeconds(before, after)
      const fix = this.#fixes[index]
      return fix === undefined ? 0 : computeDistance(line.at(Number.isNaN(fraction) ? 0 : fraction), fix)
    }
  }

  #measureOffset(first: number, last: number): number {
    const before = first === 0 ? last + 1 : first - 1
    const measure = this.#interpolate(before, last + 1 < this.#count ? last + 1 : before)
    let max = 0
    for (let index = first; index <= last; index++) max = Math.max(max, measure(index))
    return max
  }
}

/** Returns leg speeds in metres per second, indexed by last fix. Legs much faster than most are NaN. */
function computeLegSpeeds(fixes: readonly Fix[]): Float64Array {
  const speeds = new Float64Array(fixes.length).fill(Number.NaN)
  for (const [index, fix] of fixes.entries()) {
    const before = fixes[index - 1]
    if (before === undefined || fix.time <= before.time) continue
    speeds[index] = computeDistance(before, fix) / ((fix.time - before.time) / 1000)
  }
  const known = speeds.filter((speed) => !Number.isNaN(speed)).sort()
  const max = Math.max(ordinarySpeed, allowance * (known[Math.floor(0.75 * known.length)] ?? 0))
  return speeds.map((speed) => (speed > max ? Number.NaN : speed))
}

function findMedian(speeds: Float64Array): number | undefined {
  const known = speeds.filter((speed) => !Number.isNaN(speed)).sort()
  return known.length < minLegs ? undefined : known[known.length >> 1]
}
