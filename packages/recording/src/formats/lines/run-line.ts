import { environmentBit } from '../../domain/body-id.ts'
import { RecordingError } from '../../errors.ts'
import type { BodyGeometry, BodyId, LambdaUnit, Provenance, RecordingSummary, Shape } from '../../types.ts'
import {
  type Convention,
  convertExtents,
  convertQuaternion,
  convertVector,
  readConvention,
} from './convention.ts'
import {
  type Members,
  quaternion,
  readFlag,
  readInteger,
  readNumber,
  readTriple,
  rejectValue,
  requireKnownMembers,
  toList,
  toMembers,
  type Vector,
  vector,
  withPath,
  writeVector,
} from './json-value.ts'
import { provenanceMembers, readProvenance } from './provenance.ts'

/** A declared body in SI units; NaN = not sent. */
export interface RunBody {
  readonly id: BodyId
  readonly mass: number
  readonly restitution: number
  readonly friction: number
  readonly asset: number
  readonly inertia: readonly [number, number, number]
  /** Half extents of the box along the body axes. */
  readonly extents: readonly [number, number, number]
  readonly isEnvironment: boolean
  readonly details: BodyDetails
}

/** Further members of a body (see `BodyGeometry`); null = not sent. */
export interface BodyDetails {
  readonly name: string | null
  readonly shape: Shape | null
  readonly position: readonly number[] | null
  readonly orientation: readonly number[] | null
  readonly group: number | null
  readonly ignores: readonly BodyId[] | null
  readonly surface_velocity: readonly [number, number, number] | null
}

export const noDetails: BodyDetails = {
  name: null,
  shape: null,
  position: null,
  orientation: null,
  group: null,
  ignores: null,
  surface_velocity: null,
}

/** Constants of a run in SI units; null = not sent. */
export interface RunConstants {
  readonly engine: string | null
  readonly dt: number | null
  readonly gravity: readonly [number, number, number] | null
  readonly lambdaUnit: LambdaUnit | null
  /** Convention of the sent numbers. Stored numbers are converted. */
  readonly convention: Convention | null
  readonly substeps: number | null
  readonly provenance: Provenance | null
}

export interface RunFacts extends RunConstants {
  readonly bodies: readonly RunBody[]
}

export interface RunContext {
  readonly constants: RunConstants
  readonly bodies: ReadonlyMap<number, RunBody>
  /** Whether the body is in an earlier frame. */
  isKnown(id: number): boolean
  /** Returns NaN for the first frame. */
  getPreviousEnergy(): number
  /** Returns memory that is valid until the next flush. */
  allocate(length: number): Float64Array
}

const maxId = 0xffff_ffff
const runMembers = new Set([
  ...['engine', 'dt', 'gravity', 'lambda_unit', 'bodies', 'convention', 'substeps'],
  ...provenanceMembers,
])
const bodyMembers = new Set([
  'id',
  'mass',
  'restitution',
  'friction',
  'asset_id',
  'inertia',
  'half_extents',
  'is_environment',
  'name',
  'shape',
  'position',
  'orientation',
  'group',
  'ignores',
  'surface_velocity',
])

/** `declared` is the convention of earlier lines. */
export const readRun = (value: unknown, declared: Convention | null): RunFacts =>
  withPath('run', () => {
    const run = toMembers(value)
    requireKnownMembers(run, runMembers)
    const { engine = null } = run
    if (engine !== null && (typeof engine !== 'string' || engine.length > 200))
      rejectValue('engine', engine, 'a text of at most 200 characters')
    const dt = readNumber(run.dt, 'dt', 's')
    if (dt <= 0 || dt === Number.POSITIVE_INFINITY) rejectValue('dt', run.dt, 'a number above 0, s')
    const convention = run.convention === undefined ? declared : readConvention(run.convention)
    const gravity = readFiniteVector(run.gravity, vectors.gravity)
    return {
      engine: engine as string | null,
      dt: Number.isNaN(dt) ? null : dt,
      gravity: gravity && convertVector(gravity as [number, number, number], convention),
      lambdaUnit: readUnit(run.lambda_unit),
      convention,
      substeps: readSubsteps(run),
      provenance: readProvenance(run),
      bodies: toList(run.bodies, 'bodies').map((body, i) =>
        withPath(`bodies[${i}]`, () => readBody(body, convention)),
      ),
    }
  })

