import { CausewayError } from '@causeway/protocol'
import { boundsOfFrame, type Connection, ofFrame } from './connection.ts'
import { collisionReader, constraintReader, frictionReader, type ReadRows } from './contact-reader.ts'
import { frameTable } from './era.ts'
import { externalReader } from './external-reader.ts'
import { countAt, flagAt, type RawRow, selectFrom, valueAt } from './selection.ts'
import { stateReader } from './state-reader.ts'
import type { BodyEnergy, Frame, Solver, SystemEnergy } from './types.ts'

/** Reads everything of a frame; throws `FRAME_NOT_FOUND`. */
export type ReadFrame = (frameId: number) => Frame

/** Prepares every statement that a frame needs. */
export function frameReader(connection: Connection): ReadFrame {
  const { db } = connection
  const find = db.prepare<[number], RawRow>(`SELECT simulation_time FROM ${frameTable} WHERE id = ?`).raw()
  const ends = db
    .prepare<[], [number | null, number | null]>(`SELECT min(id), max(id) FROM ${frameTable}`)
    .raw()
  const energies = energyReader(connection)
  const states = stateReader(connection)
  const collisions = collisionReader(connection)
  const constraints = constraintReader(connection)
  const friction = frictionReader(connection)
  const externals = externalReader(connection)
  const solver = solverReader(connection)
  const system = systemReader(connection)
  const read = (frame: number): Frame => {
    const row = find.get(frame)
    if (row === undefined) {
      const [first_frame = null, last_frame = null] = ends.get() ?? []
      throw new CausewayError('FRAME_NOT_FOUND', `the recording has no frame ${frame}`, {
        data: { frame_id: frame, first_frame, last_frame },
      })
    }
    const body_energies = energies(frame)
    return {
      frame_id: frame,
      simulation_time: valueAt(row, 0),
      states: states(frame, body_energies),
      collisions: collisions(frame),
      contact_constraints: constraints(frame),
      friction_constraints: friction(frame),
      external_forces: externals(frame),
      solver: solver(frame)[0] ?? null,
      system_energy: system(frame)[0] ?? null,
      body_energies,
    }
  }
  // One lock for the statements of a frame, and not one each.
  return db.transaction(read)
}

function energyReader(connection: Connection): ReadRows<BodyEnergy> {
  return plainReader(connection, connection.era.parts.bodyEnergy, (column) => {
    const body = column('body_id')
    const linear = column('linear_ke')
    const rotational = column('rotational_ke')
    const potential = column('potential_e')
    const total = column('total_e')
    return (row) => ({
      body_id: countAt(row, body),
      linear_ke: valueAt(row, linear),
      rotational_ke: valueAt(row, rotational),
      potential_e: valueAt(row, potential),
      total_e: valueAt(row, total),
    })
  })
}

function solverReader(connection: Connection): ReadRows<Solver> {
  return plainReader(connection, connection.era.parts.solver, (column) => {
    const iterations = column('iterations')
    const residual = column('residual')
    const converged = column('converged')
    const constraints = column('num_constraints')
    const contacts = column('num_contacts')
    return (row) => ({
      iterations: valueAt(row, iterations),
      residual: valueAt(row, residual),
      converged: flagAt(row, converged),
      num_constraints: countAt(row, constraints),
      num_contacts: countAt(row, contacts),
    })
  })
}

function systemReader(connection: Connection): ReadRows<SystemEnergy> {
  return plainReader(connection, connection.era.parts.systemEnergy, (column) => {
    const linear = column('total_linear_ke')
    const rotational = column('total_rotational_ke')
    const potential = column('total_potential_e')
    const total = column('total_system_e')
    const delta = column('delta_e')
    const injection = column('energy_injection')
    const active = column('collision_active')
    return (row) => ({
      total_linear_ke: valueAt(row, linear),
      total_rotational_ke: valueAt(row, rotational),
      total_potential_e: valueAt(row, potential),
      total_system_e: valueAt(row, total),
      delta_e: valueAt(row, delta),
      energy_injection: flagAt(row, injection),
      collision_active: flagAt(row, active),
    })
  })
}

/** A reader of a table whose columns are plain numbers; `read` names the columns and makes a row of them. */
function plainReader<Row>(
  connection: Connection,
  table: string | undefined,
  read: (column: (name: string) => number) => (row: RawRow) => Row,
): ReadRows<Row> {
  if (table === undefined) return () => []
  const select = selectFrom(connection.era.schema, table)
  const make = read((name) => select.column(select.root, name))
  const statement = connection.db.prepare<[number, number, number], RawRow>(select.sql(ofFrame)).raw()
  return (frame) => statement.all(frame, ...boundsOfFrame(connection, table, frame)).map(make)
}
