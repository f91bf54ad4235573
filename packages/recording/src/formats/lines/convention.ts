import { jointAt } from '../frame-window.ts'
import { bodyAt } from '../packed-frame.ts'
import type { ContactLists } from './frame-contacts.ts'
import { rejectValue, requireKnownMembers, toMembers, withPath } from './json-value.ts'

/** Axes and orders of an engine. Recordings are stored with z up, right-handed, w first, and normals from a to b. */
export interface Convention {
  readonly up: 'y' | 'z'
  readonly handedness: 'left' | 'right'
  readonly quaternion: 'wxyz' | 'xyzw'
  readonly normal: 'a_to_b' | 'b_to_a'
}

const choices = {
  up: ['z', 'y'],
  handedness: ['right', 'left'],
  quaternion: ['wxyz', 'xyzw'],
  normal: ['a_to_b', 'b_to_a'],
} as const

/** Returns null for the stored convention. */
export function readConvention(value: unknown): Convention | null {
  if (value === undefined || value === null) return null
  const convention = withPath('convention', () => {
    const members = toMembers(value)
    requireKnownMembers(members, new Set(Object.keys(choices)))
    const readChoice = <Name extends keyof typeof choices>(name: Name): Convention[Name] => {
      const choice = members[name] ?? choices[name][0]
      const allowedValues: readonly unknown[] = choices[name]
      return allowedValues.includes(choice)
        ? (choice as Convention[Name])
        : rejectValue(name, choice, choices[name].join(' or '))
    }
    return {
      up: readChoice('up'),
      handedness: readChoice('handedness'),
      quaternion: readChoice('quaternion'),
      normal: readChoice('normal'),
    }
  })
  const isStandard = Object.entries(choices).every(
    ([name, [standardValue]]) => convention[name as keyof Convention] === standardValue,
  )
  return isStandard ? null : convention
}

/** A signed permutation: component k is `sign[k]` times component `from[k]`. */
interface AxisMap {
  readonly from: readonly [number, number, number]
  readonly sign: readonly [number, number, number]
  /** Determinant, which also multiplies pseudovectors. */
  readonly handedness: 1 | -1
}

const axisMaps: Readonly<Record<Convention['up'], Readonly<Record<Convention['handedness'], AxisMap>>>> = {
  z: {
    right: { from: [0, 1, 2], sign: [1, 1, 1], handedness: 1 },
    left: { from: [0, 1, 2], sign: [1, -1, 1], handedness: -1 },
  },
  y: {
    right: { from: [0, 2, 1], sign: [1, -1, 1], handedness: 1 },
    left: { from: [0, 2, 1], sign: [1, 1, 1], handedness: -1 },
  },
}

type Numbers = Float64Array | number[]

function mapVector(numbers: Numbers, at: number, { from, sign }: AxisMap, factor: number): void {
  const values = [numbers[at] ?? Number.NaN, numbers[at + 1] ?? Number.NaN, numbers[at + 2] ?? Number.NaN]
  for (let k = 0; k < 3; k++) {
    const value = factor * (sign[k] ?? 1) * (values[from[k] ?? k] ?? Number.NaN)
    numbers[at + k] = value === 0 ? 0 : value
  }
}

/** Converts a quaternion, whose vector part is a pseudovector. */
function mapQuaternion(numbers: Numbers, at: number, map: AxisMap): void {
  mapVector(numbers, at + 1, map, map.handedness)
}

const getMap = ({ up, handedness }: Convention): AxisMap => axisMaps[up][handedness]

export function orderQuaternion(numbers: Numbers, at: number, convention: Convention | null): void {
  if (convention?.quaternion !== 'xyzw') return
  const [x, y, z, w] = [numbers[at], numbers[at + 1], numbers[at + 2], numbers[at + 3]]
  numbers[at] = w ?? Number.NaN
  numbers[at + 1] = x ?? Number.NaN
  numbers[at + 2] = y ?? Number.NaN
  numbers[at + 3] = z ?? Number.NaN
}

export function convertVector(
  vector: readonly [number, number, number],
  convention: Convention | null,
): [number, number, number] {
  const converted: [number, number, number] = [...vector]
  if (convention !== null) mapVector(converted, 0, getMap(convention), 1)
  return converted
}

/** Converts unsigned lengths or moments along the body axes. */
export function convertExtents(
  extents: readonly [number, number, number],
  convention: Convention | null,
): [number, number, number] {
  if (convention === null) return [...extents]
  const { from } = getMap(convention)
  return [extents[from[0]] ?? Number.NaN, extents[from[1]] ?? Number.NaN, extents[from[2]] ?? Number.NaN]
}

/** Returns the converted quaternion, w first. */
export function convertQuaternion(quaternion: readonly number[], convention: Convention | null): number[] {
  const converted = [...quaternion]
  orderQuaternion(converted, 0, convention)
  if (convention !== null) mapQuaternion(converted, 0, getMap(convention))
  return converted
}

/** Converts the vectors and the orientation (w first) of a body's row. Returns the converted spin. */
export function convertBody(
  rows: Float64Array,
  at: number,
  spin: readonly [number, number, number],
  convention: Convention,
): [number, number, number] {
  const map = getMap(convention)
  for (const offset of [bodyAt.position, bodyAt.velocity, bodyAt.acceleration])
    mapVector(rows, at + offset, map, 1)
  mapVector(rows, at + bodyAt.angularAcceleration, map, map.handedness)
  mapQuaternion(rows, at + bodyAt.orientation, map)
  const converted: [number, number, number] = [...spin]
  mapVector(converted, 0, map, map.handedness)
  return converted
}

export function convertJoints(rows: Float64Array, convention: Convention): void {
  const map = getMap(convention)
  for (let at = 0; at < rows.length; at += jointAt.width) {
    for (const offset of [jointAt.point, jointAt.impulse]) mapVector(rows, at + offset, map, 1)
    mapVector(rows, at + jointAt.torque, map, map.handedness)
  }
}

/** Offsets of normals, of other vectors and of pseudovectors in the rows of `contactLists`. */
const contactVectors = {
  collisions: { width: 7, normals: [2], vectors: [], pseudovectors: [] },
  points: { width: 7, normals: [], vectors: [0, 3], pseudovectors: [] },
  constraints: { width: 14, normals: [2], vectors: [5, 8], pseudovectors: [] },
  friction: { width: 21, normals: [2], vectors: [5, 8, 11, 14], pseudovectors: [] },
  externals: { width: 10, normals: [], vectors: [1, 7], pseudovectors: [4] },
} as const

export function convertContacts(lists: ContactLists, convention: Convention): void {
  const map = getMap(convention)
  const normalSign = convention.normal === 'b_to_a' ? -1 : 1
  for (const [name, { width, normals, vectors, pseudovectors }] of Object.entries(contactVectors)) {
    const { numbers, length } = lists[name as keyof typeof contactVectors]
    for (let at = 0; at < length; at += width) {
      for (const offset of normals) mapVector(numbers, at + offset, map, normalSign)
      for (const offset of vectors) mapVector(numbers, at + offset, map, 1)
      for (const offset of pseudovectors) mapVector(numbers, at + offset, map, map.handedness)
    }
  }
}
