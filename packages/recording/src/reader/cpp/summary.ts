import { environmentBit, makeEnvironmentBody } from '../../domain/body-id.ts'
import {
  inferGravityFromFlight,
  inferGravityFromPotential,
  type PotentialSample,
} from '../../domain/gravity.ts'
import {
  computeMomentumRow,
  computeVelocityGain,
  inferLambdaUnit,
  type MomentumRow,
  type Triple,
  toTriple,
} from '../../domain/lambda-unit.ts'
import { computeTimeStep, describeFrames } from '../../domain/time-step.ts'
import { describeRun, listGeometry } from '../../formats/lines/run-line.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type { Body, BodyId, Frame, RecordingSummary, Value, Vector } from '../../types.ts'
import { readAppearances, readBodies, readRunLine } from './body-reader.ts'
import type { Connection } from './connection.ts'
import type { ReadFrame } from './frame-reader.ts'
import { readExtents } from './mesh-reader.ts'

/** Number of steps from which gravity and units are inferred. */
export const sampledSteps = 24

type Step = readonly [before: Frame, after: Frame]

export function readSummary(connection: Connection, readFrame: ReadFrame): RecordingSummary {
  const { db, era } = connection
  const rows = db
    .prepare<[], [number, number | null]>(`SELECT id, simulation_time FROM ${frameTable} ORDER BY id`)
    .raw()
    .all()
  const ids = rows.map(([id]) => id)
  const times = rows.map(([, time]) => time)
  const { dt, isUniform } = computeTimeStep(times)
  const appearances = readAppearances(connection, ids)
  const bodies = addUndescribed(readBodies(connection), appearances)
  const step = createStepReader(readFrame, new Set(ids))
  const line = readRunLine(connection)
  const declared = line?.gravity && { x: line.gravity[0], y: line.gravity[1], z: line.gravity[2] }
  const geometry = line === null ? readMeshes(connection) : listGeometry(line)
  const grouped = new Set(geometry.filter(({ group }) => group !== undefined).map(({ body_id }) => body_id))
  const freeBodies = bodies.filter(({ body_id }) => !grouped.has(body_id))
  const gravity =
    declared ??
    findGravity(bodies, sampleEvenly(ids, sampledSteps).flatMap(step), {
      dt,
      grouped,
      hasContactData: era.parts.collisions !== undefined,
    })
  // An exported run has its geometry in the run line instead of meshes.
  const isDeclared = line !== null && geometry.some(({ half_extents }) => half_extents !== null)
  return {
    era: era.era,
    capabilities: isDeclared ? [...era.capabilities, 'geometry'] : era.capabilities,
    missing: isDeclared ? era.missing.filter((capability) => capability !== 'geometry') : era.missing,
    frames: describeFrames(ids),
    first_time_s: times[0] ?? null,
    last_time_s: times.at(-1) ?? null,
    dt_s: dt,
    dt_uniform: isUniform,
    gravity_m_s2: gravity,
    lambda_unit:
      line?.lambdaUnit ??
      findLambdaUnit(
        freeBodies,
        sampleEvenly(listFramesWithFriction(connection), sampledSteps).flatMap(step),
        dt,
        gravity,
      ),
    bodies,
    environment_bodies: readEnvironment(connection),
    geometry,
    appearances,
    ignored_rows: countIgnored(connection, ids),
    ...(line !== null && describeRun(line)),
  }
}

function readMeshes(connection: Connection): RecordingSummary['geometry'] {
  return [...readExtents(connection)].map(([body_id, half_extents]) => ({
    body_id,
    name: null,
    shape: null,
    half_extents,
    inertia: null,
    position: null,
    orientation: null,
  }))
}

function addUndescribed(
  describedBodies: readonly Body[],
  appearances: RecordingSummary['appearances'],
): readonly Body[] {
  const describedIds = new Set(describedBodies.map(({ body_id }) => body_id))
  const undescribedBodies = appearances
    .filter(({ body_id }) => !describedIds.has(body_id))
    .map(({ body_id }) => ({
      body_id,
      mass: null,
      restitution: null,
      friction: null,
      asset_id: null,
      is_environment: false,
    }))
  return [...describedBodies, ...undescribedBodies]
}

/** The returned function reads the step to a frame. The list is empty if the previous frame was not recorded. */
export function createStepReader(
  readFrame: ReadFrame,
  ids: ReadonlySet<number>,
): (frame: number) => readonly Step[] {
  return (frame) => (ids.has(frame) && ids.has(frame - 1) ? [[readFrame(frame - 1), readFrame(frame)]] : [])
}

export function sampleEvenly(values: readonly number[], count: number): readonly number[] {
  if (values.length <= count) return values
  return Array.from({ length: count }, (_, i) => values[Math.floor((i * values.length) / count)] ?? 0)
}

/** Minimum gravity that is inferred without contact data, in m/s². */
const minInferredGravity = 0.01

