import { existsSync } from 'node:fs'
import { createPrivateFile, toDataError } from '@causeway/store'
import Database from 'better-sqlite3'
import { cppSchema, jointSchema, jointTable, runLineSchema, runLineTable } from '../formats/cpp-schema.ts'
import { jointAt } from '../formats/frame-window.ts'
import { makeRunLine, type RunFacts } from '../formats/lines/run-line.ts'
import {
  bodyAt,
  bodyWidth,
  hasEnergy,
  hasState,
  listSolver,
  listSystem,
  type PackedFrame,
  unpackContacts,
} from '../formats/packed-frame.ts'
import { contactDataColumn, readFacts } from '../formats/run-schema.ts'
import { fillLeverArms } from '../reader/run/lever-arms.ts'
import { prepareFrames } from '../reader/run/run-frame.ts'
import { createContactDataReader } from '../reader/run/run-summary.ts'

type Insert = (table: string, ...values: readonly (number | null)[]) => number

/** Exports a run to a new file in the C++ recorder's format. Throws `DATA_UNWRITABLE`. */
export function exportRun(file: string, to: string): void {
  if (existsSync(to)) throw new Error(`the export file already exists: ${to}`)
  const source = new Database(file, { readonly: true, fileMustExist: true })
  try {
    createPrivateFile(to)
    const target = new Database(to)
    try {
      write(source, target)
    } finally {
      target.close()
    }
  } catch (error) {
    throw toDataError(error, to)
  } finally {
    source.close()
  }
}

function write(source: Database.Database, target: Database.Database): void {
  // The recorder's rows violate their own foreign keys. Durability is not needed, because a failed export is deleted.
  for (const pragma of ['foreign_keys = OFF', 'journal_mode = OFF', 'synchronous = OFF'])
    target.pragma(pragma)
  source.exec('BEGIN')
  const hasContactData = createContactDataReader(source)()
  for (const ddl of [...cppSchema({ hasContactData }), runLineSchema, jointSchema]) target.exec(ddl)
  const insert = createInsert(target)
  target.exec('BEGIN')
  const facts = readFacts(source)
  target
    .prepare(`INSERT INTO ${runLineTable} (run, ${contactDataColumn}) VALUES (?, ?)`)
    .run(JSON.stringify(makeRunLine(facts)), Number(hasContactData))
  writeBodies(insert, facts)
  let before: PackedFrame | undefined
  for (const frame of prepareFrames(source)(0, Number.MAX_SAFE_INTEGER)) {
    writeFrame(insert, frame, before)
    before = frame
  }
  target.exec('COMMIT')
  target.pragma('journal_mode = DELETE')
}

function createInsert(db: Database.Database): Insert {
  const statements = new Map<string, Database.Statement<(number | null)[]>>()
  return (table, ...values) => {
    let statement = statements.get(table)
    if (statement === undefined) {
      const columns = db.pragma(`table_info(${table})`) as { readonly name: string }[]
      const placeholders = [...Array(columns.length - values.length).fill('NULL'), ...values.map(() => '?')]
      statement = db.prepare(`INSERT INTO ${table} VALUES (${placeholders.join(', ')})`)
      statements.set(table, statement)
    }
    return Number(statement.run(...values).lastInsertRowid)
  }
}

function writeBodies(insert: Insert, { bodies }: RunFacts): void {
  for (const { id, mass, restitution, friction, asset, isEnvironment } of bodies) {
    if (isEnvironment) continue
    insert('AssetInertialStaticRecord', id, mass, restitution, friction)
    if (!Number.isNaN(asset)) insert('AssetPhysicalStaticRecord', id, asset, 0)
  }
}

const slice = (list: Float64Array, at: number, count: number): readonly number[] => [
  ...list.subarray(at, at + count),
]

function writeFrame(insert: Insert, frame: PackedFrame, before: PackedFrame | undefined): void {
  const { time, wallTime, system, solver, bodies } = frame
  insert('SimulationFrameRecord', frame.id, time, wallTime)
  const states = writeStates(insert, frame.id, bodies)
  if (system !== null) insert('SystemEnergyRecord', ...listSystem(system), frame.id)
  if (solver !== null) insert('SolverDiagnosticRecord', ...listSolver(solver), frame.id)
  writeContacts(insert, { frame, before, states })
  const { joints } = frame
  for (let at = 0; joints !== null && at < joints.length; at += jointAt.width)
    insert(jointTable, ...slice(joints, at, jointAt.width), frame.id)
}

