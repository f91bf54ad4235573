/** Law `collisions` (docs/laws.md, Contacts). */
import { stateAt } from '@causeway/recording'
import { createFinding } from '../../findings/finding.ts'
import { measureSeparation } from '../../shapes/separation.ts'
import { getOffset, getOffsetBefore, length3, num, read3 } from '../../steps/block.ts'
import { getImpulseTolerance, readContactImpulse } from '../../steps/momentum.ts'
import { RunCollector } from '../../steps/run.ts'
import { mayOverlap } from '../../steps/scene.ts'
import type { Step } from '../../steps/step.ts'
import { add, dot3, type Point3 } from '../../vector.ts'
import type { Law } from '../law.ts'
import { measureEnergyError, readRotationalEnergy } from '../motion/body-balance.ts'
import { moveSolids, type PlacedSolid, placeSolids } from './placed-solid.ts'

/** Tolerance as a share of the largest term; share of the larger impulse below which a body does not react. */
const [tolerance, noReaction] = [0.05, 0.02] as const

/** Maximum gap: `length` in m, plus `motion` times the relative motion. */
const near = { length: 0.01, motion: 1.5 } as const

/**
 * Minimum cosines of the impulse with three directions: away from the other body, against its impulse, along the line
 * of centres.
 */
const cosine = { away: 0.5, opposite: 0.98, central: 0.9995 } as const

const texts = {
  missing_reaction: 'only one body reacts to their collision',
  unequal_reaction: 'action and reaction of their collision differ',
  energy_injection: 'they gain energy in a collision',
  missing_contact: 'they collide without a contact row',
} as const

type CollisionKind = keyof typeof texts

const kinds = Object.keys(texts) as CollisionKind[]

interface FreeBody {
  readonly column: number
  readonly at: Point3
  /** m/s */
  readonly before: Point3
  readonly after: Point3
  /** `impulse` is m dv - m g dt in N·s, `size` its length, `allowed` its tolerance. */
  readonly impulse: Point3
  readonly size: number
  readonly allowed: number
  readonly solid: PlacedSolid | undefined
}

interface Collision {
  readonly kind: CollisionKind
  readonly value: number
  readonly limit: number
  readonly hasShapes: boolean
}

export function collisionLaw(): Law {
  const runs = Object.fromEntries(
    kinds.flatMap((kind) => [true, false].map((shapes) => [`${kind} ${shapes}`, new RunCollector(2)])),
  ) as Readonly<Record<`${CollisionKind} ${boolean}`, RunCollector>>
  const lastByPair = new Map<string, number>()
  let placed: readonly PlacedSolid[] | undefined
  let solidByColumn: ReadonlyMap<number, PlacedSolid> = new Map()
  /** Whether each body is free and not pushed, in the previous step and in this one. */
  let [wasCalm, isCalm] = [new Uint8Array(), new Uint8Array()]
  let hasContacts = true
  return {
    observe(step) {
      const { scene, frame } = step
      if (placed === undefined) {
        placed = placeSolids(scene)
        solidByColumn = new Map(placed.map((one) => [one.column, one]))
        wasCalm = new Uint8Array(scene.bodies.length)
        isCalm = new Uint8Array(scene.bodies.length)
        hasContacts = scene.hasContacts
      }
      ;[wasCalm, isCalm] = [isCalm, wasCalm]
      isCalm.fill(0)
      if (Number.isNaN(step.dt) || Number.isNaN(scene.g) || scene.hasSubsteps) return
      const pushed = findPushed(step, isCalm)
      if (pushed.length === 0) return
      moveSolids(step, placed)
      const isCandidate = (column: number): boolean => wasCalm[column] === 1
      for (const [column, other] of listPairs(pushed, isCalm)) {
        const key = `${Math.min(column, other)} ${Math.max(column, other)}`
        const isOpen = frame - (lastByPair.get(key) ?? Number.NEGATIVE_INFINITY) <= 1
        if (!isOpen && !(isCandidate(column) && isCandidate(other))) continue
        const one = readBody(step, column, solidByColumn.get(column))
        const two = readBody(step, other, solidByColumn.get(other))
        if (!isCollision(step, one, two) || !isAlone(step, one, two, { pushed, placed })) continue
        if (isCalm[other] !== 1) lastByPair.set(key, frame)
        const found = judge(step, one, two)
        if (found === null) continue
        const { kind, hasShapes, value, limit } = found
        const [a = 0, b = 0] = [column, other].map((c) => scene.bodies[c] ?? 0).sort((x, y) => x - y)
        runs[`${kind} ${hasShapes}`].add(key, frame, { value, limit }, { bodies: [a, b], pair: [a, b] })
      }
    },
    findings: () =>
      kinds.flatMap((kind) =>
        [true, false].flatMap((shapes) =>
          runs[`${kind} ${shapes}`].runs.map((run) =>
            createFinding(run, {
              kind,
              unit: kind === 'energy_injection' ? 'J' : 'N·s',
              confidence: shapes && hasContacts ? 0.9 : 0.8,
              text: texts[kind],
            }),
          ),
        ),
      ),
  }
}

function* listPairs(pushed: readonly number[], isCalm: Uint8Array): Generator<readonly [number, number]> {
  const others = new Set(pushed)
  for (const column of pushed)
    for (let other = 0; other < isCalm.length; other++)
      if (others.has(other) ? other > column : isCalm[other] === 1) yield [column, other]
}

