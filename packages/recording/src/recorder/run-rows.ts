/** Stored frames of a run. */
import type { Database } from 'better-sqlite3'
import { type PackedFrame, toNumbers } from './packed-frame.ts'

type Number = number | null

/** Columns of a whole frame, in this order. */
const columns = `f.id, f.time, f.wall_time, f.linear_ke, f.rotational_ke, f.potential_e, f.total_e, f.delta_e,
  f.energy_injection, f.collision_active, f.iterations, f.residual, f.converged, f.num_constraints, f.num_contacts,
  b.contacts, b.bodies`

type Row = readonly [
  ...[id: number, time: Number, wallTime: Number],
  ...[linear: Number, rotational: Number, potential: Number, total: Number, delta: Number],
  ...[injection: Number, active: Number],
  ...[iterations: Number, residual: Number, converged: Number, constraints: Number, contacts: Number],
  ...[contacts: Buffer | null, bodies: Buffer],
]

/** Reads the frames between two ids in order, one after another. */
export type ReadFrames = (first: number, last: number) => IterableIterator<PackedFrame>

/** Prepares the reading of whole frames. */
export function framesReader(db: Database): ReadFrames {
  const statement = db
    .prepare<[number, number], Row>(
      `SELECT ${columns} FROM frame f JOIN block b ON b.frame_id = f.id WHERE f.id BETWEEN ? AND ? ORDER BY f.id`,
    )
    .raw()
  return function* (first, last) {
    for (const row of statement.iterate(first, last)) yield unpackRow(row)
  }
}

const known = (value: Number): number => value ?? Number.NaN

function unpackRow(row: Row): PackedFrame {
  const [id, time, wallTime, linear, rotational, potential, total, delta, injection, active] = row
  const [iterations, residual, converged, constraints, touching, contacts, bodies] = row.slice(10) as [
    ...[Number, Number, Number, Number, Number],
    ...[Buffer | null, Buffer],
  ]
  return {
    id,
    time: known(time),
    wallTime: known(wallTime),
    bodies: toNumbers(bodies),
    contacts: contacts && toNumbers(contacts),
    system:
      injection === null
        ? null
        : {
            linear: known(linear),
            rotational: known(rotational),
            potential: known(potential),
            total: known(total),
            delta: known(delta),
            injection: injection === 1,
            active: active === 1,
          },
    solver:
      converged === null
        ? null
        : {
            iterations: known(iterations),
            residual: known(residual),
            converged: converged === 1,
            constraints: constraints ?? 0,
            contacts: touching ?? 0,
          },
  }
}
