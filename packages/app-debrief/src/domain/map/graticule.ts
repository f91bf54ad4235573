import { element, haloText, line, type Point, type SvgElement, text } from '@causeway/picture'
import { type LonLat, normalizeLongitude } from '@causeway/plot'
import type { Box, Label } from './labels.ts'
import { type Projection, traceArea } from './projection.ts'

/** Distances between grid lines, in degrees. */
const steps = [
  ...[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].map((minutes) => minutes / 60),
  ...[1, 2, 5, 10, 20, 30, 45],
]

const ink = { stroke: '#B9CAD6', 'stroke-width': 0.8 }
const labelColor = '#57606A'
const labelSize = 12

/** Labels are outside the frame, except on polar charts (`listPolarLabels`). */
export const drawGraticule = (view: Projection): readonly SvgElement[] =>
  view.name === 'polar stereographic' ? drawPolarGraticule(view) : drawStraightGraticule(view)

/** Share of the visible latitudes, next to the pole, in which meridians are not drawn. */
const polarGap = 0.04

function createPolarGrid({ bounds, frame }: Projection) {
  const [west, south, east, north] = bounds
  const isWhole = east - west >= 360
  const lonStep = isWhole ? 30 : chooseStep((east - west) / (frame.width / 120))
  const latStep = chooseStep((north - south) / (frame.height / 90))
  const gap = isWhole ? (north - south) * polarGap : 0
  const [outer, inner] = north > 0 ? [south, north - gap] : [north, south + gap]
  return {
    lons: listMultiples(west, isWhole ? east - lonStep / 2 : east, lonStep),
    lats: listMultiples(south, north, latStep),
    outer,
    inner,
    decimals: { lon: countDecimals(lonStep), lat: countDecimals(latStep) },
  }
}

function drawPolarGraticule(view: Projection): readonly SvgElement[] {
  const { lons, lats, outer, inner } = createPolarGrid(view)
  const [west, , east] = view.bounds
  const attributes = { ...ink, fill: 'none' }
  return [
    ...lons.map((lon) => drawRun([view.point([lon, inner]), view.point([lon, outer])], attributes)),
    ...lats.map((lat) => {
      const ends: LonLat[] = [
        [west, lat],
        [east, lat],
      ]
      return drawRun(traceArea(ends, view), attributes)
    }),
  ]
}

/** Labels meridians near the edge of the frame and parallels from the middle outwards. */
export function listPolarLabels(view: Projection): readonly Label[] {
  if (view.name !== 'polar stereographic') return []
  const { lons, lats, outer, inner, decimals } = createPolarGrid(view)
  const [west, , east] = view.bounds
  const create = (text: string, places: readonly LonLat[]): Label[] => {
    const centres = places.map(view.point)
    const [at] = centres
    if (at === undefined) return []
    return [
      {
        at,
        centres,
        lines: [text],
        color: labelColor,
        isImportant: false,
        isOptional: true,
        size: labelSize,
      },
    ]
  }
  const meridians = lons.flatMap((lon) => {
    const places = listShares(200).map((share): LonLat => [lon, outer + ((inner - outer) * share) / 2])
    return create(formatAngle(normalizeLongitude(lon), 'EW', decimals.lon), places)
  })
  const parallels = lats.flatMap((lat) => {
    const [middle, half] = [(west + east) / 2, (east - west) / 2]
    const places = listShares(60).flatMap((share): LonLat[] => [
      [middle + half * share, lat],
      [middle - half * share, lat],
    ])
    return create(formatAngle(lat, 'NS', decimals.lat), places)
  })
  return [...meridians, ...parallels]
}

const listShares = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index / count)

const drawRun = (
  points: readonly Point[],
  attributes: Readonly<Record<string, string | number>>,
): SvgElement =>
  element('path', {
    d: points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(''),
    ...attributes,
    'clip-path': 'url(#chart)',
  })

