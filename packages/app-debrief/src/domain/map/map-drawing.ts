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
  const inner = width - margins.left - margins.right
  const frame: Frame = {
    left: margins.left,
    top: margins.top,
    width: inner,
    height: chooseFrameHeight(data.bounds, inner),
  }
  const view = createProjection(data.bounds, frame)
  const coloured = data.drawables.map((one, index) => ({ ...one, ink: chooseColour(one, index) }))
  const shapes = [...coloured].sort((a, b) => getLayer(a) - getLayer(b))
  const obstacles = {
    points: coloured.flatMap((one) => listObstacles(one, view)),
    boxes: listScaleBarBoxes(view),
  }
  const labels = [
    ...[...shapes].reverse().flatMap((one) => createLabels(one, view)),
    ...coloured.flatMap((one) => createTickLabels(one, view)),
    ...listPolarLabels(view),
  ]
  const height = frame.height + margins.top + margins.bottom
  return drawing(
    { width_px: width, height_px: height },
    element('defs', {}, element('clipPath', { id: 'chart' }, drawBox(frame, {}))),
    drawBox(frame, { fill: seaColour }),
    group({ 'clip-path': 'url(#chart)' }, ...drawLand(land, view)),
    group({}, ...drawGraticule(view)),
    group({ 'clip-path': 'url(#chart)' }, ...shapes.flatMap((one) => drawFeature(one, view))),
    group({}, ...placeLabels(labels, frame, obstacles)),
    drawBox(frame, { fill: 'none', stroke: '#57606A', 'stroke-width': 1 }),
    ...drawScaleBar(view),
    ...drawHeading(data, { title, coast }, view),
  )
}

/** Distance between the points along a line that labels avoid, in pixels. */
const obstacleDistance = 8

function listObstacles({ now, shape, paths }: ColouredDrawable, view: Projection): readonly Point[] {
  const { frame } = view
  const points: Point[] = now === null ? [] : [view.point(now)]
  if (shape === 'points') return [...points, ...paths.flat().map(view.point)]
  for (const path of paths) {
    const line = path.map(view.point)
    for (const [index, [x1, y1]] of line.entries()) {
      const [x0, y0] = line[index - 1] ?? [x1, y1]
      const parts = Math.min(500, Math.max(1, Math.ceil(Math.hypot(x1 - x0, y1 - y0) / obstacleDistance)))
      for (let part = 1; part <= parts; part++) {
        const at: Point = [x0 + ((x1 - x0) * part) / parts, y0 + ((y1 - y0) * part) / parts]
        if (isInside(at, frame)) points.push(at)
      }
    }
  }
  return points
}

type ColouredDrawable = Drawable & { readonly ink: string }

const drawBox = (
  { left, top, width, height }: Frame,
  attributes: Readonly<Record<string, string | number>>,
): SvgElement => element('rect', { x: left, y: top, width, height, ...attributes })

/** Pixels per nautical mile. At larger scales, the coast's errors of up to a mile are visible. */
const maxCoastScale = 30

function drawHeading(
  { drawables, hidden, time }: MapData,
  { title, coast }: Pick<MapDrawing, 'title' | 'coast'>,
  view: Projection,
): readonly SvgElement[] {
  const selected = drawables.filter(({ isSelected }) => isSelected).length
  const isCoarse = (view.scale?.pxPerMile ?? 0) > maxCoastScale
  const parts = [
    drawables.length === 0 ? 'no features' : `${formatCount(drawables.length, 'feature')} shown`,
    ...(hidden > 0 ? [`${hidden} hidden or outside`] : []),
    ...(selected > 0 ? [`${selected} selected`] : []),
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
      // The edges are short enough to be straight. On a polar chart, Antarctica's edge along 90° S is one point.
      d: areas.map((ring) => `${formatPoints(ring.map(view.point))}Z`).join(''),
      fill: landColour,
      'fill-rule': 'evenodd',
    }),
    element('path', {
      d: coast.map((run) => formatPath(run, view)).join(''),
      fill: 'none',
      stroke: coastColour,
      'stroke-width': 1,
      'stroke-linejoin': 'round',
    }),
  ]
}

/** From the bottom: areas, lines, points, selected features, measurements. */
const getLayer = ({ shape, isSelected, isMeasurement }: Drawable): number =>
  (isMeasurement ? 20 : 0) + (isSelected ? 10 : 0) + { area: 0, line: 1, points: 2 }[shape]

const chooseColour = ({ color, kind, shape }: Drawable, index: number): string =>
  color ??
  kindColours[kind ?? ''] ??
  (shape === 'line' ? (trackColours[index % trackColours.length] ?? defaultColour) : defaultColour)

function drawFeature(one: ColouredDrawable, view: Projection): readonly SvgElement[] {
  if (one.shape === 'points') return drawPoints(one, view)
  const { ink, isSelected, paths, shape } = one
  const d = paths
    .map((part) => (shape === 'area' ? `${formatPoints(traceArea(part, view))}Z` : formatPath(part, view)))
    .join('')
  const round = { 'stroke-linejoin': 'round', 'stroke-linecap': 'round' }
  const area = shape === 'area' ? { fill: ink, 'fill-opacity': 0.14 } : { fill: 'none' }
  const width = shape === 'area' ? 1.4 : 2.2
  return [
    ...(isSelected
      ? [element('path', { d, fill: 'none', stroke: '#111111', 'stroke-width': width + 6, ...round })]
      : []),
    element('path', {
      d,
      fill: 'none',
      stroke: 'white',
      'stroke-width': width + (isSelected ? 3.6 : 2),
      ...round,
    }),
    element('path', { d, ...area, stroke: ink, 'stroke-width': width, ...round }),
    ...(shape === 'line' ? [...drawTicks(one, view), ...drawEnds(one, view)] : []),
  ]
}

