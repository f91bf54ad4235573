import { jointAt, jointKinds } from '../frame-window.ts'
import { convertJoints } from './convention.ts'
import { type FindBody, readPair } from './frame-contacts.ts'
import { list, members, number, requireKnown, unexpected, writeVector, xyzIn } from './json-value.ts'
import type { RunContext } from './run-line.ts'

const jointMembers = new Set(['a', 'b', 'kind', 'point', 'impulse', 'torque', 'position_error'])
const [place, impulse, torque] = [xyzIn('m, world'), xyzIn('N·s or N'), xyzIn('N·m·s or N·m')]

/** Returns null without joints. Swapping a pair negates impulse and torque. */
export function readJoints(
  value: unknown,
  { allocate, constants }: RunContext,
  findBody: FindBody,
): Float64Array | null {
  const items = list(value, 'joints')
  if (items.length === 0) return null
  const rows = allocate(items.length * jointAt.width)
  items.forEach((item, i) => {
    const path = (): string => `joints[${i}]`
    const joint = members(item, path)
    requireKnown(joint, path, jointMembers)
    const at = i * jointAt.width
    const { a, b, isSwapped } = readPair(joint, path, findBody)
    rows[at] = a
    rows[at + jointAt.b] = b
    const { kind = 'other' } = joint
    const index = jointKinds.indexOf(kind as (typeof jointKinds)[number])
    rows[at + jointAt.kind] =
      index < 0 ? unexpected(() => `${path()}.kind`, kind, jointKinds.join(', ')) : index
    writeVector(joint.point, 'point', { path, to: rows, at: at + jointAt.point, kind: place })
    writeVector(joint.impulse, 'impulse', { path, to: rows, at: at + jointAt.impulse, kind: impulse })
    writeVector(joint.torque, 'torque', { path, to: rows, at: at + jointAt.torque, kind: torque })
    if (isSwapped)
      for (let k = at + jointAt.impulse; k < at + jointAt.error; k++) rows[k] = -(rows[k] ?? Number.NaN)
    rows[at + jointAt.error] = number(joint.position_error, 'position_error', path, 'm')
  })
  if (constants.convention !== null) convertJoints(rows, constants.convention)
  return rows
}
