/** What the laws know of a recording before they look at frames. */
import type { BodyId, RecordingSummary } from '@causeway/recording'
import { environmentTest } from '../body.ts'
import { knowsContacts } from '../capability.ts'

/** Half extents of a body along its own axes, m. */
export type Extents = readonly [number, number, number]

/** A recording as the laws see it. Bodies are named by their column; NaN = unknown. */
export interface Scene {
  readonly bodies: readonly BodyId[]
  /** kg, shape [bodies] */
  readonly masses: Float64Array
  /** half extents, undefined where the recording has no geometry of the body */
  readonly extents: readonly (Extents | undefined)[]
  readonly columnOf: ReadonlyMap<BodyId, number>
  /** m/s² */
  readonly gravity: readonly [number, number, number]
  /** |gravity| */
  readonly g: number
  /** s, the usual step */
  readonly dt: number
  /** factor from a recorded lambda to N·s over a step of dt; NaN where the unit is unknown */
  impulseFactor(dt: number): number
  readonly isEnvironment: (id: BodyId) => boolean
  /** false where the recording cannot tell a free body from one in contact */
  readonly knowsContacts: boolean
  /** false where the recording has no impulses of contacts at all */
  readonly knowsImpulses: boolean
}

/** The scene of a recording; `bodies` in the order of the columns. */
export function sceneOf(summary: RecordingSummary, extents: ReadonlyMap<BodyId, Extents> = new Map()): Scene {
  const bodies = [...new Set([...summary.bodies, ...summary.appearances].map(({ body_id }) => body_id))].sort(
    (a, b) => a - b,
  )
  const mass = new Map(summary.bodies.map((body) => [body.body_id, body.mass]))
  const { x, y, z } = summary.gravity_m_s2 ?? { x: Number.NaN, y: Number.NaN, z: Number.NaN }
  const gravity = [x ?? Number.NaN, y ?? Number.NaN, z ?? Number.NaN] as const
  return {
    bodies,
    masses: Float64Array.from(bodies, (id) => mass.get(id) ?? Number.NaN),
    extents: bodies.map((id) => extents.get(id)),
    columnOf: new Map(bodies.map((id, column) => [id, column])),
    gravity,
    g: Math.hypot(...gravity),
    dt: summary.dt_s ?? Number.NaN,
    impulseFactor: (dt) =>
      summary.lambda_unit === 'N·s' ? 1 : summary.lambda_unit === 'N' ? dt : Number.NaN,
    isEnvironment: environmentTest(summary),
    knowsContacts: knowsContacts(summary),
    knowsImpulses: summary.capabilities.includes('tangent_lambdas'),
  }
}
