import { environmentBit, isEnvironmentId } from '../../domain/body-id.ts'
import { bodyEnergyFields } from '../fields.ts'
import { bodyAt, bodyWidth, hasEnergy, hasOwnEnergy, hasState } from '../packed-frame.ts'
import { convertBody, orderQuaternion } from './convention.ts'
import type { ContactLists } from './frame-contacts.ts'
import { writeEnergies } from './frame-energy.ts'
import {
  list,
  type Members,
  members,
  number,
  type Path,
  requireKnown,
  triple,
  unexpected,
  type VectorKind,
  whole,
  writeVector,
  xyzIn,
} from './json-value.ts'
import type { RunContext } from './run-line.ts'

const bodyMembers: ReadonlySet<string> = new Set([
  ...['id', 'position', 'velocity', 'acceleration', 'orientation', 'angular_velocity'],
  ...['angular_velocity_world', 'angular_acceleration', 'energy', 'forces'],
])
const energyMembers: ReadonlySet<string> = new Set(bodyEnergyFields)
const forceMembers: ReadonlySet<string> = new Set(['force', 'torque', 'at'])

const kinds = {
  position: xyzIn('m'),
  velocity: xyzIn('m/s'),
  acceleration: xyzIn('m/s²'),
  orientation: { names: ['w', 'x', 'y', 'z'], unit: 'quaternion, w first' },
  spin: xyzIn('rad/s'),
  angular_acceleration: xyzIn('rad/s²'),
  force: xyzIn('N'),
  torque: xyzIn('N·m'),
} as const satisfies Record<string, VectorKind>

/** Whether the id is an environment body's, with or without bit 31. */
export const isEnvironmentBody = (id: number, { bodies }: Pick<RunContext, 'bodies'>): boolean =>
  isEnvironmentId(id) || (!bodies.has(id) && bodies.has(id + environmentBit))

export function readBodies(value: unknown, context: RunContext, contacts: ContactLists): Float64Array {
  const items = list(value, 'bodies')
  const rows = context.allocate(items.length * bodyWidth).fill(Number.NaN)
  const seen = new Set<number>()
  let at = 0
  items.forEach((item, i) => {
    const path = (): string => `bodies[${i}]`
    const idPath = (): string => `bodies[${i}].id`
    const body = members(item, path)
    const id = whole(body.id, idPath, 0, 0xffff_ffff)
    if (seen.has(id)) unexpected(idPath, id, 'each body once a frame')
    seen.add(id)
    // Environment bodies have no state, as in recordings of the C++ recorder.
    if (isEnvironmentBody(id, context)) return
    readBody(body, { path, rows, at, id, contacts }, context)
    at += bodyWidth
  })
  return at === rows.length ? rows : rows.subarray(0, at)
}

interface BodyRow {
  readonly path: () => string
  readonly rows: Float64Array
  readonly at: number
  readonly id: number
  readonly contacts: ContactLists
}

function readBody(body: Members, row: BodyRow, { constants, bodies }: RunContext): void {
  const { path, rows, at, id, contacts } = row
  const { convention } = constants
  requireKnown(body, path, bodyMembers)
  const vector = (value: unknown, name: string, offset: number, kind: VectorKind) =>
    writeVector(value, name, { path, to: rows, at: at + offset, kind })
  rows[at + bodyAt.id] = id
  rows[at + bodyAt.parts] = hasState
  vector(body.position, 'position', bodyAt.position, kinds.position)
  vector(body.velocity, 'velocity', bodyAt.velocity, kinds.velocity)
  vector(body.acceleration, 'acceleration', bodyAt.acceleration, kinds.acceleration)
  vector(body.orientation, 'orientation', bodyAt.orientation, kinds.orientation)
  vector(
    body.angular_acceleration,
    'angular_acceleration',
    bodyAt.angularAcceleration,
    kinds.angular_acceleration,
  )
  orderQuaternion(rows, at + bodyAt.orientation, convention)
  const given = readSpin(body, row)
  const spin = convention === null ? given : convertBody(rows, at, given, convention)
  writeRate(rows, at, spin)
  if (body.energy === undefined || body.energy === null)
    writeEnergies(rows, at, bodies.get(id), constants.gravity, spin)
  else readEnergy(body.energy, row)
  if (body.forces === undefined) return
  list(body.forces, () => `${path()}.forces`).forEach((item, i) => {
    const own: Path = () => `${path()}.forces[${i}]`
    const force = members(item, own)
    requireKnown(force, own, forceMembers)
    const torque = force.torque === undefined ? [0, 0, 0] : triple(force.torque, 'torque', own, kinds.torque)
    const place = triple(force.at, 'at', own, kinds.position)
    const { externals } = contacts
    const to = externals.append(10)
    externals.numbers.set([id, ...triple(force.force, 'force', own, kinds.force), ...torque, ...place], to)
  })
}

type Triple = readonly [number, number, number]

/** Returns rad/s in the body frame; rotates `angular_velocity_world`. */
function readSpin(body: Members, { path, rows, at }: BodyRow): Triple {
  const world = body.angular_velocity_world
  if (world === undefined) return triple(body.angular_velocity, 'angular_velocity', path, kinds.spin)
  const [x, y, z] = triple(world, 'angular_velocity_world', path, kinds.spin)
  const [qw, qx, qy, qz] = quaternionAt(rows, at)
  // conj(q) v q = v + 2 u × (u × v - w v) for a unit quaternion with vector part u.
  const [cx, cy, cz] = [qy * z - qz * y - qw * x, qz * x - qx * z - qw * y, qx * y - qy * x - qw * z]
  return [x + 2 * (qy * cz - qz * cy), y + 2 * (qz * cx - qx * cz), z + 2 * (qx * cy - qy * cx)]
}

const quaternionAt = (rows: Float64Array, at: number): readonly [number, number, number, number] => {
  const from = at + bodyAt.orientation
  return [rows[from] ?? 0, rows[from + 1] ?? 0, rows[from + 2] ?? 0, rows[from + 3] ?? 0]
}

/** Writes dq/dt = q ω / 2, divided by |q|², so that 2 vec(conj(q) dq/dt) equals ω for any length of q. */
function writeRate(rows: Float64Array, at: number, [x, y, z]: Triple): void {
  const [w, qx, qy, qz] = quaternionAt(rows, at)
  const scale = 0.5 / (w * w + qx * qx + qy * qy + qz * qz)
  const to = at + bodyAt.rate
  rows[to] = -scale * (qx * x + qy * y + qz * z)
  rows[to + 1] = scale * (w * x + qy * z - qz * y)
  rows[to + 2] = scale * (w * y + qz * x - qx * z)
  rows[to + 3] = scale * (w * z + qx * y - qy * x)
}

function readEnergy(value: unknown, { path, rows, at }: BodyRow): void {
  const own: Path = () => `${path()}.energy`
  const energy = members(value, own)
  requireKnown(energy, own, energyMembers)
  bodyEnergyFields.forEach((name, i) => {
    rows[at + bodyAt.energy + i] = number(energy[name], name, own, 'J')
  })
  rows[at + bodyAt.parts] = hasState | hasEnergy | hasOwnEnergy
}
