import { element, haloText, line, type Point, type SvgElement, text } from '@causeway/picture'
import { type LonLat, normalizeLongitude } from '@causeway/plot'
import type { Box, Label } from './labels.ts'
import { type Projection, traceArea } from './projection.ts'

/** Distances between grid lines, in degrees. */
const stepSizes = [
  ...[0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30].map((minutes) => minutes / 60),
  ...[1, 2, 5, 10, 20, 30, 45],
]

const lineStyle = { stroke: '#B9CAD6', 'stroke-width': 0.8 }
const labelColor = '#57606A'
const labelSize = 12

/** Labels are outside the frame, except on polar charts (`listPolarLabels`). */
export const drawGraticule = (view: Projection): readonly SvgElement[] =>
  view.name === 'polar stereographic' ? drawPolarGraticule(view) : drawStraightGraticule(view)

/** Fraction of the visible latitudes, next to the pole, in which meridians are not drawn. */
const polarGapFraction = 0.04

function createPolarGrid({ bounds, frame }: Projection) {
  const [west, south, east, north] = bounds
  const isFullCircle = east - west >= 360
  const lonStep = isFullCircle ? 30 : chooseStep((east - west) / (frame.width / 120))
  const latStep = chooseStep((north - south) / (frame.height / 90))
  const gapDegrees = isFullCircle ? (north - south) * polarGapFraction : 0
  const [outerLat, innerLat] = north > 0 ? [south, north - gapDegrees] : [north, south + gapDegrees]
  return {
    lons: listMultiples(west, isFullCircle ? east - lonStep / 2 : east, lonStep),
    lats: listMultiples(south, north, latStep),
    outerLat,
    innerLat,
    decimals: { lon: countDecimals(lonStep), lat: countDecimals(latStep) },
  }
}

function drawPolarGraticule(view: Projection): readonly SvgElement[] {
  const { lons, lats, outerLat, innerLat } = createPolarGrid(view)
  const [west, , east] = view.bounds
  const attributes = { ...lineStyle, fill: 'none' }
  return [
    ...lons.map((lon) => drawPath([view.point([lon, innerLat]), view.point([lon, outerLat])], attributes)),
    ...lats.map((lat) => {
      const ends: LonLat[] = [
        [west, lat],
        [east, lat],
      ]
      return drawPath(traceArea(ends, view), attributes)
    }),
  ]
}

/** Returns labels of meridians near the edge of the frame, and of parallels from the middle outwards. */
export function listPolarLabels(view: Projection): readonly Label[] {
  if (view.name !== 'polar stereographic') return []
  const { lons, lats, outerLat, innerLat, decimals } = createPolarGrid(view)
  const [west, , east] = view.bounds
  const createLabel = (text: string, positions: readonly LonLat[]): Label[] => {
    const centres = positions.map(view.point)
    const [anchor] = centres
    if (anchor === undefined) return []
    return [
      {
        anchor,
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
    const positions = listFractions(200).map(
      (fraction): LonLat => [lon, outerLat + ((innerLat - outerLat) * fraction) / 2],
    )
    return createLabel(formatAngle(normalizeLongitude(lon), 'EW', decimals.lon), positions)
  })
  const parallels = lats.flatMap((lat) => {
    const [middleLon, halfWidth] = [(west + east) / 2, (east - west) / 2]
    const positions = listFractions(60).flatMap((fraction): LonLat[] => [
      [middleLon + halfWidth * fraction, lat],
      [middleLon - halfWidth * fraction, lat],
    ])
    return createLabel(formatAngle(lat, 'NS', decimals.lat), positions)
  })
  return [...meridians, ...parallels]
}

const listFractions = (count: number): readonly number[] =>
  Array.from({ length: count }, (_, index) => index / count)

const drawPath = (
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
      line([x, top], [x, top + height], lineStyle),
      text([x, top + height + 18], formatAngle(normalizeLongitude(lon), 'EW', countDecimals(lonStep)), {
        ...labelStyle,
        'text-anchor': 'middle',
      }),
    ]
  })
  const parallels = listMultiples(south, north, latStep).flatMap((lat) => {
    const [, y] = point([(west + east) / 2, lat])
    return [
      line([left, y], [left + width, y], lineStyle),
      text([left - 8, y + 4], formatAngle(lat, 'NS', countDecimals(latStep)), {
        ...labelStyle,
        'text-anchor': 'end',
      }),
    ]
  })
  return [...meridians, ...parallels]
}

const labelStyle = { 'font-size': labelSize, fill: labelColor }

const chooseStep = (minStep: number): number => stepSizes.find((step) => step >= minStep) ?? 60

const countDecimals = (step: number): number => (step < 0.09 / 60 ? 2 : step < 0.9 / 60 ? 1 : 0)

/** Returns the multiples of `step` strictly between the ends. */
function listMultiples(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step + 0.05)
  const last = Math.floor(to / step - 0.05)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
}

/** Returns a text such as `36°30′N` or `36°08.5′N`. Omits the minutes of whole degrees. */
export function formatAngle(degrees: number, [positive, negative]: string, decimals = 0): string {
  const unitsPerMinute = 10 ** decimals
  const units = Math.round(Math.abs(degrees) * 60 * unitsPerMinute)
  const hemisphere =
    units === 0 || units === 180 * 60 * unitsPerMinute ? '' : degrees > 0 ? positive : negative
  const minuteUnits = units % (60 * unitsPerMinute)
  const minutes = (minuteUnits / unitsPerMinute)
    .toFixed(decimals)
    .padStart(decimals === 0 ? 2 : 3 + decimals, '0')
  return `${Math.floor(units / (60 * unitsPerMinute))}°${minuteUnits === 0 ? '' : `${minutes}′`}${hemisphere}`
}

/** Scale variation above which the bar shows its latitude. */
const maxUnlabelledVariation = 1.02

/** Maximum length of the bar, in pixels. */
const maxBarLength = 180
const barMargin = 18

export const listScaleBarBoxes = ({ frame, scale }: Projection): readonly Box[] => {
  const [right, bottom] = [frame.left + frame.width, frame.top + frame.height]
  return scale === null
    ? []
    : [{ left: right - maxBarLength - 2 * barMargin, top: bottom - 44, right, bottom }]
}

/**
 * Draws a round number of nautical miles, with its latitude if the scale varies. Draws nothing if the scale depends
 * on the direction.
 */
export function drawScaleBar({ frame, scale }: Projection): readonly SvgElement[] {
  if (scale === null) return []
  const { pxPerMile, latitude, variation } = scale
  const maxMiles = maxBarLength / pxPerMile
  const decade = 10 ** Math.floor(Math.log10(maxMiles))
  const miles = ([5, 2, 1].find((step) => step * decade <= maxMiles) ?? 1) * decade
  const right = frame.left + frame.width - barMargin
  const left = right - miles * pxPerMile
  const y = frame.top + frame.height - 16
  const barStyle = { stroke: '#1F2328', 'stroke-width': 2 }
  const latitudeText = variation > maxUnlabelledVariation ? ` at ${formatAngle(latitude, 'NS')}` : ''
  const metresText = miles < 1 ? ` (${Number((miles * 1852).toPrecision(2))} m)` : ''
  const milesText = miles.toLocaleString('en', { maximumSignificantDigits: 3 })
  return [
    line([left, y], [right, y], barStyle),
    line([left, y - 5], [left, y + 5], barStyle),
    line([right, y - 5], [right, y + 5], barStyle),
    haloText([right, y - 9], `${milesText} nm${metresText}${latitudeText}`, {
      'text-anchor': 'end',
      'font-size': 13,
    }),
  ]
}
