/** Meridians and parallels at round steps, named in degrees and minutes. */
import { haloText, line, type SvgElement, text } from '@causeway/picture'
import type { Projection } from './projection.ts'

/** Steps that a chart uses, degrees. */
const steps = [1 / 60, 2 / 60, 5 / 60, 10 / 60, 20 / 60, 0.5, 1, 2, 5, 10, 20, 30, 45]

const ink = { stroke: '#B9CAD6', 'stroke-width': 0.8 }

/** Lines over the whole frame, their names at its left and lower edge. */
export function graticule({ bounds, frame, point }: Projection): readonly SvgElement[] {
  const [west, south, east, north] = bounds
  const lonStep = stepFor((east - west) / (frame.width / 120))
  const latStep = stepFor((north - south) / (frame.height / 90))
  const { left, top, width, height } = frame
  const meridians = multiples(west, east, lonStep).flatMap((lon) => {
    const [x] = point([lon, (south + north) / 2])
    return [
      line([x, top], [x, top + height], ink),
      text([x, top + height + 18], angle(wrapped(lon), 'EW'), { ...label, 'text-anchor': 'middle' }),
    ]
  })
  const parallels = multiples(south, north, latStep).flatMap((lat) => {
    const [, y] = point([(west + east) / 2, lat])
    return [
      line([left, y], [left + width, y], ink),
      text([left - 8, y + 4], angle(lat, 'NS'), { ...label, 'text-anchor': 'end' }),
    ]
  })
  return [...meridians, ...parallels]
}

const label = { 'font-size': 12, fill: '#57606A' }

const stepFor = (wanted: number): number => steps.find((step) => step >= wanted) ?? 60

/** Multiples of a step strictly within an interval. */
function multiples(from: number, to: number, step: number): readonly number[] {
  const first = Math.ceil(from / step + 0.05)
  const last = Math.floor(to / step - 0.05)
  return Array.from({ length: Math.max(0, last - first + 1) }, (_, index) => (first + index) * step)
}

const wrapped = (lon: number): number => lon - Math.floor((lon + 180) / 360) * 360

/** `36°30′N`; whole degrees without minutes. */
export function angle(degrees: number, [positive, negative]: string): string {
  const minutes = Math.round(Math.abs(degrees) * 60)
  const side = minutes === 0 || minutes === 180 * 60 ? '' : degrees > 0 ? positive : negative
  const rest = minutes % 60
  return `${Math.floor(minutes / 60)}°${rest === 0 ? '' : `${String(rest).padStart(2, '0')}′`}${side}`
}

/** A bar of a round number of nautical miles, at the lower right of the frame. */
export function mileBar({ frame, pxPerMile }: Projection): readonly SvgElement[] {
  const most = 180 / pxPerMile
  const decade = 10 ** Math.floor(Math.log10(most))
  const miles = ([5, 2, 1].find((step) => step * decade <= most) ?? 1) * decade
  const right = frame.left + frame.width - 18
  const left = right - miles * pxPerMile
  const y = frame.top + frame.height - 16
  const stroke = { stroke: '#1F2328', 'stroke-width': 2 }
  return [
    line([left, y], [right, y], stroke),
    line([left, y - 5], [left, y + 5], stroke),
    line([right, y - 5], [right, y + 5], stroke),
    haloText(
      [(left + right) / 2, y - 9],
      `${miles.toLocaleString('en', { maximumSignificantDigits: 3 })} nm`,
      {
        'text-anchor': 'middle',
        'font-size': 13,
      },
    ),
  ]
}
