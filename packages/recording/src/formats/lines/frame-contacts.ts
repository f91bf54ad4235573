import { environmentBit, isEnvironmentId } from '../../domain/body-id.ts'
import { NumberRows } from '../../recorder/number-buffers.ts'
import { type ContactList, type ContactRows, contactLists } from '../packed-frame.ts'
import {
  list,
  type Members,
  members,
  number,
  type Path,
  requireKnown,
  unexpected,
  type VectorKind,
  whole,
  writeVector,
  xyzIn,
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

/** Valid until the next frame. */
export const viewRows = (lists: ContactLists): ContactRows => ({
  collisions: lists.collisions.view(),
  points: lists.points.view(),
  constraints: lists.constraints.view(),
  friction: lists.friction.view(),
  externals: lists.externals.view(),
})

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

const direction = xyzIn('unit vector')
const place = xyzIn('m, world')
const lever = xyzIn('m')

/**
 * An environment body is always b: if sent as a, the pair is swapped, with normal, points, lever arms and
 * tangent impulses.
 */
export function readContacts(value: unknown, to: ContactLists, findBody: FindBody): void {
  list(value, 'contacts').forEach((item, i) => {
    const path = (): string => `contacts[${i}]`
    const contact = members(item, path)
    requireKnown(contact, path, contactMembers)
    const { a, b, isSwapped } = readPair(contact, path, findBody)
    const at = to.collisions.append(7)
    const { numbers } = to.collisions
    numbers[at] = a
    numbers[at + 1] = b
    writeVector(contact.normal, 'normal', { path, to: numbers, at: at + 2, kind: direction })
    if (isSwapped) for (let k = at + 2; k < at + 5; k++) numbers[k] = -(numbers[k] ?? 0)
    const points = list(contact.points, () => `${path()}.points`)
    const firstPoint = to.points.length
    points.forEach((point, k) => {
      readPoint(point, { path: () => `${path()}.points[${k}]`, collision: at, isSwapped }, to)
    })
    const given = number(contact.depth, 'depth', path, 'm, positive where they overlap')
    numbers[at + 5] = Number.isNaN(given) ? deepest(to.points, firstPoint) : given
    numbers[at + 6] = points.length
  })
}

export function readPair(
  pair: Members,
  path: Path,
  findBody: FindBody,
): { readonly a: number; readonly b: number; readonly isSwapped: boolean } {
  const readId = (name: 'a' | 'b', written: unknown): number => {
    const own: Path = () => `${typeof path === 'string' ? path : path()}.${name}`
    return (
      findBody(whole(written, own, 0, 0xffff_ffff)) ??
      unexpected(
        own,
        written,
        'the id of a body of this frame, or of an environment body declared in a run line',
      )
    )
  }
  const [a, b] = [readId('a', pair.a), readId('b', pair.b)]
  const isSwapped = isEnvironmentId(a) && !isEnvironmentId(b)
  return isSwapped ? { a: b, b: a, isSwapped } : { a, b, isSwapped }
}

interface PointPlace {
  readonly path: Path
  /** offset of the pair's row */
  readonly collision: number
  readonly isSwapped: boolean
}

function readPoint(value: unknown, { path, collision, isSwapped }: PointPlace, lists: ContactLists): void {
  const point = members(value, path)
  requireKnown(point, path, pointMembers)
  const { points, collisions, constraints, friction } = lists
  const vector = (given: unknown, name: PointMember, rows: NumberRows, at: number, kind: VectorKind) =>
    writeVector(given, name, { path, to: rows.numbers, at, kind })
  const scalar = (given: unknown, name: PointMember, unit: string) => number(given, name, path, unit)
  const at = points.append(7)
  const [ofA, ofB] = isSwapped ? [at + 3, at] : [at, at + 3]
  vector(point.point, 'point', points, ofA, place)
  copyTriple(points, ofB, points, ofA)
  if (point.point_a !== undefined) vector(point.point_a, 'point_a', points, ofA, place)
  if (point.point_b !== undefined) vector(point.point_b, 'point_b', points, ofB, place)
  const depth = scalar(point.depth, 'depth', 'm, positive where they overlap')
  points.numbers[at + 6] = depth
  const hasFriction = hasAny(point, frictionMembers)
  if (!hasFriction && !hasAny(point, constraintMembers)) return

  // Both rows begin with the bodies and the normal.
  const row = constraints.append(14)
  copyNumbers(constraints, row, collisions, collision, 5)
  vector(point.lever_arm_a, 'lever_arm_a', constraints, row + (isSwapped ? 8 : 5), lever)
  vector(point.lever_arm_b, 'lever_arm_b', constraints, row + (isSwapped ? 5 : 8), lever)
  constraints.numbers[row + 11] = depth
  constraints.numbers[row + 12] = scalar(point.restitution, 'restitution', '')
  const closing = scalar(point.pre_impact_rel_vel_normal, 'pre_impact_rel_vel_normal', 'm/s along the normal')
  constraints.numbers[row + 13] = closing
  if (!hasFriction) return

  const to = friction.append(21)
  copyNumbers(friction, to, collisions, collision, 5)
  vector(point.tangent1, 'tangent1', friction, to + 5, direction)
  vector(point.tangent2, 'tangent2', friction, to + 8, direction)
  copyNumbers(friction, to + 11, constraints, row + 5, 6)
  // The impulse is +tangent * lambda on a, the negative on b.
  const sign = isSwapped ? -1 : 1
  const { numbers } = friction
  numbers[to + 17] = scalar(point.friction_coefficient, 'friction_coefficient', '')
  numbers[to + 18] = scalar(point.normal_lambda, 'normal_lambda', 'N·s or N')
  numbers[to + 19] = sign * scalar(point.tangent1_lambda, 'tangent1_lambda', 'N·s or N')
  numbers[to + 20] = sign * scalar(point.tangent2_lambda, 'tangent2_lambda', 'N·s or N')
}

const copyTriple = (to: NumberRows, at: number, from: NumberRows, start: number): void =>
  copyNumbers(to, at, from, start, 3)

function copyNumbers(to: NumberRows, at: number, from: NumberRows, start: number, count: number): void {
  for (let i = 0; i < count; i++) to.numbers[at + i] = from.numbers[start + i] ?? Number.NaN
}

function hasAny(point: Members, names: readonly PointMember[]): boolean {
  for (const name of names) if (point[name] !== undefined) return true
  return false
}

function deepest({ numbers, length }: NumberRows, from: number): number {
  let depth = Number.NaN
  for (let at = from + 6; at < length; at += 7) {
    const value = numbers[at] ?? Number.NaN
    if (!(depth >= value)) depth = Number.isNaN(value) ? depth : value
  }
  return depth
}

/** Adds bit 31 to an id that only an environment body has. */
export const bodyFinder =
  (isDynamic: (id: number) => boolean, isEnvironment: (id: number) => boolean): FindBody =>
  (written) => {
    if (isEnvironmentId(written) || isDynamic(written)) return written
    return isEnvironment(written + environmentBit) ? written + environmentBit : undefined
  }
