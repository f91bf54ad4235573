import { classifyFailure, toDataError } from '@causeway/store'
import Database from 'better-sqlite3'
import { RecordingError } from '../errors.ts'
import { runLineTable } from '../formats/cpp-schema.ts'
import { jointKinds } from '../formats/frame-window.ts'
import { noDetails, type RunFacts } from '../formats/lines/run-line.ts'
import {
  bodyAt,
  bodyWidth,
  type ContactRows,
  hasEnergy,
  hasState,
  type PackedFrame,
  packContacts,
} from '../formats/packed-frame.ts'
import { contactDataColumn } from '../formats/run-schema.ts'
import { frameTable, makeEraMap, readSchema } from '../formats/schema-era.ts'
import { prepareCopy } from '../library/prepare.ts'
import { readBodies, readRunLine } from '../reader/cpp/body-reader.ts'
import { type Connection, prepareFrameRows } from '../reader/cpp/connection.ts'
import { prepareFrameReader } from '../reader/cpp/frame-reader.ts'
import { isIndexed } from '../reader/cpp/indexes.ts'
import { readExtents } from '../reader/cpp/mesh-reader.ts'
import { createRowBounds } from '../reader/cpp/row-bounds.ts'
import { type RawRow, selectFrom, wxyz } from '../reader/cpp/selection.ts'
import type { Frame, Joint, Value, Vector } from '../types.ts'
import type { RunProgress, RunWriter } from './run-writer.ts'

/**
 * Imports a private copy of any schema era into a new run. Numbers are bit-identical; non-finite numbers
 * count as not recorded.
 */
export function importRecording(file: string, writer: RunWriter, nowMs: number): RunProgress {
  const db = new Database(file, { readonly: true, fileMustExist: true })
  try {
    const era = makeEraMap(readSchema(db))
    const indexed = isIndexed(db, era)
    const connection: Connection = { db, era, bounds: createRowBounds(db), isIndexed: () => indexed }
    const readFrame = prepareFrameReader(connection)
    const readRates = createRateReader(connection)
    const hasWallTime = era.schema.has(frameTable, 'wall_clock_time')
    const rows = db
      .prepare<[], [number, number | null]>(
        `SELECT id, ${hasWallTime ? 'wall_clock_time' : 'NULL'} FROM ${frameTable} ORDER BY id`,
      )
      .raw()
      .all()
    writer.addRun(readRunFacts(connection))
    if (readContactData(connection)) writer.markContactData()
    for (const [id, wallTime] of rows)
      writer.addFrame(packFrame(readFrame(id), { wallTime, rates: readRates(id) }), nowMs)
    return writer.flush(nowMs)
  } catch (error) {
    throw toDataError(error, file)
  } finally {
    db.close()
  }
}

export function prepareUpload(file: string): void {
  try {
    prepareCopy(file, false)
  } catch (error) {
    const kind = classifyFailure(error)
    if (kind !== 'damaged' && kind !== 'not-a-database') throw toDataError(error, file)
    throw new RecordingError('RECORDING_DAMAGED', 'the uploaded database is damaged', { cause: error })
  }
}

function readContactData({ db, era: { parts, schema } }: Connection): boolean {
  if (schema.has(runLineTable, contactDataColumn))
    return db.prepare<[], number>(`SELECT ${contactDataColumn} FROM ${runLineTable}`).pluck().get() === 1
  return parts.collisions !== undefined && !schema.has(runLineTable, 'run')
}

function readRunFacts(connection: Connection): RunFacts {
  const line = readRunLine(connection)
  if (line !== null) return line
  const extents = readExtents(connection)
  return {
    engine: null,
    dt: null,
    gravity: null,
    lambdaUnit: null,
    convention: null,
    substeps: null,
    provenance: null,
    bodies: readBodies(connection).map(({ body_id, mass, restitution, friction, asset_id }) => ({
      id: body_id,
      mass: mass ?? Number.NaN,
      restitution: restitution ?? Number.NaN,
      friction: friction ?? Number.NaN,
      asset: asset_id ?? Number.NaN,
      inertia: [Number.NaN, Number.NaN, Number.NaN],
      extents: extents.get(body_id) ?? [Number.NaN, Number.NaN, Number.NaN],
      isEnvironment: false,
      details: noDetails,
    })),
  }
}

function createRateReader(connection: Connection): (frame: number) => readonly RawRow[] {
  const { era } = connection
  const table = era.parts.states
  if (table === undefined) return () => []
  const select = selectFrom(era.schema, table)
  const state =
    table === 'AssetDynamicStateRecord'
      ? select.join(select.root, 'kinematicState_id', 'InertialStateRecord')
      : select.root
  select.leaf(state, 'quaternionRate', 'Vector4DRecord', wxyz)
  select.leaf(state, 'angularAcceleration', 'AngularAccelerationRecord', ['pitch', 'roll', 'yaw'])
  return prepareFrameRows(connection, select)
}

