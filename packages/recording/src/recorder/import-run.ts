import { dataFailure } from '@causeway/store'
import Database from 'better-sqlite3'
import { readBodies } from '../body-reader.ts'
import { boundsOfFrame, type Connection, ofFrame } from '../connection.ts'
import { eraMap, frameTable, readSchema } from '../era.ts'
import { frameReader } from '../frame-reader.ts'
import { readExtents } from '../geometry-reader.ts'
import { isIndexed } from '../indexes.ts'
import { rowBounds } from '../row-bounds.ts'
import { type RawRow, selectFrom, wxyz } from '../selection.ts'
import type { Frame, Value, Vector } from '../types.ts'
import { runLineTable } from './cpp-schema.ts'
import {
  bodyAt,
  bodyWidth,
  type ContactRows,
  hasEnergy,
  hasState,
  type PackedFrame,
  packContacts,
} from './packed-frame.ts'
import { type RunFacts, readRun } from './run-facts.ts'
import type { RunProgress, RunWriter } from './run-writer.ts'

/**
 * Reads a private copy of a recording of any schema era into a run that is new. Numbers are taken bit by bit; what is
 * not finite counts as not recorded. Throws as the readers and `RunWriter.flush` do.
 */
export function importRecording(file: string, writer: RunWriter, nowMs: number): RunProgress {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const era = eraMap(readSchema(db))
    const indexed = isIndexed(db, era)
    const connection: Connection = { db, era, bounds: rowBounds(db), isIndexed: () => indexed }
    const readFrame = frameReader(connection)
    const readRates = rateReader(connection)
    const hasWallTime = era.schema.has(frameTable, 'wall_clock_time')
    const rows = db
      .prepare<[], [number, number | null]>(
        `SELECT id, ${hasWallTime ? 'wall_clock_time' : 'NULL'} FROM ${frameTable} ORDER BY id`,
      )
      .raw()
      .all()
    writer.addRun(factsOf(connection))
    if (tellsContacts(connection)) writer.tellContacts()
    for (const [id, wallTime] of rows)
      writer.addFrame(packed(readFrame(id), { wallTime, rates: readRates(id) }), nowMs)
    return writer.flush(nowMs)
  } catch (error) {
    throw dataFailure(error, file)
  } finally {
    db.close()
  }
}

/** Does the recording say of every frame what touched, be it nothing? In an old export of ours only its rows do. */
function tellsContacts({ db, era: { parts, schema } }: Connection): boolean {
  if (schema.has(runLineTable, 'tells_contacts'))
    return db.prepare<[], number>(`SELECT tells_contacts FROM ${runLineTable}`).pluck().get() === 1
  return parts.collisions !== undefined && !schema.has(runLineTable, 'run')
}

function factsOf(connection: Connection): RunFacts {
  const { db, era } = connection
  const line = era.schema.has(runLineTable, 'run')
    ? db.prepare<[], string>(`SELECT run FROM ${runLineTable}`).pluck().get()
    : undefined
  if (line !== undefined) return readRun(JSON.parse(line))
  const extents = readExtents(connection)
  return {
    engine: null,
    dt: null,
    gravity: null,
    lambdaUnit: null,
    bodies: readBodies(connection).map(({ body_id, mass, restitution, friction, asset_id }) => ({
      id: body_id,
      mass: mass ?? Number.NaN,
      restitution: restitution ?? Number.NaN,
      friction: friction ?? Number.NaN,
      asset: asset_id ?? Number.NaN,
      inertia: [Number.NaN, Number.NaN, Number.NaN],
      extents: extents.get(body_id) ?? [Number.NaN, Number.NaN, Number.NaN],
      isEnvironment: false,
    })),
  }
}

/** Rates of the quaternions (w first) and angular accelerations of the states of a frame, in their order. */
function rateReader(connection: Connection): (frame: number) => readonly RawRow[] {
  const { db, era } = connection
  const table = era.parts.states
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const state =
    table === 'AssetDynamicStateRecord'
      ? select.join(select.root, 'kinematicState_id', 'InertialStateRecord')
      : select.root
  select.leaf(state, 'quaternionRate', 'Vector4DRecord', wxyz)
  select.leaf(state, 'angularAcceleration', 'AngularAccelerationRecord', ['pitch', 'roll', 'yaw'])
  const statement = db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  return (frame) => statement.all(frame, ...boundsOfFrame(connection, table, frame))
}

