import { element, haloText, line, type Point, type SvgElement, text } from '@causeway/picture'
import { normalizeLongitude } from '@causeway/plot'
import { type Projection, traceArea } from './projection.ts'

/** Degrees. */
const steps = [1 / 60, 2 / 60, 5 / 60, 10 / 60, 20 / 60, 0.5, 1, 2, 5, 10, 20, 30, 45]

const ink = { stroke: '#B9CAD6', 'stroke-width': 0.8 }

/** Draws meridians and parallels with labels. */
export const drawGraticule = (view: Projection): readonly SvgElement[] =>
  view.name === 'polar stereographic' ? drawPolarGraticule(view) : drawStraightGraticule(view)

/** Draws parallels as circles, with labels on the middle meridian, and meridians with labels at the edge of the frame. */
function drawPolarGraticule(view: Projection): readonly SvgElement[] {
  const { bounds, frame, point } = view
  const [west, south, east, north] = bounds
  const isNorthern = north > 0
  const [outer, inner] = isNorthern ? [south, Math.min(north, 89.5)] : [north, Math.max(south, -89.5)]
  const isWhole = east - west >= 360
  const lonStep = isWhole ? 30 : chooseStep((east - west) / (frame.width / 120))
  const latStep = chooseStep((north - south) / (frame.height / 90))
  const inset = { left: frame.left + 24, right: frame.left + frame.width - 24, top: frame.top + 16 }
  const bottom = frame.top + frame.height - 10
  const isVisible = ([x, y]: Point): boolean =>
    x >= inset.left && x <= inset.right && y >= inset.top && y <= bottom
  const attributes = { ...ink, fill: 'none' }
  const lons = listMultiples(west, isWhole ? east - lonStep / 2 : east, lonStep)
  const meridians = lons.flatMap((lon) => {
    const steps = Array.from({ length: 200 }, (_, index) => inner + ((outer - inner) * index) / 199)
    const at = steps.map((lat) => point([lon, lat])).findLast(isVisible)
    const path = [point([lon, inner]), point([lon, outer])]
    const name = formatAngle(normalizeLongitude(lon), 'EW')
    return [
      drawRun(path, attributes),
      ...(at === undefined ? [] : [haloText(at, name, { ...label, 'text-anchor': 'middle' })]),
    ]
  })
  const parallels = listMultiples(south, north, latStep).flatMap((lat) => {
    const ends: [number, number][] = [
      [west, lat],
      [east, lat],
    ]
    const at = point([(west + east) / 2, lat])
    return [
      drawRun(traceArea(ends, view), attributes),
      ...(isVisible(at) ? [haloText([at[0] + 4, at[1] - 3], formatAngle(lat, 'NS'), label)] : []),
    ]
  })
  return [...meridians, ...parallels]
}

/** Draws a line that the clip path of the chart limits to the frame. */
const drawRun = (
  points: readonly Point[],
  attributes: Readonly<Record<string, string | number>>,
): SvgElement =>
  element('path', {
    d: points.map(([x, y], index) => `${index === 0 ? 'M' : 'L'}${x.toFixed(1)} ${y.toFixed(1)}`).join(''),
    ...attributes,
    'clip-path': 'url(#chart)',
  })

/** Labels are at the left and lower edge. */
function drawStraightGraticule({ bounds, frame, point }: Projection): readonly SvgElement[] {
  const [west, south, east, north] = bounds
  const lonStep = chooseStep((east - west) / (frame.width / 120))
  const latStep = chooseStep((north - south) / (frame.height / 90))
  const { left, top, width, height } = frame
  const meridians = listMultiples(west, east, lonStep).flatMap((lon) => {
    const [x] = point([lon, (south + north) / 2])
    return [
      line([x, top], [x, top + height], ink),
      text([x, top + height + 18], formatAngle(normalizeLongitude(lon), 'EW'), {
        ...label,
        'text-anchor': 'middle',
      }),
    ]
  })
  const parallels = listMultiples(south, north, latStep).flatMap((lat) => {
    const [, y] = point([(west + east) / 2, lat])
    return [
      line([left, y], [left + width, y], ink),
      text([left - 8, y + 4], formatAngle(lat, 'NS'), { ...label, 'text-anchor': 'end' }),
    ]
  })
  return [...meridians, ...parallels]
}

const label = { 'font-size': 12, fill: '#57606A' }

const chooseStep = (wanted: number): number => steps.find((step) => step >= wanted) ?? 60

/** Excludes multiples at the ends of the interval. */
function listMultiples(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step + 0.05)
  const last = Math.floor(to / step - 0.05)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
}

/** Returns `36°30′N`, and whole degrees without minutes. */
export function formatAngle(degrees: number, [positive, negative]: string): string {
  const minutes = Math.round(Math.abs(degrees) * 60)
  const side = minutes === 0 || minutes === 180 * 60 ? '' : degrees > 0 ? positive : negative
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)}°${rest === 0 ? '' : `${String(rest).padStart(2, '0')}′`}${side}`
}

/** Scales that differ by less within a chart need no latitude. */
const maxVariation = 1.02

/**
 * Draws a bar of a round number of nautical miles at the lower right, with its latitude if the scale changes within the chart.
 * Draws none if the scale depends on the direction.
 */
export function drawScaleBar({ frame, scale }: Projection): readonly SvgElement[] {
  if (scale === null) return []
  const { pxPerMile, latitude, variation } = scale
  const max = 180 / pxPerMile
  const decade = 10 ** Math.floor(Math.log10(max))
  const miles = ([5, 2, 1].find((step) => step * decade <= max) ?? 1) * decade
  const right = frame.left + frame.width - 18
  const left = right - miles * pxPerMile
  const y = frame.top + frame.height - 16
  const stroke = { stroke: '#1F2328', 'stroke-width': 2 }
  const where = variation > maxVariation ? ` at ${formatAngle(latitude, 'NS')}` : ''
  return [
    line([left, y], [right, y], stroke),
    line([left, y - 5], [left, y + 5], stroke),
    line([right, y - 5], [right, y + 5], stroke),
    haloText([right, y - 9], `${miles.toLocaleString('en', { maximumSignificantDigits: 3 })} nm${where}`, {
      'text-anchor': 'end',
      'font-size': 13,
    }),
  ]
}
