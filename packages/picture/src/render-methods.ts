import type { TopLevelSpec } from 'vega-lite'

export type Source =
  | { readonly kind: 'chart'; readonly spec: TopLevelSpec }
  | { readonly kind: 'drawing'; readonly svg: string }

export interface Job {
  readonly source: Source
  /** CSS pixels. */
  readonly width_px: number
  readonly scale: number
}

export interface Picture {
  readonly png: Uint8Array
  /** SVG in its original size. */
  readonly svg: string
  readonly width_px: number
  readonly height_px: number
}

export interface DrawResult {
  readonly picture: Picture
  readonly warnings: readonly string[]
}

export interface RenderMethods {
  draw(job: Job): DrawResult
}
