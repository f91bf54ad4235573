/** What became of a body between two frames; every delta is b - a. */
import type { BodyId, BodyState, Frame, Value, Vector } from '@causeway/recording'
import { involves, pairsOf } from './body.ts'
import { count, mainAxis, quantity } from './sentence.ts'
import { minus, norm, rotationAngle } from './vector.ts'

/** The change of one body. */
export interface BodyComparison {
  /** m */
  readonly position_delta: Vector
  /** m/s */
  readonly velocity_delta: Vector
  /** m */
  readonly position_delta_magnitude: Value
  /** m/s */
  readonly velocity_delta_magnitude: Value
  /** m/s, |v_b| - |v_a| */
  readonly speed_delta: Value
  /** rad, 0 to pi */
  readonly orientation_angle: Value
  /** rad/s; null where a frame lacks it */
  readonly angular_velocity_delta: Vector | null
  /** s */
  readonly elapsed_time: Value
  /** null where contacts are not told */
  readonly contact_delta: ContactDelta | null
}

/** How the body's contacts changed. */
export interface ContactDelta {
  /** contact points in each frame */
  readonly contacts_a: number
  readonly contacts_b: number
  /** bodies touched in b and not in a */
  readonly gained: readonly BodyId[]
  /** bodies touched in a and not in b */
  readonly lost: readonly BodyId[]
}

/** A body in a frame. */
export interface Sighting {
  readonly frame: Frame
  readonly state: BodyState
}

/** Compares two sightings of one body, in a recording that tells of contacts. */
export function compareBody(a: Sighting, b: Sighting) {
  const position_delta = minus(b.state.position, a.state.position)
  const velocity_delta = minus(b.state.velocity, a.state.velocity)
  const [spinA, spinB] = [a.state.angular_velocity, b.state.angular_velocity]
  const [speedA, speedB] = [norm(a.state.velocity), norm(b.state.velocity)]
  const [timeA, timeB] = [a.frame.simulation_time, b.frame.simulation_time]
  return {
    position_delta,
    velocity_delta,
    position_delta_magnitude: norm(position_delta),
    velocity_delta_magnitude: norm(velocity_delta),
    speed_delta: speedA === null || speedB === null ? null : speedB - speedA,
    orientation_angle: rotationAngle(a.state.orientation, b.state.orientation),
    angular_velocity_delta: spinA === null || spinB === null ? null : minus(spinB, spinA),
    elapsed_time: timeA === null || timeB === null ? null : timeB - timeA,
    contact_delta: contactDelta(a, b),
  } satisfies BodyComparison
}

function contactDelta(a: Sighting, b: Sighting): ContactDelta {
  const [before, after] = [touched(a), touched(b)]
  return {
    contacts_a: before.points,
    contacts_b: after.points,
    gained: after.partners.filter((id) => !before.partners.includes(id)),
    lost: before.partners.filter((id) => !after.partners.includes(id)),
  }
}

function touched({ frame, state }: Sighting): { points: number; partners: BodyId[] } {
  const own = <Row extends { body_a_id: BodyId; body_b_id: BodyId }>(rows: readonly Row[]): Row[] =>
    rows.filter((row) => involves(row, state.body_id))
  const collisions = own(frame.collisions)
  const constraints = own(frame.friction_constraints)
  const partners = pairsOf([...collisions, ...constraints]).map((pair) =>
    pair.body_a_id === state.body_id ? pair.body_b_id : pair.body_a_id,
  )
  const points = collisions.reduce((sum, { contacts }) => sum + contacts.length, 0)
  return { points: Math.max(points, constraints.length), partners: [...new Set(partners)] }
}

/** The change in words. */
export function comparisonSummary(body: BodyId, a: Sighting, b: Sighting, change: BodyComparison): string {
  const frames = `frames ${a.frame.frame_id} and ${b.frame.frame_id} (${quantity(change.elapsed_time, 's')})`
  const { position_delta, velocity_delta, speed_delta, contact_delta } = change
  const trend = speed_delta === null || speed_delta === 0 ? '' : speed_delta > 0 ? ', faster' : ', slower'
  const moved = `moved ${quantity(change.position_delta_magnitude, 'm')}${mainAxis(position_delta, 'm')}`
  const turned = `turned by ${quantity(change.orientation_angle, 'rad')}`
  const velocity = quantity(change.velocity_delta_magnitude, 'm/s')
  const contacts =
    contact_delta === null || contact_delta.contacts_a === contact_delta.contacts_b
      ? ''
      : ` ${count(contact_delta.contacts_a, 'contact point')} before, ${contact_delta.contacts_b} after.`
  return `Body ${body} ${moved} and ${turned} between ${frames}. Velocity changed by ${velocity}${mainAxis(velocity_delta, 'm/s')}${trend}.${contacts}`
}
