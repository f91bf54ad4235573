import { environmentBit, isEnvironmentId } from '../../domain/body-id.ts'
import { bodyEnergyFields } from '../fields.ts'
import { bodyAt, bodyWidth, hasEnergy, hasOwnEnergy, hasState } from '../packed-frame.ts'
import { convertBody, orderQuaternion } from './convention.ts'
import type { ContactLists } from './frame-contacts.ts'
import { writeEnergies } from './frame-energy.ts'
import {
  type Members,
  quaternion,
  readInteger,
  readItems,
  readNumber,
  readTriple,
  rejectValue,
  requireKnownMembers,
  toList,
  toMembers,
  vector,
  withPath,
  writeVector,
} from './json-value.ts'
import type { RunContext } from './run-line.ts'

const bodyMembers: ReadonlySet<string> = new Set([
  ...['id', 'position', 'velocity', 'acceleration', 'orientation', 'angular_velocity'],
  ...['angular_velocity_world', 'angular_acceleration', 'energy', 'forces'],
])
const energyMembers: ReadonlySet<string> = new Set(bodyEnergyFields)
const forceMembers: ReadonlySet<string> = new Set(['force', 'torque', 'at'])

const vectors = {
  position: vector('position', 'm'),
  velocity: vector('velocity', 'm/s'),
  acceleration: vector('acceleration', 'm/s²'),
  orientation: quaternion('orientation'),
  spin: vector('angular_velocity', 'rad/s'),
  worldSpin: vector('angular_velocity_world', 'rad/s'),
  angularAcceleration: vector('angular_acceleration', 'rad/s²'),
  force: vector('force', 'N'),
  torque: vector('torque', 'N·m'),
  at: vector('at', 'm'),
} as const

/** Whether an id, with or without bit 31, is that of an environment body. */
export const isEnvironmentBody = (id: number, { bodies }: Pick<RunContext, 'bodies'>): boolean =>
  isEnvironmentId(id) || (!bodies.has(id) && bodies.has(id + environmentBit))

/** Returns rows of the moving bodies. Adds all ids, including those of environment bodies, to `seenIds`. */
export function readBodies(
  value: unknown,
  context: RunContext,
  { contacts, seenIds }: { readonly contacts: ContactLists; readonly seenIds: Set<number> },
): Float64Array {
  const rows = context.allocate(toList(value, 'bodies').length * bodyWidth)
  let at = 0
  readItems(value, 'bodies', (item) => {
    const body = toMembers(item)
    const id = readInteger(body.id, 'id', 0, 0xffff_ffff)
    if (seenIds.has(id)) rejectValue('id', id, 'each body once a frame')
    seenIds.add(id)
    // Environment bodies have no states, as in recordings of the C++ recorder.
    if (isEnvironmentBody(id, context)) return
    requireKnownMembers(body, bodyMembers)
    rows[at + bodyAt.id] = id
    readState(body, rows, at, context)
    if (body.forces !== undefined) readForces(body.forces, id, contacts)
    at += bodyWidth
  })
  return at === rows.length ? rows : rows.subarray(0, at)
}

function readState(body: Members, rows: Float64Array, at: number, { constants, bodies }: RunContext): void {
  const { convention } = constants
  rows[at + bodyAt.parts] = hasState
  writeVector(body.position, vectors.position, rows, at + bodyAt.position)
  writeVector(body.velocity, vectors.velocity, rows, at + bodyAt.velocity)
  writeVector(body.acceleration, vectors.acceleration, rows, at + bodyAt.acceleration)
  writeVector(body.orientation, vectors.orientation, rows, at + bodyAt.orientation)
  writeVector(body.angular_acceleration, vectors.angularAcceleration, rows, at + bodyAt.angularAcceleration)
  orderQuaternion(rows, at + bodyAt.orientation, convention)
  const recordedSpin = readSpin(body, rows, at)
  const spin = convention === null ? recordedSpin : convertBody(rows, at, recordedSpin, convention)
  writeRate(rows, at, spin)
  if (body.energy === undefined || body.energy === null)
    writeEnergies(rows, at, bodies.get(rows[at + bodyAt.id] ?? 0), constants.gravity, spin)
  else readEnergy(body.energy, rows, at)
}

function readForces(value: unknown, body: number, { externals }: ContactLists): void {
  readItems(value, 'forces', (item) => {
    const force = toMembers(item)
    requireKnownMembers(force, forceMembers)
    const torque = force.torque === undefined ? [0, 0, 0] : readTriple(force.torque, vectors.torque)
    const point = readTriple(force.at, vectors.at)
    const to = externals.append(10)
    externals.numbers.set([body, ...readTriple(force.force, vectors.force), ...torque, ...point], to)
  })
}

type Triple = readonly [number, number, number]

/** Returns the angular velocity in rad/s in the body frame. Rotates `angular_velocity_world`. */
function readSpin(body: Members, rows: Float64Array, at: number): Triple {
  const worldSpin = body.angular_velocity_world
  if (worldSpin === undefined) return readTriple(body.angular_velocity, vectors.spin)
  const [x, y, z] = readTriple(worldSpin, vectors.worldSpin)
  const [qw, qx, qy, qz] = readQuaternionAt(rows, at)
  // conj(q) v q = v + 2 u × (u × v - w v) for a unit quaternion whose vector part is u.
  const [cx, cy, cz] = [qy * z - qz * y - qw * x, qz * x - qx * z - qw * y, qx * y - qy * x - qw * z]
  return [x + 2 * (qy * cz - qz * cy), y + 2 * (qz * cx - qx * cz), z + 2 * (qx * cy - qy * cx)]
}

const readQuaternionAt = (rows: Float64Array, at: number): readonly [number, number, number, number] => {
  const from = at + bodyAt.orientation
  return [rows[from] ?? 0, rows[from + 1] ?? 0, rows[from + 2] ?? 0, rows[from + 3] ?? 0]
}

/** Writes dq/dt = q ω / 2, divided by |q|², so that 2 vec(conj(q) dq/dt) equals ω for any length of q. */
function writeRate(rows: Float64Array, at: number, [x, y, z]: Triple): void {
  const [w, qx, qy, qz] = readQuaternionAt(rows, at)
  const scale = 0.5 / (w * w + qx * qx + qy * qy + qz * qz)
  const to = at + bodyAt.rate
  rows[to] = -scale * (qx * x + qy * y + qz * z)
  rows[to + 1] = scale * (w * x + qy * z - qz * y)
  rows[to + 2] = scale * (w * y + qz * x - qx * z)
  rows[to + 3] = scale * (w * z + qx * y - qy * x)
}

function readEnergy(value: unknown, rows: Float64Array, at: number): void {
  withPath('energy', () => {
    const energy = toMembers(value)
    requireKnownMembers(energy, energyMembers)
    bodyEnergyFields.forEach((name, i) => {
      rows[at + bodyAt.energy + i] = readNumber(energy[name], name, 'J')
    })
  })
  rows[at + bodyAt.parts] = hasState | hasEnergy | hasOwnEnergy
}
