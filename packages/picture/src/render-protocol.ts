import type { ErrorCode, ErrorData } from '@causeway/protocol'
import type { TopLevelSpec } from 'vega-lite'

/** What is drawn: a Vega-Lite specification, or SVG text of our own. */
export type Source =
  | { readonly kind: 'chart'; readonly spec: TopLevelSpec }
  | { readonly kind: 'drawing'; readonly svg: string }

/** One job of the worker. */
export interface Job {
  readonly source: Source
  /** width of the picture in CSS pixels; the height follows from its proportions */
  readonly width_px: number
  /** PNG pixels for each CSS pixel */
  readonly scale: number
}

/** A picture, twice. */
export interface Picture {
  readonly png: Uint8Array
  /** the same picture as text, in its own size */
  readonly svg: string
  /** size of the PNG, pixels */
  readonly width_px: number
  readonly height_px: number
}

/** An error on its way between threads: classes do not survive the clone. */
export interface CarriedError {
  /** null where the error is not one for clients; `text` is then its stack, for the log */
  readonly code: ErrorCode | null
  readonly message: string
  readonly data: ErrorData
  readonly text?: string
}

/** From the worker: exactly one for each job. */
export type Reply =
  | { readonly picture: Picture; readonly warnings: readonly string[] }
  | { readonly error: CarriedError }
