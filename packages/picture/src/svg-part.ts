import { textSizes, themeColors } from './chart-theme.ts'
import {
  element,
  group,
  line,
  type Point,
  polygon,
  type SvgAttributes,
  type SvgElement,
  text,
} from './svg.ts'

interface ArrowStyle {
  readonly color?: string
  /** Width of the shaft. Default: 2. */
  readonly width_px?: number
  /** Label next to the tip, in the colour of the arrow. */
  readonly label?: string
}

/** Draws an arrow with its tip at `to`, or a dot if the arrow is too short for a head. */
export function arrow(
  from: Point,
  to: Point,
  { color = themeColors.text, width_px = 2, label }: ArrowStyle = {},
): SvgElement {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const length = Math.hypot(dx, dy)
  const labels = label === undefined ? [] : [createArrowLabel(to, [dx, dy], label, color)]
  if (length < width_px) {
    return group({}, element('circle', { cx: from[0], cy: from[1], r: width_px, fill: color }), ...labels)
  }
  const [ux, uy] = [dx / length, dy / length]
  const headLength = Math.min(width_px * 5, length)
  const base: Point = [to[0] - ux * headLength, to[1] - uy * headLength]
  const headHalfWidth = headLength * 0.4
  return group(
    {},
    line(from, base, { stroke: color, 'stroke-width': width_px }),
    polygon(
      [
        to,
        [base[0] - uy * headHalfWidth, base[1] + ux * headHalfWidth],
        [base[0] + uy * headHalfWidth, base[1] - ux * headHalfWidth],
      ],
      {
        fill: color,
      },
    ),
    ...labels,
  )
}

/** Places the label next to the tip, and that of a dot to its lower left, where axes rarely point. */
function createArrowLabel(tip: Point, [dx, dy]: Point, label: string, color: string): SvgElement {
  if (Math.hypot(dx, dy) < 1) {
    return haloText([tip[0] - 5, tip[1] + 14], label, {
      fill: color,
      'text-anchor': 'end',
      'font-weight': 600,
    })
  }
  const isHorizontal = Math.abs(dx) > Math.abs(dy)
  const anchor = isHorizontal ? (dx > 0 ? 'start' : 'end') : 'middle'
  const x = tip[0] + (isHorizontal ? Math.sign(dx) * 6 : 0)
  const y = tip[1] + (isHorizontal ? textSizes.note * 0.35 : dy > 0 ? textSizes.note + 4 : -6)
  return haloText([x, y], label, { fill: color, 'text-anchor': anchor, 'font-weight': 600 })
}

/** Text with a white outline, legible over lines. */
export const haloText = (at: Point, content: string, attributes: SvgAttributes = {}): SvgElement =>
  text(at, content, {
    'font-size': textSizes.note,
    stroke: 'white',
    'stroke-width': 4,
    'stroke-linejoin': 'round',
    'paint-order': 'stroke',
    ...attributes,
  })

/** `direction` is the unit vector of the axis projected onto the picture, y down. */
interface GizmoAxis {
  readonly name: string
  readonly direction: Point
  readonly color?: string
}

/** Common colours of x, y and z, dark enough on white. */
const axisColors = { x: '#C62828', y: '#2E7D32', z: '#1565C0' } as const

/** Draws an arrow per axis, or a dot if the axis points at the viewer. */
export function axisGizmo(origin: Point, axes: readonly GizmoAxis[], length_px = 36): SvgElement {
  return group(
    {},
    ...axes.map(({ name, direction: [x, y], color }) =>
      arrow(origin, [origin[0] + x * length_px, origin[1] + y * length_px], {
        color: color ?? axisColors[name as keyof typeof axisColors] ?? themeColors.text,
        label: name,
      }),
    ),
  )
}

/** Draws a bar of a round length (1, 2 or 5 times a power of ten) of at most `max_px`. */
export function scaleBar(
  at: Point,
  {
    px_per_unit,
    unit,
    max_px = 160,
  }: { readonly px_per_unit: number; readonly unit: string; readonly max_px?: number },
): SvgElement {
  const maxLength = max_px / px_per_unit
  const decade = Number(`1e${Math.floor(Math.log10(maxLength))}`)
  const length = ([5, 2, 1].find((step) => step * decade <= maxLength) ?? 1) * decade
  const [x, y] = at
  const end = x + length * px_per_unit
  const lineStyle = { stroke: themeColors.text, 'stroke-width': 2 }
  return group(
    {},
    line([x, y], [end, y], lineStyle),
    line([x, y - 5], [x, y + 5], lineStyle),
    line([end, y - 5], [end, y + 5], lineStyle),
    haloText([(x + end) / 2, y - 9], `${formatLength(length)} ${unit}`, { 'text-anchor': 'middle' }),
  )
}

/** Exponents make long numbers fit below the bar. */
const formatLength = (length: number): string =>
  length >= 1e5 || length < 1e-3
    ? length.toExponential(0).replace('e+', 'e')
    : length.toLocaleString('en', { maximumSignificantDigits: 1 })
