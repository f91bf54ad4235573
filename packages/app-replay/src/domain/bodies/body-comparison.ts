import type { BodyId, BodyState, Frame, Value, Vector } from '@causeway/recording'
import { formatCount, formatMainAxis, formatQuantity } from '../sentence.ts'
import { getRotationAngle, norm, subtract } from '../vector.ts'
import { involvesBody, listPairs } from './body.ts'

/** Change of a body from frame a to frame b, in SI units. */
export interface BodyComparison {
  readonly position_delta: Vector
  readonly velocity_delta: Vector
  readonly position_delta_magnitude: Value
  readonly velocity_delta_magnitude: Value
  /** |v_b| - |v_a| */
  readonly speed_delta: Value
  /** In rad, 0 to pi. */
  readonly orientation_angle: Value
  readonly angular_velocity_delta: Vector | null
  readonly elapsed_time: Value
  /** `null` if contacts were not recorded. */
  readonly contact_delta: ContactDelta | null
}

interface ContactDelta {
  readonly contacts_a: number
  readonly contacts_b: number
  /** Bodies touched only in b. */
  readonly gained: readonly BodyId[]
  /** Bodies touched only in a. */
  readonly lost: readonly BodyId[]
}

export interface BodyInFrame {
  readonly frame: Frame
  readonly state: BodyState
}

/** Requires recorded contacts. */
export function compareBody(a: BodyInFrame, b: BodyInFrame) {
  const position_delta = subtract(b.state.position, a.state.position)
  const velocity_delta = subtract(b.state.velocity, a.state.velocity)
  const [spinA, spinB] = [a.state.angular_velocity, b.state.angular_velocity]
  const [speedA, speedB] = [norm(a.state.velocity), norm(b.state.velocity)]
  const [timeA, timeB] = [a.frame.simulation_time, b.frame.simulation_time]
  return {
    position_delta,
    velocity_delta,
    position_delta_magnitude: norm(position_delta),
    velocity_delta_magnitude: norm(velocity_delta),
    speed_delta: speedA === null || speedB === null ? null : speedB - speedA,
    orientation_angle: getRotationAngle(a.state.orientation, b.state.orientation),
    angular_velocity_delta: spinA === null || spinB === null ? null : subtract(spinB, spinA),
    elapsed_time: timeA === null || timeB === null ? null : timeB - timeA,
    contact_delta: compareContacts(a, b),
  } satisfies BodyComparison
}

function compareContacts(a: BodyInFrame, b: BodyInFrame): ContactDelta {
  const [before, after] = [listPartners(a), listPartners(b)]
  return {
    contacts_a: before.points,
    contacts_b: after.points,
    gained: after.partners.filter((id) => !before.partners.includes(id)),
    lost: before.partners.filter((id) => !after.partners.includes(id)),
  }
}

function listPartners({ frame, state }: BodyInFrame): { points: number; partners: BodyId[] } {
  const filterOwn = <PairRow extends { body_a_id: BodyId; body_b_id: BodyId }>(
    rows: readonly PairRow[],
  ): PairRow[] => rows.filter((row) => involvesBody(row, state.body_id))
  const collisions = filterOwn(frame.collisions)
  const constraints = filterOwn(frame.friction_constraints)
  const partners = listPairs([...collisions, ...constraints]).map((pair) =>
    pair.body_a_id === state.body_id ? pair.body_b_id : pair.body_a_id,
  )
  const points = collisions.reduce((sum, { contacts }) => sum + contacts.length, 0)
  return { points: Math.max(points, constraints.length), partners: [...new Set(partners)] }
}

export function summarizeComparison(
  subject: string,
  { a, b }: { readonly a: BodyInFrame; readonly b: BodyInFrame },
  change: BodyComparison,
): string {
  const frames = `frames ${a.frame.frame_id} and ${b.frame.frame_id} (${formatQuantity(change.elapsed_time, 's')})`
  const { position_delta, velocity_delta, speed_delta, contact_delta } = change
  const trend = speed_delta === null || speed_delta === 0 ? '' : speed_delta > 0 ? ', faster' : ', slower'
  const distanceText = `moved ${formatQuantity(change.position_delta_magnitude, 'm')}${formatMainAxis(position_delta, 'm')}`
  const angleText = `turned by ${formatQuantity(change.orientation_angle, 'rad')}`
  const velocityText = formatQuantity(change.velocity_delta_magnitude, 'm/s')
  const contacts =
    contact_delta === null || contact_delta.contacts_a === contact_delta.contacts_b
      ? ''
      : ` ${formatCount(contact_delta.contacts_a, 'contact point')} before, ${contact_delta.contacts_b} after.`
  return `${subject} ${distanceText} and ${angleText} between ${frames}. Velocity changed by ${velocityText}${formatMainAxis(velocity_delta, 'm/s')}${trend}.${contacts}`
}
