/** Reading one line of a recording that is being sent: a run line or a frame line. */
import { CausewayError } from '@causeway/protocol'
import { isEnvironmentId } from '../domain/body-id.ts'
import {
  bodyAt,
  bodyWidth,
  hasEnergy,
  hasState,
  type PackedFrame,
  packContacts,
  type SolverRow,
} from './packed-frame.ts'
import { type GivenSystem, systemEnergy, writeEnergies } from './run-energy.ts'
import { type RunBody, type RunConstants, type RunFacts, readRun } from './run-facts.ts'
import { bodyFinder, type ContactLists, readContacts } from './wire-contacts.ts'
import {
  flag,
  list,
  type Members,
  members,
  number,
  unexpected,
  unknownMember,
  whole,
  writeVector,
} from './wire-value.ts'

/** What a frame line is read with. */
export interface RunKnowledge {
  readonly constants: RunConstants
  /** declared bodies by recorded id */
  readonly bodies: ReadonlyMap<number, RunBody>
  /** True for a body that earlier frames hold. */
  isKnown(id: number): boolean
  /** total energy of the frame before this one, NaN where there is none */
  energyBefore(): number
}

/** What a line says. */
export type Line = { readonly run: RunFacts } | { readonly frame: PackedFrame }

const frameMembers = ['frame_id', 'time', 'wall_time', 'bodies', 'contacts', 'solver', 'energies'] as const
const bodyMembers = [
  ...['id', 'position', 'velocity', 'acceleration', 'orientation', 'angular_velocity'],
  ...['angular_velocity_world', 'angular_acceleration', 'energy', 'forces'],
] as const
const energyMembers = ['linear_ke', 'rotational_ke', 'potential_e', 'total_e'] as const
const forceMembers = ['force', 'torque', 'at'] as const
const solverMembers = ['iterations', 'residual', 'converged', 'num_constraints', 'num_contacts'] as const
const systemMembers = [
  ...['total_linear_ke', 'total_rotational_ke', 'total_potential_e', 'total_system_e', 'delta_e'],
  ...['energy_injection', 'collision_active'],
] as const

const xyz = ['x', 'y', 'z'] as const
const wxyz = ['w', 'x', 'y', 'z'] as const

/** Python writes what is not finite as bare words, which are no JSON. */
const bareWord = /(?<=[[,:\s])(-?)(NaN|Infinity)(?=[\],}\s])/g

/** Parses and checks a line; throws `INVALID_FRAME`. */
export function readLine(text: string, knowledge: RunKnowledge): Line {
  const line = members(parse(text), 'the line')
  if (line.run !== undefined) {
    for (const key in line) if (key !== 'run') unknownMember('', key, ['run'])
    return { run: readRun(line.run) }
  }
  return { frame: readFrame(line, knowledge) }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    try {
      return JSON.parse(text.replace(bareWord, (_, sign, word) => (word === 'NaN' ? 'null' : `${sign}1e999`)))
    } catch (error) {
      throw new CausewayError('INVALID_FRAME', `the line is no JSON: ${(error as SyntaxError).message}`, {
        remedy:
          'send one JSON object a line: {"run": …} or {"frame_id": …}; null for a number that is not known',
        data: { path: '', expected: 'a JSON object' },
        cause: error,
      })
    }
  }
}

