import type { ChartRange, LineChart } from '@causeway/picture'
import { formatQuantity } from '../sentence.ts'

export const maxChartPoints = 1200

interface ChartSeries {
  readonly name: string
  readonly unit: string
  readonly quantity: string
  readonly frames: readonly number[]
  readonly values: readonly number[]
  readonly cited: number
}

export interface Marks {
  readonly frame: number | null
  readonly runs: readonly ChartRange[]
}

export function buildSeriesChart(
  series: readonly ChartSeries[],
  { title, marks }: { readonly title: string; readonly marks: Marks },
): LineChart {
  const [first] = series
  const hasValue = first !== undefined && !Number.isNaN(first.cited)
  const value = hasValue ? `: ${formatQuantity(first.cited, first.unit)}` : ''
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
    markers: marks.frame === null ? [] : [{ x: marks.frame, label: `frame ${marks.frame}${value}` }],
    ranges: marks.runs,
  }
}
