/** What a run line says of a whole recording: its constants and its bodies. */
import { CausewayError } from '@causeway/protocol'
import { environmentBit } from '../domain/body-id.ts'
import type { BodyId, LambdaUnit } from '../types.ts'
import {
  flag,
  list,
  type Members,
  members,
  number,
  requireKnown,
  triple,
  unexpected,
  whole,
  xyzIn,
} from './wire-value.ts'

/** A body as a run line declares it; NaN = not given. */
export interface RunBody {
  /** an environment body has bit 31 set */
  readonly id: BodyId
  /** kg */
  readonly mass: number
  readonly restitution: number
  readonly friction: number
  readonly asset: number
  /** principal moments about the axes of the body, kg m² */
  readonly inertia: readonly [number, number, number]
  /** half extents of its box along the axes of the body, m */
  readonly extents: readonly [number, number, number]
  readonly isEnvironment: boolean
}

/** Constants of a run; null = not given. */
export interface RunConstants {
  readonly engine: string | null
  /** s */
  readonly dt: number | null
  /** m/s² */
  readonly gravity: readonly [number, number, number] | null
  readonly lambdaUnit: LambdaUnit | null
}

/** Everything a run line says. */
export interface RunFacts extends RunConstants {
  readonly bodies: readonly RunBody[]
}

/** What a frame line is read with. */
export interface RunKnowledge {
  readonly constants: RunConstants
  /** declared bodies by recorded id */
  readonly bodies: ReadonlyMap<number, RunBody>
  /** True for a body that earlier frames hold. */
  isKnown(id: number): boolean
  /** total energy of the frame before this one, NaN where there is none */
  energyBefore(): number
  /** Memory for the numbers of the frame, good until the flush that stores it. */
  room(length: number): Float64Array
}

const highestId = 0xffff_ffff
const runMembers = new Set(['engine', 'dt', 'gravity', 'lambda_unit', 'bodies'])
const bodyMembers = new Set([
  'id',
  'mass',
  'restitution',
  'friction',
  'asset_id',
  'inertia',
  'half_extents',
  'is_environment',
])

/** Reads the object of a run line; throws `INVALID_FRAME`. */
export function readRun(value: unknown): RunFacts {
  const run = members(value, 'run')
  requireKnown(run, 'run', runMembers)
  const { engine = null } = run
  if (engine !== null && (typeof engine !== 'string' || engine.length > 200))
    unexpected('run.engine', engine, 'a text of at most 200 characters')
  const dt = number(run.dt, 'dt', 'run', 's')
  if (dt <= 0 || dt === Number.POSITIVE_INFINITY) unexpected('run.dt', run.dt, 'a number above 0, s')
  return {
    engine: engine as string | null,
    dt: Number.isNaN(dt) ? null : dt,
    gravity: readGravity(run),
    lambdaUnit: readUnit(run.lambda_unit),
    bodies: list(run.bodies, 'run.bodies').map(readBody),
  }
}

function readGravity(run: Members): RunConstants['gravity'] {
  if (run.gravity === undefined || run.gravity === null) return null
  const gravity = triple(run.gravity, 'gravity', 'run', xyzIn('m/s²'))
  return gravity.every(Number.isFinite)
    ? gravity
    : unexpected('run.gravity', run.gravity, '3 finite numbers, m/s²')
}

const units: Readonly<Record<string, LambdaUnit>> = { N·s: 'N·s', 'N*s': 'N·s', Ns: 'N·s', N: 'N' }

function readUnit(value: unknown): LambdaUnit | null {
  if (value === undefined || value === null) return null
  return (
    (typeof value === 'string' ? units[value] : undefined) ??
    unexpected('run.lambda_unit', value, '"N·s" (or "Ns") or "N"')
  )
}

function readBody(value: unknown, i: number): RunBody {
  const path = `run.bodies[${i}]`
  const body: Members = members(value, path)
  requireKnown(body, path, bodyMembers)
  const isEnvironment = flag(body.is_environment, `${path}.is_environment`)
  const written = whole(body.id, `${path}.id`, 0, highestId)
  const isMarked = written >= environmentBit
  return {
    id: isEnvironment && !isMarked ? written + environmentBit : written,
    mass: number(body.mass, 'mass', path, 'kg'),
    restitution: number(body.restitution, 'restitution', path, ''),
    friction: number(body.friction, 'friction', path, ''),
    asset: number(body.asset_id, 'asset_id', path, ''),
    inertia: triple(body.inertia, 'inertia', path, xyzIn('kg m²')),
    extents: triple(body.half_extents, 'half_extents', path, xyzIn('m')),
    isEnvironment: isEnvironment || isMarked,
  }
}

/** The object of a run line that says this. */
export const runLine = ({ engine, dt, gravity, lambdaUnit, bodies }: RunFacts): object => ({
  engine,
  dt,
  gravity,
  lambda_unit: lambdaUnit,
  bodies: bodies.map(({ id, mass, restitution, friction, asset, inertia, extents, isEnvironment }) => ({
    id,
    mass,
    restitution,
    friction,
    asset_id: asset,
    inertia,
    half_extents: extents,
    is_environment: isEnvironment,
  })),
})

const isSame = (a: unknown, b: unknown): boolean => Object.is(JSON.stringify(a), JSON.stringify(b))

/**
 * What is known after another run line: what it adds. Throws `FRAME_CONFLICT` where it contradicts what frames were
 * stored under.
 */
export function mergeRun(before: RunFacts, added: RunFacts): RunFacts {
  const conflict = (what: string): never => {
    throw new CausewayError('FRAME_CONFLICT', `the run line contradicts an earlier one: ${what}`, {
      remedy: 'record under another name, or delete this recording first',
      data: { what },
    })
  }
  const bodies = new Map(before.bodies.map((body) => [body.id, body]))
  for (const body of added.bodies) {
    const known = bodies.get(body.id)
    if (known && !isSame(known, body)) conflict(`body ${body.id}`)
    bodies.set(body.id, body)
  }
  const constant = <Key extends keyof RunConstants>(key: Key): RunFacts[Key] => {
    if (added[key] === null) return before[key]
    return before[key] === null || isSame(before[key], added[key]) ? added[key] : conflict(key)
  }
  return {
    engine: constant('engine'),
    dt: constant('dt'),
    gravity: constant('gravity'),
    lambdaUnit: constant('lambdaUnit'),
    bodies: [...bodies.values()],
  }
}
