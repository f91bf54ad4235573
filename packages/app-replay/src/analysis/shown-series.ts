/** Long series told in few points, in the worker of the recording: the main thread sees no million numbers. */
import type { BodyId, Columns } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { minMaxRows } from '../domain/buckets.ts'
import { column } from '../domain/columns.ts'
import { pathLength, shapeRows } from '../domain/path.ts'
import { parseSeriesName } from '../domain/series-name.ts'
import { type Totals, totals } from '../domain/totals.ts'
import { type SeriesArgs, series } from './series.ts'

/** A series in few points, least and greatest of each bucket, with exact totals. */
export interface ShownSeries extends Totals {
  readonly name: string
  readonly unit: string
  readonly quantity: string
  readonly frames: readonly number[]
  readonly values: readonly number[]
  readonly truncated: boolean
  /** in the cited frame; NaN where none was asked for or it holds nothing */
  readonly cited: number
}

/** Which series, in how many points, and the frame whose value is wanted beside them. */
export interface ShownSeriesArgs extends SeriesArgs {
  readonly points: number
  readonly cite: number | null
}

/** The series of the plans, each in at most `points` points. */
export async function shownSeries(
  args: ShownSeriesArgs,
  context: AnalysisContext,
): Promise<{ readonly length: number; readonly series: readonly ShownSeries[] }> {
  const columns = await series(args, context)
  const frames = column(columns, 'frame_id')
  const cited = rowOf(columns, args.cite)
  const told = args.plans.map(({ name, unit, quantity }): ShownSeries => {
    const values = column(columns, name)
    const rows = minMaxRows(values, args.points)
    return {
      name,
      unit,
      quantity,
      ...totals(values, frames),
      frames: rows.map((row) => frames.get(row)),
      values: rows.map((row) => values.get(row)),
      truncated: rows.length < columns.length,
      cited: cited === -1 ? Number.NaN : values.get(cited),
    }
  })
  return { length: columns.length, series: told }
}

function rowOf(columns: Columns, frame: number | null): number {
  const frames = column(columns, 'frame_id')
  for (let row = 0; frame !== null && row < columns.length; row++) if (frames.get(row) === frame) return row
  return -1
}

/** The path of a body in few points, with exact figures of all of it. */
export async function trajectory(
  { body, range, points }: { readonly body: BodyId } & Omit<ShownSeriesArgs, 'plans' | 'cite'>,
  context: AnalysisContext,
) {
  const names = ['position.x', 'position.y', 'position.z', 'speed'].map((what) => `body.${body}.${what}`)
  const plans = names.map((name) => parseSeriesName(name, (id) => id))
  const columns = await series({ plans, range }, context)
  const at = (row: number, field: number): number =>
    columns.data[row * columns.fields.length + field] ?? Number.NaN
  const whole = (field: number): Float64Array =>
    Float64Array.from({ length: columns.length }, (_, row) => at(row, field))
  const path = { x: whole(2), y: whole(3), z: whole(4) }
  const { rows, error } = shapeRows(path, points)
  const frames = column(columns, 'frame_id')
  const fastest = totals(column(columns, names[3] ?? ''), frames)
  const height = totals(column(columns, names[2] ?? ''), frames)
  return {
    points: rows.map((row) => ({
      frame_id: at(row, 0),
      simulation_time: at(row, 1),
      position: { x: at(row, 2), y: at(row, 3), z: at(row, 4) },
      speed: at(row, 5),
    })),
    frames: columns.length,
    truncated: rows.length < columns.length - height.nonfinite,
    shape_error_m: error,
    length: pathLength(path),
    max_speed: { value: fastest.max, frame_id: fastest.max_frame },
    min_z: { value: height.min, frame_id: height.min_frame },
    nonfinite: height.nonfinite,
  }
}
