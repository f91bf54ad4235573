import type { BodyId, BodyState, Frame, RecordingSummary, Value, Vector } from '@causeway/recording'
import { createEnvironmentTest, involvesBody, listBodies, type Pair } from '../bodies/body.ts'
import { type BodyNames, nameBodies } from '../bodies/body-names.ts'
import { formatCount, formatQuantity } from '../sentence.ts'
import { norm, splitAlong } from '../vector.ts'

/** Collision rows are used only if a frame lacks friction rows. */
type ContactSource = 'friction' | 'collisions'

interface MovingBody {
  readonly body_id: BodyId
  /** m/s */
  readonly velocity_magnitude: Value
  /** rad/s */
  readonly angular_velocity_magnitude: Value
  /** Speeds in m/s along the contact normal and across it. */
  readonly normal_speed: Value
  readonly sliding_speed: Value
  /** Whether the spin is slow and the speed is g dt, as in engines that integrate gravity after contacts. */
  readonly likely_at_rest: boolean
}

interface RestingCheck {
  readonly bodies_in_contact: number
  readonly environment_in_contact: number
  readonly source: ContactSource
  readonly moving_bodies: readonly MovingBody[]
  /** g dt; `null` if unknown or 0. */
  readonly rest_speed: Value
}

/** Maximum speeds of a resting body, in m/s and rad/s. */
interface RestingRule {
  readonly velocity: number
  readonly angularVelocity: number
}

/** Relative tolerance of a speed of g dt. */
const restTolerance = 0.01

export function checkResting(frame: Frame, summary: RecordingSummary, rule: RestingRule): RestingCheck {
  const { source, rows } = selectContactRows(frame)
  const isEnvironment = createEnvironmentTest(summary)
  const touchingBodies = listBodies(rows)
  const dynamicBodies = new Set(touchingBodies.filter((id) => !isEnvironment(id)))
  const rest_speed = computeRestSpeed(summary)
  const moving_bodies = frame.states
    .filter(({ body_id }) => dynamicBodies.has(body_id))
    .map((state) =>
      measureMotion(state, {
        normal: rows.find((row) => involvesBody(row, state.body_id))?.normal,
        rest_speed,
        rule,
      }),
    )
    .filter(
      ({ velocity_magnitude, angular_velocity_magnitude }) =>
        velocity_magnitude === null ||
        velocity_magnitude > rule.velocity ||
        (angular_velocity_magnitude ?? 0) > rule.angularVelocity,
    )
  return {
    bodies_in_contact: dynamicBodies.size,
    environment_in_contact: touchingBodies.length - dynamicBodies.size,
    source,
    moving_bodies,
    rest_speed,
  }
}

function selectContactRows(frame: Frame): {
  source: ContactSource
  rows: readonly (Pair & { normal: Vector })[]
} {
  if (frame.friction_constraints.length > 0) return { source: 'friction', rows: frame.friction_constraints }
  const { collisions, contact_constraints } = frame
  if (collisions.length + contact_constraints.length === 0) return { source: 'friction', rows: [] }
  return { source: 'collisions', rows: [...collisions, ...contact_constraints] }
}

function measureMotion(
  { body_id, velocity, angular_velocity }: BodyState,
  { normal, rest_speed, rule }: { normal: Vector | undefined; rest_speed: Value; rule: RestingRule },
): MovingBody {
  const speed = norm(velocity)
  const spin = angular_velocity === null ? null : norm(angular_velocity)
  const { along, across } =
    normal === undefined ? { along: null, across: null } : splitAlong(velocity, normal)
  return {
    body_id,
    velocity_magnitude: speed,
    angular_velocity_magnitude: spin,
    normal_speed: along === null ? null : Math.abs(along),
    sliding_speed: across,
    likely_at_rest:
      speed !== null &&
      rest_speed !== null &&
      Math.abs(speed - rest_speed) <= restTolerance * rest_speed &&
      (spin ?? 0) <= rule.angularVelocity,
  }
}

function computeRestSpeed({ gravity_m_s2, dt_s }: RecordingSummary): Value {
  const gravity = gravity_m_s2 === null ? null : norm(gravity_m_s2)
  return gravity === null || dt_s === null || gravity === 0 ? null : gravity * dt_s
}

export function summarizeResting(check: RestingCheck, rule: RestingRule, names: BodyNames): string {
  const { bodies_in_contact, environment_in_contact, moving_bodies, rest_speed, source } = check
  const nameMovingBodies = (bodies: readonly MovingBody[]): string =>
    nameBodies(
      bodies.map(({ body_id }) => body_id),
      names,
    )
  const limitText = `velocity > ${rule.velocity} m/s or spin > ${rule.angularVelocity} rad/s`
  const sentences = [
    `${moving_bodies.length} of ${formatCount(bodies_in_contact, 'body', 'bodies')} in contact ${moving_bodies.length === 1 || bodies_in_contact === 1 ? 'moves' : 'move'} (${limitText}); ${formatCount(environment_in_contact, 'environment body', 'environment bodies')} in contact.`,
  ]
  const restingBodies = moving_bodies.filter((body) => body.likely_at_rest)
  if (restingBodies.length > 0)
    sentences.push(
      `Likely at rest: ${nameMovingBodies(restingBodies)}, whose speed equals g*dt = ${formatQuantity(rest_speed, 'm/s')}, as a resting body is recorded.`,
    )
  const slidingBodies = moving_bodies.filter((body) => (body.sliding_speed ?? 0) > rule.velocity)
  if (slidingBodies.length > 0)
    sentences.push(`Sliding along the contact: ${nameMovingBodies(slidingBodies)}.`)
  if (source === 'collisions')
    sentences.push('No friction rows in this frame: contacts taken from the collision rows.')
  return sentences.join(' ')
}