/** Half of a tick's length, in pixels. */
const tickSize = 4.5

function drawTicks({ ticks, ink }: ColouredDrawable, view: Projection): readonly SvgElement[] {
  return ticks.flatMap(({ place, from, to }) => {
    const [[x, y], [x0, y0], [x1, y1]] = [view.point(place), view.point(from), view.point(to)]
    const length = Math.hypot(x1 - x0, y1 - y0)
    if (length === 0) return []
    const [dx, dy] = [((y1 - y0) / length) * tickSize, (-(x1 - x0) / length) * tickSize]
    return [line([x - dx, y - dy], [x + dx, y + dy], { stroke: ink, 'stroke-width': 1.6 })]
  })
}

/** Minimum distance between labelled time ticks, in pixels. */
const minTickDistance = 90

function createTickLabels({ ticks, ink }: ColouredDrawable, view: Projection): readonly Label[] {
  const labels: Label[] = []
  for (const { place, text } of ticks) {
    const at = view.point(place)
    const last = labels.at(-1)?.at
    const isFar = last === undefined || Math.hypot(at[0] - last[0], at[1] - last[1]) >= minTickDistance
    if (isFar && isInside(at, view.frame))
      labels.push({ at, lines: [text], color: ink, isImportant: false, isOptional: true, size: 10.5 })
  }
  return labels
}

/** Measurements shorter than this number of pixels get a ring. */
const minMeasurement = 24

/** Draws the start, direction and current position of a track, or the ends of a measurement. */
function drawEnds(
  { paths, ink, now, isMeasurement }: ColouredDrawable,
  view: Projection,
): readonly SvgElement[] {
  const all = paths.flat().map(view.point)
  const [first, last] = [all[0], all.at(-1)]
  if (first === undefined || last === undefined) return []
  if (isMeasurement) {
    const length = Math.hypot(last[0] - first[0], last[1] - first[1])
    const middle: Point = [(first[0] + last[0]) / 2, (first[1] + last[1]) / 2]
    return [
      ...[first, last].map((at) => circle(at, 2.4, { fill: ink })),
      ...(length < minMeasurement
        ? [circle(middle, minMeasurement / 2 + 2, { fill: 'none', stroke: ink, 'stroke-width': 1.6 })]
        : []),
    ]
  }
  const before = all.findLast(([x, y]) => Math.hypot(x - last[0], y - last[1]) > 3)
  return [
    circle(first, 3.4, { fill: 'white', stroke: ink, 'stroke-width': 1.8 }),
    ...(before === undefined ? [] : [drawArrowHead(before, last, ink)]),
    ...(now === null
      ? []
      : [circle(view.point(now), 5.5, { fill: ink, stroke: 'white', 'stroke-width': 2 })]),
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
  { paths, ink, isSelected, kind }: ColouredDrawable,
  view: Projection,
): readonly SvgElement[] {
  const radius = kind === 'buoyfield' ? 3.4 : 5
  return paths.flat().flatMap((place) => {
    const at = view.point(place)
    return [
      ...(isSelected
        ? [circle(at, radius + 4.5, { fill: 'none', stroke: '#111111', 'stroke-width': 2 })]
        : []),
      circle(at, radius, { fill: ink, stroke: 'white', 'stroke-width': 1.4 }),
    ]
  })
}

function createLabels(one: ColouredDrawable, view: Projection): readonly Label[] {
  const { name, detail, shape, paths, now, ink, isSelected } = one
  const lines = [name, detail].filter((text) => text !== null)
  const points = paths.flat().map(view.point)
  if (lines.length === 0 || points.length === 0) return []
  const label = { lines, color: isSelected ? '#111111' : ink, isImportant: isSelected, isOptional: false }
  if (shape === 'area') {
    const centres = listAreaCentres(findExtent(points)).filter((at) => isInside(at, view.frame))
    const [at] = centres
    return at === undefined ? [] : [{ ...label, at, centres }]
  }
  const places =
    shape === 'line'
      ? [...(now === null ? [] : [view.point(now)]), ...points.toReversed()]
      : points.slice(0, 1)
  const at = places.find((place) => isInside(place, view.frame))
  return at === undefined ? [] : [{ ...label, at }]
}

/** Vertical distance between label positions, in pixels. */
const areaStep = 14

/** Returns positions inside the box, from the middle outwards, then positions above and below it. */
function listAreaCentres({ left, top, right, bottom }: Box): readonly Point[] {
  const [x, y] = [(left + right) / 2, (top + bottom) / 2]
  const count = Math.min(40, Math.max(0, Math.floor((bottom - top) / 2 / areaStep) - 1))
  const heights = Array.from({ length: count }, (_, index) => (index + 1) * areaStep)
  const columns = [x, x - (right - left) / 4, x + (right - left) / 4]
  return [
    ...columns.flatMap((column): Point[] => [
      [column, y],
      ...heights.flatMap((offset): Point[] => [
        [column, y - offset],
        [column, y + offset],
      ]),
    ]),
    ...columns.flatMap((column): Point[] => [
      [column, top - areaStep],
      [column, bottom + areaStep],
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

const formatPath = (places: readonly LonLat[], view: Projection): string =>
  formatPoints(places.map(view.point))

/** Rounds to tenths of a pixel. */
const formatPoints = (points: readonly Point[]): string =>
  points
    .map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`)
    .join('')