/** Returns pushed bodies. Marks all other free bodies as calm. */
function findPushed(step: Step, isCalm: Uint8Array): readonly number[] {
  const { scene, touching, hasExternal, joints } = step
  const pushed: number[] = []
  for (let column = 0; column < scene.bodies.length; column++) {
    if (touching[column] === 1 || hasExternal[column] === 1 || joints.isJointed[column] === 1) continue
    const size = length3(...readContactImpulse(step, column))
    if (Number.isNaN(size)) continue
    if (size > getImpulseTolerance(step, column, tolerance)) pushed.push(column)
    else isCalm[column] = 1
  }
  return pushed
}

function readBody(step: Step, column: number, solid: PlacedSolid | undefined): FreeBody {
  const s = step.window.states.data
  const [now, was] = [getOffset(step, column), getOffsetBefore(step, column)]
  const impulse = readContactImpulse(step, column)
  return {
    column,
    at: read3(s, was + stateAt.position),
    before: read3(s, was + stateAt.velocity),
    after: read3(s, now + stateAt.velocity),
    impulse,
    size: length3(...impulse),
    allowed: getImpulseTolerance(step, column, tolerance),
    solid: solid?.pose == null ? undefined : solid,
  }
}

/** Whether the second body pushed the first. */
function isCollision(step: Step, one: FreeBody, two: FreeBody): boolean {
  const [a = Number.NaN, b = Number.NaN] = [one, two].map(({ column }) => step.scene.bodies[column])
  if (mayOverlap(step.scene, a, b)) return false
  const between = add(two.at, one.at, -1)
  const distance = length3(...between)
  const approach = add(two.before, one.before, -1)
  if (!(distance > 0) || !(dot3(approach, between) < 0)) return false
  if (!(-dot3(one.impulse, between) > cosine.away * one.size * distance)) return false
  const isPushed = two.size > two.allowed
  if (isPushed && !(dot3(two.impulse, between) > cosine.away * two.size * distance)) return false
  const gap = measureGap(one, two)
  if (!Number.isNaN(gap)) return gap < near.length + near.motion * length3(...approach) * step.dt
  return isPushed && -dot3(one.impulse, two.impulse) > cosine.opposite * one.size * two.size
}

/** Returns the gap in m; NaN if a shape is unknown. */
function measureGap({ solid: a }: Pick<FreeBody, 'solid'>, { solid: b }: Pick<FreeBody, 'solid'>): number {
  if (a?.pose == null || b?.pose == null) return Number.NaN
  return measureSeparation(a.solid, a.pose, b.solid, b.pose)
}

/** If shapes are unknown, other pushed bodies must be three times as far away. */
function isAlone(
  step: Step,
  one: FreeBody,
  two: FreeBody,
  { pushed, placed }: { readonly pushed: readonly number[]; readonly placed: readonly PlacedSolid[] },
): boolean {
  const speed = Math.max(length3(...one.before), length3(...two.before))
  const limit = near.length + near.motion * speed * step.dt
  const isNear = placed.some(
    (other) =>
      other.column !== one.column &&
      other.column !== two.column &&
      (measureGap(one, { solid: other }) < limit || measureGap(two, { solid: other }) < limit),
  )
  if (isNear) return false
  const reach = 3 * length3(...add(two.at, one.at, -1))
  return pushed.every((column) => {
    if (column === one.column || column === two.column) return true
    const at = read3(step.window.states.data, getOffsetBefore(step, column) + stateAt.position)
    const isKnown = placed.some((other) => other.column === column && other.pose !== null)
    if (isKnown && one.solid !== undefined && two.solid !== undefined) return true
    return Math.min(length3(...add(at, one.at, -1)), length3(...add(at, two.at, -1))) > reach
  })
}

function judge(step: Step, one: FreeBody, two: FreeBody): Collision | null {
  const hasShapes = one.solid !== undefined && two.solid !== undefined
  const size = Math.max(one.size, two.size)
  const limit = Math.max(one.allowed, two.allowed, tolerance * size)
  const value = length3(...add(one.impulse, two.impulse))
  // A heavy body hides a small impulse.
  if (!(limit < 0.3 * size)) return null
  if (value > limit) {
    const least = Math.min(one.size, two.size)
    const isMissing = least < noReaction * size || two.size <= two.allowed
    return { kind: isMissing ? 'missing_reaction' : 'unequal_reaction', value, limit, hasShapes }
  }
  const energy = measureGain(step, one, two)
  if (energy !== null && energy.gain > energy.allowed)
    return { kind: 'energy_injection', value: energy.gain, limit: energy.allowed, hasShapes }
  return step.scene.hasContacts ? { kind: 'missing_contact', value: size, limit, hasShapes } : null
}

/** Returns the gain in J; `null` if rotational energy is unknown. */
function measureGain(
  step: Step,
  one: FreeBody,
  two: FreeBody,
): { readonly gain: number; readonly allowed: number } | null {
  const between = add(two.at, one.at, -1)
  const isCentral = -dot3(one.impulse, between) > cosine.central * one.size * length3(...between)
  let [gain, turning, error] = [0, 0, 0]
  for (const { column, impulse, before, after } of [one, two]) {
    gain += dot3(impulse, add(before, after)) / 2
    error += measureEnergyError(step, column, num(step.scene.masses, column))
    const was = readRotationalEnergy(step, column, step.row - 1)
    const change = readRotationalEnergy(step, column, step.row) - was
    if (Number.isNaN(change) && !isCentral) return null
    gain += change || 0
    turning += was || 0
  }
  const [massA, massB] = [one, two].map(({ column }) => num(step.scene.masses, column)) as [number, number]
  const relative = length3(...add(two.before, one.before, -1))
  const kinetic = (0.5 * massA * massB * relative ** 2) / (massA + massB)
  return { gain, allowed: tolerance * (kinetic + turning) + 1e-9 + error }
}