function writeStates(insert: Insert, frame: number, bodies: Float64Array): ReadonlyMap<number, number> {
  const states = new Map<number, number>()
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    const id = bodies[at + bodyAt.id] ?? 0
    const parts = bodies[at + bodyAt.parts] ?? 0
    if ((parts & hasState) !== 0) {
      const [w = null, x = null, y = null, z = null] = slice(bodies, at + bodyAt.rate, 4)
      const state = insert(
        'InertialStateRecord',
        insert('CoordinateRecord', ...slice(bodies, at + bodyAt.position, 3)),
        insert('VelocityRecord', ...slice(bodies, at + bodyAt.velocity, 3)),
        insert('AccelerationRecord', ...slice(bodies, at + bodyAt.acceleration, 3)),
        insert('QuaternionDRecord', ...slice(bodies, at + bodyAt.orientation, 4)),
        insert('Vector4DRecord', x, y, z, w),
        insert('AngularAccelerationRecord', ...slice(bodies, at + bodyAt.angularAcceleration, 3)),
        ...[0, 0],
      )
      states.set(id, insert('AssetDynamicStateRecord', id, state, frame))
    }
    if ((parts & hasEnergy) !== 0) insert('EnergyRecord', id, ...slice(bodies, at + bodyAt.energy, 4), frame)
  }
  return states
}

interface Step {
  readonly frame: PackedFrame
  readonly before: PackedFrame | undefined
  /** Ids of the state rows, by body. */
  readonly states: ReadonlyMap<number, number>
}

function writeContacts(insert: Insert, { frame, before, states }: Step): void {
  const { id } = frame
  const lists = unpackContacts(frame.contacts)
  const { collisions, points, constraints, friction, externals } = lists
  // Readers of these tables do not compute lever arms from the points.
  fillLeverArms({ rows: constraints, width: 14 }, { rows: friction, width: 21 }, { before, frame, lists })
  const insertVector = (list: Float64Array, at: number): number =>
    insert('Vector3DRecord', ...slice(list, at, 3))
  const insertCoordinate = (list: Float64Array, at: number): number =>
    insert('CoordinateRecord', ...slice(list, at, 3))
  let point = 0
  for (let at = 0; at < collisions.length; at += 7) {
    const pointIds: number[] = []
    for (let k = 0; k < (collisions[at + 6] ?? 0); k++, point += 7) {
      const depth = points[point + 6] ?? null
      pointIds.push(
        insert(
          'ContactPointRecord',
          insertCoordinate(points, point),
          insertCoordinate(points, point + 3),
          depth,
        ),
      )
    }
    const pair = slice(collisions, at, 2)
    const result = insert(
      'CollisionResultRecord',
      ...pair,
      insertVector(collisions, at + 2),
      collisions[at + 5] ?? null,
      id,
    )
    for (const pointId of pointIds) insert('CollisionResultRecord_ContactPointRecord', result, pointId)
  }
  for (let at = 0; at < constraints.length; at += 14) {
    const frames = [2, 5, 8].map((offset) => insertVector(constraints, at + offset))
    insert(
      'ContactConstraintRecord',
      ...slice(constraints, at, 2),
      ...frames,
      ...slice(constraints, at + 11, 3),
      id,
    )
  }
  for (let at = 0; at < friction.length; at += 21) {
    const frames = [2, 5, 8, 11, 14].map((offset) => insertVector(friction, at + offset))
    insert(
      'FrictionConstraintRecord',
      ...slice(friction, at, 2),
      ...frames,
      ...slice(friction, at + 17, 4),
      id,
    )
  }
  for (let at = 0; at < externals.length; at += 10) {
    const external = insert(
      'ExternalForceRecord',
      insert('ForceVectorRecord', ...slice(externals, at + 1, 3)),
      insert('TorqueVectorRecord', ...slice(externals, at + 4, 3)),
      insertCoordinate(externals, at + 7),
    )
    insert('AssetDynamicStateRecord_ExternalForceRecord', states.get(externals[at] ?? 0) ?? 0, external)
  }
}
