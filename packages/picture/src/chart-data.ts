import type { ScaleWish } from './value-axis.ts'

/** A curve over frames or time. All arrays have one length. */
export interface LineSeries {
  /** unique within its unit; the same name has the same colour in every panel */
  readonly name: string
  /** unit of the values, as it is shown; empty where they have none */
  readonly unit: string
  /** what is measured, for an axis of several curves: `energy`; without it such an axis shows the unit alone */
  readonly quantity?: string
  /** ascending */
  readonly x: ArrayLike<number>
  /** null and non-finite: a gap, never bridged */
  readonly y: ArrayLike<number | null>
  /** least and greatest of the bucket that each point stands for, drawn as a band behind the curve */
  readonly low?: ArrayLike<number | null>
  readonly high?: ArrayLike<number | null>
}

/** A place along x that an answer cites. */
export interface CitedPlace {
  readonly x: number
  readonly label: string
}

/** A run of frames, or a span of time, both ends included. */
export interface CitedRange {
  readonly from: number
  readonly to: number
  readonly label: string
}

/** What a line chart shows. */
export interface LineChart {
  readonly title: string
  readonly subtitle?: string
  /** what runs along x: whole frame ids, or seconds */
  readonly x: 'frame' | 'time'
  /** a panel for each unit, in the order in which the units come; up to 2000 points each draw in well under a second */
  readonly series: readonly LineSeries[]
  readonly cited?: readonly CitedPlace[]
  readonly ranges?: readonly CitedRange[]
  /** default `auto` */
  readonly scale?: ScaleWish
  /** width of the whole picture, CSS pixels, default 900 */
  readonly width_px?: number
}
