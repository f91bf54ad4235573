/** Series of a recording as a chart. */
import type { CitedRange, LineChart } from '@causeway/picture'
import { readable } from './sentence.ts'

/** Points of a series in a chart: a million frames draw as fast as a thousand. */
export const chartPoints = 1200

/** A curve of the chart; `cited` is its value in the cited frame, NaN where there is none. */
export interface ChartedSeries {
  readonly name: string
  readonly unit: string
  readonly quantity: string
  readonly frames: readonly number[]
  readonly values: readonly number[]
  readonly cited: number
}

/** What is marked in a chart. */
export interface Marks {
  /** frame that an answer cites */
  readonly frame: number | null
  readonly runs: readonly CitedRange[]
}

/** The chart of some series; the cited frame is told with the value of the first of them. */
export function seriesChart(
  series: readonly ChartedSeries[],
  { title, marks }: { readonly title: string; readonly marks: Marks },
): LineChart {
  const [first] = series
  const isTold = first !== undefined && !Number.isNaN(first.cited)
  const told = isTold ? `: ${readable(first.cited)}${first.unit === '' ? '' : ` ${first.unit}`}` : ''
  return {
    title,
    x: 'frame',
    series: series.map(({ name, unit, quantity, frames, values }) => ({
      name,
      unit,
      x: frames,
      y: values,
      ...(quantity === '' ? {} : { quantity }),
    })),
    cited: marks.frame === null ? [] : [{ x: marks.frame, label: `frame ${marks.frame}${told}` }],
    ranges: marks.runs,
  }
}
