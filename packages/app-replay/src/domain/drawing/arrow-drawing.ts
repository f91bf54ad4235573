import {
  arrow,
  circle,
  measureText,
  type Point,
  palette,
  type SvgElement,
  textSizes,
} from '@causeway/picture'
import { formatNumber } from '../sentence.ts'
import type { Point3 } from '../vector.ts'
import type { ContactForce } from './contact-force.ts'
import type { Label } from './label.ts'
import type { Projected } from './view.ts'

export interface Projection {
  readonly at: (world: Point3) => Point
  readonly project: (direction: Point3) => Projected
}

export interface Mark {
  readonly name: string
  readonly color: string
}

export interface ArrowDrawing {
  readonly parts: readonly SvgElement[]
  readonly labels: readonly Label[]
  readonly marks: readonly Mark[]
}

const labelStyle = { size: textSizes.note, weight: 600 } as const

function labelTip(text: string, [from, tip]: readonly [Point, Point], color: string): Label {
  const [dx, dy] = [tip[0] - from[0], tip[1] - from[1]]
  const { size } = labelStyle
  const at: Point =
    Math.abs(dx) > Math.abs(dy)
      ? [tip[0] + Math.sign(dx) * (6 + measureText(text, size) / 2), tip[1] + 0.35 * size]
      : [tip[0], tip[1] + (dy > 0 ? size + 4 : -6)]
  return { ...labelStyle, text, at, color }
}

const marks = {
  normal: { name: 'normal force', color: '#2E7D32' },
  friction: { name: 'friction', color: palette[1] },
  velocity: { name: 'velocity', color: palette[0] },
  contact: { name: 'contact point', color: '#C62828' },
} as const

/** Length of the longest arrow, px. */
const maxArrowLength = 120

/** Minimum ratio of a drawn vector to the largest one. */
const minVisibleForceShare = 0.01

/** m/s. Slower bodies do not get an arrow. */
const restSpeed = 1e-3

/** Horizontal offset of vertical velocity arrows, px. */
const velocityOffset = 50

const getLength = (vector: Point3 | null): number => (vector === null ? 0 : Math.hypot(...vector))

function getArrowTip(from: Point, vector: Point3, largest: number, { project }: Projection): Point {
  const [right, up] = project(vector)
  return [from[0] + (right / largest) * maxArrowLength, from[1] - (up / largest) * maxArrowLength]
}

export function drawForces(forces: readonly ContactForce[], projection: Projection): ArrowDrawing {
  const largest = Math.max(
    ...forces.flatMap(({ normal, friction }) => [getLength(normal), getLength(friction)]),
    0,
  )
  const isVisible = (force: Point3 | null): force is Point3 =>
    largest > 0 && getLength(force) > minVisibleForceShare * largest
  const formatForce = (force: Point3): string => `${formatNumber(getLength(force))} N`
  const labels: Label[] = []
  const arrows = forces.flatMap(({ at, normal, friction }) => {
    const from = projection.at(at)
    const parts: SvgElement[] = []
    if (isVisible(friction)) {
      const tip = getArrowTip(from, friction, largest, projection)
      const { color } = marks.friction
      parts.push(arrow(from, tip, { color, width_px: 3 }))
      const tipBelow: Point = [tip[0], Math.max(tip[1], from[1]) + 20]
      labels.push({ ...labelStyle, text: formatForce(friction), at: tipBelow, color })
    }
    if (isVisible(normal)) {
      const tip = getArrowTip(from, normal, largest, projection)
      const { color } = marks.normal
      parts.push(arrow(from, tip, { color, width_px: 3 }))
      labels.push(labelTip(formatForce(normal), [from, tip], color))
    }
    return parts
  })
  const points = forces.flatMap((force) =>
    force.points.map((point) =>
      circle(projection.at(point), 4, { fill: marks.contact.color, stroke: 'white', 'stroke-width': 1 }),
    ),
  )
  return {
    parts: [...points, ...arrows],
    labels,
    marks: [
      ...(forces.some(({ normal }) => isVisible(normal)) ? [marks.normal] : []),
      ...(forces.some(({ friction }) => isVisible(friction)) ? [marks.friction] : []),
      ...(forces.length > 0 ? [marks.contact] : []),
    ],
  }
}

export function drawVelocities(
  bodies: readonly { readonly at: Point3; readonly velocity: Point3 | null }[],
  projection: Projection,
): ArrowDrawing {
  const largest = Math.max(...bodies.map(({ velocity }) => getLength(velocity)), 0)
  const labels: Label[] = []
  const parts = bodies.flatMap(({ at, velocity }) => {
    if (velocity === null || getLength(velocity) < Math.max(restSpeed, minVisibleForceShare * largest))
      return []
    const [x, y] = projection.at(at)
    const [right, up] = projection.project(velocity)
    // A vertical arrow would cover the force of the ground.
    const from: Point = Math.abs(up) > Math.abs(right) ? [x + velocityOffset, y] : [x, y]
    const { color } = marks.velocity
    const tip = getArrowTip(from, velocity, largest, projection)
    labels.push(labelTip(`${formatNumber(getLength(velocity))} m/s`, [from, tip], color))
    return [arrow(from, tip, { color, width_px: 3 })]
  })
  return { parts, labels, marks: parts.length > 0 ? [marks.velocity] : [] }
}
