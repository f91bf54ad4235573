import type {
  BodyId,
  ExternalForce,
  Frame,
  FrictionConstraint,
  Joint,
  RecordingSummary,
  Value,
  Vector,
} from '@causeway/recording'
import { involvesBody, listPairs, type Pair } from '../bodies/body.ts'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { type ForceScale, toNewtons } from '../contacts/force.ts'
import { checkCone } from '../contacts/friction-cone.ts'
import { hasContacts } from '../recordings/capability.ts'
import { formatQuantity, roundDerived } from '../sentence.ts'
import { add, norm, type Point3 } from '../vector.ts'

/** Forces on a body over the step, in SI units. */
interface BodyBalance {
  readonly body_id: BodyId
  readonly speed: Value
  readonly gravity_n: Vector | null
  /** `null` if the contacts' impulses were not recorded. */
  readonly contact_n: Vector | null
  readonly external_n: Vector | null
  /** Reactions of joints; `null` if one was not recorded. */
  readonly joint_n: Vector | null
  /** m dv/dt */
  readonly inertial_n: Vector | null
  /** Length of `inertial_n` minus the sum of all other forces; 0 for rounding noise, `null` if a force is unknown. */
  readonly unexplained_n: Value
  readonly delta_e: Value
  /** `null` if contacts were not recorded. */
  readonly in_contact: boolean | null
}

/** Forces in N, depth in m. */
interface PairLoad extends Pair {
  readonly points: number
  readonly normal_force_n: Value
  readonly tangent_force_n: Value
  readonly utilization: Value
  readonly exceeds_limit: boolean
  readonly penetration_depth: Value
  /** Whether the pair did not touch in the previous frame. */
  readonly is_new: boolean
}

export interface FrameExplanation {
  readonly balances: readonly BodyBalance[]
  /** `null` if contacts were not recorded. */
  readonly contacts: readonly PairLoad[] | null
  readonly changes: readonly string[]
}

interface FrameContext {
  /** `null` for the first frame and after a gap. */
  readonly before: Frame | null
  readonly summary: RecordingSummary
  readonly scale: ForceScale
  readonly names: BodyNames
}

/** Derived numbers have six significant digits. */
export function explainFrame(frame: Frame, context: FrameContext): FrameExplanation {
  const { before, summary, scale, names } = context
  const contacts = hasContacts(summary) ? listPairLoads(frame, before, scale) : null
  return {
    balances: frame.states.map(({ body_id }) => balanceBody(body_id, { frame, before, summary, scale })),
    contacts,
    changes: listChanges({ frame, before, names }, contacts ?? []),
  }
}

interface BalanceInput {
  readonly frame: Frame
  readonly before: Frame | null
  readonly summary: RecordingSummary
  readonly scale: ForceScale
}

function balanceBody(body: BodyId, { frame, before, summary, scale }: BalanceInput): BodyBalance {
  const state = frame.states.find(({ body_id }) => body_id === body)
  const mass = summary.bodies.find(({ body_id }) => body_id === body)?.mass ?? null
  const velocity = state === undefined ? null : toPoint(state.velocity)
  const velocityBefore = toPoint(before?.states.find(({ body_id }) => body_id === body)?.velocity)
  const g = toPoint(summary.gravity_m_s2)
  const isTouching = hasContacts(summary)
    ? [...frame.collisions, ...frame.friction_constraints].some((row) => involvesBody(row, body))
    : null
  const gravity = g === null || mass === null ? null : multiply(g, mass)
  const contactForce =
    isTouching === false ? ([0, 0, 0] as const) : sumContactForces(body, frame.friction_constraints, scale)
  const externalForce = sumExternalForces(body, frame.external_forces)
  const isGrouped = summary.geometry.some(({ body_id, group }) => body_id === body && group !== undefined)
  const jointForce = sumJointForces(body, frame.joints, { scale, isGrouped })
  const inertialForce =
    velocity === null || velocityBefore === null || mass === null || !scale.dt
      ? null
      : multiply(add(velocity, velocityBefore, -1), mass / scale.dt)
  const forces = [gravity, contactForce, externalForce, jointForce]
  // Contact forces of earlier substeps were not recorded.
  const hasSingleStep = (summary.substeps ?? 1) === 1
  const energy = frame.body_energies.find(({ body_id }) => body_id === body)?.total_e ?? null
  const energyBefore = before?.body_energies.find(({ body_id }) => body_id === body)?.total_e ?? null
  return {
    body_id: body,
    speed: state === undefined ? null : roundDerived(norm(state.velocity)),
    gravity_n: toVector(gravity),
    contact_n: toVector(contactForce),
    external_n: toVector(externalForce),
    joint_n: toVector(jointForce),
    inertial_n: toVector(inertialForce),
    unexplained_n: hasSingleStep ? inertialForce && measureUnexplained(inertialForce, forces) : null,
    delta_e: energy === null || energyBefore === null ? null : roundDerived(energy - energyBefore),
    in_contact: isTouching,
  }
}

/** Maximum ratio of rounding noise to the forces. */
const balanceNoise = 1e-9

function measureUnexplained(inertial: Point3, forces: readonly (Point3 | null)[]): Value {
  let remaining = inertial
  let size = Math.hypot(...inertial)
  for (const force of forces) {
    if (force === null) return null
    remaining = add(remaining, force, -1)
    size += Math.hypot(...force)
  }
  const unexplained = Math.hypot(...remaining)
  // Forces of a diverged run can overflow.
  if (!Number.isFinite(unexplained)) return null
  return unexplained <= balanceNoise * size ? 0 : roundDerived(unexplained)
}

