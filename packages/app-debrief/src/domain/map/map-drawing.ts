/** A plot as a chart: land, graticule, tracks with their names, and what is selected. */
import {
  circle,
  drawing,
  element,
  group,
  type Point,
  polygon,
  type SvgElement,
  text,
} from '@causeway/picture'
import type { LonLat } from '../feature.ts'
import { type LandRing, landWithin } from './coast.ts'
import { graticule, mileBar } from './graticule.ts'
import { type Label, placeLabels } from './labels.ts'
import type { Drawable, MapData } from './map-data.ts'
import { type Frame, frameHeight, type Projection, projection } from './projection.ts'

/** What is drawn beside the data. */
export interface MapDrawing {
  readonly data: MapData
  readonly title: string
  /** of the whole picture, pixels */
  readonly width: number
  readonly land: readonly LandRing[]
}

/** Colours of kinds that name none; tracks take one after the other. */
const trackColours = ['#0072B2', '#D55E00', '#009E73', '#CC79A7', '#8A5A00', '#56B4E9', '#5A5A5A']
const kindColours: Readonly<Record<string, string>> = {
  'reference-point': '#B3261E',
  buoyfield: '#7A5200',
  annotation: '#5B3E96',
}
const fallback = '#3D4852'
const sea = '#EAF2F8'
const earth = '#EDE6D6'
const shoreInk = '#8F8672'
const margins = { left: 64, right: 20, top: 56, bottom: 34 }

/** SVG text of the chart. */
export function drawMap({ data, title, width, land }: MapDrawing): string {
  const inner = width - margins.left - margins.right
  const frame: Frame = {
    left: margins.left,
    top: margins.top,
    width: inner,
    height: frameHeight(data.bounds, inner),
  }
  const view = projection(data.bounds, frame)
  const coloured = data.drawables.map((one, index) => ({ ...one, ink: inkOf(one, index) }))
  const shapes = [...coloured].sort((a, b) => rank(a) - rank(b))
  const labels = coloured.flatMap((one) => labelOf(one, view))
  const height = frame.height + margins.top + margins.bottom
  return drawing(
    { width_px: width, height_px: height },
    element('defs', {}, element('clipPath', { id: 'chart' }, box(frame, {}))),
    box(frame, { fill: sea }),
    group({ 'clip-path': 'url(#chart)' }, ...landShapes(land, view)),
    group({}, ...graticule(view)),
    group({ 'clip-path': 'url(#chart)' }, ...shapes.flatMap((one) => shapeOf(one, view))),
    group(
      {},
      ...placeLabels(
        labels,
        frame,
        coloured.flatMap(({ now }) => (now === null ? [] : [view.point(now)])),
      ),
    ),
    box(frame, { fill: 'none', stroke: '#57606A', 'stroke-width': 1 }),
    ...mileBar(view),
    ...heading(data, title, view),
  )
}

type Inked = Drawable & { readonly ink: string }

const box = (
  { left, top, width, height }: Frame,
  attributes: Readonly<Record<string, string | number>>,
): SvgElement => element('rect', { x: left, y: top, width, height, ...attributes })

function heading(
  { drawables, hidden, time }: MapData,
  title: string,
  view: Projection,
): readonly SvgElement[] {
  const selected = drawables.filter(({ isSelected }) => isSelected).length
  const parts = [
    `${drawables.length} feature${drawables.length === 1 ? '' : 's'} shown`,
    ...(hidden > 0 ? [`${hidden} hidden or outside`] : []),
    ...(selected > 0 ? [`${selected} selected`] : []),
    ...(time === null ? [] : [`time ${time}`]),
    `${view.name}, coast 1:50 million`,
  ]
  return [
    text([margins.left, 24], title, { 'font-size': 18, 'font-weight': 600 }),
    text([margins.left, 44], parts.join('  ·  '), { 'font-size': 12.5, fill: '#57606A' }),
  ]
}

