import { existsSync } from 'node:fs'
import { createPrivately, dataFailure } from '@causeway/store'
import Database from 'better-sqlite3'
import { cppSchema, runLineSchema, runLineTable } from './cpp-schema.ts'
import { bodyAt, bodyWidth, hasEnergy, hasState, type PackedFrame, unpackContacts } from './packed-frame.ts'
import { type RunFacts, runLine } from './run-facts.ts'
import { readFacts } from './run-row.ts'
import { framesReader } from './run-rows.ts'
import { contactsTold } from './run-summary.ts'

/** Inserts a row after those before and returns its id. */
type Insert = (table: string, ...values: readonly (number | null)[]) => number

/** Writes a run as a recording of the C++ recorder to a file that does not exist. Throws `DATA_UNWRITABLE`. */
export function exportRun(file: string, to: string): void {
  if (existsSync(to)) throw new Error(`the file of an export exists: ${to}`)
  const source = new Database(file, { readonly: true, fileMustExist: true })
  try {
    createPrivately(to)
    const target = new Database(to)
    try {
      write(source, target)
    } finally {
      target.close()
    }
  } catch (error) {
    throw dataFailure(error, to)
  } finally {
    source.close()
  }
}

function write(source: Database.Database, target: Database.Database): void {
  // The recorder's rows break its own foreign keys. The file is thrown away where this fails.
  for (const pragma of ['foreign_keys = OFF', 'journal_mode = OFF', 'synchronous = OFF'])
    target.pragma(pragma)
  // One moment of a run that may still grow.
  source.exec('BEGIN')
  const tellsContacts = contactsTold(source)()
  for (const ddl of [...cppSchema({ tellsContacts }), runLineSchema]) target.exec(ddl)
  const insert = inserter(target)
  target.exec('BEGIN')
  const facts = readFacts(source)
  target
    .prepare(`INSERT INTO ${runLineTable} (run, tells_contacts) VALUES (?, ?)`)
    .run(JSON.stringify(runLine(facts)), Number(tellsContacts))
  writeBodies(insert, facts)
  for (const frame of framesReader(source)(0, Number.MAX_SAFE_INTEGER)) writeFrame(insert, frame)
  target.exec('COMMIT')
  target.pragma('journal_mode = DELETE')
}

function inserter(db: Database.Database): Insert {
  const statements = new Map<string, Database.Statement<(number | null)[]>>()
  return (table, ...values) => {
    let statement = statements.get(table)
    if (statement === undefined) {
      const columns = db.pragma(`table_info(${table})`) as { readonly name: string }[]
      // A row is given its id by SQLite unless the values begin with it.
      const places = [...Array(columns.length - values.length).fill('NULL'), ...values.map(() => '?')]
      statement = db.prepare(`INSERT INTO ${table} VALUES (${places.join(', ')})`)
      statements.set(table, statement)
    }
    return Number(statement.run(...values).lastInsertRowid)
  }
}

function writeBodies(insert: Insert, { bodies }: RunFacts): void {
  for (const { id, mass, restitution, friction, asset, isEnvironment } of bodies) {
    // The recorder writes no row for what does not move.
    if (isEnvironment) continue
    insert('AssetInertialStaticRecord', id, mass, restitution, friction)
    if (!Number.isNaN(asset)) insert('AssetPhysicalStaticRecord', id, asset, 0)
  }
}

const part = (list: Float64Array, at: number, count: number): readonly number[] => [
  ...list.subarray(at, at + count),
]

function writeFrame(insert: Insert, frame: PackedFrame): void {
  const { time, wallTime, system, solver, bodies } = frame
  // The id of a frame is its number; ids may have gaps.
  insert('SimulationFrameRecord', frame.id, time, wallTime)
  const states = writeBodiesOf(insert, frame.id, bodies)
  if (system !== null) {
    const { linear, rotational, potential, total, delta, injection, active } = system
    insert(
      'SystemEnergyRecord',
      ...[linear, rotational, potential, total, delta],
      ...[Number(injection), Number(active), frame.id],
    )
  }
  if (solver !== null) {
    const { iterations, residual, converged, constraints, contacts } = solver
    insert('SolverDiagnosticRecord', iterations, residual, Number(converged), constraints, contacts, frame.id)
  }
  writeContacts(insert, frame, states)
}

