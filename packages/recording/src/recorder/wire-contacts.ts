/** Reading the contacts of a frame line. */
import { environmentBit, isEnvironmentId } from '../domain/body-id.ts'
import {
  list,
  type Members,
  members,
  number,
  requireKnown,
  triple,
  unexpected,
  type VectorKind,
  whole,
  xyzIn,
} from './wire-value.ts'

/** Lists of the contact block while they are filled. */
export interface ContactLists {
  readonly collisions: number[]
  readonly points: number[]
  readonly constraints: number[]
  readonly friction: number[]
  readonly externals: number[]
}

/** The recorded id of a body that a contact names, or undefined for one that nobody declared. */
export type FindBody = (written: number) => number | undefined

const contactMembers = new Set(['a', 'b', 'normal', 'depth', 'points'])
const pointNames = [
  ...['point', 'point_a', 'point_b', 'depth', 'lever_arm_a', 'lever_arm_b', 'restitution'],
  ...['pre_impact_rel_vel_normal', 'friction_coefficient', 'tangent1', 'tangent2'],
  ...['normal_lambda', 'tangent1_lambda', 'tangent2_lambda'],
] as const
type PointMember = (typeof pointNames)[number]
const pointMembers: ReadonlySet<string> = new Set(pointNames)

const frictionMembers: readonly PointMember[] = [
  'friction_coefficient',
  'tangent1',
  'tangent2',
  'normal_lambda',
  'tangent1_lambda',
  'tangent2_lambda',
]
const constraintMembers: readonly PointMember[] = [
  'lever_arm_a',
  'lever_arm_b',
  'restitution',
  'pre_impact_rel_vel_normal',
]

type Triple = readonly [number, number, number]

const absent: Triple = [Number.NaN, Number.NaN, Number.NaN]
const negative = ([x, y, z]: Triple): Triple => [-x, -y, -z]

const direction = xyzIn('unit vector')
const place = xyzIn('m, world')
const lever = xyzIn('m')

/**
 * Reads the list `contacts` of a line into the lists of a block; throws `INVALID_FRAME`.
 *
 * The recorder's order is kept up: an environment body is always b, so a pair that has it as a is turned round, with
 * normal, points, lever arms and tangent impulses.
 */
export function readContacts(value: unknown, to: ContactLists, findBody: FindBody): void {
  list(value, 'contacts').forEach((item, i) => {
    const path = `contacts[${i}]`
    const contact = members(item, path)
    requireKnown(contact, path, contactMembers)
    const idOf = (name: 'a' | 'b'): number =>
      findBody(whole(contact[name], `${path}.${name}`, 0, 0xffff_ffff)) ??
      unexpected(
        `${path}.${name}`,
        contact[name],
        'the id of a body of this frame, or of an environment body declared in a run line',
      )
    const [a, b] = [idOf('a'), idOf('b')]
    const isTurned = isEnvironmentId(a) && !isEnvironmentId(b)
    const normal = triple(contact, 'normal', path, direction)
    const pair: Pair = {
      path,
      a: isTurned ? b : a,
      b: isTurned ? a : b,
      normal: isTurned ? negative(normal) : normal,
      isTurned,
    }
    const points = list(contact.points, `${path}.points`)
    const firstPoint = to.points.length
    points.forEach((point, k) => {
      readPoint(point, { ...pair, path: `${path}.points[${k}]` }, to)
    })
    const given = number(contact, 'depth', path, 'm, positive where they overlap')
    const depth = Number.isNaN(given) ? deepest(to.points, firstPoint) : given
    to.collisions.push(pair.a, pair.b)
    add(to.collisions, pair.normal)
    to.collisions.push(depth, points.length)
  })
}

interface Pair {
  readonly path: string
  readonly a: number
  readonly b: number
  readonly normal: Triple
  readonly isTurned: boolean
}

function readPoint(value: unknown, { path, a, b, normal, isTurned }: Pair, to: ContactLists): void {
  const point = members(value, path)
  requireKnown(point, path, pointMembers)
  const at = (name: PointMember, kind: VectorKind) => triple(point, name, path, kind)
  const scalar = (name: PointMember, unit: string) => number(point, name, path, unit)
  const shared = point.point === undefined ? absent : at('point', place)
  const givenA = point.point_a === undefined ? shared : at('point_a', place)
  const givenB = point.point_b === undefined ? shared : at('point_b', place)
  const depth = scalar('depth', 'm, positive where they overlap')
  add(to.points, isTurned ? givenB : givenA)
  add(to.points, isTurned ? givenA : givenB)
  to.points.push(depth)
  const hasFriction = hasAny(point, frictionMembers)
  if (!hasFriction && !hasAny(point, constraintMembers)) return
  const [leverA, leverB] = [at('lever_arm_a', lever), at('lever_arm_b', lever)]
  const closing = scalar('pre_impact_rel_vel_normal', 'm/s along the normal')
  to.constraints.push(a, b)
  add(to.constraints, normal)
  add(to.constraints, isTurned ? leverB : leverA)
  add(to.constraints, isTurned ? leverA : leverB)
  to.constraints.push(depth, scalar('restitution', ''), closing)
  if (!hasFriction) return
  // The impulse on a is +tangent * lambda: for the other body it is the negative.
  const sign = isTurned ? -1 : 1
  to.friction.push(a, b)
  add(to.friction, normal)
  add(to.friction, at('tangent1', direction))
  add(to.friction, at('tangent2', direction))
  add(to.friction, isTurned ? leverB : leverA)
  add(to.friction, isTurned ? leverA : leverB)
  to.friction.push(
    scalar('friction_coefficient', ''),
    scalar('normal_lambda', 'N·s or N'),
    sign * scalar('tangent1_lambda', 'N·s or N'),
    sign * scalar('tangent2_lambda', 'N·s or N'),
  )
}

const add = (to: number[], [x, y, z]: Triple): void => void to.push(x, y, z)

function hasAny(point: Members, names: readonly PointMember[]): boolean {
  for (const name of names) if (point[name] !== undefined) return true
  return false
}

function deepest(points: readonly number[], from: number): number {
  let depth = Number.NaN
  for (let at = from + 6; at < points.length; at += 7) {
    const value = points[at] ?? Number.NaN
    if (!(depth >= value)) depth = Number.isNaN(value) ? depth : value
  }
  return depth
}

/** An id as contact rows hold it: with bit 31 where only an environment body has that number. */
export const bodyFinder =
  (isDynamic: (id: number) => boolean, isEnvironment: (id: number) => boolean): FindBody =>
  (written) => {
    if (isEnvironmentId(written) || isDynamic(written)) return written
    return isEnvironment(written + environmentBit) ? written + environmentBit : undefined
  }
