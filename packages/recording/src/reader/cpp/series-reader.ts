import { RecordingError } from '../../errors.ts'
import { bodyEnergyFields, seriesFields, solverFields, systemEnergyFields } from '../../formats/fields.ts'
import { frameTable } from '../../formats/schema-era.ts'
import type {
  BodyEnergyField,
  BodyId,
  Capability,
  Columns,
  FrameRange,
  SolverField,
  SystemEnergyField,
} from '../../types.ts'
import type { Connection } from './connection.ts'
import { type RawRow, selectFrom } from './selection.ts'

export interface SeriesReader {
  systemEnergy(range: FrameRange): Columns<SystemEnergyField>
  bodyEnergy(body: BodyId, range: FrameRange): Columns<BodyEnergyField>
  solver(range: FrameRange): Columns<SolverField>
}

export function createSeriesReader(connection: Connection): SeriesReader {
  const { parts } = connection.era
  const system = prepareSeries(connection, parts.systemEnergy, systemEnergyFields)
  const energy = prepareSeries(connection, parts.bodyEnergy, bodyEnergyFields, 't.body_id = ? AND')
  const solver = prepareSeries(connection, parts.solver, solverFields)
  return {
    systemEnergy: (range) => requireRecorded(system, 'system_energy')(range),
    bodyEnergy: (body, range) => requireRecorded(energy, 'body_energy')(range, body),
    solver: (range) => requireRecorded(solver, 'solver')(range),
  }
}

function requireRecorded<Read>(read: Read | undefined, quantity: Capability): Read {
  if (read !== undefined) return read
  throw new RecordingError('NOT_RECORDED', `the recording has no ${quantity}`, { data: { quantity } })
}

/** Queries a table joined to its frames. Parameters of `condition` come before the frame range. */
function prepareSeries<Field extends string>(
  { db, era, bounds }: Connection,
  name: string | undefined,
  fields: readonly Field[],
  condition = '',
):
  | ((range: FrameRange, ...keys: readonly number[]) => Columns<Field | 'frame_id' | 'simulation_time'>)
  | undefined {
  if (name === undefined) return undefined
  const select = selectFrom(era.schema, name)
  const frame = select.join(select.root, 'frame_id', frameTable)
  select.column(frame, 'id')
  select.column(frame, 'simulation_time')
  for (const field of fields) select.column(select.root, field)
  const statement = db
    .prepare<number[], RawRow>(
      select.sql(
        `WHERE ${condition} t.frame_id BETWEEN ? AND ? AND t.id BETWEEN ? AND ? AND ${frame.alias}.id IS NOT NULL ORDER BY t.frame_id, t.id`,
      ),
    )
    .raw()
  const names = [...seriesFields, ...fields] as const
  return ({ start, end }, ...keys) => {
    const [first, last] = [start ?? 0, end ?? Number.MAX_SAFE_INTEGER - 1]
    const rows = statement.all(...keys, first, last, ...bounds.frames(name, first, last))
    return { fields: names, length: rows.length, data: flatten(rows, names.length) }
  }
}

function flatten(rows: readonly RawRow[], width: number): Float64Array {
  const data = new Float64Array(rows.length * width)
  let at = 0
  for (const row of rows) {
    for (const value of row)
      data[at++] = typeof value === 'number' && Number.isFinite(value) ? value : Number.NaN
  }
  return data
}
