import type { Database } from 'better-sqlite3'
import { isEnvironmentId, makeEnvironmentBody } from '../../domain/body-id.ts'
import { computeTimeStep, describeFrames } from '../../domain/time-step.ts'
import { describeRun, listGeometry } from '../../formats/lines/run-line.ts'
import { contactDataColumn, hasContactSql, type RunStatus, readFacts } from '../../formats/run-schema.ts'
import type { Body, Capability, Frame, LambdaUnit, RecordingSummary, Value, Vector } from '../../types.ts'
import { createStepReader, findGravity, findLambdaUnit, sampledSteps, sampleEvenly } from '../cpp/summary.ts'

interface RunRow {
  readonly status: RunStatus
  readonly dt: number | null
  readonly gravity_x: number | null
  readonly gravity_y: number | null
  readonly gravity_z: number | null
  readonly lambda_unit: LambdaUnit | null
}

interface BodyRow {
  readonly body_id: number
  readonly is_declared: number
  readonly mass: number | null
  readonly restitution: number | null
  readonly friction: number | null
  readonly asset_id: number | null
  readonly extent_x: number | null
  readonly first_frame: number | null
}

const allCapabilities: readonly Capability[] = [
  ...(['states', 'body_energy', 'system_energy', 'collisions', 'contact_points'] as const),
  ...(['contact_constraints', 'friction', 'tangent_lambdas', 'solver', 'metadata', 'geometry'] as const),
]

const contactParts: readonly Capability[] = [
  ...(['collisions', 'contact_points', 'contact_constraints', 'friction', 'tangent_lambdas'] as const),
]

const sampledContacts = 24

/** Each call of the returned function reads only frames added since the last call. */
export function createSummaryReader(db: Database, readFrame: (id: number) => Frame): () => RecordingSummary {
  const readRun = db.prepare<[], RunRow>(
    'SELECT status, dt, gravity_x, gravity_y, gravity_z, lambda_unit FROM run',
  )
  const readBodies = db.prepare<[], BodyRow>(
    'SELECT body_id, is_declared, mass, restitution, friction, asset_id, extent_x, first_frame FROM body ORDER BY position',
  )
  const hasContactData = createContactDataReader(db)
  const newFrames = db
    .prepare<[number], [id: number, time: number | null, isTouching: number, hasSolver: number]>(
      `SELECT f.id, f.time, f.collision_active IS 1, f.converged IS NOT NULL FROM frame f WHERE f.id > ? ORDER BY f.id`,
    )
    .raw()
  const [ids, times, touching]: [number[], Value[], number[]] = [[], [], []]
  let hasSolver = false
  let inferred:
    | { readonly at: number; readonly gravity: Vector | null; readonly unit: LambdaUnit }
    | undefined

  const read = (): RecordingSummary => {
    for (const [id, time, isTouching, solver] of newFrames.all(ids.at(-1) ?? -1)) {
      ids.push(id)
      times.push(time)
      if (isTouching === 1) touching.push(id)
      hasSolver ||= solver === 1
    }
    const run = readRun.get()
    const facts = readFacts(db)
    const rows = readBodies.all()
    const { dt, isUniform } = computeTimeStep(times)
    const bodies = rows.filter(({ body_id }) => !isEnvironmentId(body_id)).map(toBody)
    const grouped = new Set(facts.bodies.filter(({ details }) => details.group !== null).map(({ id }) => id))
    const isInferred = inferred !== undefined && inferred.gravity !== null && inferred.unit !== 'unknown'
    if (inferred === undefined || (!isInferred && ids.length >= 2 * inferred.at)) {
      const frames = { ids, touching, dt, readFrame }
      inferred = {
        at: ids.length,
        ...inferConstants(run, frames, { bodies, grouped, hasContactData: hasContactData() }),
      }
    }
    const hasExtents = rows.some(({ extent_x }) => extent_x !== null)
    const lacksContactData = ids.length > 0 && !hasContactData()
    const missing = [
      ...(lacksContactData
        ? contactParts
        : listMissing(sampleEvenly(touching, sampledContacts).map(readFrame))),
      ...(hasSolver || ids.length === 0 ? [] : (['solver'] as const)),
      ...(hasExtents ? [] : (['geometry'] as const)),
    ]
    return {
      era: 'run',
      capabilities: allCapabilities.filter((capability) => !missing.includes(capability)),
      missing,
      frames: describeFrames(ids),
      first_time_s: times[0] ?? null,
      last_time_s: times.at(-1) ?? null,
      dt_s: dt ?? run?.dt ?? null,
      dt_uniform: isUniform,
      gravity_m_s2: inferred.gravity,
      lambda_unit: inferred.unit,
      bodies,
      environment_bodies: listEnvironment(rows),
      geometry: listGeometry(facts),
      appearances: listAppearances(rows),
      ignored_rows: 0,
      ...(run?.status === 'interrupted' ? { interrupted: true } : {}),
      ...describeRun(facts),
    }
  }
  return db.transaction(read)
}