/** Writes states and energies; gives the row of each body's state. */
function writeBodiesOf(insert: Insert, frame: number, bodies: Float64Array): ReadonlyMap<number, number> {
  const states = new Map<number, number>()
  for (let at = 0; at < bodies.length; at += bodyWidth) {
    const id = bodies[at + bodyAt.id] ?? 0
    const parts = bodies[at + bodyAt.parts] ?? 0
    if ((parts & hasState) !== 0) {
      const [w = null, x = null, y = null, z = null] = part(bodies, at + bodyAt.rate, 4)
      const state = insert(
        'InertialStateRecord',
        insert('CoordinateRecord', ...part(bodies, at + bodyAt.position, 3)),
        insert('VelocityRecord', ...part(bodies, at + bodyAt.velocity, 3)),
        insert('AccelerationRecord', ...part(bodies, at + bodyAt.acceleration, 3)),
        insert('QuaternionDRecord', ...part(bodies, at + bodyAt.orientation, 4)),
        insert('Vector4DRecord', x, y, z, w),
        insert('AngularAccelerationRecord', ...part(bodies, at + bodyAt.angularAcceleration, 3)),
        ...[0, 0],
      )
      states.set(id, insert('AssetDynamicStateRecord', id, state, frame))
    }
    if ((parts & hasEnergy) !== 0) insert('EnergyRecord', id, ...part(bodies, at + bodyAt.energy, 4), frame)
  }
  return states
}

function writeContacts(
  insert: Insert,
  { id, contacts }: PackedFrame,
  states: ReadonlyMap<number, number>,
): void {
  const { collisions, points, constraints, friction, externals } = unpackContacts(contacts)
  const vector = (list: Float64Array, at: number): number => insert('Vector3DRecord', ...part(list, at, 3))
  const coordinate = (list: Float64Array, at: number): number =>
    insert('CoordinateRecord', ...part(list, at, 3))
  let point = 0
  for (let at = 0; at < collisions.length; at += 7) {
    const written: number[] = []
    for (let k = 0; k < (collisions[at + 6] ?? 0); k++, point += 7) {
      const depth = points[point + 6] ?? null
      written.push(
        insert('ContactPointRecord', coordinate(points, point), coordinate(points, point + 3), depth),
      )
    }
    const pair = part(collisions, at, 2)
    const result = insert(
      'CollisionResultRecord',
      ...pair,
      vector(collisions, at + 2),
      collisions[at + 5] ?? null,
      id,
    )
    for (const one of written) insert('CollisionResultRecord_ContactPointRecord', result, one)
  }
  for (let at = 0; at < constraints.length; at += 14) {
    const frames = [2, 5, 8].map((offset) => vector(constraints, at + offset))
    insert(
      'ContactConstraintRecord',
      ...part(constraints, at, 2),
      ...frames,
      ...part(constraints, at + 11, 3),
      id,
    )
  }
  for (let at = 0; at < friction.length; at += 21) {
    const frames = [2, 5, 8, 11, 14].map((offset) => vector(friction, at + offset))
    insert('FrictionConstraintRecord', ...part(friction, at, 2), ...frames, ...part(friction, at + 17, 4), id)
  }
  for (let at = 0; at < externals.length; at += 10) {
    const external = insert(
      'ExternalForceRecord',
      insert('ForceVectorRecord', ...part(externals, at + 1, 3)),
      insert('TorqueVectorRecord', ...part(externals, at + 4, 3)),
      coordinate(externals, at + 7),
    )
    insert('AssetDynamicStateRecord_ExternalForceRecord', states.get(externals[at] ?? 0) ?? 0, external)
  }
}
