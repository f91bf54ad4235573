import {
  circle,
  drawing,
  element,
  group,
  line,
  type Point,
  polygon,
  type SvgElement,
  text,
} from '@causeway/picture'
import { formatCount, type LonLat } from '@causeway/plot'
import { clipLand, type LandRing, selectLand } from './coast.ts'
import { drawGraticule, drawScaleBar, listPolarLabels, listScaleBarBoxes } from './graticule.ts'
import { type Box, type Label, placeLabels } from './labels.ts'
import type { Drawable, MapData } from './map-data.ts'
import { chooseFrameHeight, createProjection, type Frame, type Projection, traceArea } from './projection.ts'

export interface MapDrawing {
  readonly data: MapData
  readonly title: string
  /** Pixels. */
  readonly width: number
  readonly land: readonly LandRing[]
  readonly coast: Coast
}

/** Scale of the coast data: 1:10 million or 1:50 million. */
export type Coast = '10m' | '50m'

const trackColours = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#8A5A00', '#56B4E9', '#5A5A5A']
const kindColours: Readonly<Record<string, string>> = {
  'reference-point': '#B3261E',
  buoyfield: '#7A5200',
  annotation: '#5B3E96',
}
const defaultColour = '#3D4852'
const seaColour = '#EAF2F8'
const landColour = '#EDE6D6'
const coastColour = '#8F8672'
const margins = { left: 76, right: 20, top: 56, bottom: 34 }

export function drawMap({ data, title, width, land, coast }: MapDrawing): string {
  const innerWidth = width - margins.left - margins.right
  const frame: Frame = {
    left: margins.left,
    top: margins.top,
    width: innerWidth,
    height: chooseFrameHeight(data.bounds, innerWidth),
  }
  const view = createProjection(data.bounds, frame)
  const colouredDrawables = data.drawables.map((drawable, index) => ({
    ...drawable,
    strokeColor: chooseColour(drawable, index),
  }))
  const shapes = [...colouredDrawables].sort((a, b) => getLayer(a) - getLayer(b))
  const obstacles = {
    points: colouredDrawables.flatMap((drawable) => listObstacles(drawable, view)),
    boxes: listScaleBarBoxes(view),
  }
  const labels = [
    ...[...shapes].reverse().flatMap((drawable) => createLabels(drawable, view)),
    ...colouredDrawables.flatMap((drawable) => createTickLabels(drawable, view)),
    ...listPolarLabels(view),
  ]
  const height = frame.height + margins.top + margins.bottom
  return drawing(
    { width_px: width, height_px: height },
    element('defs', {}, element('clipPath', { id: 'chart' }, drawBox(frame, {}))),
    drawBox(frame, { fill: seaColour }),
    group({ 'clip-path': 'url(#chart)' }, ...drawLand(land, view)),
    group({}, ...drawGraticule(view)),
    group({ 'clip-path': 'url(#chart)' }, ...shapes.flatMap((drawable) => drawFeature(drawable, view))),
    group({}, ...placeLabels(labels, frame, obstacles)),
    drawBox(frame, { fill: 'none', stroke: '#57606A', 'stroke-width': 1 }),
    ...drawScaleBar(view),
    ...drawHeading(data, { title, coast }, view),
  )
}

/** Labels avoid points along a line at this spacing, in pixels. */
const obstacleSpacing = 8

function listObstacles({ now, shape, paths }: ColouredDrawable, view: Projection): readonly Point[] {
  const { frame } = view
  const points: Point[] = now === null ? [] : [view.point(now)]
  if (shape === 'points') return [...points, ...paths.flat().map(view.point)]
  for (const path of paths) {
    const pixelPath = path.map(view.point)
    for (const [index, [x1, y1]] of pixelPath.entries()) {
      const [x0, y0] = pixelPath[index - 1] ?? [x1, y1]
      const partCount = Math.min(500, Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / obstacleSpacing)))
      for (let part = 1; part <= partCount; part++) {
        const point: Point = [x0 + ((x1 - x0) * part) / partCount, y0 + ((y1 - y0) * part) / partCount]
        if (isInside(point, frame)) points.push(point)
      }
    }
  }
  return points
}

type ColouredDrawable = Drawable & { readonly strokeColor: string }

const drawBox = (
  { left, top, width, height }: Frame,
  attributes: Readonly<Record<string, string | number>>,
): SvgElement => element('rect', { x: left, y: top, width, height, ...attributes })

/** Pixels per nautical mile. At larger scales, the coast's errors of up to a mile are visible. */
const maxAccurateCoastScale = 30

