/** Bodies in contact that move although they should rest. */
import type { BodyId, BodyState, Frame, RecordingSummary, Value, Vector } from '@causeway/recording'
import { bodiesOf, environmentTest, involves, type Pair } from './body.ts'
import { count, quantity, several } from './sentence.ts'
import { norm, split } from './vector.ts'

/** Which rows told of contact: friction rows, or collision and contact rows where a frame has none of the former. */
export type ContactSource = 'friction' | 'collisions'

/** One body in contact that moves. */
export interface MovingBody {
  readonly body_id: BodyId
  /** m/s; null where the velocity is no number */
  readonly velocity_magnitude: Value
  /** rad/s */
  readonly angular_velocity_magnitude: Value
  /** m/s, along the contact normal and across it: a sliding body moves across */
  readonly normal_speed: Value
  readonly sliding_speed: Value
  /** the speed is g*dt: how a resting body is recorded, gravity being integrated after the contacts are solved */
  readonly likely_at_rest: boolean
}

/** What a frame says of its bodies in contact. */
export interface RestingCheck {
  /** dynamic bodies in contact */
  readonly bodies_in_contact: number
  /** environment bodies in contact */
  readonly environment_in_contact: number
  readonly source: ContactSource
  readonly moving_bodies: readonly MovingBody[]
  /** m/s, what gravity adds in one step; null where gravity or the step is unknown */
  readonly rest_speed: Value
}

/** Thresholds above which a body moves; both strict. */
export interface RestingRule {
  /** m/s */
  readonly velocity: number
  /** rad/s */
  readonly angularVelocity: number
}

/** How far a speed may be from g*dt to count as rest, relative. */
const restTolerance = 0.01

/** Judges every dynamic body in contact. */
export function checkResting(frame: Frame, summary: RecordingSummary, rule: RestingRule): RestingCheck {
  const { source, rows } = contactRows(frame)
  const isEnvironment = environmentTest(summary)
  const touching = bodiesOf(rows)
  const dynamic = new Set(touching.filter((id) => !isEnvironment(id)))
  const rest_speed = restSpeed(summary)
  const moving_bodies = frame.states
    .filter(({ body_id }) => dynamic.has(body_id))
    .map((state) =>
      motion(state, { normal: rows.find((row) => involves(row, state.body_id))?.normal, rest_speed, rule }),
    )
    .filter(
      ({ velocity_magnitude, angular_velocity_magnitude }) =>
        velocity_magnitude === null ||
        velocity_magnitude > rule.velocity ||
        (angular_velocity_magnitude ?? 0) > rule.angularVelocity,
    )
  return {
    bodies_in_contact: dynamic.size,
    environment_in_contact: touching.length - dynamic.size,
    source,
    moving_bodies,
    rest_speed,
  }
}

/** The rows that tell who touches whom. */
function contactRows(frame: Frame): { source: ContactSource; rows: readonly (Pair & { normal: Vector })[] } {
  if (frame.friction_constraints.length > 0) return { source: 'friction', rows: frame.friction_constraints }
  const { collisions, contact_constraints } = frame
  if (collisions.length + contact_constraints.length === 0) return { source: 'friction', rows: [] }
  return { source: 'collisions', rows: [...collisions, ...contact_constraints] }
}

function motion(
  { body_id, velocity, angular_velocity }: BodyState,
  { normal, rest_speed, rule }: { normal: Vector | undefined; rest_speed: Value; rule: RestingRule },
): MovingBody {
  const speed = norm(velocity)
  const spin = angular_velocity === null ? null : norm(angular_velocity)
  const { along, across } = normal === undefined ? { along: null, across: null } : split(velocity, normal)
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

/** What gravity adds to a speed in one step, m/s. */
function restSpeed({ gravity_m_s2, dt_s }: RecordingSummary): Value {
  const gravity = gravity_m_s2 === null ? null : norm(gravity_m_s2)
  return gravity === null || dt_s === null || gravity === 0 ? null : gravity * dt_s
}

/** The finding in words; rest speed and missing friction rows are told for what they are. */
export function restingSummary(check: RestingCheck, rule: RestingRule): string {
  const { bodies_in_contact, environment_in_contact, moving_bodies, rest_speed, source } = check
  const limits = `velocity > ${rule.velocity} m/s or spin > ${rule.angularVelocity} rad/s`
  const sentences = [
    `${moving_bodies.length}/${bodies_in_contact} bodies in contact are moving (${limits}); ${count(environment_in_contact, 'environment body', 'environment bodies')} in contact.`,
  ]
  const resting = moving_bodies.filter((body) => body.likely_at_rest).map(({ body_id }) => body_id)
  if (resting.length > 0)
    sentences.push(
      `Likely at rest: ${several(resting)}, whose speed equals g*dt = ${quantity(rest_speed, 'm/s')}, as a resting body is recorded.`,
    )
  const sliding = moving_bodies.filter((body) => (body.sliding_speed ?? 0) > rule.velocity)
  if (sliding.length > 0)
    sentences.push(`Sliding along the contact: ${several(sliding.map(({ body_id }) => body_id))}.`)
  if (source === 'collisions')
    sentences.push('No friction rows in this frame: contacts taken from the collision rows.')
  return sentences.join(' ')
}
