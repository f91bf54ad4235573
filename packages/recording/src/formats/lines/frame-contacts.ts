import { environmentBit, isEnvironmentId } from '../../domain/body-id.ts'
import { NumberRows } from '../../recorder/number-buffers.ts'
import { type ContactList, type ContactRows, contactLists } from '../packed-frame.ts'
import {
  type Members,
  readInteger,
  readItems,
  readNumber,
  rejectValue,
  requireKnownMembers,
  toMembers,
  vector,
  writeVector,
} from './json-value.ts'

export type ContactLists = Readonly<Record<ContactList, NumberRows>>

export const createLists = (): ContactLists => ({
  collisions: new NumberRows(),
  points: new NumberRows(),
  constraints: new NumberRows(),
  friction: new NumberRows(),
  externals: new NumberRows(),
})

export function clearLists(lists: ContactLists): void {
  for (const { name } of contactLists) lists[name].clear()
}

/** The views are valid until the next frame. */
export const viewRows = (lists: ContactLists): ContactRows => ({
  collisions: lists.collisions.view(),
  points: lists.points.view(),
  constraints: lists.constraints.view(),
  friction: lists.friction.view(),
  externals: lists.externals.view(),
})

export type FindBody = (id: number) => number | undefined

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

const vectors = {
  normal: vector('normal', 'unit vector'),
  point: vector('point', 'm, world'),
  pointA: vector('point_a', 'm, world'),
  pointB: vector('point_b', 'm, world'),
  leverA: vector('lever_arm_a', 'm'),
  leverB: vector('lever_arm_b', 'm'),
  tangent1: vector('tangent1', 'unit vector'),
  tangent2: vector('tangent2', 'unit vector'),
} as const

/** Appends contacts to the lists. Swaps pairs so that an environment body is always b. */
export function readContacts(value: unknown, to: ContactLists, findBody: FindBody): void {
  readItems(value, 'contacts', (item) => {
    const contact = toMembers(item)
    requireKnownMembers(contact, contactMembers)
    const { a, b, isSwapped } = readPair(contact, findBody)
    const at = to.collisions.append(7)
    const { numbers } = to.collisions
    numbers[at] = a
    numbers[at + 1] = b
    writeVector(contact.normal, vectors.normal, numbers, at + 2)
    if (isSwapped) for (let k = at + 2; k < at + 5; k++) numbers[k] = -(numbers[k] ?? 0)
    const firstPoint = to.points.length
    readItems(contact.points, 'points', (point) => readPoint(point, { collision: at, isSwapped }, to))
    const recordedDepth = readNumber(contact.depth, 'depth', 'm, positive where they overlap')
    numbers[at + 5] = Number.isNaN(recordedDepth) ? findMaxDepth(to.points, firstPoint) : recordedDepth
    numbers[at + 6] = (to.points.length - firstPoint) / 7
  })
}

export function readPair(
  pair: Members,
  findBody: FindBody,
): { readonly a: number; readonly b: number; readonly isSwapped: boolean } {
  const readId = (name: 'a' | 'b', value: unknown): number =>
    findBody(readInteger(value, name, 0, 0xffff_ffff)) ??
    rejectValue(
      name,
      value,
      'the id of a body of this frame, or of an environment body declared in a run line',
    )
  const [a, b] = [readId('a', pair.a), readId('b', pair.b)]
  const isSwapped = isEnvironmentId(a) && !isEnvironmentId(b)
  return isSwapped ? { a: b, b: a, isSwapped } : { a, b, isSwapped }
}

interface PointPair {
  /** Offset of the pair's row. */
  readonly collision: number
  readonly isSwapped: boolean
}

function readPoint(value: unknown, { collision, isSwapped }: PointPair, lists: ContactLists): void {
  const point = toMembers(value)
  requireKnownMembers(point, pointMembers)
  const { points, collisions, constraints, friction } = lists
  const at = points.append(7)
  const [offsetA, offsetB] = isSwapped ? [at + 3, at] : [at, at + 3]
  writeVector(point.point, vectors.point, points.numbers, offsetA)
  copyNumbers(points, offsetB, points, offsetA, 3)
  if (point.point_a !== undefined) writeVector(point.point_a, vectors.pointA, points.numbers, offsetA)
  if (point.point_b !== undefined) writeVector(point.point_b, vectors.pointB, points.numbers, offsetB)
  const depth = readNumber(point.depth, 'depth', 'm, positive where they overlap')
  points.numbers[at + 6] = depth
  const hasFriction = hasAnyMember(point, frictionMembers)
  if (!hasFriction && !hasAnyMember(point, constraintMembers)) return

  // Collisions and constraints both begin with the bodies and the normal.
  const row = constraints.append(14)
  copyNumbers(constraints, row, collisions, collision, 5)
  writeVector(point.lever_arm_a, vectors.leverA, constraints.numbers, row + (isSwapped ? 8 : 5))
  writeVector(point.lever_arm_b, vectors.leverB, constraints.numbers, row + (isSwapped ? 5 : 8))
  constraints.numbers[row + 11] = depth
  constraints.numbers[row + 12] = readNumber(point.restitution, 'restitution', '')
  const closingSpeed = readNumber(
    point.pre_impact_rel_vel_normal,
    'pre_impact_rel_vel_normal',
    'm/s along the normal',
  )
  constraints.numbers[row + 13] = closingSpeed
  if (!hasFriction) return

  const to = friction.append(21)
  copyNumbers(friction, to, collisions, collision, 5)
  const { numbers } = friction
  writeVector(point.tangent1, vectors.tangent1, numbers, to + 5)
  writeVector(point.tangent2, vectors.tangent2, numbers, to + 8)
  copyNumbers(friction, to + 11, constraints, row + 5, 6)
  // The impulse on a is +tangent * lambda, and on b its negative.
  const sign = isSwapped ? -1 : 1
  numbers[to + 17] = readNumber(point.friction_coefficient, 'friction_coefficient', '')
  numbers[to + 18] = readNumber(point.normal_lambda, 'normal_lambda', 'N·s or N')
  numbers[to + 19] = sign * readNumber(point.tangent1_lambda, 'tangent1_lambda', 'N·s or N')
  numbers[to + 20] = sign * readNumber(point.tangent2_lambda, 'tangent2_lambda', 'N·s or N')
}

function copyNumbers(to: NumberRows, at: number, from: NumberRows, start: number, count: number): void {
  for (let i = 0; i < count; i++) to.numbers[at + i] = from.numbers[start + i] ?? Number.NaN
}

function hasAnyMember(point: Members, names: readonly PointMember[]): boolean {
  for (const name of names) if (point[name] !== undefined) return true
  return false
}

function findMaxDepth({ numbers, length }: NumberRows, from: number): number {
  let depth = Number.NaN
  for (let at = from + 6; at < length; at += 7) {
    const value = numbers[at] ?? Number.NaN
    if (!(depth >= value)) depth = Number.isNaN(value) ? depth : value
  }
  return depth
}

/** Adds bit 31 if only an environment body has the id. */
export const createBodyFinder =
  (isDynamic: (id: number) => boolean, isEnvironment: (id: number) => boolean): FindBody =>
  (id) => {
    if (isEnvironmentId(id) || isDynamic(id)) return id
    return isEnvironment(id + environmentBit) ? id + environmentBit : undefined
  }
