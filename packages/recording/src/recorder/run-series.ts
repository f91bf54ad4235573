/** Series over the frames of a run. */
import { CausewayError } from '@causeway/protocol'
import type { Database } from 'better-sqlite3'
import type { SeriesReader } from '../series-reader.ts'
import type { BodyEnergyField, Columns, FrameRange, SolverField, SystemEnergyField } from '../types.ts'
import { bodyAt, bodyWidth, hasEnergy, toNumbers } from './packed-frame.ts'

const systemColumns: readonly SystemEnergyField[] = [
  ...(['frame_id', 'simulation_time'] as const),
  ...(['total_linear_ke', 'total_rotational_ke', 'total_potential_e', 'total_system_e', 'delta_e'] as const),
  ...(['energy_injection', 'collision_active'] as const),
]
const solverColumns: readonly SolverField[] = [
  ...(['frame_id', 'simulation_time', 'iterations', 'residual', 'converged'] as const),
  ...(['num_constraints', 'num_contacts'] as const),
]
const energyColumns: readonly BodyEnergyField[] = [
  ...(['frame_id', 'simulation_time', 'linear_ke', 'rotational_ke', 'potential_e', 'total_e'] as const),
]

type Row = readonly (number | null)[]

const boundsOf = ({ start, end }: FrameRange): readonly [number, number] => [
  start ?? 0,
  end ?? Number.MAX_SAFE_INTEGER,
]

const finite = (value: number | null | undefined): number =>
  value != null && Number.isFinite(value) ? value : Number.NaN

/** Prepares the series; the solver's throws `NOT_RECORDED` where the engine sent none. */
export function runSeries(db: Database): SeriesReader {
  const inRange = 'FROM frame WHERE id BETWEEN ? AND ?'
  const system = db
    .prepare<[number, number], Row>(
      `SELECT id, time, linear_ke, rotational_ke, potential_e, total_e, delta_e, energy_injection, collision_active
       ${inRange} AND energy_injection IS NOT NULL ORDER BY id`,
    )
    .raw()
  const solver = db
    .prepare<[number, number], Row>(
      `SELECT id, time, iterations, residual, converged, num_constraints, num_contacts
       ${inRange} AND converged IS NOT NULL ORDER BY id`,
    )
    .raw()
  const hasSolver = db.prepare('SELECT 1 FROM frame WHERE converged IS NOT NULL LIMIT 1')
  const blocks = db
    .prepare<[number, number], [id: number, time: number | null, bodies: Buffer]>(
      `SELECT f.id, f.time, b.bodies FROM frame f JOIN block b ON b.frame_id = f.id
       WHERE f.id BETWEEN ? AND ? ORDER BY f.id`,
    )
    .raw()
  return {
    systemEnergy: (range) => columnsOf(systemColumns, system.all(...boundsOf(range))),
    solver(range) {
      if (hasSolver.get() === undefined)
        throw new CausewayError('NOT_RECORDED', 'the recording holds no solver', {
          data: { quantity: 'solver' },
        })
      return columnsOf(solverColumns, solver.all(...boundsOf(range)))
    },
    bodyEnergy(body, range) {
      const rows: Row[] = []
      for (const [id, time, bytes] of blocks.iterate(...boundsOf(range))) {
        const bodies = toNumbers(bytes)
        for (let at = 0; at < bodies.length; at += bodyWidth) {
          const isHere =
            bodies[at + bodyAt.id] === body && ((bodies[at + bodyAt.parts] ?? 0) & hasEnergy) !== 0
          if (isHere) rows.push([id, time, ...bodies.subarray(at + bodyAt.energy, at + bodyWidth)])
        }
      }
      return columnsOf(energyColumns, rows)
    },
  }
}

function columnsOf<Field extends string>(fields: readonly Field[], rows: readonly Row[]): Columns<Field> {
  const data = new Float64Array(rows.length * fields.length)
  rows.forEach((row, i) => {
    fields.forEach((_, k) => {
      data[i * fields.length + k] = finite(row[k])
    })
  })
  return { fields, length: rows.length, data }
}
