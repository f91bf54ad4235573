/** Parts that several drawings share: arrows, axes and scale bars. */
import { inks, textSizes } from './chart-theme.ts'
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

/** How an arrow looks. */
export interface ArrowStyle {
  readonly color?: string
  /** width of the shaft, pixels, default 2 */
  readonly width_px?: number
  /** stands beside the tip, in the colour of the arrow */
  readonly label?: string
}

/**
 * An arrow whose tip is exactly at `to`. One that is too short for a head is a dot: a vector of no length still shows
 * where it acts.
 */
export function arrow(
  from: Point,
  to: Point,
  { color = inks.text, width_px = 2, label }: ArrowStyle = {},
): SvgElement {
  const [dx, dy] = [to[0] - from[0], to[1] - from[1]]
  const length = Math.hypot(dx, dy)
  const named = label === undefined ? [] : [arrowLabel(to, [dx, dy], label, color)]
  if (length < width_px) {
    return group({}, element('circle', { cx: from[0], cy: from[1], r: width_px, fill: color }), ...named)
  }
  const [ux, uy] = [dx / length, dy / length]
  const head = Math.min(width_px * 5, length)
  const base: Point = [to[0] - ux * head, to[1] - uy * head]
  const half = head * 0.4
  return group(
    {},
    line(from, base, { stroke: color, 'stroke-width': width_px }),
    polygon([to, [base[0] - uy * half, base[1] + ux * half], [base[0] + uy * half, base[1] - ux * half]], {
      fill: color,
    }),
    ...named,
  )
}

/** Beyond the tip, and never over the shaft; below a dot, to the left, where axes rarely point. */
function arrowLabel(tip: Point, [dx, dy]: Point, label: string, color: string): SvgElement {
  if (Math.hypot(dx, dy) < 1) {
    return haloText([tip[0] - 5, tip[1] + 14], label, {
      fill: color,
      'text-anchor': 'end',
      'font-weight': 600,
    })
  }
  const isSideways = Math.abs(dx) > Math.abs(dy)
  const anchor = isSideways ? (dx > 0 ? 'start' : 'end') : 'middle'
  const x = tip[0] + (isSideways ? Math.sign(dx) * 6 : 0)
  const y = tip[1] + (isSideways ? textSizes.note * 0.35 : dy > 0 ? textSizes.note + 4 : -6)
  return haloText([x, y], label, { fill: color, 'text-anchor': anchor, 'font-weight': 600 })
}

/** Text that can be read over lines: it has a white seam. */
export const haloText = (at: Point, content: string, attributes: SvgAttributes = {}): SvgElement =>
  text(at, content, {
    'font-size': textSizes.note,
    stroke: 'white',
    'stroke-width': 4,
    'stroke-linejoin': 'round',
    'paint-order': 'stroke',
    ...attributes,
  })

/** An axis of a view: its name and where it points on the picture, as a unit vector, y down. */
export interface GizmoAxis {
  readonly name: string
  readonly direction: Point
  readonly color?: string
}

/** Usual colours of x, y and z in engines, dark enough for white. */
export const axisColors = { x: '#C62828', y: '#2E7D32', z: '#1565C0' } as const

/** Which way the axes point: an arrow and a name each, from a common origin. An axis seen from its end is a dot. */
export function axisGizmo(origin: Point, axes: readonly GizmoAxis[], length_px = 36): SvgElement {
  return group(
    {},
    ...axes.map(({ name, direction: [x, y], color }) =>
      arrow(origin, [origin[0] + x * length_px, origin[1] + y * length_px], {
        color: color ?? axisColors[name as keyof typeof axisColors] ?? inks.text,
        label: name,
      }),
    ),
  )
}

/**
 * A bar of a round length (1, 2 or 5 times a power of ten) of at most `most_px`, with its length in words.
 * `px_per_unit` is the scale of the drawing.
 */
export function scaleBar(
  at: Point,
  {
    px_per_unit,
    unit,
    most_px = 160,
  }: { readonly px_per_unit: number; readonly unit: string; readonly most_px?: number },
): SvgElement {
  const most = most_px / px_per_unit
  const decade = Number(`1e${Math.floor(Math.log10(most))}`)
  const length = ([5, 2, 1].find((step) => step * decade <= most) ?? 1) * decade
  const [x, y] = at
  const end = x + length * px_per_unit
  const ink = { stroke: inks.text, 'stroke-width': 2 }
  return group(
    {},
    line([x, y], [end, y], ink),
    line([x, y - 5], [x, y + 5], ink),
    line([end, y - 5], [end, y + 5], ink),
    haloText(
      [(x + end) / 2, y - 9],
      `${length.toLocaleString('en', { maximumSignificantDigits: 1 })} ${unit}`,
      { 'text-anchor': 'middle' },
    ),
  )
}