function drawHeading(
  { drawables, hiddenCount, time }: MapData,
  { title, coast }: Pick<MapDrawing, 'title' | 'coast'>,
  view: Projection,
): readonly SvgElement[] {
  const selectedCount = drawables.filter(({ isSelected }) => isSelected).length
  const isCoarse = (view.scale?.pxPerMile ?? 0) > maxAccurateCoastScale
  const parts = [
    drawables.length === 0 ? 'no features' : `${formatCount(drawables.length, 'feature')} shown`,
    ...(hiddenCount > 0 ? [`${hiddenCount} hidden or outside`] : []),
    ...(selectedCount > 0 ? [`${selectedCount} selected`] : []),
    ...(time === null ? [] : [`time ${time}`]),
    `${view.name}, coast 1:${coast === '10m' ? 10 : 50} million${isCoarse ? ' (approximate)' : ''}`,
  ]
  return [
    text([margins.left, 24], title, { 'font-size': 18, 'font-weight': 600 }),
    text([margins.left, 44], parts.join('  ·  '), { 'font-size': 12.5, fill: '#57606A' }),
  ]
}

function drawLand(rings: readonly LandRing[], view: Projection): readonly SvgElement[] {
  const { areas, coast } =
    view.name === 'polar stereographic' ? selectLand(rings, view.bounds) : clipLand(rings, view.bounds)
  if (areas.length === 0) return []
  return [
    element('path', {
      // The edges are short enough to draw straight. On a polar chart, Antarctica's edge along 90° S is one point.
      d: areas.map((ring) => `${formatPoints(ring.map(view.point))}Z`).join(''),
      fill: landColour,
      'fill-rule': 'evenodd',
    }),
    element('path', {
      d: coast.map((line) => formatPath(line, view)).join(''),
      fill: 'none',
      stroke: coastColour,
      'stroke-width': 1,
      'stroke-linejoin': 'round',
    }),
  ]
}

/** Returns the drawing order: areas, lines, points, then selected features, then measurements. */
const getLayer = ({ shape, isSelected, isMeasurement }: Drawable): number =>
  (isMeasurement ? 20 : 0) + (isSelected ? 10 : 0) + { area: 0, line: 1, points: 2 }[shape]

const chooseColour = ({ color, kind, shape }: Drawable, index: number): string =>
  color ??
  kindColours[kind ?? ''] ??
  (shape === 'line' ? (trackColours[index % trackColours.length] ?? defaultColour) : defaultColour)

function drawFeature(drawable: ColouredDrawable, view: Projection): readonly SvgElement[] {
  if (drawable.shape === 'points') return drawPoints(drawable, view)
  const { strokeColor, isSelected, paths, shape } = drawable
  const d = paths
    .map((path) => (shape === 'area' ? `${formatPoints(traceArea(path, view))}Z` : formatPath(path, view)))
    .join('')
  const roundStroke = { 'stroke-linejoin': 'round', 'stroke-linecap': 'round' }
  const fillStyle = shape === 'area' ? { fill: strokeColor, 'fill-opacity': 0.14 } : { fill: 'none' }
  const width = shape === 'area' ? 1.4 : 2.2
  return [
    ...(isSelected
      ? [element('path', { d, fill: 'none', stroke: '#111111', 'stroke-width': width + 6, ...roundStroke })]
      : []),
    element('path', {
      d,
      fill: 'none',
      stroke: 'white',
      'stroke-width': width + (isSelected ? 3.6 : 2),
      ...roundStroke,
    }),
    element('path', { d, ...fillStyle, stroke: strokeColor, 'stroke-width': width, ...roundStroke }),
    ...(shape === 'line' ? [...drawTicks(drawable, view), ...drawEnds(drawable, view)] : []),
  ]
}

/** Half of a tick's length, in pixels. */
const halfTickLength = 4.5

function drawTicks({ ticks, strokeColor }: ColouredDrawable, view: Projection): readonly SvgElement[] {
  return ticks.flatMap(({ position, from, to }) => {
    const [[x, y], [x0, y0], [x1, y1]] = [view.point(position), view.point(from), view.point(to)]
    const length = Math.hypot(x1 - x0, y1 - y0)
    if (length === 0) return []
    const [dx, dy] = [((y1 - y0) / length) * halfTickLength, (-(x1 - x0) / length) * halfTickLength]
    return [line([x - dx, y - dy], [x + dx, y + dy], { stroke: strokeColor, 'stroke-width': 1.6 })]
  })
}

/** Minimum distance between labelled time ticks, in pixels. */
const minTickDistance = 90

function createTickLabels({ ticks, strokeColor }: ColouredDrawable, view: Projection): readonly Label[] {
  const labels: Label[] = []
  for (const { position, text } of ticks) {
    const anchor = view.point(position)
    const last = labels.at(-1)?.anchor
    const isFarEnough =
      last === undefined || Math.hypot(anchor[0] - last[0], anchor[1] - last[1]) >= minTickDistance
    if (isFarEnough && isInside(anchor, view.frame))
      labels.push({
        anchor,
        lines: [text],
        color: strokeColor,
        isImportant: false,
        isOptional: true,
        size: 10.5,
      })
  }
  return labels
}

/** Measurements shorter than this number of pixels get a ring. */
const minMeasurementLength = 24

