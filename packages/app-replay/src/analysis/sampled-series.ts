import type { BodyId, Columns } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import { selectMinMaxRows } from '../domain/series/buckets.ts'
import { getColumn } from '../domain/series/columns.ts'
import { measurePath, simplifyPath } from '../domain/series/path.ts'
import { parseSeriesName } from '../domain/series/series-name.ts'
import { computeTotals, type Totals } from '../domain/series/totals.ts'
import { readSeries, type SeriesArgs } from './series.ts'

/** A series with a limited number of points, and totals of all its values. */
export interface SampledSeries extends Totals {
  readonly name: string
  readonly unit: string
  readonly quantity: string
  readonly frames: readonly number[]
  readonly values: readonly number[]
  readonly truncated: boolean
  /** Value in the cited frame; NaN if the series lacks this frame. */
  readonly cited: number
}

export interface SampledSeriesArgs extends SeriesArgs {
  readonly points: number
  readonly citedFrame: number | null
}

export async function sampleSeries(
  args: SampledSeriesArgs,
  context: AnalysisContext,
): Promise<{ readonly length: number; readonly series: readonly SampledSeries[] }> {
  const columns = await readSeries(args, context)
  const frames = getColumn(columns, 'frame_id')
  const citedRow = findRow(columns, args.citedFrame)
  const sampledSeries = args.plans.map(({ name, unit, quantity }): SampledSeries => {
    const values = getColumn(columns, name)
    const rows = selectMinMaxRows(values, args.points)
    return {
      name,
      unit,
      quantity,
      ...computeTotals(values, frames),
      frames: rows.map((row) => frames.get(row)),
      values: rows.map((row) => values.get(row)),
      truncated: rows.length < columns.length,
      cited: citedRow === -1 ? Number.NaN : values.get(citedRow),
    }
  })
  return { length: columns.length, series: sampledSeries }
}

function findRow(columns: Columns, frame: number | null): number {
  const frames = getColumn(columns, 'frame_id')
  for (let row = 0; frame !== null && row < columns.length; row++) if (frames.get(row) === frame) return row
  return -1
}

/** Only `points` is limited: all figures cover the whole path. */
export async function sampleTrajectory(
  { body, range, points }: { readonly body: BodyId } & Omit<SampledSeriesArgs, 'plans' | 'citedFrame'>,
  context: AnalysisContext,
) {
  const names = ['position.x', 'position.y', 'position.z', 'speed'].map(
    (quantity) => `body.${body}.${quantity}`,
  )
  const plans = names.map((name) => parseSeriesName(name, (id) => id))
  const columns = await readSeries({ plans, range }, context)
  const readValue = (row: number, field: number): number =>
    columns.data[row * columns.fields.length + field] ?? Number.NaN
  const readColumn = (field: number): Float64Array =>
    Float64Array.from({ length: columns.length }, (_, row) => readValue(row, field))
  const path = { x: readColumn(2), y: readColumn(3), z: readColumn(4) }
  const { rows, error } = simplifyPath(path, points)
  const frames = getColumn(columns, 'frame_id')
  const fastest = computeTotals(getColumn(columns, names[3] ?? ''), frames)
  const height = computeTotals(getColumn(columns, names[2] ?? ''), frames)
  return {
    points: rows.map((row) => ({
      frame_id: readValue(row, 0),
      simulation_time: readValue(row, 1),
      position: { x: readValue(row, 2), y: readValue(row, 3), z: readValue(row, 4) },
      speed: readValue(row, 5),
    })),
    frames: columns.length,
    truncated: rows.length < columns.length - height.nonfinite,
    shape_error_m: error,
    length: measurePath(path),
    max_speed: { value: fastest.max, frame_id: fastest.max_frame },
    min_z: { value: height.min, frame_id: height.min_frame },
    nonfinite: height.nonfinite,
  }
}
