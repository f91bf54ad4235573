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
const maxRunLength = 5

/** Cost of a leg that no vessel can sail. A removed fix costs 1. */
const brokenLegCost = 3 * maxRunLength

/** A run is a jump if retaining any of its fixes adds at least this cost per fix. */
const minMarginPerFix = 1.5

/** Number of legs on each side that determine the usual speed. */
const neighbourLegs = 8

/** Minimum number of legs that determine the usual speed. */
const minSpeedLegs = 3

/** A vessel's maximum speed as a multiple of the usual speed nearby. */
const speedFactor = 3

/** Speed in metres per second up to which a leg always counts as usual. */
const minUsualSpeed = 25

/** Yields the number of processed fixes. */
export function* findJumps(track: TimedTrack, min_m: number): Generator<number, Jump[]> {
  const jumps: Jump[] = []
  let first = 0
  for (const end of [...track.breaks, track.fixes.length].sort((a, b) => a - b)) {
    const partJumps = yield* new TrackPart(track.fixes.slice(first, end), min_m).findJumps(first)
    jumps.push(...partJumps)
    first = end
  }
  return jumps
}

/** Number of fixes on each side that decide whether a fix is bad. */
const surroundingFixes = 2 * (maxRunLength + neighbourLegs)

/** Whether a time is in a jump or on the leg to or from it. */
export function isInJump(track: TimedTrack, time: number, min_m: number): boolean {
  const index = findFixBefore(track.times, time)
  const from = Math.max(0, index - surroundingFixes)
  const fixes = track.fixes.slice(from, index + surroundingFixes)
  const breaks = [...track.breaks]
    .map((index) => index - from)
    .filter((index) => index > 0 && index < fixes.length)
  const iterator = findJumps({ ...track, fixes, breaks: new Set(breaks) }, min_m)
  let result = iterator.next()
  while (!result.done) result = iterator.next()
  return result.value.some(({ first, last }) => {
    const [before, after] = [fixes[first - 1] ?? fixes[first], fixes[last + 1] ?? fixes[last]]
    return (before?.time ?? time) <= time && time <= (after?.time ?? time)
  })
}

/** Minimizes the cost of removed fixes and impossible legs, as in the Viterbi algorithm. */
class TrackPart {
  readonly #fixes: readonly Fix[]
  readonly #minOffset: number
  /** Leg speeds in metres per second, indexed by last fix. NaN if unknown or unusual. */
  readonly #speeds: Float64Array
  /** Whether no vessel can sail the leg, indexed by its last fix. */
  readonly #brokenLegs: Uint8Array
  readonly #removableRuns = new Map<number, readonly number[]>()
  readonly #count: number

  constructor(fixes: readonly Fix[], minOffset: number) {
    this.#fixes = fixes
    this.#minOffset = minOffset
    this.#count = fixes.length
    this.#speeds = computeLegSpeeds(fixes)
    this.#brokenLegs = new Uint8Array(fixes.length)
  }