/** Returns null for one step per frame, the default. */
function readSubsteps({ substeps }: Members): number | null {
  if (substeps === undefined || substeps === null) return null
  const count = readInteger(substeps, 'substeps', 1, 1_000_000)
  return count === 1 ? null : count
}

const units: Readonly<Record<string, LambdaUnit>> = { N·s: 'N·s', 'N*s': 'N·s', Ns: 'N·s', N: 'N' }

function readUnit(value: unknown): LambdaUnit | null {
  if (value === undefined || value === null) return null
  return (
    (typeof value === 'string' ? units[value] : undefined) ??
    rejectValue('lambda_unit', value, '"N·s" (or "Ns") or "N"')
  )
}

const vectors = {
  gravity: vector('gravity', 'm/s²'),
  extents: vector('half_extents', 'm'),
  inertia: vector('inertia', 'kg m²'),
  position: vector('position', 'm'),
  orientation: quaternion('orientation'),
  surface_velocity: vector('surface_velocity', 'm/s'),
} as const

function readBody(value: unknown, convention: Convention | null): RunBody {
  const body = toMembers(value)
  requireKnownMembers(body, bodyMembers)
  const isEnvironment = readFlag(body.is_environment, 'is_environment')
  const id = readInteger(body.id, 'id', 0, maxId)
  const isMarked = id >= environmentBit
  const extents = readTriple(body.half_extents, vectors.extents)
  const details = readDetails(body, convention)
  if (details.shape?.kind === 'box' && !extents.every((extent) => extent > 0))
    rejectValue('half_extents', body.half_extents, '3 numbers above 0, m, because the shape is a box')
  return {
    id: isEnvironment && !isMarked ? id + environmentBit : id,
    mass: readNumber(body.mass, 'mass', 'kg'),
    restitution: readNumber(body.restitution, 'restitution', ''),
    friction: readNumber(body.friction, 'friction', ''),
    asset: readNumber(body.asset_id, 'asset_id', ''),
    inertia: convertExtents(readTriple(body.inertia, vectors.inertia), convention),
    extents: extents.every(Number.isNaN) ? roundExtents(details.shape) : convertExtents(extents, convention),
    isEnvironment: isEnvironment || isMarked,
    details,
  }
}

const maxNameLength = 64

function readDetails(body: Members, convention: Convention | null): BodyDetails {
  const { name = null } = body
  if (name !== null && (typeof name !== 'string' || name === '' || name.length > maxNameLength))
    rejectValue('name', name, `a text of 1 to ${maxNameLength} characters`)
  const position = readFiniteVector(body.position, vectors.position)
  const orientation = readFiniteVector(body.orientation, vectors.orientation)
  const surface = readFiniteVector(body.surface_velocity, vectors.surface_velocity)
  return {
    name: name as string | null,
    shape: readShape(body.shape),
    position: position && convertVector(position as [number, number, number], convention),
    orientation: orientation && convertQuaternion(orientation, convention),
    group:
      body.group === undefined || body.group === null ? null : readInteger(body.group, 'group', 0, maxId),
    ignores: readIgnored(body.ignores),
    surface_velocity: surface && convertVector(surface as [number, number, number], convention),
  }
}

function readIgnored(value: unknown): BodyDetails['ignores'] {
  const ids = toList(value, 'ignores').map((id, i) => readInteger(id, `ignores[${i}]`, 0, maxId))
  return ids.length === 0 ? null : ids
}

function readFiniteVector(value: unknown, member: Vector): readonly number[] | null {
  if (value === undefined || value === null) return null
  const { name, components, unit } = member
  const to = new Array<number>(components.length).fill(Number.NaN)
  writeVector(value, member, to, 0)
  return to.every(Number.isFinite)
    ? to
    : rejectValue(name, value, `${components.length} finite numbers, ${unit}`)
}

const shapeLengths = {
  sphere: ['radius'],
  capsule: ['radius', 'half_length'],
  box: [],
  plane: [],
} as const satisfies Record<Shape['kind'], readonly string[]>