function readFrame(line: Members, knowledge: RunKnowledge): PackedFrame {
  for (const key in line)
    if (!(frameMembers as readonly string[]).includes(key)) unknownMember('', key, [...frameMembers, 'run'])
  const id = whole(line.frame_id, 'frame_id', 1, Number.MAX_SAFE_INTEGER - 1)
  const contacts: ContactLists = { collisions: [], points: [], constraints: [], friction: [], externals: [] }
  const bodies = readBodies(line.bodies, knowledge, contacts)
  const present = new Set<number>()
  for (let at = 0; at < bodies.length; at += bodyWidth) present.add(bodies[at] ?? 0)
  const isDynamic = (body: number): boolean => {
    const declared = knowledge.bodies.get(body)
    return present.has(body) || knowledge.isKnown(body) || (declared !== undefined && !declared.isEnvironment)
  }
  const isEnvironment = (body: number): boolean => knowledge.bodies.has(body) || knowledge.isKnown(body)
  readContacts(line.contacts, contacts, bodyFinder(isDynamic, isEnvironment))
  const isTouching = contacts.collisions.length > 0
  const given = readSystem(line.energies)
  return {
    id,
    time: number(line.time, 'time', 's'),
    wallTime: number(line.wall_time, 'wall_time', 's since the epoch'),
    bodies,
    contacts: packContacts(contacts),
    solver: readSolver(line.solver, contacts),
    system: systemEnergy(bodies, given, knowledge.energyBefore(), isTouching),
  }
}

function readBodies(value: unknown, knowledge: RunKnowledge, contacts: ContactLists): Float64Array {
  const items = list(value, 'bodies')
  const rows = new Float64Array(items.length * bodyWidth).fill(Number.NaN)
  const seen = new Set<number>()
  let at = 0
  items.forEach((item, i) => {
    const path = `bodies[${i}]`
    const body = members(item, path)
    const id = whole(body.id, `${path}.id`, 0, 0xffff_ffff)
    if (seen.has(id)) unexpected(`${path}.id`, id, 'each body once a frame')
    seen.add(id)
    // The environment does not move: its pose is no state, as in the recordings of the C++ recorder.
    const isStill = isEnvironmentId(id) || (!knowledge.bodies.has(id) && knowledge.bodies.has(id + 2 ** 31))
    if (isStill) return
    readBody(body, { path, rows, at, id, contacts }, knowledge)
    at += bodyWidth
  })
  return at === rows.length ? rows : rows.slice(0, at)
}

interface BodyRow {
  readonly path: string
  readonly rows: Float64Array
  readonly at: number
  readonly id: number
  readonly contacts: ContactLists
}

function readBody(body: Members, row: BodyRow, { constants, bodies }: RunKnowledge): void {
  const { path, rows, at, id, contacts } = row
  for (const key in body)
    if (!(bodyMembers as readonly string[]).includes(key)) unknownMember(path, key, bodyMembers)
  const vector = (name: (typeof bodyMembers)[number], offset: number, unit: string) =>
    writeVector(body[name], rows, at + offset, { names: xyz, path: `${path}.${name}`, unit })
  rows[at + bodyAt.id] = id
  rows[at + bodyAt.parts] = hasState
  vector('position', bodyAt.position, 'm')
  vector('velocity', bodyAt.velocity, 'm/s')
  vector('acceleration', bodyAt.acceleration, 'm/s²')
  const orientation = { names: wxyz, path: `${path}.orientation`, unit: 'quaternion, w first' }
  writeVector(body.orientation, rows, at + bodyAt.orientation, orientation)
  vector('angular_acceleration', bodyAt.angularAcceleration, 'rad/s²')
  const spin = readSpin(body, row)
  writeRate(rows, at, spin)
  if (body.energy === undefined || body.energy === null)
    writeEnergies(rows, at, bodies.get(id), constants.gravity, spin)
  else readEnergy(body.energy, row)
  list(body.forces, `${path}.forces`).forEach((item, i) => {
    const own = `${path}.forces[${i}]`
    const force = members(item, own)
    for (const key in force)
      if (!(forceMembers as readonly string[]).includes(key)) unknownMember(own, key, forceMembers)
    const to: number[] = [id]
    writeVector(force.force, to, 1, { names: xyz, path: `${own}.force`, unit: 'N' })
    writeVector(force.torque ?? [0, 0, 0], to, 4, { names: xyz, path: `${own}.torque`, unit: 'N·m' })
    writeVector(force.at, to, 7, { names: xyz, path: `${own}.at`, unit: 'm, world' })
    contacts.externals.push(...to)
  })
}