  *findJumps(offset: number): Generator<number, Jump[]> {
    for (let index = 1; index < this.#count; index++) {
      this.#brokenLegs[index] = this.#isReachable(index - 1, index) ? 0 : 1
      yield offset + index
    }
    if (!this.#brokenLegs.includes(1)) return []
    for (let index = 1; index <= this.#count; index++) this.#storeRemovableRuns(index)
    return this.#findRuns().map(([first, last]) => ({
      first: offset + first,
      last: offset + last,
      start_ms: this.#fixes[first]?.time ?? 0,
      end_ms: this.#fixes[last]?.time ?? 0,
      offset_m: this.#measureOffset(first, last),
    }))
  }

  #findRuns(): (readonly [first: number, last: number])[] {
    const costs = this.#computeCosts()
    const minCost = costs.reduce((a, b) => Math.min(a, b), Number.POSITIVE_INFINITY)
    const runs: (readonly [number, number])[] = []
    for (let first = 0; first < this.#count; first++) {
      let [end, margin] = [first, Number.POSITIVE_INFINITY]
      for (; end < this.#count && (costs[end] ?? 0) > minCost; end++)
        margin = Math.min(margin, (costs[end] ?? 0) - minCost)
      if (end > first && margin >= minMarginPerFix * (end - first)) runs.push([first, end - 1])
      first = end
    }
    return runs
  }

  #computeCosts(): Float64Array {
    const costsTo = new Float64Array(this.#count + 1).fill(Number.POSITIVE_INFINITY)
    const costsFrom = new Float64Array(this.#count + 1).fill(Number.POSITIVE_INFINITY)
    costsTo[0] = 0
    for (let index = 1; index <= this.#count; index++) {
      let minCost = (costsTo[index - 1] ?? 0) + this.#getLegCost(index)
      for (const length of this.#removableRuns.get(index) ?? [])
        minCost = Math.min(minCost, (index === length ? 0 : (costsTo[index - length - 1] ?? 0)) + length)
      costsTo[index] = minCost
    }
    costsFrom[this.#count] = 0
    for (let index = this.#count; index > 0; index--) {
      const cost = costsFrom[index] ?? 0
      costsFrom[index - 1] = Math.min(costsFrom[index - 1] ?? 0, cost + this.#getLegCost(index))
      for (const length of this.#removableRuns.get(index) ?? []) {
        const before = index - length - 1
        if (before >= 0) costsFrom[before] = Math.min(costsFrom[before] ?? 0, cost + length)
      }
    }
    return costsTo.slice(0, -1).map((cost, index) => cost + (costsFrom[index] ?? 0))
  }

  #getLegCost = (index: number): number => (this.#brokenLegs[index] === 1 ? brokenLegCost : 0)

  /** Stores the lengths of the runs before a fix that can be removed: the track is plausible without them. */
  #storeRemovableRuns(after: number): void {
    const lengths: number[] = []
    let hasBrokenLeg = this.#brokenLegs[after] === 1
    for (let length = 1; length <= Math.min(maxRunLength, after); length++) {
      hasBrokenLeg ||= this.#brokenLegs[after - length] === 1
      if (hasBrokenLeg && this.#isRemovable(after - length, after)) lengths.push(length)
    }
    if (lengths.length > 0) this.#removableRuns.set(after, lengths)
  }

  #isRemovable(first: number, after: number): boolean {
    const run = Array.from({ length: after - first }, (_, index) => first + index)
    if (first === 0)
      return after < this.#count && run.every((index) => !this.#isReachable(index, after, minUsualSpeed))
    const before = first - 1
    if (after === this.#count) return run.every((index) => !this.#isReachable(before, index, minUsualSpeed))
    if (!this.#isReachable(before, after)) return false
    const measureDeviation = this.#createDeviationMeasure(before, after)
    const speed = this.#getMaxSpeed(before, after)
    return run.every((index) => {
      const shortestSeconds = Math.min(this.#getSeconds(before, index), this.#getSeconds(index, after))
      return measureDeviation(index) > this.#minOffset + speed * shortestSeconds
    })
  }

  /** Whether the vessel could sail from one fix to another at its maximum speed, or `minSpeed` if higher. */
  #isReachable(from: number, to: number, minSpeed = 0): boolean {
    const [a, b] = [this.#fixes[from], this.#fixes[to]]
    if (a === undefined || b === undefined) return true
    const metres = computeDistance(a, b)
    if (metres <= this.#minOffset) return true
    const speed = Math.max(minSpeed, this.#getMaxSpeed(from, to))
    return metres <= this.#minOffset + speed * this.#getSeconds(from, to)
  }

  #getSeconds = (from: number, to: number): number =>
    ((this.#fixes[to]?.time ?? 0) - (this.#fixes[from]?.time ?? 0)) / 1000

  /** Uses the usual speed before or after, whichever is higher: the vessel can accelerate or stop between the fixes. */
  #getMaxSpeed(from: number, to: number): number {
    const before = this.#speeds.subarray(Math.max(0, from - neighbourLegs + 1), from + 1)
    const after = this.#speeds.subarray(to + 1, to + 1 + neighbourLegs)
    const [lowerMedian, higherMedian] = [before, after].map(findMedian).sort((a, b) => (a ?? -1) - (b ?? -1))
    const usualSpeed = higherMedian ?? lowerMedian ?? findMedian(new Float64Array([...before, ...after]))
    return usualSpeed === undefined ? Number.POSITIVE_INFINITY : speedFactor * usualSpeed
  }

  #createDeviationMeasure(before: number, after: number): (index: number) => number {
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
    const measureDeviation = this.#createDeviationMeasure(before, last + 1 < this.#count ? last + 1 : before)
    let maxOffset = 0
    for (let index = first; index <= last; index++) maxOffset = Math.max(maxOffset, measureDeviation(index))
    return maxOffset
  }
}

/** Returns leg speeds in metres per second, indexed by last fix. Legs much faster than most are NaN. */
function computeLegSpeeds(fixes: readonly Fix[]): Float64Array {
  const speeds = new Float64Array(fixes.length).fill(Number.NaN)
  for (const [index, fix] of fixes.entries()) {
    const previous = fixes[index - 1]
    if (previous === undefined || fix.time <= previous.time) continue
    speeds[index] = computeDistance(previous, fix) / ((fix.time - previous.time) / 1000)
  }
  const knownSpeeds = speeds.filter((speed) => !Number.isNaN(speed)).sort()
  const maxSpeed = Math.max(
    minUsualSpeed,
    speedFactor * (knownSpeeds[Math.floor(0.75 * knownSpeeds.length)] ?? 0),
  )
  return speeds.map((speed) => (speed > maxSpeed ? Number.NaN : speed))
}

function findMedian(speeds: Float64Array): number | undefined {
  const knownSpeeds = speeds.filter((speed) => !Number.isNaN(speed)).sort()
  return knownSpeeds.length < minSpeedLegs ? undefined : knownSpeeds[knownSpeeds.length >> 1]
}
