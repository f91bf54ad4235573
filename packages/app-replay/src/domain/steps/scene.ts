import {
  type BodyGeometry,
  type BodyId,
  environmentBit,
  isEnvironmentId,
  type RecordingSummary,
} from '@causeway/recording'
import { listFlaggedBodies } from '../bodies/body.ts'
import { hasContacts } from '../recordings/capability.ts'
import type { Point3 } from '../vector.ts'
import { exactRounding, getConstantError, type Rounding } from './rounding.ts'

/** Bodies that joints connect. */
export interface BodyGroup {
  readonly id: number
  readonly columns: readonly number[]
  readonly bodies: readonly BodyId[]
}

/** Constants of a recording in SI units. Columns are indexes of `bodies`; NaN means unknown. */
export interface Scene {
  /** Ascending ids. */
  readonly bodies: readonly BodyId[]
  /** Shape [bodies]. NaN replaces 0, the mass of static bodies in some engines. */
  readonly masses: Float64Array
  readonly masslessColumns: ReadonlySet<number>
  /** Half extents along each body's axes, if recorded. */
  readonly extents: readonly (Point3 | undefined)[]
  /** Principal moments along each body's axes, if recorded. */
  readonly inertias: readonly (Point3 | undefined)[]
  /** Shapes, names and fixed poses, including those of the environment. */
  readonly geometry: ReadonlyMap<BodyId, BodyGeometry>
  readonly environment: readonly BodyId[]
  readonly columnById: ReadonlyMap<BodyId, number>
  readonly gravity: Point3
  /** |gravity| */
  readonly g: number
  /** Usual step. */
  readonly dt: number
  readonly rounding: Rounding
  /** Rounding errors in kg, shape [bodies]. */
  readonly massErrors: Float64Array
  /** Largest relative rounding error of the principal moments, shape [bodies]. */
  readonly inertiaErrors: Float64Array
  readonly lambdaUnit: RecordingSummary['lambda_unit']
  /** Bodies that metadata marks as environment. */
  readonly flaggedBodies: ReadonlySet<BodyId>
  readonly hasContacts: boolean
  readonly hasImpulses: boolean
  readonly groups: readonly BodyGroup[]
  /** Pairs for which the engine does not create contacts. */
  readonly ignoredPairs: ReadonlySet<string>
  /** Velocities of moving surfaces relative to their bodies, m/s. */
  readonly surfaceVelocities: ReadonlyMap<BodyId, Point3>
  /** Group of each body; -1 without a group. */
  readonly groupByColumn: Int32Array
  /** Whether contacts of earlier substeps are missing, so that forces are unknown. */
  readonly hasSubsteps: boolean
}

export function createScene(
  summary: RecordingSummary,
  extents: ReadonlyMap<BodyId, Point3> = new Map(),
  rounding: Rounding = exactRounding,
): Scene {
  const ids = new Set([...summary.bodies, ...summary.appearances].map(({ body_id }) => body_id))
  const bodies = [...ids].sort((a, b) => a - b)
  const mass = new Map(summary.bodies.map((body) => [body.body_id, body.mass]))
  const { x, y, z } = summary.gravity_m_s2 ?? { x: null, y: null, z: null }
  const geometry = new Map(summary.geometry.map((body) => [body.body_id, body]))
  const groups = listGroups(bodies, geometry)
  const gravity = [x ?? Number.NaN, y ?? Number.NaN, z ?? Number.NaN] as const
  return {
    bodies,
    masses: Float64Array.from(bodies, (id) => mass.get(id) || Number.NaN),
    masslessColumns: new Set(bodies.flatMap((id, column) => (mass.get(id) === 0 ? [column] : []))),
    rounding,
    massErrors: Float64Array.from(bodies, (id) => getConstantError(rounding, mass.get(id) ?? Number.NaN)),
    inertiaErrors: Float64Array.from(bodies, (id) =>
      Math.max(
        0,
        ...(geometry.get(id)?.inertia ?? []).map(
          (moment) => getConstantError(rounding, moment) / moment || 0,
        ),
      ),
    ),
    extents: bodies.map((id) => extents.get(id)),
    geometry,
    environment: summary.environment_bodies.map(({ body_id }) => body_id),
    inertias: bodies.map((id) => geometry.get(id)?.inertia ?? undefined),
    columnById: new Map(bodies.map((id, column) => [id, column])),
    gravity,
    g: Math.hypot(...gravity),
    dt: rounding.isExact ? (summary.dt_s ?? Number.NaN) : rounding.dt,
    lambdaUnit: summary.lambda_unit,
    flaggedBodies: listFlaggedBodies(summary),
    hasContacts: hasContacts(summary),
    hasImpulses: summary.capabilities.includes('tangent_lambdas'),
    groups,
    ignoredPairs: listIgnoredPairs(summary.geometry),
    surfaceVelocities: readSurfaceVelocities(summary.geometry),
    groupByColumn: Int32Array.from(bodies, (_, column) =>
      groups.findIndex(({ columns }) => columns.includes(column)),
    ),
    hasSubsteps: (summary.substeps ?? 1) > 1,
  }
}

/** Returns the factor that converts a recorded lambda to N·s; NaN if the unit is unknown. */
export const getImpulseFactor = ({ lambdaUnit }: Scene, dt: number): number =>
  lambdaUnit === 'N·s' ? 1 : lambdaUnit === 'N' ? dt : Number.NaN

export const isEnvironment = ({ flaggedBodies }: Scene, id: BodyId): boolean =>
  isEnvironmentId(id) || flaggedBodies.has(id)

function isSameGroup({ groupByColumn }: Scene, a: number, b: number): boolean {
  const group = groupByColumn[a] ?? -1
  return group >= 0 && group === groupByColumn[b]
}

/** Whether the bodies are in one group or an ignored pair. Ignores bit 31 of environment ids. */
export const mayOverlap = (scene: Scene, a: BodyId, b: BodyId): boolean =>
  isSameGroup(scene, scene.columnById.get(a) ?? -1, scene.columnById.get(b) ?? -1) ||
  (scene.ignoredPairs.size > 0 && scene.ignoredPairs.has(toIgnoredKey(a, b)))

const toIgnoredKey = (a: BodyId, b: BodyId): string => {
  const [low, high] = [a % environmentBit, b % environmentBit].sort((left, right) => left - right)
  return `${low} ${high}`
}

export const readSurfaceVelocities = (geometry: readonly BodyGeometry[]): ReadonlyMap<BodyId, Point3> =>
  new Map(
    geometry.flatMap(({ body_id, surface_velocity: velocity }) =>
      velocity?.some((part) => part !== 0) ? [[body_id, velocity] as const] : [],
    ),
  )

const listIgnoredPairs = (geometry: RecordingSummary['geometry']): ReadonlySet<string> =>
  new Set(
    geometry.flatMap(({ body_id, ignores = [] }) => ignores.map((other) => toIgnoredKey(body_id, other))),
  )

function listGroups(
  bodies: readonly BodyId[],
  geometry: ReadonlyMap<BodyId, BodyGeometry>,
): readonly BodyGroup[] {
  const columns = new Map<number, number[]>()
  for (const [column, body] of bodies.entries()) {
    const group = geometry.get(body)?.group
    if (group !== undefined) columns.set(group, [...(columns.get(group) ?? []), column])
  }
  return [...columns].map(([id, groupColumns]) => ({
    id,
    columns: groupColumns,
    bodies: groupColumns.map((column) => bodies[column] ?? 0),
  }))
}