const toNumber = (value: unknown): number => (typeof value === 'number' ? value : Number.NaN)
const toNumberOrNaN = (value: Value): number => value ?? Number.NaN
const toTriple = (vector: Vector | null): readonly [number, number, number] => [
  toNumberOrNaN(vector?.x ?? null),
  toNumberOrNaN(vector?.y ?? null),
  toNumberOrNaN(vector?.z ?? null),
]

interface ExtraValues {
  readonly wallTime: number | null
  readonly rates: readonly RawRow[]
}

function packFrame(frame: Frame, { wallTime, rates }: ExtraValues): PackedFrame {
  const { solver, system_energy: system } = frame
  return {
    id: frame.frame_id,
    time: toNumberOrNaN(frame.simulation_time),
    wallTime: wallTime ?? Number.NaN,
    bodies: packBodies(frame, rates),
    contacts: packContacts(toContactRows(frame)),
    joints: packJoints(frame.joints),
    solver: solver && {
      iterations: toNumberOrNaN(solver.iterations),
      residual: toNumberOrNaN(solver.residual),
      converged: solver.converged,
      constraints: solver.num_constraints,
      contacts: solver.num_contacts,
    },
    system: system && {
      linear: toNumberOrNaN(system.total_linear_ke),
      rotational: toNumberOrNaN(system.total_rotational_ke),
      potential: toNumberOrNaN(system.total_potential_e),
      total: toNumberOrNaN(system.total_system_e),
      delta: toNumberOrNaN(system.delta_e),
      injection: system.energy_injection,
      active: system.collision_active,
    },
  }
}

const packJoints = (joints: readonly Joint[]): Float64Array | null =>
  joints.length === 0
    ? null
    : Float64Array.from(
        joints.flatMap(({ body_a_id, body_b_id, kind, point, impulse, torque, position_error }) => [
          ...[body_a_id, body_b_id, jointKinds.indexOf(kind), ...toTriple(point), ...toTriple(impulse)],
          ...[...toTriple(torque), toNumberOrNaN(position_error)],
        ]),
      )

function packBodies({ states, body_energies }: Frame, rates: readonly RawRow[]): Float64Array {
  const ids = [...new Set([...states, ...body_energies].map(({ body_id }) => body_id))]
  const rows = new Float64Array(ids.length * bodyWidth).fill(Number.NaN)
  const offsets = new Map(ids.map((id, i) => [id, i * bodyWidth]))
  const addPart = (id: number, part: number): number => {
    const at = offsets.get(id) ?? 0
    rows[at + bodyAt.id] = id
    rows[at + bodyAt.parts] = (rows[at + bodyAt.parts] || 0) | part
    return at
  }
  states.forEach((state, i) => {
    const at = addPart(state.body_id, hasState)
    const { w, ...axis } = state.orientation
    rows.set(toTriple(state.position), at + bodyAt.position)
    rows.set(toTriple(state.velocity), at + bodyAt.velocity)
    rows.set(toTriple(state.acceleration), at + bodyAt.acceleration)
    rows.set([toNumberOrNaN(w), ...toTriple(axis)], at + bodyAt.orientation)
    rows.set((rates[i] ?? []).map(toNumber), at + bodyAt.rate)
  })
  for (const energy of body_energies) {
    const { linear_ke, rotational_ke, potential_e, total_e } = energy
    const at = addPart(energy.body_id, hasEnergy)
    rows.set([linear_ke, rotational_ke, potential_e, total_e].map(toNumberOrNaN), at + bodyAt.energy)
  }
  return rows
}

function toContactRows({
  collisions,
  contact_constraints,
  friction_constraints,
  external_forces,
}: Frame): ContactRows {
  const lists = { collisions: [] as number[], points: [] as number[] }
  for (const { body_a_id, body_b_id, normal, penetration_depth, contacts } of collisions) {
    lists.collisions.push(
      body_a_id,
      body_b_id,
      ...toTriple(normal),
      toNumberOrNaN(penetration_depth),
      contacts.length,
    )
    for (const { point_a, point_b, depth } of contacts)
      lists.points.push(...toTriple(point_a), ...toTriple(point_b), toNumberOrNaN(depth))
  }
  return {
    ...lists,
    constraints: contact_constraints.flatMap((row) => [
      ...[
        row.body_a_id,
        row.body_b_id,
        ...toTriple(row.normal),
        ...toTriple(row.lever_arm_a),
        ...toTriple(row.lever_arm_b),
      ],
      ...[row.penetration_depth, row.restitution, row.pre_impact_rel_vel_normal].map(toNumberOrNaN),
    ]),
    friction: friction_constraints.flatMap((row) => [
      ...[
        row.body_a_id,
        row.body_b_id,
        ...toTriple(row.normal),
        ...toTriple(row.tangent1),
        ...toTriple(row.tangent2),
      ],
      ...[...toTriple(row.lever_arm_a), ...toTriple(row.lever_arm_b)],
      ...[row.friction_coefficient, row.normal_lambda, row.tangent1_lambda, row.tangent2_lambda].map(
        toNumberOrNaN,
      ),
    ]),
    externals: external_forces.flatMap(({ body_id, force, torque, at }) => [
      ...[body_id, ...toTriple(force), ...toTriple(torque), ...toTriple(at)],
    ]),
  }
}