type Triple = readonly [number, number, number]

/** Angular velocity in the body frame, turned there where it was given in the world's. */
function readSpin(body: Members, { path, rows, at }: BodyRow): Triple {
  const isWorld = body.angular_velocity_world !== undefined
  const name = isWorld ? 'angular_velocity_world' : 'angular_velocity'
  const to: number[] = []
  writeVector(body[name], to, 0, { names: xyz, path: `${path}.${name}`, unit: 'rad/s' })
  const [x = Number.NaN, y = Number.NaN, z = Number.NaN] = to
  if (!isWorld) return [x, y, z]
  const [qw, qx, qy, qz] = quaternionAt(rows, at)
  // conj(q) v q = v + 2 u × (u × v - w v), u the vector part of q, for a unit quaternion.
  const [cx, cy, cz] = [qy * z - qz * y - qw * x, qz * x - qx * z - qw * y, qx * y - qy * x - qw * z]
  return [x + 2 * (qy * cz - qz * cy), y + 2 * (qz * cx - qx * cz), z + 2 * (qx * cy - qy * cx)]
}

const quaternionAt = (rows: Float64Array, at: number): readonly [number, number, number, number] => {
  const from = at + bodyAt.orientation
  return [rows[from] ?? 0, rows[from + 1] ?? 0, rows[from + 2] ?? 0, rows[from + 3] ?? 0]
}

/** dq/dt = q ω / 2, divided by |q|², so that 2 vec(conj(q) dq/dt) is ω again for any length of q. */
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
  const energy = members(value, `${path}.energy`)
  for (const key in energy)
    if (!(energyMembers as readonly string[]).includes(key))
      unknownMember(`${path}.energy`, key, energyMembers)
  energyMembers.forEach((name, i) => {
    rows[at + bodyAt.energy + i] = number(energy[name], `${path}.energy.${name}`, 'J')
  })
  rows[at + bodyAt.parts] = hasState | hasEnergy
}

function readSolver(value: unknown, contacts: ContactLists): SolverRow | null {
  if (value === undefined || value === null) return null
  const solver = members(value, 'solver')
  for (const key in solver)
    if (!(solverMembers as readonly string[]).includes(key)) unknownMember('solver', key, solverMembers)
  const count = (name: 'num_constraints' | 'num_contacts', otherwise: number): number =>
    solver[name] === undefined ? otherwise : whole(solver[name], `solver.${name}`, 0, Number.MAX_SAFE_INTEGER)
  return {
    iterations: number(solver.iterations, 'solver.iterations', ''),
    residual: number(solver.residual, 'solver.residual', ''),
    converged: flag(solver.converged, 'solver.converged'),
    constraints: count('num_constraints', contacts.constraints.length / 14 + contacts.friction.length / 21),
    contacts: count('num_contacts', contacts.collisions.length / 7),
  }
}

function readSystem(value: unknown): GivenSystem {
  if (value === undefined || value === null) return {}
  const energies = members(value, 'energies')
  for (const key in energies)
    if (!(systemMembers as readonly string[]).includes(key)) unknownMember('energies', key, systemMembers)
  const joule = (name: (typeof systemMembers)[number]) => number(energies[name], `energies.${name}`, 'J')
  const claim = (name: 'energy_injection' | 'collision_active') => flag(energies[name], `energies.${name}`)
  return {
    linear: joule('total_linear_ke'),
    rotational: joule('total_rotational_ke'),
    potential: joule('total_potential_e'),
    total: joule('total_system_e'),
    delta: joule('delta_e'),
    ...(energies.energy_injection === undefined ? {} : { injection: claim('energy_injection') }),
    ...(energies.collision_active === undefined ? {} : { active: claim('collision_active') }),
  }
}
