import { jointAt, jointKinds } from '../frame-window.ts'
import { convertJoints } from './convention.ts'
import { type FindBody, readPair } from './frame-contacts.ts'
import {
  readItems,
  readNumber,
  rejectValue,
  requireKnownMembers,
  toList,
  toMembers,
  vector,
  writeVector,
} from './json-value.ts'
import type { RunContext } from './run-line.ts'

const jointMembers = new Set(['a', 'b', 'kind', 'point', 'impulse', 'torque', 'position_error'])
const point = vector('point', 'm, world')
const impulse = vector('impulse', 'N·s or N')
const torque = vector('torque', 'N·m·s or N·m')

/** Returns null if the list is empty. Swapping a pair negates impulse and torque. */
export function readJoints(
  value: unknown,
  { allocate, constants }: RunContext,
  findBody: FindBody,
): Float64Array | null {
  const count = toList(value, 'joints').length
  if (count === 0) return null
  const rows = allocate(count * jointAt.width)
  readItems(value, 'joints', (item, i) => {
    const joint = toMembers(item)
    requireKnownMembers(joint, jointMembers)
    const at = i * jointAt.width
    const { a, b, isSwapped } = readPair(joint, findBody)
    rows[at] = a
    rows[at + jointAt.b] = b
    const { kind = 'other' } = joint
    const index = jointKinds.indexOf(kind as (typeof jointKinds)[number])
    rows[at + jointAt.kind] = index < 0 ? rejectValue('kind', kind, jointKinds.join(', ')) : index
    writeVector(joint.point, point, rows, at + jointAt.point)
    writeVector(joint.impulse, impulse, rows, at + jointAt.impulse)
    writeVector(joint.torque, torque, rows, at + jointAt.torque)
    if (isSwapped)
      for (let k = at + jointAt.impulse; k < at + jointAt.error; k++) rows[k] = -(rows[k] ?? Number.NaN)
    rows[at + jointAt.error] = readNumber(joint.position_error, 'position_error', 'm')
  })
  if (constants.convention !== null) convertJoints(rows, constants.convention)
  return rows
}
