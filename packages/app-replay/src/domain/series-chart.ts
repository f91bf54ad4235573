/** Series of a recording as a chart: bucketed, so that a million frames draw as fast as a thousand. */
import type { CitedPlace, CitedRange, LineChart } from '@causeway/picture'
import type { Columns } from '@causeway/recording'
import { minMaxRows } from './buckets.ts'
import { column } from './columns.ts'
import { readable } from './sentence.ts'
import type { SeriesPlan } from './series-name.ts'

/** Points of a series in a chart. */
const mostPoints = 1200

/** What is marked in a chart. */
export interface Marks {
  /** frame that an answer cites */
  readonly frame: number | null
  readonly runs: readonly CitedRange[]
}

/** The chart of some series, whose columns have their names. */
export function seriesChart(
  columns: Columns,
  plans: readonly SeriesPlan[],
  { title, marks }: { readonly title: string; readonly marks: Marks },
): LineChart {
  const frames = column(columns, 'frame_id')
  return {
    title,
    x: 'frame',
    series: plans.map(({ name, unit, quantity }) => {
      const values = column(columns, name)
      const rows = minMaxRows(values, mostPoints)
      return {
        name,
        unit,
        ...(quantity === '' ? {} : { quantity }),
        x: rows.map((row) => frames.get(row)),
        y: rows.map((row) => values.get(row)),
      }
    }),
    cited: marks.frame === null ? [] : [citedPlace(columns, plans, marks.frame)],
    ranges: marks.runs,
  }
}

/** The cited frame, with what the first series is there. */
function citedPlace(columns: Columns, [first]: readonly SeriesPlan[], frame: number): CitedPlace {
  const frames = column(columns, 'frame_id')
  let row = 0
  while (row < columns.length && frames.get(row) < frame) row += 1
  const isThere = first !== undefined && row < columns.length && frames.get(row) === frame
  const value = isThere ? column(columns, first.name).get(row) : Number.NaN
  const told = Number.isNaN(value) ? '' : `: ${readable(value)}${first?.unit ? ` ${first.unit}` : ''}`
  return { x: frame, label: `frame ${frame}${told}` }
}
