import { parseTime } from '@causeway/app-kit/time'
import {
  areBoundsOverlapping,
  type Bounds,
  getDataType,
  getGeometryType,
  getName,
  getProperties,
  type LonLat,
  listPaths,
  padBounds,
  unwrapPath,
} from '@causeway/plot'
import type { JsonObject } from '@causeway/protocol'
import { getDataBounds, getTimeState, type PlotDocument } from '../document/plot-document.ts'
import { metresPerDegree, selectLineVertices } from '../queries/simplify.ts'
import { chooseFrameHeight, createProjection } from './projection.ts'
import { formatTimeLabel, listTimeTicks, type TimeStyle, type TimeTick } from './time-labels.ts'

export interface Drawable {
  readonly name: string | null
  readonly detail: string | null
  readonly shape: 'line' | 'area' | 'points'
  /** Positions in degrees with unwrapped longitudes. */
  readonly paths: readonly (readonly LonLat[])[]
  /** `#RRGGBB`, or `null` for the colour of the feature's kind. */
  readonly color: string | null
  readonly kind: string | null
  readonly isSelected: boolean
  readonly now: LonLat | null
  readonly ticks: readonly TimeTick[]
  /** Whether the feature is a measurement, such as a closest approach. */
  readonly isMeasurement: boolean
}

export interface MapData {
  readonly bounds: Bounds
  readonly drawables: readonly Drawable[]
  readonly hiddenCount: number
  readonly totalCount: number
  readonly time: string | null
}

export interface MapOptions {
  readonly bounds?: Bounds | undefined
  /** Pixels. A wider map has more detailed lines. */
  readonly width: number
  readonly timeStyle?: TimeStyle | undefined
}

export function createMapData(
  document: PlotDocument,
  { bounds: requestedBounds, width, timeStyle = 'rn-short' }: MapOptions,
): MapData {
  const bounds = requestedBounds ?? padDataBounds(getDataBounds(document))
  const toleranceM = computePixelSizeM(bounds, width) * maxDeviationPx
  const time = getTimeState(document)
  const now = time === null ? undefined : parseTime(time.current)
  const selectedIds = new Set(document.selection)
  const drawables = document.items.flatMap((item) => {
    const { id, summary } = item
    if (summary.bounds === null || !areBoundsOverlapping(summary.bounds, bounds)) return []
    const { value } = item
    if (getProperties(value).visible === false) return []
    const isSelected = id !== null && selectedIds.has(id)
    return [createDrawable(value, { bounds, toleranceM, now, isSelected, timeStyle })]
  })
  const totalCount = document.items.length
  return {
    bounds,
    drawables,
    hiddenCount: totalCount - drawables.length,
    totalCount,
    time: time?.current ?? null,
  }
}

const maxDeviationPx = 0.4

/** At the chart's largest scale. */
function computePixelSizeM(bounds: Bounds, width: number): number {
  const frame = { left: 0, top: 0, width, height: chooseFrameHeight(bounds, width) }
  const { scale } = createProjection(bounds, frame)
  return scale === null
    ? ((bounds[2] - bounds[0]) * metresPerDegree) / width
    : metresPerNauticalMile / scale.pxPerMile / scale.variation
}

const metresPerNauticalMile = 1852

const padDataBounds = (bounds: Bounds | null): Bounds =>
  bounds === null ? [-180, -75, 180, 80] : padBounds(bounds, 0.08)

interface DrawableOptions {
  readonly bounds: Bounds
  readonly toleranceM: number
  readonly now: number | undefined
  readonly isSelected: boolean
  readonly timeStyle: TimeStyle
}

function createDrawable(
  feature: JsonObject,
  { bounds, toleranceM, now, isSelected, timeStyle }: DrawableOptions,
): Drawable {
  const type = getGeometryType(feature) ?? ''
  const middleLon = (bounds[0] + bounds[2]) / 2
  const paths = listPaths(feature.geometry).map((path) => unwrapPath(path, middleLon))
  const shape = /Polygon/.test(type) ? 'area' : /Line/.test(type) ? 'line' : 'points'
  const { timestamps, annotationType } = getProperties(feature)
  const isMeasurement = annotationType === 'measurement'
  return {
    name: getName(feature),
    detail: isMeasurement ? describeMeasurement(feature, timeStyle) : null,
    isMeasurement,
    shape,
    paths: shape === 'points' ? paths : paths.map((path) => simplifyPath(path, toleranceM)),
    color: findColour(getProperties(feature)),
    kind: getDataType(feature),
    isSelected,
    now:
      shape === 'line' && now !== undefined && Array.isArray(timestamps)
        ? interpolatePosition(paths.flat(), timestamps, now)
        : null,
    ticks: shape === 'line' && Array.isArray(timestamps) ? listTimeTicks(paths, timestamps, timeStyle) : [],
  }
}

function describeMeasurement(feature: JsonObject, timeStyle: TimeStyle): string | null {
  const { text, time } = getProperties(feature)
  const timeMs = parseTime(time)
  const value = typeof text === 'string' && text !== getName(feature) ? text : null
  const parts = [value, timeMs === undefined ? null : formatTimeLabel(timeMs, timeStyle)]
  const presentParts = parts.filter((part) => part !== null)
  return presentParts.length === 0 ? null : presentParts.join(', ')
}

const simplifyPath = (path: readonly LonLat[], toleranceM: number): readonly LonLat[] =>
  selectLineVertices(path, toleranceM).map((vertex) => path[vertex] as LonLat)

function findColour(properties: JsonObject): string | null {
  for (const name of ['stroke', 'color', 'marker_color', 'marker-color', 'fill']) {
    const value = properties[name]
    if (typeof value !== 'string') continue
    if (/^#[0-9a-f]{6}$/i.test(value)) return value
    if (/^#[0-9a-f]{3}$/i.test(value)) return value.replaceAll(/[0-9a-f]/gi, '$&$&')
  }
  return null
}

/** Returns `null` outside the track's time range. */
function interpolatePosition(
  path: readonly LonLat[],
  timestamps: readonly unknown[],
  now: number,
): LonLat | null {
  let previousMs: number | null = null
  for (const [index, [lon, lat]] of path.entries()) {
    const timeMs = parseTime(timestamps[index])
    if (timeMs === undefined) continue
    if (timeMs >= now) {
      const previousPosition = path[index - 1]
      if (timeMs === now) return [lon, lat]
      if (previousMs === null || previousPosition === undefined) return null
      const fraction = (now - previousMs) / (timeMs - previousMs)
      return [
        previousPosition[0] + (lon - previousPosition[0]) * fraction,
        previousPosition[1] + (lat - previousPosition[1]) * fraction,
      ]
    }
    previousMs = timeMs
  }
  return null
}
