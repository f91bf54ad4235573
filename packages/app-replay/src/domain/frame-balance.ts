/** Forces on every body of a frame, and what changed since the frame before. */
import type {
  BodyId,
  ExternalForce,
  Frame,
  FrictionConstraint,
  RecordingSummary,
  Value,
  Vector,
} from '@causeway/recording'
import { involves, pairsOf } from './body.ts'
import { knowsContacts } from './capability.ts'
import { type ForceScale, newtons } from './force.ts'
import { checkCone } from './friction-cone.ts'
import { pairName, quantity } from './sentence.ts'
import { norm } from './vector.ts'

type Triple = readonly [number, number, number]

/** Forces on one body over the step, N. `unexplained` is what mass times acceleration leaves over. */
export interface BodyBalance {
  readonly body_id: BodyId
  /** m/s */
  readonly speed: Value
  readonly gravity_n: Vector | null
  /** null where the contacts have no recorded impulse, or are not told at all */
  readonly contact_n: Vector | null
  /** what the engine applied beside them; null where it was not a number */
  readonly external_n: Vector | null
  /** m dv/dt */
  readonly inertial_n: Vector | null
  readonly unexplained_n: Value
  /** J since the frame before */
  readonly delta_e: Value
  /** null where contacts are not told */
  readonly in_contact: boolean | null
}

/** One pair in contact: forces in N, share of the friction cone in use, depth in m. */
export interface PairLoad {
  readonly body_a_id: BodyId
  readonly body_b_id: BodyId
  readonly points: number
  readonly normal_force_n: Value
  readonly tangent_force_n: Value
  readonly utilization: Value
  readonly exceeds_limit: boolean
  readonly penetration_depth: Value
  /** true where the pair did not touch in the frame before */
  readonly is_new: boolean
}

/** What a frame has to do with the one before. */
export interface FrameStory {
  readonly balances: readonly BodyBalance[]
  /** null where contacts are not told */
  readonly contacts: readonly PairLoad[] | null
  readonly changes: readonly string[]
}

/** Explains a frame; `before` is the frame before, null for the first one or over a gap. */
export function explainFrame(
  frame: Frame,
  before: Frame | null,
  summary: RecordingSummary,
  scale: ForceScale,
): FrameStory {
  const contacts = knowsContacts(summary) ? loadsOf(frame, before, scale) : null
  return {
    balances: frame.states.map(({ body_id }) => balanceOf(body_id, { frame, before, summary, scale })),
    contacts,
    changes: changesOf(frame, before, contacts ?? []),
  }
}

interface Around {
  readonly frame: Frame
  readonly before: Frame | null
  readonly summary: RecordingSummary
  readonly scale: ForceScale
}

function balanceOf(body: BodyId, { frame, before, summary, scale }: Around): BodyBalance {
  const state = frame.states.find(({ body_id }) => body_id === body)
  const mass = summary.bodies.find(({ body_id }) => body_id === body)?.mass ?? null
  const velocity = state === undefined ? null : triple(state.velocity)
  const then = triple(before?.states.find(({ body_id }) => body_id === body)?.velocity)
  const g = triple(summary.gravity_m_s2)
  const isTouching = knowsContacts(summary)
    ? [...frame.collisions, ...frame.friction_constraints].some((row) => involves(row, body))
    : null
  const gravity = g === null || mass === null ? null : times(g, mass)
  const contact =
    isTouching === false ? ([0, 0, 0] as const) : contactForce(body, frame.friction_constraints, scale)
  const external = externalForce(body, frame.external_forces)
  const inertial =
    velocity === null || then === null || mass === null || !scale.dt
      ? null
      : times(sub(velocity, then), mass / scale.dt)
  const rest =
    inertial && gravity && contact && external ? sub(sub(sub(inertial, gravity), contact), external) : null
  const energy = frame.body_energies.find(({ body_id }) => body_id === body)?.total_e ?? null
  const was = before?.body_energies.find(({ body_id }) => body_id === body)?.total_e ?? null
  return {
    body_id: body,
    speed: state === undefined ? null : norm(state.velocity),
    gravity_n: vector(gravity),
    contact_n: vector(contact),
    external_n: vector(external),
    inertial_n: vector(inertial),
    unexplained_n: rest === null ? null : Math.hypot(...rest),
    delta_e: energy === null || was === null ? null : energy - was,
    in_contact: isTouching,
  }
}

