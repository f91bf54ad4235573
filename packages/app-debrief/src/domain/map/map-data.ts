/** What a picture of a plot shows: lines thinned to what can be seen, with their looks. */

import { parseTime } from '@causeway/app-kit/time'
import type { JsonObject } from '@causeway/protocol'
import { type Bounds, overlap, padded, unwrapped } from '../bounds.ts'
import { dataTypeOf, geometryTypeOf, type LonLat, nameOf, pathsOf, propertiesOf } from '../feature.ts'
import { dataBounds, type PlotDocument, timeState } from '../plot-document.ts'
import { keptVertices } from '../simplify.ts'

/** A feature to draw. */
export interface Drawable {
  readonly name: string | null
  readonly shape: 'line' | 'area' | 'points'
  /** longitudes without jumps, degrees */
  readonly paths: readonly (readonly LonLat[])[]
  /** `#RRGGBB`; null for the colour of its kind */
  readonly color: string | null
  readonly kind: string | null
  readonly isSelected: boolean
  /** where a track is at the current time, between its fixes */
  readonly now: LonLat | null
}

/** Everything that is drawn. */
export interface MapData {
  readonly bounds: Bounds
  readonly drawables: readonly Drawable[]
  /** features that were left out: not visible, without a place or outside */
  readonly hidden: number
  readonly total: number
  readonly time: string | null
}

/** What is to be shown: a box, else everything; `width` in pixels decides how fine lines are. */
export interface MapWish {
  readonly bounds?: Bounds | undefined
  readonly width: number
}

const metresPerDegree = 111_195

/** The features of a plot for a picture. */
export function mapData(document: PlotDocument, { bounds: asked, width }: MapWish): MapData {
  const bounds = asked ?? around(dataBounds(document))
  const toleranceM = (((bounds[2] - bounds[0]) * metresPerDegree) / width) * 0.4
  const time = timeState(document)
  const now = time === null ? undefined : parseTime(time.current)
  const selected = new Set(document.selection)
  const drawables = document.items.flatMap((item) => {
    const { id, looks } = item
    if (looks.bounds === null || !overlap(looks.bounds, bounds)) return []
    const { value } = item
    if (propertiesOf(value).visible === false) return []
    return [drawable(value, { bounds, toleranceM, now, isSelected: id !== null && selected.has(id) })]
  })
  const total = document.items.length
  return { bounds, drawables, hidden: total - drawables.length, total, time: time?.current ?? null }
}

const around = (bounds: Bounds | null): Bounds =>
  bounds === null ? [-180, -75, 180, 80] : padded(bounds, 0.08)

interface Seen {
  readonly bounds: Bounds
  readonly toleranceM: number
  readonly now: number | undefined
  readonly isSelected: boolean
}

function drawable(feature: JsonObject, { bounds, toleranceM, now, isSelected }: Seen): Drawable {
  const type = geometryTypeOf(feature) ?? ''
  const middle = (bounds[0] + bounds[2]) / 2
  const paths = pathsOf(feature.geometry).map((path) => unwrapped(path, middle))
  const shape = /Polygon/.test(type) ? 'area' : /Line/.test(type) ? 'line' : 'points'
  const timestamps = propertiesOf(feature).timestamps
  return {
    name: nameOf(feature),
    shape,
    paths: shape === 'points' ? paths : paths.map((path) => thin(path, toleranceM)),
    color: colourOf(propertiesOf(feature)),
    kind: dataTypeOf(feature),
    isSelected,
    now:
      shape === 'line' && now !== undefined && Array.isArray(timestamps)
        ? placeAt(paths.flat(), timestamps, now)
        : null,
  }
}

const thin = (path: readonly LonLat[], toleranceM: number): readonly LonLat[] =>
  keptVertices(path, toleranceM).map((place) => path[place] as LonLat) // places of this very path

/** The first colour that the feature names; three digits are written out. */
function colourOf(properties: JsonObject): string | null {
  for (const name of ['stroke', 'color', 'marker_color', 'marker-color', 'fill']) {
    const value = properties[name]
    if (typeof value !== 'string') continue
    if (/^#[0-9a-f]{6}$/i.test(value)) return value
    if (/^#[0-9a-f]{3}$/i.test(value)) return value.replaceAll(/[0-9a-f]/gi, '$&$&')
  }
  return null
}

/** Between the fixes before and after; null outside the time of the track. */
function placeAt(path: readonly LonLat[], timestamps: readonly unknown[], now: number): LonLat | null {
  let before: number | null = null
  for (const [index, [lon, lat]] of path.entries()) {
    const at = parseTime(timestamps[index])
    if (at === undefined) continue
    if (at >= now) {
      const old = path[index - 1]
      if (at === now) return [lon, lat]
      if (before === null || old === undefined) return null
      const share = (now - before) / (at - before)
      return [old[0] + (lon - old[0]) * share, old[1] + (lat - old[1]) * share]
    }
    before = at
  }
  return null
}
