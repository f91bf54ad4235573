/** Converts `ros_gz_interfaces/msg/Contacts`. */
import type { Vector3 } from '../../domain/imports/rigid-transform.ts'
import type { Contacts, GazeboContact, Triple } from './messages.ts'

const toVector = ({ x, y, z }: Triple): Vector3 => [x, y, z]
const computeDotProduct = (a: Vector3, b: Vector3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
const scale = (v: Vector3, s: number): Vector3 => [v[0] * s, v[1] * s, v[2] * s]
const computeCrossProduct = (a: Vector3, b: Vector3): Vector3 => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]

/** Returns candidates for the body name of a collision `model::link::collision`, most specific first. */
export function listBodyNames(collision: string): readonly string[] {
  const parts = collision.split('::')
  const link = parts.slice(0, -1)
  const own = link.length === 0 ? parts : link
  return [own.join('::'), own.join('/'), own.at(-1) ?? '', own[0] ?? ''].filter((name) => name !== '')
}

/** Skips a pair if `findBody` returns undefined. */
export const toContacts = (
  { contacts }: Contacts,
  findBody: (collision: string) => number | undefined,
): readonly object[] =>
  contacts.flatMap((contact) => {
    const [a, b] = [findBody(contact.collision1.name), findBody(contact.collision2.name)]
    if (a === undefined || b === undefined || a === b) return []
    return contact.positions.map((position, i) => ({
      a,
      b,
      ...readPoint(contact, i, toVector(position)),
    }))
  })

function readPoint({ normals, depths, wrenches }: GazeboContact, i: number, point: Vector3): object {
  const given = normals[i]
  const depth = depths[i] ?? null
  if (given === undefined) return { points: [{ point, depth }] }
  const normal = toVector(given)
  const force = wrenches[i]?.body_1_wrench.force
  // The given normal points from b to a, like the force on the first body.
  if (force === undefined) return { normal: scale(normal, -1), points: [{ point, depth }] }
  const onA = toVector(force)
  const push = computeDotProduct(onA, normal)
  // Engines differ in the direction of the normal. The force determines it, because contacts push bodies apart.
  const outward = push < 0 ? normal : scale(normal, -1)
  const along = computeDotProduct(onA, outward)
  const rest: Vector3 = [
    onA[0] - along * outward[0],
    onA[1] - along * outward[1],
    onA[2] - along * outward[2],
  ]
  const size = Math.hypot(...rest)
  const tangent = size > 0 ? scale(rest, 1 / size) : null
  return {
    normal: outward,
    points: [
      {
        point,
        depth,
        normal_lambda: -along,
        tangent1_lambda: size,
        tangent2_lambda: 0,
        ...(tangent === null ? {} : { tangent1: tangent, tangent2: computeCrossProduct(outward, tangent) }),
      },
    ],
  }
}
