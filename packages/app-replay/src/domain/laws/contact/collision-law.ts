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

/** Relative tolerance; ratio to the larger impulse below which a body does not react. */
const [tolerance, minReactionShare] = [0.05, 0.02] as const

/** Maximum gap: `length` in m, plus `motion` times the relative motion. */
const maxGap = { length: 0.01, motion: 1.5 } as const

/**
 * Minimum cosines of the impulse with three directions: away from the other body, against its impulse, along the line
 * of centres.
 */
const minCosine = { away: 0.5, opposite: 0.98, central: 0.9995 } as const

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
  /** `impulse` is m dv - m g dt in N·s, `size` its length. */
  readonly impulse: Point3
  readonly size: number
  readonly tolerance: number
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
  let [wasUndisturbed, isUndisturbed] = [new Uint8Array(), new Uint8Array()]
  let hasContacts = true
  return {
    observe(step) {
      const { scene, frame } = step
      if (placed === undefined) {
        placed = placeSolids(scene)
        solidByColumn = new Map(placed.map((solid) => [solid.column, solid]))
        wasUndisturbed = new Uint8Array(scene.bodies.length)
        isUndisturbed = new Uint8Array(scene.bodies.length)
        hasContacts = scene.hasContacts
      }
      ;[wasUndisturbed, isUndisturbed] = [isUndisturbed, wasUndisturbed]
      isUndisturbed.fill(0)
      if (Number.isNaN(step.dt) || Number.isNaN(scene.g) || scene.hasSubsteps) return
      const pushed = findPushed(step, isUndisturbed)
      if (pushed.length === 0) return
      moveSolids(step, placed)
      const isCandidate = (column: number): boolean => wasUndisturbed[column] === 1
      for (const [column, other] of listPairs(pushed, isUndisturbed)) {
        const key = `${Math.min(column, other)} ${Math.max(column, other)}`
        const isOpen = frame - (lastByPair.get(key) ?? Number.NEGATIVE_INFINITY) <= 1
        if (!isOpen && !(isCandidate(column) && isCandidate(other))) continue
        const bodyA = readBody(step, column, solidByColumn.get(column))
        const bodyB = readBody(step, other, solidByColumn.get(other))
        if (!isCollision(step, bodyA, bodyB) || !isAlone(step, bodyA, bodyB, { pushed, placed })) continue
        if (isUndisturbed[other] !== 1) lastByPair.set(key, frame)
        const collision = judgeCollision(step, bodyA, bodyB)
        if (collision === null) continue
        const { kind, hasShapes, value, limit } = collision
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

function* listPairs(
  pushed: readonly number[],
  isUndisturbed: Uint8Array,
): Generator<readonly [number, number]> {
  const pushedColumns = new Set(pushed)
  for (const column of pushed)
    for (let other = 0; other < isUndisturbed.length; other++)
      if (pushedColumns.has(other) ? other > column : isUndisturbed[other] === 1) yield [column, other]
}

/** Returns free bodies that receive an impulse. Marks the other free bodies as undisturbed. */
function findPushed(step: Step, isUndisturbed: Uint8Array): readonly number[] {
  const { scene, touching, hasExternal, joints } = step
  const pushed: number[] = []
  for (let column = 0; column < scene.bodies.length; column++) {
    if (touching[column] === 1 || hasExternal[column] === 1 || joints.isJointed[column] === 1) continue
    const size = length3(...readContactImpulse(step, column))
    if (Number.isNaN(size)) continue
    if (size > getImpulseTolerance(step, column, tolerance)) pushed.push(column)
    else isUndisturbed[column] = 1
  }
  return pushed
}

function readBody(step: Step, column: number, solid: PlacedSolid | undefined): FreeBody {
  const s = step.window.states.data
  const [now, before] = [getOffset(step, column), getOffsetBefore(step, column)]
  const impulse = readContactImpulse(step, column)
  return {
    column,
    at: read3(s, before + stateAt.position),
    before: read3(s, before + stateAt.velocity),
    after: read3(s, now + stateAt.velocity),
    impulse,
    size: length3(...impulse),
    tolerance: getImpulseTolerance(step, column, tolerance),
    solid: solid?.pose == null ? undefined : solid,
  }
}

/** Whether the second body pushed the first. */
function isCollision(step: Step, bodyA: FreeBody, bodyB: FreeBody): boolean {
  const [a = Number.NaN, b = Number.NaN] = [bodyA, bodyB].map(({ column }) => step.scene.bodies[column])
  if (mayOverlap(step.scene, a, b)) return false
  const separation = add(bodyB.at, bodyA.at, -1)
  const distance = length3(...separation)
  const approach = add(bodyB.before, bodyA.before, -1)
  if (!(distance > 0) || !(dot3(approach, separation) < 0)) return false
  if (!(-dot3(bodyA.impulse, separation) > minCosine.away * bodyA.size * distance)) return false
  const isPushed = bodyB.size > bodyB.tolerance
  if (isPushed && !(dot3(bodyB.impulse, separation) > minCosine.away * bodyB.size * distance)) return false
  const gap = measureGap(bodyA, bodyB)
  if (!Number.isNaN(gap)) return gap < maxGap.length + maxGap.motion * length3(...approach) * step.dt
  return isPushed && -dot3(bodyA.impulse, bodyB.impulse) > minCosine.opposite * bodyA.size * bodyB.size
}

/** Returns the gap in m; NaN if a shape is unknown. */
function measureGap({ solid: a }: Pick<FreeBody, 'solid'>, { solid: b }: Pick<FreeBody, 'solid'>): number {
  if (a?.pose == null || b?.pose == null) return Number.NaN
  return measureSeparation(a.solid, a.pose, b.solid, b.pose)
}

/** Whether no third body can be involved. Pushed bodies without known shapes must be three times as far away. */
function isAlone(
  step: Step,
  bodyA: FreeBody,
  bodyB: FreeBody,
  { pushed, placed }: { readonly pushed: readonly number[]; readonly placed: readonly PlacedSolid[] },
): boolean {
  const speed = Math.max(length3(...bodyA.before), length3(...bodyB.before))
  const limit = maxGap.length + maxGap.motion * speed * step.dt
  const isNear = placed.some(
    (other) =>
      other.column !== bodyA.column &&
      other.column !== bodyB.column &&
      (measureGap(bodyA, { solid: other }) < limit || measureGap(bodyB, { solid: other }) < limit),
  )
  if (isNear) return false
  const reach = 3 * length3(...add(bodyB.at, bodyA.at, -1))
  return pushed.every((column) => {
    if (column === bodyA.column || column === bodyB.column) return true
    const at = read3(step.window.states.data, getOffsetBefore(step, column) + stateAt.position)
    const isKnown = placed.some((other) => other.column === column && other.pose !== null)
    if (isKnown && bodyA.solid !== undefined && bodyB.solid !== undefined) return true
    return Math.min(length3(...add(at, bodyA.at, -1)), length3(...add(at, bodyB.at, -1))) > reach
  })
}

function judgeCollision(step: Step, bodyA: FreeBody, bodyB: FreeBody): Collision | null {
  const hasShapes = bodyA.solid !== undefined && bodyB.solid !== undefined
  const size = Math.max(bodyA.size, bodyB.size)
  const limit = Math.max(bodyA.tolerance, bodyB.tolerance, tolerance * size)
  const value = length3(...add(bodyA.impulse, bodyB.impulse))
  // A heavy body hides a small impulse.
  if (!(limit < 0.3 * size)) return null
  if (value > limit) {
    const smallerSize = Math.min(bodyA.size, bodyB.size)
    const isMissing = smallerSize < minReactionShare * size || bodyB.size <= bodyB.tolerance
    return { kind: isMissing ? 'missing_reaction' : 'unequal_reaction', value, limit, hasShapes }
  }
  const energy = measureGain(step, bodyA, bodyB)
  if (energy !== null && energy.gain > energy.allowed)
    return { kind: 'energy_injection', value: energy.gain, limit: energy.allowed, hasShapes }
  return step.scene.hasContacts ? { kind: 'missing_contact', value: size, limit, hasShapes } : null
}

/** Returns the gain in J; `null` if rotational energy is unknown. */
function measureGain(
  step: Step,
  bodyA: FreeBody,
  bodyB: FreeBody,
): { readonly gain: number; readonly allowed: number } | null {
  const separation = add(bodyB.at, bodyA.at, -1)
  const isCentral = -dot3(bodyA.impulse, separation) > minCosine.central * bodyA.size * length3(...separation)
  let [gain, rotational, error] = [0, 0, 0]
  for (const { column, impulse, before, after } of [bodyA, bodyB]) {
    gain += dot3(impulse, add(before, after)) / 2
    error += measureEnergyError(step, column, num(step.scene.masses, column))
    const rotationalBefore = readRotationalEnergy(step, column, step.row - 1)
    const change = readRotationalEnergy(step, column, step.row) - rotationalBefore
    if (Number.isNaN(change) && !isCentral) return null
    gain += change || 0
    rotational += rotationalBefore || 0
  }
  const [massA, massB] = [bodyA, bodyB].map(({ column }) => num(step.scene.masses, column)) as [
    number,
    number,
  ]
  const relativeSpeed = length3(...add(bodyB.before, bodyA.before, -1))
  const kinetic = (0.5 * massA * massB * relativeSpeed ** 2) / (massA + massB)
  return { gain, allowed: tolerance * (kinetic + rotational) + 1e-9 + error }
}