/** Sum of the external forces on a body, N. */
function externalForce(body: BodyId, forces: readonly ExternalForce[]): Triple | null {
  let sum: Triple = [0, 0, 0]
  for (const { body_id, force } of forces) {
    if (body_id !== body) continue
    const one = triple(force)
    if (one === null) return null
    sum = sub(sum, times(one, -1))
  }
  return sum
}

/** Sum of -n normal + t1 tangent1 + t2 tangent2 over the rows of a body, N; negated where it is B. */
function contactForce(body: BodyId, rows: readonly FrictionConstraint[], scale: ForceScale): Triple | null {
  const own = rows.filter((row) => involves(row, body))
  if (own.length === 0) return null
  let sum: Triple = [0, 0, 0]
  for (const row of own) {
    const sign = row.body_a_id === body ? 1 : -1
    for (const [direction, lambda] of [
      [row.normal, row.normal_lambda === null ? null : -row.normal_lambda],
      [row.tangent1, row.tangent1_lambda],
      [row.tangent2, row.tangent2_lambda],
    ] as const) {
      const along = triple(direction)
      const force = newtons(lambda, scale)
      if (along === null || force === null) return null
      sum = sub(sum, times(along, -sign * force))
    }
  }
  return sum
}

function loadsOf(frame: Frame, before: Frame | null, scale: ForceScale): PairLoad[] {
  return pairsOf([...frame.collisions, ...frame.friction_constraints]).map((pair) => {
    const isOwn = (row: { body_a_id: BodyId; body_b_id: BodyId }): boolean =>
      row.body_a_id === pair.body_a_id && row.body_b_id === pair.body_b_id
    const cones = frame.friction_constraints.filter(isOwn).map((row) => checkCone(row, scale))
    const collision = frame.collisions.find(isOwn)
    const sum = (value: (cone: (typeof cones)[number]) => Value): Value =>
      cones.length === 0 ? null : cones.reduce<Value>((all, cone) => add(all, value(cone)), 0)
    return {
      ...pair,
      points: Math.max(collision?.contacts.length ?? 0, cones.length),
      normal_force_n: sum((cone) => cone.normal_force_n),
      tangent_force_n: sum((cone) => cone.total_tangent_force_n),
      utilization: cones.reduce<Value>(
        (most, { utilization }) => (utilization !== null && utilization > (most ?? -1) ? utilization : most),
        null,
      ),
      exceeds_limit: cones.some((cone) => cone.exceeds_limit_strict === true),
      penetration_depth: collision?.penetration_depth ?? null,
      is_new: before !== null && !before.collisions.some(isOwn) && !before.friction_constraints.some(isOwn),
    }
  })
}

function changesOf(frame: Frame, before: Frame | null, contacts: readonly PairLoad[]): string[] {
  if (before === null) return ['there is no frame before this one']
  const had = pairsOf([...before.collisions, ...before.friction_constraints])
  const lost = had.filter(
    (pair) => !contacts.some((one) => involves(one, pair.body_a_id) && involves(one, pair.body_b_id)),
  )
  const bodies = (one: Frame): readonly BodyId[] => one.states.map(({ body_id }) => body_id)
  const delta = frame.system_energy?.delta_e ?? null
  const [now, then] = [frame.solver?.converged, before.solver?.converged]
  const judged = (frame.solver?.num_constraints ?? 0) > 0
  return [
    ...contacts
      .filter(({ is_new }) => is_new)
      .map((one) => `contact begins: ${pairName(one.body_a_id, one.body_b_id)}`),
    ...lost.map((one) => `contact ends: ${pairName(one.body_a_id, one.body_b_id)}`),
    ...bodies(frame)
      .filter((body) => !bodies(before).includes(body))
      .map((body) => `body ${body} appears`),
    ...bodies(before)
      .filter((body) => !bodies(frame).includes(body))
      .map((body) => `body ${body} is gone`),
    ...(delta === null || delta === 0 ? [] : [`system energy changes by ${quantity(delta, 'J')}`]),
    ...(judged && now === false && then !== false ? ['the solver no longer converges'] : []),
  ]
}

const add = (a: Value, b: Value): Value => (a === null || b === null ? null : a + b)

const sub = (a: Triple, b: Triple): Triple => [a[0] - b[0], a[1] - b[1], a[2] - b[2]]

const times = (a: Triple, factor: number): Triple => [a[0] * factor, a[1] * factor, a[2] * factor]

const vector = (a: Triple | null): Vector | null => (a === null ? null : { x: a[0], y: a[1], z: a[2] })

const triple = (v: Vector | null | undefined): Triple | null =>
  v == null || v.x === null || v.y === null || v.z === null ? null : [v.x, v.y, v.z]
