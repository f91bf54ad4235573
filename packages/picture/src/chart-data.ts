import type { ScaleOption } from './value-axis.ts'

/** A curve over frames or time. All arrays have equal lengths. */
export interface LineSeries {
  /** Unique within its unit. */
  readonly name: string
  readonly unit: string
  /** Quantity of an axis with several curves: `energy`. */
  readonly quantity?: string
  /** Ascending. */
  readonly x: ArrayLike<number>
  /** Null and non-finite values are gaps. */
  readonly y: ArrayLike<number | null>
  /** Range of each point's bucket, drawn as a band. */
  readonly low?: ArrayLike<number | null>
  readonly high?: ArrayLike<number | null>
}

export interface CitedPlace {
  readonly x: number
  readonly label: string
}

/** Inclusive range of frames or time. */
export interface CitedRange {
  readonly from: number
  readonly to: number
  readonly label: string
}

export interface LineChart {
  readonly title: string
  readonly subtitle?: string
  /** Whole frame ids, or seconds. */
  readonly x: 'frame' | 'time'
  /** One panel per unit; fast for up to 2000 points each. */
  readonly series: readonly LineSeries[]
  readonly cited?: readonly CitedPlace[]
  readonly ranges?: readonly CitedRange[]
  /** Default `auto`. */
  readonly scale?: ScaleOption
  /** CSS pixels, default 900. */
  readonly width_px?: number
}