function sumExternalForces(body: BodyId, forces: readonly ExternalForce[]): Point3 | null {
  let sum: Point3 = [0, 0, 0]
  for (const { body_id, force } of forces) {
    if (body_id !== body) continue
    const vector = toPoint(force)
    if (vector === null) return null
    sum = add(sum, vector)
  }
  return sum
}

/** Returns `null` if a joint was not recorded. Bodies of a group always have joints. */
function sumJointForces(
  body: BodyId,
  joints: readonly Joint[],
  { scale, isGrouped }: { readonly scale: ForceScale; readonly isGrouped: boolean },
): Point3 | null {
  const bodyJoints = joints.filter((joint) => involvesBody(joint, body))
  if (bodyJoints.length === 0) return isGrouped ? null : [0, 0, 0]
  let sum: Point3 = [0, 0, 0]
  for (const { body_a_id, impulse } of bodyJoints) {
    const [x, y, z] = [impulse.x, impulse.y, impulse.z].map((part) => toNewtons(part, scale))
    if (x == null || y == null || z == null) return null
    sum = add(sum, [x, y, z], body_a_id === body ? 1 : -1)
  }
  return sum
}

/** Returns -n normal + t1 tangent1 + t2 tangent2 in N, negated for body B. */
function sumContactForces(
  body: BodyId,
  rows: readonly FrictionConstraint[],
  scale: ForceScale,
): Point3 | null {
  const bodyRows = rows.filter((row) => involvesBody(row, body))
  if (bodyRows.length === 0) return null
  let sum: Point3 = [0, 0, 0]
  for (const row of bodyRows) {
    const sign = row.body_a_id === body ? 1 : -1
    for (const [direction, lambda] of [
      [row.normal, row.normal_lambda === null ? null : -row.normal_lambda],
      [row.tangent1, row.tangent1_lambda],
      [row.tangent2, row.tangent2_lambda],
    ] as const) {
      const along = toPoint(direction)
      const force = toNewtons(lambda, scale)
      if (along === null || force === null) return null
      sum = add(sum, along, sign * force)
    }
  }
  return sum
}

function listPairLoads(frame: Frame, before: Frame | null, scale: ForceScale): PairLoad[] {
  return listPairs([...frame.collisions, ...frame.friction_constraints]).map((pair) => {
    const isPairRow = (row: { body_a_id: BodyId; body_b_id: BodyId }): boolean =>
      row.body_a_id === pair.body_a_id && row.body_b_id === pair.body_b_id
    const cones = frame.friction_constraints.filter(isPairRow).map((row) => checkCone(row, scale))
    const collision = frame.collisions.find(isPairRow)
    const sum = (value: (cone: (typeof cones)[number]) => Value): Value =>
      cones.length === 0 ? null : cones.reduce<Value>((total, cone) => addValues(total, value(cone)), 0)
    return {
      ...pair,
      points: Math.max(collision?.contacts.length ?? 0, cones.length),
      normal_force_n: roundDerived(sum((cone) => cone.normal_force_n)),
      tangent_force_n: roundDerived(sum((cone) => cone.total_tangent_force_n)),
      utilization: roundDerived(
        cones.reduce<Value>(
          (max, { utilization }) => (utilization !== null && utilization > (max ?? -1) ? utilization : max),
          null,
        ),
      ),
      exceeds_limit: cones.some((cone) => cone.exceeds_limit_strict === true),
      penetration_depth: collision?.penetration_depth ?? null,
      is_new:
        before !== null && !before.collisions.some(isPairRow) && !before.friction_constraints.some(isPairRow),
    }
  })
}

function listChanges(
  { frame, before, names }: Pick<FrameContext, 'before' | 'names'> & { readonly frame: Frame },
  contacts: readonly PairLoad[],
): string[] {
  if (before === null) return ['there is no frame before this one']
  const pairsBefore = listPairs([...before.collisions, ...before.friction_constraints])
  const endedPairs = pairsBefore.filter(
    (pair) =>
      !contacts.some(
        (contact) => involvesBody(contact, pair.body_a_id) && involvesBody(contact, pair.body_b_id),
      ),
  )
  const namePair = ({ body_a_id, body_b_id }: Pair): string => nameBodies([body_a_id, body_b_id], names)
  const listBodies = (state: Frame): readonly BodyId[] => state.states.map(({ body_id }) => body_id)
  const delta = frame.system_energy?.delta_e ?? null
  const [now, then] = [frame.solver?.converged, before.solver?.converged]
  const hasConstraints = (frame.solver?.num_constraints ?? 0) > 0
  return [
    ...contacts.filter(({ is_new }) => is_new).map((pair) => `contact begins: ${namePair(pair)}`),
    ...endedPairs.map((pair) => `contact ends: ${namePair(pair)}`),
    ...listBodies(frame)
      .filter((body) => !listBodies(before).includes(body))
      .map((body) => `${nameBodies([body], names)} appears`),
    ...listBodies(before)
      .filter((body) => !listBodies(frame).includes(body))
      .map((body) => `${nameBodies([body], names)} is gone`),
    ...(delta === null || delta === 0 ? [] : [`system energy changes by ${formatQuantity(delta, 'J')}`]),
    ...(hasConstraints && now === false && then !== false ? ['the solver no longer converges'] : []),
  ]
}

const addValues = (a: Value, b: Value): Value => (a === null || b === null ? null : a + b)

const multiply = (a: Point3, factor: number): Point3 => [a[0] * factor, a[1] * factor, a[2] * factor]

const toVector = (a: Point3 | null): Vector | null =>
  a === null ? null : { x: roundDerived(a[0]), y: roundDerived(a[1]), z: roundDerived(a[2]) }

const toPoint = (v: Vector | null | undefined): Point3 | null =>
  v == null || v.x === null || v.y === null || v.z === null ? null : [v.x, v.y, v.z]