/** Draws the start, direction and current position of a track, or the ends of a measurement. */
function drawEnds(
  { paths, strokeColor, now, isMeasurement }: ColouredDrawable,
  view: Projection,
): readonly SvgElement[] {
  const points = paths.flat().map(view.point)
  const [first, last] = [points[0], points.at(-1)]
  if (first === undefined || last === undefined) return []
  if (isMeasurement) {
    const length = Math.hypot(last[0] - first[0], last[1] - first[1])
    const middle: Point = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2]
    return [
      ...[first, last].map((end) => circle(end, 2.4, { fill: strokeColor })),
      ...(length < minMeasurementLength
        ? [
            circle(middle, minMeasurementLength / 2 + 2, {
              fill: 'none',
              stroke: strokeColor,
              'stroke-width': 1.6,
            }),
          ]
        : []),
    ]
  }
  const directionPoint = points.findLast(([x, y]) => Math.hypot(x - last[0], y - last[1]) > 3)
  return [
    circle(first, 3.4, { fill: 'white', stroke: strokeColor, 'stroke-width': 1.8 }),
    ...(directionPoint === undefined ? [] : [drawArrowHead(directionPoint, last, strokeColor)]),
    ...(now === null
      ? []
      : [circle(view.point(now), 5.5, { fill: strokeColor, stroke: 'white', 'stroke-width': 2 })]),
  ]
}

function drawArrowHead(from: Point, tip: Point, fill: string): SvgElement {
  const length = Math.hypot(tip[0] - from[0], tip[1] - from[1])
  const [ux, uy] = [(tip[0] - from[0]) / length, (tip[1] - from[1]) / length]
  const base: Point = [tip[0] - ux * 11, tip[1] - uy * 11]
  return polygon([tip, [base[0] - uy * 4.6, base[1] + ux * 4.6], [base[0] + uy * 4.6, base[1] - ux * 4.6]], {
    fill,
  })
}

function drawPoints(
  { paths, strokeColor, isSelected, kind }: ColouredDrawable,
  view: Projection,
): readonly SvgElement[] {
  const radius = kind === 'buoyfield' ? 3.4 : 5
  return paths.flat().flatMap((position) => {
    const center = view.point(position)
    return [
      ...(isSelected
        ? [circle(center, radius + 4.5, { fill: 'none', stroke: '#111111', 'stroke-width': 2 })]
        : []),
      circle(center, radius, { fill: strokeColor, stroke: 'white', 'stroke-width': 1.4 }),
    ]
  })
}

function createLabels(drawable: ColouredDrawable, view: Projection): readonly Label[] {
  const { name, detail, shape, paths, now, strokeColor, isSelected } = drawable
  const lines = [name, detail].filter((text) => text !== null)
  const points = paths.flat().map(view.point)
  if (lines.length === 0 || points.length === 0) return []
  const label = {
    lines,
    color: isSelected ? '#111111' : strokeColor,
    isImportant: isSelected,
    isOptional: false,
  }
  if (shape === 'area') {
    const centres = listAreaCentres(findExtent(points)).filter((center) => isInside(center, view.frame))
    const [anchor] = centres
    return anchor === undefined ? [] : [{ ...label, anchor, centres }]
  }
  const candidates =
    shape === 'line'
      ? [...(now === null ? [] : [view.point(now)]), ...points.toReversed()]
      : points.slice(0, 1)
  const anchor = candidates.find((point) => isInside(point, view.frame))
  return anchor === undefined ? [] : [{ ...label, anchor }]
}

/** Vertical distance between label positions, in pixels. */
const areaLabelSpacing = 14

/** Returns positions inside the box, from the middle outwards, then positions above and below it. */
function listAreaCentres({ left, top, right, bottom }: Box): readonly Point[] {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  const count = Math.min(40, Math.max(0, Math.floor((bottom - top) / 2 / areaLabelSpacing) - 1))
  const offsets = Array.from({ length: count }, (_, index) => (index + 1) * areaLabelSpacing)
  const labelXs = [x, x - (right - left) / 4, x + (right - left) / 4]
  return [
    ...labelXs.flatMap((labelX): Point[] => [
      [labelX, y],
      ...offsets.flatMap((offset): Point[] => [
        [labelX, y - offset],
        [labelX, y + offset],
      ]),
    ]),
    ...labelXs.flatMap((labelX): Point[] => [
      [labelX, top - areaLabelSpacing],
      [labelX, bottom + areaLabelSpacing],
    ]),
  ]
}

const findExtent = (points: readonly Point[]): Box =>
  points.reduce<Box>(
    (box, [x, y]) => ({
      left: Math.min(box.left, x),
      top: Math.min(box.top, y),
      right: Math.max(box.right, x),
      bottom: Math.max(box.bottom, y),
    }),
    { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity },
  )

const isInside = ([x, y]: Point, { left, top, width, height }: Frame): boolean =>
  x >= left && y >= top && x <= left + width && y <= top + height

const formatPath = (positions: readonly LonLat[], view: Projection): string =>
  formatPoints(positions.map(view.point))

/** Rounds to tenths of a pixel. */
const formatPoints = (points: readonly Point[]): string =>
  points
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`)
    .join('')
