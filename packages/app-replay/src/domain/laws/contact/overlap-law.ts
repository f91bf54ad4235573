/** Laws `shape_overlap` and `environment_overlap` (docs/laws.md, Contacts). Pairs with recorded joints may overlap. */
import { type BodyId, jointAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { measureSeparation } from '../../shapes/separation.ts'
import { getSmallestSize } from '../../shapes/solid.ts'
import { length3, num } from '../../steps/block.ts'
import { getImpulseTolerance, readContactImpulse, readVelocityBefore } from '../../steps/momentum.ts'
import { type Run, RunCollector, type Subject } from '../../steps/run.ts'
import { mayOverlap } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import type { Touch } from '../../steps/touch.ts'
import { readTurnRate } from '../../steps/turning.ts'
import type { Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'
import { depthLimit } from './penetration-law.ts'
import { moveSolids, type PlacedSolid, placeSolids, readSolidPose } from './placed-solid.ts'

/** Allowed overlap: in m, plus relative to the smaller shape. */
const overlapSlack = { length: 1e-3, share: 2e-3 } as const

/** Maximum gap of close shapes in m. */
const maxGap = 0.01

/** Minimum depth in m of a loaded contact. Engines also record contacts before a collision. */
const minDepth = 1e-4

const minSinkingFrames = 3

export function overlapLaw(): Law {
  /** Each run begins with the first overlapping frame. */
  const overlaps = new RunCollector(2)
  const deepFrames = new Map<Run, number>()
  const unrecordedContacts = new RunCollector(2)
  const gaps = new RunCollector(2)
  const sinkingBodies = new SinkingBodies()
  /** Pairs that touched in the previous step, or have been separating since an earlier contact. */
  let separatingPairs: ReadonlySet<number> = new Set()
  let placed: readonly PlacedSolid[] | undefined
  let hasStarted = false
  return {
    observe(step) {
      placed ??= placeSolids(step.scene)
      if (placed.length < 2 || step.row === 0 || Number.isNaN(step.dt)) return
      const isFirst = !hasStarted
      hasStarted = true
      moveSolids(step, placed)
      const pushed = findUnrecordedImpulses(step)
      const touching = step.touches.map(({ a, b }) => toPairKey(a, b))
      const stillSeparatingPairs = new Set(touching)
      for (const [a, b, gap] of listClosePairs(placed, new Set([...touching, ...listJointed(step)]))) {
        if (isAsleep(step, a) && isAsleep(step, b)) continue
        if (hasForces(step, a) || hasForces(step, b) || mayOverlap(step.scene, a.body, b.body)) continue
        const subject = orderPair(a, b)
        const pair = toPairKey(a.body, b.body)
        const key = `${subject.pair}`
        if (!step.scene.hasContacts) {
          const limit = depthLimit + getMotion(step, a, b)
          sinkingBodies.observe({ pair, isFirst, frame: step.frame, depth: -gap, limit }, subject)
          continue
        }
        const limit =
          overlapSlack.length +
          overlapSlack.share * Math.min(getSmallestSize(a.solid), getSmallestSize(b.solid)) +
          getPoseError(step, a) +
          getPoseError(step, b)
        // If both bodies are free, the collision law judges the pair.
        const isPushed = includesColumn(pushed, a) || includesColumn(pushed, b)
        if (isPushed) {
          if (!(isFree(step, a) && isFree(step, b)))
            unrecordedContacts.add(key, step.frame, { value: Math.max(0, -gap), limit }, subject)
        } else if (gap < 0) {
          if (separatingPairs.has(pair) && measureGapAfter(step, a, b) > gap) {
            stillSeparatingPairs.add(pair)
            continue
          }
          const run = overlaps.add(key, step.frame, { value: -gap, limit }, subject)
          if (-gap > limit) deepFrames.set(run, (deepFrames.get(run) ?? 0) + 1)
        }
      }
      separatingPairs = stillSeparatingPairs
      for (const touch of step.touches) addFarTouch(step, touch, placed, gaps)
    },
    findings: () => [
      ...overlaps.runs
        .filter((run) => (deepFrames.get(run) ?? 0) > 1 || run.value > 5 * run.limit)
        .map((run) => createFinding(run, { kind: 'missing_contact', unit: 'm', confidence: 0.9 })),
      ...unrecordedContacts.runs.map((run) =>
        createFinding(run, { kind: 'missing_contact', unit: 'm', confidence: 0.8 }),
      ),
      ...sinkingBodies.runs.map((run) =>
        createFinding(run, {
          kind: 'penetration',
          unit: 'm',
          confidence: 0.85,
          text: 'their shapes overlap too deeply',
        }),
      ),
      ...gaps.runs.map((run) => createFinding(run, { kind: 'contact_gap', unit: 'm', confidence: 0.9 })),
    ],
  }
}

/** An overlap of a pair without recorded contacts, in m. */
interface Overlap {
  readonly pair: number
  readonly isFirst: boolean
  readonly frame: number
  readonly depth: number
  readonly limit: number
}

/** Pairs that begin to overlap too deeply after the first step, without recorded contacts. */
class SinkingBodies {
  readonly #collector = new RunCollector(2)
  readonly #startByRun = new Map<Run, number>()
  /** Pairs that have overlapped since the first step. */
  readonly #overlappingSinceStart = new Set<number>()
  readonly #last = new Map<number, Pick<Overlap, 'depth' | 'frame'> & { readonly start: number }>()

  observe({ pair, isFirst, frame, depth, limit }: Overlap, subject: Subject): void {
    if (depth <= 0) this.#overlappingSinceStart.delete(pair)
    else if (isFirst) this.#overlappingSinceStart.add(pair)
    const start = this.#findStart(pair, frame, depth)
    if (!(depth > limit) || this.#overlappingSinceStart.has(pair)) return
    const run = this.#collector.add(`${subject.pair}`, frame, { value: depth, limit }, subject)
    if (run.first === frame) this.#startByRun.set(run, start)
  }

  /** Returns runs, each from the frame in which the overlap began to grow. */
  get runs(): readonly Run[] {
    return this.#collector.runs
      .filter(({ frames }) => frames >= minSinkingFrames)
      .map((run) => ({ ...run, first: this.#startByRun.get(run) ?? run.first }))
  }

  #findStart(pair: number, frame: number, depth: number): number {
    const last = this.#last.get(pair)
    const isGrowing = last !== undefined && last.frame === frame - 1 && last.depth > 0 && depth > last.depth
    const start = isGrowing ? last.start : frame
    this.#last.set(pair, { depth, frame, start })
    return start
  }
}

function listJointed({ window, row }: Step): readonly number[] {
  const { offset, data } = window.joints
  const [from = 0, to = 0] = [offset[row], offset[row + 1]]
  return Array.from({ length: to - from }, (_, i) => {
    const at = (from + i) * jointAt.width
    return toPairKey(num(data.data, at + jointAt.a), num(data.data, at + jointAt.b))
  })
}

/** Returns close pairs without contact or joint, with signed distances in m. Uses sweep and prune along x. */
function listClosePairs(
  placed: readonly PlacedSolid[],
  knownPairs: ReadonlySet<number>,
): readonly (readonly [PlacedSolid, PlacedSolid, number])[] {
  const getLeft = ({ pose, bound }: PlacedSolid): number => (pose?.at[0] ?? 0) - bound - maxGap
  const sorted = placed.filter(({ pose }) => pose !== null).sort((a, b) => getLeft(a) - getLeft(b))
  const closePairs: (readonly [PlacedSolid, PlacedSolid, number])[] = []
  for (const [index, a] of sorted.entries()) {
    const end = (a.pose?.at[0] ?? 0) + a.bound
    for (let next = index + 1; next < sorted.length; next++) {
      const b = sorted[next] as PlacedSolid
      if (getLeft(b) > end) break
      if ((a.column < 0 && b.column < 0) || knownPairs.has(toPairKey(a.body, b.body))) continue
      const gap = measureGap(a, b)
      if (gap < maxGap) closePairs.push([a, b, gap])
    }
  }
  return closePairs
}

function measureGap(a: PlacedSolid, b: PlacedSolid): number {
  if (a.pose === null || b.pose === null) return Number.NaN
  const [p, q] = [a.pose.at, b.pose.at]
  const reach = a.bound + b.bound + maxGap
  if (length3(p[0] - q[0], p[1] - q[1], p[2] - q[2]) > reach) return Number.POSITIVE_INFINITY
  return measureSeparation(a.solid, a.pose, b.solid, b.pose)
}

function measureGapAfter(step: Step, a: PlacedSolid, b: PlacedSolid): number {
  const [poseA, poseB] = [a, b].map((solid) =>
    solid.column < 0 ? solid.pose : readSolidPose(step, solid, step.row),
  )
  return poseA == null || poseB == null ? Number.NaN : measureSeparation(a.solid, poseA, b.solid, poseB)
}

function addFarTouch(step: Step, touch: Touch, placed: readonly PlacedSolid[], gaps: RunCollector): void {
  if (!isLoaded(touch)) return
  const a = placed.find(({ body }) => body === touch.a)
  const b = placed.find(({ body }) => body === touch.b)
  if (a?.pose == null || b?.pose == null) return
  const gap = measureSeparation(a.solid, a.pose, b.solid, b.pose)
  const limit = getGapLimit(step, a, b)
  if (gap > limit) gaps.add(touch.key, step.frame, { value: gap, limit }, orderPair(a, b))
}

const isLoaded = ({ normalImpulse, depth, frictionRows }: Touch): boolean => {
  const size = length3(...normalImpulse)
  return frictionRows > 0 && !Number.isNaN(size) ? size > 0 : depth > minDepth
}

const getGapLimit = (step: Step, a: PlacedSolid, b: PlacedSolid): number =>
  maxGap + getMotion(step, a, b) + getPoseError(step, a) + getPoseError(step, b)

/** Returns the rounding error in m. */
const getPoseError = ({ errors }: Step, { column, bound }: PlacedSolid): number =>
  column < 0 ? 0 : num(errors.displacement, column) + Math.min(bound, maxBound) * num(errors.rotation, column)

/** Assumed bound in m of planes, which are infinite. */
const maxBound = 1e3

/** Returns 1.5 times the relative motion of the surfaces in m; 0 if unknown. */
function getMotion(step: Step, a: PlacedSolid, b: PlacedSolid): number {
  const speed = ({ column }: PlacedSolid): Point3 =>
    column < 0 ? [0, 0, 0] : readVelocityBefore(step, column)
  const turning = ({ column, solid, bound }: PlacedSolid): number =>
    column < 0 || (solid.kind === 'round' && solid.halfLength === 0)
      ? 0
      : (readTurnRate(step, column) || 0) * Math.min(bound, maxBound)
  const [u, v] = [speed(a), speed(b)]
  const relative = length3(u[0] - v[0], u[1] - v[1], u[2] - v[2])
  return 1.5 * ((relative || 0) + turning(a) + turning(b)) * step.dt
}

const toPairKey = (a: BodyId, b: BodyId): number => Math.min(a, b) * 2 ** 32 + Math.max(a, b)

const hasForces = (step: Step, { column }: PlacedSolid): boolean =>
  column >= 0 && step.hasExternal[column] === 1

const isAsleep = (step: Step, { column }: PlacedSolid): boolean => column < 0 || step.asleep[column] === 1

const isFree = (step: Step, { column }: PlacedSolid): boolean => column >= 0 && step.touching[column] === 0

function findUnrecordedImpulses(step: Step): ReadonlySet<number> {
  const pushed = new Set<number>()
  for (let column = 0; column < step.scene.bodies.length; column++) {
    if (step.touching[column] === 1 || step.scene.hasSubsteps) continue
    const size = length3(...readContactImpulse(step, column))
    if (size > getImpulseTolerance(step, column, 0.05)) pushed.add(column)
  }
  return pushed
}

const includesColumn = (columns: ReadonlySet<number>, { column }: PlacedSolid): boolean =>
  column >= 0 && columns.has(column)

/** Orders a pair by id, with the environment last, as in contact rows. */
function orderPair(
  a: PlacedSolid,
  b: PlacedSolid,
): { bodies: readonly BodyId[]; pair: readonly [BodyId, BodyId] } {
  const isOrdered = a.column >= 0 && (b.column < 0 || a.body < b.body)
  const pair = isOrdered ? ([a.body, b.body] as const) : ([b.body, a.body] as const)
  return { bodies: pair, pair }
}
