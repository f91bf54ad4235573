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

/** What a worker made of a job. */
export interface Drawn {
  readonly picture: Picture
  readonly warnings: readonly string[]
}

/** What the worker does; one picture at a time. */
export interface RenderMethods {
  draw(job: Job): Drawn
}