/**
 * Returns gravity in m/s², from steps without contacts and joints, or from potential energies. Joints may act on
 * `grouped` bodies. Without contact data, ignores steps without acceleration, because a resting body looks like a
 * floating one.
 */
export function findGravity(
  bodies: readonly Body[],
  steps: readonly Step[],
  {
    dt,
    grouped,
    hasContactData,
  }: { readonly dt: Value; readonly grouped: ReadonlySet<BodyId>; readonly hasContactData: boolean },
): Vector | null {
  const accelerations: Triple[] = []
  const potentials: PotentialSample[] = []
  for (const [before, after] of steps) {
    const pushedBodies = new Set([
      ...grouped,
      ...after.external_forces.map(({ body_id }) => body_id),
      ...after.joints.flatMap(({ body_a_id, body_b_id }) => [body_a_id, body_b_id]),
    ])
    const isFlight = after.collisions.length === 0 && after.system_energy?.collision_active !== true
    for (const { body_id } of isFlight ? bodies : []) {
      const gain = pushedBodies.has(body_id) ? null : computeVelocityGain(before, after, body_id)
      if (gain && dt !== null) accelerations.push([gain[0] / dt, gain[1] / dt, gain[2] / dt])
    }
    potentials.push(...listPotentialSamples(bodies, after))
  }
  const flightGravity = inferGravityFromFlight(accelerations)
  const [x, y, z] = toTriple(flightGravity) ?? [0, 0, 0]
  const isInferred = hasContactData || Math.hypot(x, y, z) > minInferredGravity
  return (isInferred ? flightGravity : null) ?? inferGravityFromPotential(potentials)
}

function listPotentialSamples(bodies: readonly Body[], frame: Frame): readonly PotentialSample[] {
  return frame.states.flatMap(({ body_id, position }) => {
    const mass = bodies.find((body) => body.body_id === body_id)?.mass ?? null
    const potential = frame.body_energies.find((energy) => energy.body_id === body_id)?.potential_e ?? null
    if (mass === null || potential === null || position.z === null) return []
    return [{ mass, height: position.z, potential }]
  })
}

export function findLambdaUnit(
  bodies: readonly Body[],
  steps: readonly Step[],
  dt: Value,
  gravity: Vector | null,
) {
  const g = toTriple(gravity)
  if (dt === null || g === null) return 'unknown' as const
  const rows: MomentumRow[] = []
  for (const [before, after] of steps) {
    for (const { body_id, mass } of bodies) {
      const row = mass === null ? null : computeMomentumRow(before, after, { body_id, mass }, g, dt)
      if (row) rows.push(row)
    }
  }
  return inferLambdaUnit(rows, dt)
}

function listFramesWithFriction({ db, era }: Connection): readonly number[] {
  const table = era.parts.friction
  if (table === undefined) return []
  return db.prepare<[], number>(`SELECT DISTINCT frame_id FROM "${table}" ORDER BY frame_id`).pluck().all()
}

function readEnvironment({ db, era }: Connection): RecordingSummary['environment_bodies'] {
  const { collisions, contactConstraints, friction } = era.parts
  const tables = [...new Set([collisions, contactConstraints, friction])].filter((name) => name !== undefined)
  const ids = new Set<number>()
  for (const table of tables) {
    const pairs = db
      .prepare<[{ bit: number }], [number, number]>(
        `SELECT DISTINCT body_a_id, body_b_id FROM "${table}" WHERE body_a_id >= @bit OR body_b_id >= @bit`,
      )
      .raw()
    for (const pair of pairs.all({ bit: environmentBit }))
      for (const id of pair) if (id >= environmentBit) ids.add(id)
  }
  return [...ids].sort((a, b) => a - b).map(makeEnvironmentBody)
}

function countIgnored({ db, era, bounds }: Connection, frames: readonly number[]): number {
  const { states, bodyEnergy, systemEnergy, solver, collisions, contactConstraints, friction } = era.parts
  const tables = [states, bodyEnergy, systemEnergy, solver, collisions, contactConstraints, friction]
  const [first, last] = [frames[0], frames.at(-1)]
  let count = 0
  for (const table of new Set(tables)) {
    if (table === undefined) continue
    const isGapless = first !== undefined && last !== undefined && last - first + 1 === frames.length
    if (isGapless && bounds.isOrdered(table)) {
      const [low, high] = bounds.frames(table, first, last)
      count += countRows(db, `SELECT count(*) FROM "${table}" WHERE rowid < ? OR rowid > ?`, low, high)
    } else {
      const orphanCondition = `frame_id IS NULL OR frame_id NOT IN (SELECT id FROM ${frameTable})`
      count += countRows(db, `SELECT count(*) FROM "${table}" WHERE ${orphanCondition}`)
    }
  }
  return count
}

const countRows = (db: Connection['db'], sql: string, ...bounds: number[]): number =>
  db
    .prepare<number[], number>(sql)
    .pluck()
    .get(...bounds) ?? 0
