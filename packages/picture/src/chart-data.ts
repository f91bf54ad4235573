import type { ScaleOption } from './value-axis.ts'

/** A curve over frames or time. All arrays have the same length. */
export interface LineSeries {
  /** Unique within its unit. */
  readonly name: string
  readonly unit: string
  /** Quantity of an axis with several curves, such as `energy`. */
  readonly quantity?: string
  /** In ascending order. */
  readonly x: ArrayLike<number>
  /** Null and non-finite values leave gaps. */
  readonly y: ArrayLike<number | null>
  /** Range of each point's bucket, drawn as a band. */
  readonly low?: ArrayLike<number | null>
  readonly high?: ArrayLike<number | null>
}

export interface ChartMarker {
  readonly x: number
  readonly label: string
}

/** A range of frames or time, inclusive. */
export interface ChartRange {
  readonly from: number
  readonly to: number
  readonly label: string
}

export interface LineChart {
  readonly title: string
  readonly subtitle?: string
  /** Whole frame ids, or seconds. */
  readonly x: 'frame' | 'time'
  /** One panel per unit. Fast for up to 2000 points per series. */
  readonly series: readonly LineSeries[]
  readonly markers?: readonly ChartMarker[]
  readonly ranges?: readonly ChartRange[]
  /** Default: `auto`. */
  readonly scale?: ScaleOption
  /** CSS pixels. Default: 900. */
  readonly width_px?: number
}
