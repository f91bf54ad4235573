import { readAppearances, readBodies } from './body-reader.ts'
import type { Connection } from './connection.ts'
import { environmentBit, environmentBody } from './domain/body-id.ts'
import { gravityFromFlight, gravityFromPotential, type PotentialSample } from './domain/gravity.ts'
import { inferLambdaUnit } from './domain/lambda-unit.ts'
import { type MomentumRow, momentumRow, type Triple, triple, velocityGain } from './domain/momentum.ts'
import { timeStep } from './domain/time-step.ts'
import { frameTable } from './era.ts'
import type { ReadFrame } from './frame-reader.ts'
import { countIgnored } from './ignored-rows.ts'
import type { Body, Frame, RecordingSummary, Value, Vector } from './types.ts'

/** Steps looked at for gravity, and again for the unit of the lambdas. */
export const sampledSteps = 24

/** A step: the frame before it and the frame that it led to. */
type Step = readonly [before: Frame, after: Frame]

/** Reads what is kept of a recording while it is loaded. */
export function readSummary(connection: Connection, readFrame: ReadFrame): RecordingSummary {
  const { db, era } = connection
  const rows = db
    .prepare<[], [number, number | null]>(`SELECT id, simulation_time FROM ${frameTable} ORDER BY id`)
    .raw()
    .all()
  const ids = rows.map(([id]) => id)
  const times = rows.map(([, time]) => time)
  const [first, last] = [ids[0], ids.at(-1)]
  const { dt, isUniform } = timeStep(times)
  const appearances = readAppearances(connection, ids)
  const bodies = withUndescribed(readBodies(connection), appearances)
  const step = stepReader(readFrame, new Set(ids))
  const gravity = findGravity(bodies, spread(ids, sampledSteps).flatMap(step), {
    dt,
    knowsContacts: era.parts.collisions !== undefined,
  })
  return {
    era: era.era,
    capabilities: era.capabilities,
    missing: era.missing,
    frames:
      first === undefined || last === undefined
        ? null
        : {
            first_frame: first,
            last_frame: last,
            total_frames: ids.length,
            contiguous: last - first + 1 === ids.length,
          },
    first_time_s: times[0] ?? null,
    last_time_s: times.at(-1) ?? null,
    dt_s: dt,
    dt_uniform: isUniform,
    gravity_m_s2: gravity,
    lambda_unit: findLambdaUnit(
      bodies,
      spread(framesWithFriction(connection), sampledSteps).flatMap(step),
      dt,
      gravity,
    ),
    bodies,
    environment_bodies: readEnvironment(connection),
    appearances,
    ignored_rows: countIgnored(connection, ids),
  }
}

/** Adds the bodies that only states and energies name: the oldest files have no metadata at all. */
function withUndescribed(
  described: readonly Body[],
  appearances: RecordingSummary['appearances'],
): readonly Body[] {
  const known = new Set(described.map(({ body_id }) => body_id))
  const undescribed = appearances
    .filter(({ body_id }) => !known.has(body_id))
    .map(({ body_id }) => ({
      body_id,
      mass: null,
      restitution: null,
      friction: null,
      asset_id: null,
      is_environment: false,
    }))
  return [...described, ...undescribed]
}

/** The step that led to a frame, as a list of one, or none where the frame before it was not recorded. */
export function stepReader(
  readFrame: ReadFrame,
  ids: ReadonlySet<number>,
): (frame: number) => readonly Step[] {
  return (frame) => (ids.has(frame) && ids.has(frame - 1) ? [[readFrame(frame - 1), readFrame(frame)]] : [])
}

/** At most `count` of the values, evenly spread. */
export function spread(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values
  return Array.from({ length: count }, (_, i) => values[Math.floor((i * values.length) / count)] ?? 0)
}

/** m/s², a fall that is slower is none. */
const noFall = 0.01

/**
 * Gravity, m/s², from steps without contact, else from potential energies; null where neither tells. Where contacts are not
 * told, a body at rest looks as one does that floats: then steps without acceleration are not taken for flight.
 */
export function findGravity(
  bodies: readonly Body[],
  steps: readonly Step[],
  { dt, knowsContacts }: { readonly dt: Value; readonly knowsContacts: boolean },
): Vector | null {
  const accelerations: Triple[] = []
  const potentials: PotentialSample[] = []
  for (const [before, after] of steps) {
    for (const { body_id } of after.states) {
      const gain = velocityGain(before, after, body_id)
      const isPushed = after.external_forces.some((force) => force.body_id === body_id)
      const isFree =
        !isPushed && after.collisions.length === 0 && after.system_energy?.collision_active !== true
      if (gain && dt !== null && isFree) accelerations.push([gain[0] / dt, gain[1] / dt, gain[2] / dt])
    }
    potentials.push(...potentialSamples(bodies, after))
  }
  const flight = gravityFromFlight(accelerations)
  const [x, y, z] = triple(flight) ?? [0, 0, 0]
  const isFlight = knowsContacts || Math.hypot(x, y, z) > noFall
  return (isFlight ? flight : null) ?? gravityFromPotential(potentials)
}

function potentialSamples(bodies: readonly Body[], frame: Frame): readonly PotentialSample[] {
  return frame.states.flatMap(({ body_id, position }) => {
    const mass = bodies.find((body) => body.body_id === body_id)?.mass ?? null
    const potential = frame.body_energies.find((energy) => energy.body_id === body_id)?.potential_e ?? null
    if (mass === null || potential === null || position.z === null) return []
    return [{ mass, height: position.z, potential }]
  })
}

/** The unit of the lambdas by the momentum balance of steps with contact. */
export function findLambdaUnit(
  bodies: readonly Body[],
  steps: readonly Step[],
  dt: Value,
  gravity: Vector | null,
) {
  const g = triple(gravity)
  if (dt === null || g === null) return 'unknown' as const
  const rows: MomentumRow[] = []
  for (const [before, after] of steps) {
    for (const { body_id, mass } of bodies) {
      const row = mass === null ? null : momentumRow(before, after, { body_id, mass }, g, dt)
      if (row) rows.push(row)
    }
  }
  return inferLambdaUnit(rows, dt)
}

function framesWithFriction({ db, era }: Connection): readonly number[] {
  const table = era.parts.friction
  if (table === undefined) return []
  return db.prepare<[], number>(`SELECT DISTINCT frame_id FROM "${table}" ORDER BY frame_id`).pluck().all()
}

function readEnvironment({ db, era }: Connection): RecordingSummary['environment_bodies'] {
  const { collisions, contactConstraints, friction } = era.parts
  const tables = [...new Set([collisions, contactConstraints, friction])].filter((name) => name !== undefined)
  if (tables.length === 0) return []
  const ids = tables
    .flatMap((name) => ['body_a_id', 'body_b_id'].map((column) => `SELECT ${column} AS id FROM "${name}"`))
    .join(' UNION ')
  return db
    .prepare<[number], number>(`SELECT id FROM (${ids}) WHERE id >= ? ORDER BY id`)
    .pluck()
    .all(environmentBit)
    .map(environmentBody)
}
