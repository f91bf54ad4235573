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
  const bodyPath = link.length === 0 ? parts : link
  return [bodyPath.join('::'), bodyPath.join('/'), bodyPath.at(-1) ?? '', bodyPath[0] ?? ''].filter(
    (name) => name !== '',
  )
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
  const recordedNormal = normals[i]
  const depth = depths[i] ?? null
  if (recordedNormal === undefined) return { points: [{ point, depth }] }
  const normal = toVector(recordedNormal)
  const force = wrenches[i]?.body_1_wrench.force
  // The given normal points from b to a, like the force on the first body.
  if (force === undefined) return { normal: scale(normal, -1), points: [{ point, depth }] }
  const forceOnA = toVector(force)
  const normalComponent = computeDotProduct(forceOnA, normal)
  // Engines differ in the direction of the normal. The force determines it, because contacts push bodies apart.
  const contactNormal = normalComponent < 0 ? normal : scale(normal, -1)
  const normalForce = computeDotProduct(forceOnA, contactNormal)
  const tangentForce: Vector3 = [
    forceOnA[0] - normalForce * contactNormal[0],
    forceOnA[1] - normalForce * contactNormal[1],
    forceOnA[2] - normalForce * contactNormal[2],
  ]
  const size = Math.hypot(...tangentForce)
  const tangent = size > 0 ? scale(tangentForce, 1 / size) : null
  return {
    normal: contactNormal,
    points: [
      {
        point,
        depth,
        normal_lambda: -normalForce,
        tangent1_lambda: size,
        tangent2_lambda: 0,
        ...(tangent === null
          ? {}
          : { tangent1: tangent, tangent2: computeCrossProduct(contactNormal, tangent) }),
      },
    ],
  }
}