function drawStraightGraticule({ bounds, frame, point }: Projection): readonly SvgElement[] {
  const [west, south, east, north] = bounds
  const lonStep = chooseStep((east - west) / (frame.width / 120))
  const latStep = chooseStep((north - south) / (frame.height / 90))
  const { left, top, width, height } = frame
  const meridians = listMultiples(west, east, lonStep).flatMap((lon) => {
    const [x] = point([lon, (south + north) / 2])
    return [
      line([x, top], [x, top + height], ink),
      text([x, top + height + 18], formatAngle(normalizeLongitude(lon), 'EW', countDecimals(lonStep)), {
        ...label,
        'text-anchor': 'middle',
      }),
    ]
  })
  const parallels = listMultiples(south, north, latStep).flatMap((lat) => {
    const [, y] = point([(west + east) / 2, lat])
    return [
      line([left, y], [left + width, y], ink),
      text([left - 8, y + 4], formatAngle(lat, 'NS', countDecimals(latStep)), {
        ...label,
        'text-anchor': 'end',
      }),
    ]
  })
  return [...meridians, ...parallels]
}

const label = { 'font-size': labelSize, fill: labelColor }

const chooseStep = (wanted: number): number => steps.find((step) => step >= wanted) ?? 60

const countDecimals = (step: number): number => (step < 0.09 / 60 ? 2 : step < 0.9 / 60 ? 1 : 0)

/** Returns the multiples of `step` strictly between the ends. */
function listMultiples(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step + 0.05)
  const last = Math.floor(to / step - 0.05)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
}

/** Returns `36°30′N` or `36°08.5′N`. Omits the minutes of whole degrees. */
export function formatAngle(degrees: number, [positive, negative]: string, decimals = 0): string {
  const unit = 10 ** decimals
  const parts = Math.round(Math.abs(degrees) * 60 * unit)
  const side = parts === 0 || parts === 180 * 60 * unit ? '' : degrees > 0 ? positive : negative
  const rest = parts % (60 * unit)
  const minutes = (rest / unit).toFixed(decimals).padStart(decimals === 0 ? 2 : 3 + decimals, '0')
  return `${Math.floor(parts / (60 * unit))}°${rest === 0 ? '' : `${minutes}′`}${side}`
}

/** Scale variation above which the bar states its latitude. */
const maxVariation = 1.02

/** Maximum length of the bar, in pixels. */
const maxBar = 180
const barMargin = 18

export const listScaleBarBoxes = ({ frame, scale }: Projection): readonly Box[] => {
  const [right, bottom] = [frame.left + frame.width, frame.top + frame.height]
  return scale === null ? [] : [{ left: right - maxBar - 2 * barMargin, top: bottom - 44, right, bottom }]
}

/**
 * Draws a round number of nautical miles, with its latitude if the scale varies. Draws nothing if the scale depends
 * on the direction.
 */
export function drawScaleBar({ frame, scale }: Projection): readonly SvgElement[] {
  if (scale === null) return []
  const { pxPerMile, latitude, variation } = scale
  const max = maxBar / pxPerMile
  const decade = 10 ** Math.floor(Math.log10(max))
  const miles = ([5, 2, 1].find((step) => step * decade <= max) ?? 1) * decade
  const right = frame.left + frame.width - barMargin
  const left = right - miles * pxPerMile
  const y = frame.top + frame.height - 16
  const stroke = { stroke: '#1F2328', 'stroke-width': 2 }
  const where = variation > maxVariation ? ` at ${formatAngle(latitude, 'NS')}` : ''
  const metres = miles < 1 ? ` (${Number((miles * 1852).toPrecision(2))} m)` : ''
  const length = miles.toLocaleString('en', { maximumSignificantDigits: 3 })
  return [
    line([left, y], [right, y], stroke),
    line([left, y - 5], [left, y + 5], stroke),
    line([right, y - 5], [right, y + 5], stroke),
    haloText([right, y - 9], `${length} nm${metres}${where}`, { 'text-anchor': 'end', 'font-size': 13 }),
  ]
}
