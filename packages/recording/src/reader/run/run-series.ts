import type { Database } from 'better-sqlite3'
import { RecordingError } from '../../errors.ts'
import { bodyEnergyFields, seriesFields, solverFields, systemEnergyFields } from '../../formats/fields.ts'
import { bodyAt, bodyWidth, hasEnergy, toNumbers, unknownConvergence } from '../../formats/packed-frame.ts'
import type { Columns, FrameRange } from '../../types.ts'
import type { SeriesReader } from '../cpp/series-reader.ts'

type Row = readonly (number | null)[]

const toBounds = ({ start, end }: FrameRange): readonly [number, number] => [
  start ?? 0,
  end ?? Number.MAX_SAFE_INTEGER,
]

const toFinite = (value: number | null | undefined): number =>
  value != null && Number.isFinite(value) ? value : Number.NaN

/** `solver` throws `NOT_RECORDED` if the run has no solver diagnostics. */
export function createRunSeriesReader(db: Database): SeriesReader {
  const rangeClause = 'FROM frame WHERE id BETWEEN ? AND ?'
  const system = db
    .prepare<[number, number], Row>(
      `SELECT id, time, linear_ke, rotational_ke, potential_e, total_e, delta_e, energy_injection, collision_active
       ${rangeClause} AND energy_injection IS NOT NULL ORDER BY id`,
    )
    .raw()
  const solver = db
    .prepare<[number, number], Row>(
      `SELECT id, time, iterations, residual, nullif(converged, ${unknownConvergence}), num_constraints, num_contacts
       ${rangeClause} AND converged IS NOT NULL ORDER BY id`,
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
    systemEnergy: (range) =>
      toColumns([...seriesFields, ...systemEnergyFields], system.all(...toBounds(range))),
    solver(range) {
      if (hasSolver.get() === undefined)
        throw new RecordingError('NOT_RECORDED', 'the recording has no solver', {
          data: { quantity: 'solver' },
        })
      return toColumns([...seriesFields, ...solverFields], solver.all(...toBounds(range)))
    },
    bodyEnergy(body, range) {
      const rows: Row[] = []
      for (const [id, time, bytes] of blocks.iterate(...toBounds(range))) {
        const bodies = toNumbers(bytes)
        for (let at = 0; at < bodies.length; at += bodyWidth) {
          const hasEnergies =
            bodies[at + bodyAt.id] === body && ((bodies[at + bodyAt.parts] ?? 0) & hasEnergy) !== 0
          if (hasEnergies) rows.push([id, time, ...bodies.subarray(at + bodyAt.energy, at + bodyWidth)])
        }
      }
      return toColumns([...seriesFields, ...bodyEnergyFields], rows)
    },
  }
}

function toColumns<Field extends string>(fields: readonly Field[], rows: readonly Row[]): Columns<Field> {
  const data = new Float64Array(rows.length * fields.length)
  rows.forEach((row, i) => {
    fields.forEach((_, k) => {
      data[i * fields.length + k] = toFinite(row[k])
    })
  })
  return { fields, length: rows.length, data }
}