function readShape(value: unknown): Shape | null {
  if (value === undefined || value === null) return null
  return withPath('shape', () => {
    const shape = toMembers(value)
    const { kind } = shape
    if (typeof kind !== 'string' || !Object.hasOwn(shapeLengths, kind))
      return rejectValue('kind', kind, Object.keys(shapeLengths).join(', '))
    const lengths: readonly string[] = shapeLengths[kind as Shape['kind']]
    requireKnownMembers(shape, new Set(['kind', ...lengths]))
    const values = lengths.map((name) => {
      const length = readNumber(shape[name], name, 'm')
      const isValid = length > 0 && Number.isFinite(length)
      return [name, isValid ? length : rejectValue(name, shape[name], 'a number above 0, m')]
    })
    return { kind, ...Object.fromEntries(values) } as Shape
  })
}

function roundExtents(shape: Shape | null): [number, number, number] {
  if (shape?.kind === 'sphere') return [shape.radius, shape.radius, shape.radius]
  if (shape?.kind === 'capsule') return [shape.radius, shape.radius, shape.radius + shape.half_length]
  return [Number.NaN, Number.NaN, Number.NaN]
}

/** Returns the run line of stored facts, in the stored convention. */
export const makeRunLine = ({
  engine,
  dt,
  gravity,
  lambdaUnit,
  substeps,
  provenance,
  bodies,
}: RunFacts): object => ({
  engine,
  dt,
  gravity,
  lambda_unit: lambdaUnit,
  ...(substeps !== null && { substeps }),
  ...provenance,
  bodies: bodies.map(
    ({ id, mass, restitution, friction, asset, inertia, extents, isEnvironment, details }) => ({
      id,
      mass,
      restitution,
      friction,
      asset_id: asset,
      inertia,
      half_extents: extents,
      is_environment: isEnvironment,
      ...Object.fromEntries(Object.entries(details).filter(([, value]) => value !== null)),
    }),
  ),
})

export function listGeometry({ bodies }: RunFacts): readonly BodyGeometry[] {
  const toKnown = (values: readonly [number, number, number]) => (values.some(Number.isNaN) ? null : values)
  return bodies.flatMap(({ id, extents, inertia, details }) => {
    const { group, ignores, surface_velocity, ...geometryDetails } = details
    const geometry = { half_extents: toKnown(extents), inertia: toKnown(inertia), ...geometryDetails }
    const links = {
      ...(group !== null && { group }),
      ...(ignores !== null && { ignores }),
      ...(surface_velocity !== null && { surface_velocity }),
    }
    const isEmpty = Object.values(geometry).every((value) => value === null)
    return isEmpty && Object.keys(links).length === 0 ? [] : [{ body_id: id, ...geometry, ...links }]
  })
}

export const describeRun = ({
  substeps,
  provenance,
}: RunFacts): Pick<RecordingSummary, 'substeps' | 'provenance'> => ({
  ...(substeps !== null && { substeps }),
  ...(provenance !== null && { provenance }),
})

const isSame = (a: unknown, b: unknown): boolean => Object.is(JSON.stringify(a), JSON.stringify(b))

/** Merges two run lines. Throws `FRAME_CONFLICT` if they contradict each other. */
export function mergeRun(before: RunFacts, addition: RunFacts): RunFacts {
  const rejectConflict = (what: string): never => {
    throw new RecordingError('FRAME_CONFLICT', `the run line contradicts an earlier one: ${what}`, {
      remedy: 'record under another name, or delete this recording first',
      data: { what },
    })
  }
  const bodies = new Map(before.bodies.map((body) => [body.id, body]))
  for (const body of addition.bodies) {
    const existing = bodies.get(body.id)
    if (existing && !isSame(existing, body)) rejectConflict(`body ${body.id}`)
    bodies.set(body.id, body)
  }
  const mergeConstant = <Key extends keyof RunConstants>(key: Key): RunFacts[Key] => {
    if (addition[key] === null) return before[key]
    return before[key] === null || isSame(before[key], addition[key]) ? addition[key] : rejectConflict(key)
  }
  return {
    engine: mergeConstant('engine'),
    dt: mergeConstant('dt'),
    gravity: mergeConstant('gravity'),
    lambdaUnit: mergeConstant('lambdaUnit'),
    convention: addition.convention,
    substeps: mergeConstant('substeps'),
    provenance: mergeConstant('provenance'),
    bodies: [...bodies.values()],
  }
}