function landShapes(rings: readonly LandRing[], view: Projection): readonly SvgElement[] {
  const { areas, coast } = landWithin(rings, view.bounds)
  if (areas.length === 0) return []
  return [
    element('path', {
      d: areas.map((ring) => `${path(ring, view)}Z`).join(''),
      fill: earth,
      'fill-rule': 'evenodd',
    }),
    element('path', {
      d: coast.map((run) => path(run, view)).join(''),
      fill: 'none',
      stroke: shoreInk,
      'stroke-width': 1,
      'stroke-linejoin': 'round',
    }),
  ]
}

/** Areas below lines below points; what is selected above all. */
const rank = ({ shape, isSelected }: Drawable): number =>
  (isSelected ? 10 : 0) + { area: 0, line: 1, points: 2 }[shape]

const inkOf = ({ color, kind, shape }: Drawable, index: number): string =>
  color ??
  kindColours[kind ?? ''] ??
  (shape === 'line' ? (trackColours[index % trackColours.length] ?? fallback) : fallback)

function shapeOf(one: Inked, view: Projection): readonly SvgElement[] {
  if (one.shape === 'points') return pointShapes(one, view)
  const { ink, isSelected, paths, shape } = one
  const d = paths.map((part) => path(part, view) + (shape === 'area' ? 'Z' : '')).join('')
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
    ...(shape === 'line' ? ends(one, view) : []),
  ]
}

/** A dot where a line begins, an arrow head where it ends, and a ring where the track is now. */
function ends({ paths, ink, now }: Inked, view: Projection): readonly SvgElement[] {
  const all = paths.flat().map(view.point)
  const [first, last] = [all[0], all.at(-1)]
  if (first === undefined || last === undefined) return []
  const before = all.findLast(([x, y]) => Math.hypot(x - last[0], y - last[1]) > 3)
  return [
    circle(first, 3.4, { fill: 'white', stroke: ink, 'stroke-width': 1.8 }),
    ...(before === undefined ? [] : [head(before, last, ink)]),
    ...(now === null
      ? []
      : [circle(view.point(now), 5.5, { fill: ink, stroke: 'white', 'stroke-width': 2 })]),
  ]
}

function head(from: Point, tip: Point, fill: string): SvgElement {
  const length = Math.hypot(tip[0] - from[0], tip[1] - from[1])
  const [ux, uy] = [(tip[0] - from[0]) / length, (tip[1] - from[1]) / length]
  const base: Point = [tip[0] - ux * 11, tip[1] - uy * 11]
  return polygon([tip, [base[0] - uy * 4.6, base[1] + ux * 4.6], [base[0] + uy * 4.6, base[1] - ux * 4.6]], {
    fill,
  })
}

function pointShapes({ paths, ink, isSelected, kind }: Inked, view: Projection): readonly SvgElement[] {
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

/** A track is named where it is now, else at its end; an area in its middle; points at the first one. */
function labelOf({ name, shape, paths, now, ink, isSelected }: Inked, view: Projection): readonly Label[] {
  if (name === null) return []
  const all = paths.flat()
  const place = now ?? (shape === 'area' ? middle(all) : shape === 'line' ? all.at(-1) : all[0])
  if (place === undefined) return []
  const color = isSelected ? '#111111' : ink
  const clear = (candidates: readonly LonLat[]): LonLat | undefined =>
    candidates.find((one) => isInside(view.point(one), view.frame))
  const visible = clear([place, ...(shape === 'line' ? [...all].reverse() : [])])
  return visible === undefined
    ? []
    : [{ at: view.point(visible), text: name, color, isImportant: isSelected }]
}

function middle(places: readonly LonLat[]): LonLat | undefined {
  if (places.length === 0) return undefined
  const sum = places.reduce<LonLat>(([x, y], [lon, lat]) => [x + lon, y + lat], [0, 0])
  return [sum[0] / places.length, sum[1] / places.length]
}

const isInside = ([x, y]: Point, { left, top, width, height }: Frame): boolean =>
  x >= left && y >= top && x <= left + width && y <= top + height

/** Path data to a tenth of a pixel. */
const path = (places: readonly LonLat[], view: Projection): string =>
  places
    .map((place, index) => {
      const [x, y] = view.point(place)
      return `${index === 0 ? 'M' : 'L'}${Math.round(x * 10) / 10} ${Math.round(y * 10) / 10}`
    })
    .join('')