interface SampledFrames {
  readonly ids: readonly number[]
  /** Frames with a collision. */
  readonly touching: readonly number[]
  readonly dt: number | null
  readonly readFrame: (id: number) => Frame
}

interface SampledBodies {
  readonly bodies: readonly Body[]
  readonly grouped: ReadonlySet<number>
  readonly hasContactData: boolean
}

/** Returns declared gravity and unit, or infers them from a sample of the frames. */
function inferConstants(
  run: RunRow | undefined,
  { ids, touching, dt, readFrame }: SampledFrames,
  { bodies, grouped, hasContactData }: SampledBodies,
): { readonly gravity: Vector | null; readonly unit: LambdaUnit } {
  const step = createStepReader(readFrame, new Set(ids))
  const gravity =
    readDeclaredGravity(run) ??
    findGravity(bodies, sampleEvenly(ids, sampledSteps).flatMap(step), { dt, grouped, hasContactData })
  const freeBodies = bodies.filter(({ body_id }) => !grouped.has(body_id))
  const unit =
    run?.lambda_unit ??
    findLambdaUnit(freeBodies, sampleEvenly(touching, sampledSteps).flatMap(step), dt, gravity)
  return { gravity, unit }
}

const listEnvironment = (rows: readonly BodyRow[]): RecordingSummary['environment_bodies'] =>
  rows
    .filter(({ body_id }) => isEnvironmentId(body_id))
    .map(({ body_id }) => makeEnvironmentBody(body_id))
    .sort((a, b) => a.body_id - b.body_id)

const listAppearances = (rows: readonly BodyRow[]): RecordingSummary['appearances'] =>
  rows
    .flatMap(({ body_id, first_frame }) =>
      first_frame === null || isEnvironmentId(body_id) ? [] : [{ body_id, first_frame }],
    )
    .sort((a, b) => a.body_id - b.body_id)

/** A file of an earlier version has contact data if it has any contact. */
export function createContactDataReader(db: Database): () => boolean {
  const findColumn = db.prepare(`SELECT 1 FROM pragma_table_info('run') WHERE name = '${contactDataColumn}'`)
  const isTrue = (sql: string): boolean => db.prepare(sql).pluck().get() === 1
  let isKnown = false
  return () => {
    isKnown ||= isTrue(
      findColumn.get() === undefined ? `SELECT ${hasContactSql}` : `SELECT ${contactDataColumn} FROM run`,
    )
    return isKnown
  }
}

const toBody = ({ body_id, mass, restitution, friction, asset_id }: BodyRow): Body => ({
  body_id,
  mass,
  restitution,
  friction,
  asset_id,
  is_environment: false,
})

function readDeclaredGravity(run: RunRow | undefined): Vector | null {
  if (run == null || run.gravity_x === null || run.gravity_y === null || run.gravity_z === null) return null
  return { x: run.gravity_x, y: run.gravity_y, z: run.gravity_z }
}

/** Lists contact data that the engine does not send; empty before the first contact. */
function listMissing(touching: readonly Frame[]): readonly Capability[] {
  const isMissing = (has: (frame: Frame) => boolean): boolean => touching.length > 0 && !touching.some(has)
  const missing: Capability[] = []
  if (isMissing(({ contact_constraints }) => contact_constraints.length > 0))
    missing.push('contact_constraints')
  if (isMissing(({ friction_constraints }) => friction_constraints.length > 0)) missing.push('friction')
  const hasTangents = ({ friction_constraints }: Frame): boolean =>
    friction_constraints.some(({ tangent1_lambda }) => tangent1_lambda !== null)
  if (isMissing(hasTangents)) missing.push('tangent_lambdas')
  return missing
}