const numberOf = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
const known = (value: Value): number => value ?? Number.NaN
const triple = (vector: Vector | null): readonly [number, number, number] => [
  known(vector?.x ?? null),
  known(vector?.y ?? null),
  known(vector?.z ?? null),
]

/** What a frame holds beside what its readers tell. */
interface Besides {
  readonly wallTime: number | null
  readonly rates: readonly RawRow[]
}

function packed(frame: Frame, { wallTime, rates }: Besides): PackedFrame {
  const { solver, system_energy: system } = frame
  return {
    id: frame.frame_id,
    time: known(frame.simulation_time),
    wallTime: wallTime ?? Number.NaN,
    bodies: packBodies(frame, rates),
    contacts: packContacts(contactsOf(frame)),
    solver: solver && {
      iterations: known(solver.iterations),
      residual: known(solver.residual),
      converged: solver.converged,
      constraints: solver.num_constraints,
      contacts: solver.num_contacts,
    },
    system: system && {
      linear: known(system.total_linear_ke),
      rotational: known(system.total_rotational_ke),
      potential: known(system.total_potential_e),
      total: known(system.total_system_e),
      delta: known(system.delta_e),
      injection: system.energy_injection,
      active: system.collision_active,
    },
  }
}

function packBodies({ states, body_energies }: Frame, rates: readonly RawRow[]): Float64Array {
  const ids = [...new Set([...states, ...body_energies].map(({ body_id }) => body_id))]
  const rows = new Float64Array(ids.length * bodyWidth).fill(Number.NaN)
  const placeOf = new Map(ids.map((id, i) => [id, i * bodyWidth]))
  const begin = (id: number, part: number): number => {
    const at = placeOf.get(id) ?? 0
    rows[at + bodyAt.id] = id
    rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] || 0) | part
    return at
  }
  states.forEach((state, i) => {
    const at = begin(state.body_id, hasState)
    const { w, ...axis } = state.orientation
    rows.set(triple(state.position), at + bodyAt.position)
    rows.set(triple(state.velocity), at + bodyAt.velocity)
    rows.set(triple(state.acceleration), at + bodyAt.acceleration)
    rows.set([known(w), ...triple(axis)], at + bodyAt.orientation)
    rows.set((rates[i] ?? []).map(numberOf), at + bodyAt.rate)
  })
  for (const energy of body_energies) {
    const { linear_ke, rotational_ke, potential_e, total_e } = energy
    const at = begin(energy.body_id, hasEnergy)
    rows.set([linear_ke, rotational_ke, potential_e, total_e].map(known), at + bodyAt.energy)
  }
  return rows
}

function contactsOf({
  collisions,
  contact_constraints,
  friction_constraints,
  external_forces,
}: Frame): ContactRows {
  const lists = { collisions: [] as number[], points: [] as number[] }
  for (const { body_a_id, body_b_id, normal, penetration_depth, contacts } of collisions) {
    lists.collisions.push(body_a_id, body_b_id, ...triple(normal), known(penetration_depth), contacts.length)
    for (const { point_a, point_b, depth } of contacts)
      lists.points.push(...triple(point_a), ...triple(point_b), known(depth))
  }
  return {
    ...lists,
    constraints: contact_constraints.flatMap((row) => [
      ...[
        row.body_a_id,
        row.body_b_id,
        ...triple(row.normal),
        ...triple(row.lever_arm_a),
        ...triple(row.lever_arm_b),
      ],
      ...[row.penetration_depth, row.restitution, row.pre_impact_rel_vel_normal].map(known),
    ]),
    friction: friction_constraints.flatMap((row) => [
      ...[
        row.body_a_id,
        row.body_b_id,
        ...triple(row.normal),
        ...triple(row.tangent1),
        ...triple(row.tangent2),
      ],
      ...[...triple(row.lever_arm_a), ...triple(row.lever_arm_b)],
      ...[row.friction_coefficient, row.normal_lambda, row.tangent1_lambda, row.tangent2_lambda].map(known),
    ]),
    externals: external_forces.flatMap(({ body_id, force, torque, at }) => [
      ...[body_id, ...triple(force), ...triple(torque), ...triple(at)],
    ]),
  }
}
