/** Forces and velocities as arrows with their magnitude. */
import { arrow, circle, haloText, type Point, palette, type SvgElement } from '@causeway/picture'
import { readable } from '../sentence.ts'
import type { ContactForce } from './contact-force.ts'
import type { Place, Projected } from './view.ts'

/** Where a place of the world stands in the picture, and how a direction looks in its view. */
export interface Lens {
  readonly at: (world: Place) => Point
  readonly project: (direction: Place) => Projected
}

/** What the legend explains. */
export interface Mark {
  readonly name: string
  readonly color: string
}

/** Elements and what they mean. */
export interface ArrowDrawing {
  readonly parts: readonly SvgElement[]
  readonly marks: readonly Mark[]
}

const marks = {
  normal: { name: 'normal force', color: '#2E7D32' },
  friction: { name: 'friction', color: palette[1] },
  velocity: { name: 'velocity', color: palette[0] },
  contact: { name: 'contact point', color: '#C62828' },
} as const

/** Length of the arrow of the greatest vector, pixels. */
const longestArrow = 120

/** Vectors smaller than this share of the greatest are left out. */
const visible = 0.01

/** m/s below which a body is at rest for a picture. */
const restSpeed = 1e-3

/** How far to the right of a body's centre an upright velocity begins, pixels. */
const besideForce = 50

const size = (vector: Place | null): number => (vector === null ? 0 : Math.hypot(...vector))

/** The tip of a vector: as far as its share of the greatest, in the plane of the view. */
function tipOf(from: Point, vector: Place, greatest: number, { project }: Lens): Point {
  const [right, up] = project(vector)
  return [from[0] + (right / greatest) * longestArrow, from[1] - (up / greatest) * longestArrow]
}

/** The resultant of each pair, N, and every contact point. Friction is told below its arrow: there is the ground. */
export function drawForces(forces: readonly ContactForce[], lens: Lens): ArrowDrawing {
  const greatest = Math.max(...forces.flatMap(({ normal, friction }) => [size(normal), size(friction)]), 0)
  const isShown = (force: Place | null): force is Place => greatest > 0 && size(force) > visible * greatest
  const told = (force: Place): string => `${readable(size(force))} N`
  const arrows = forces.flatMap(({ at, normal, friction }) => {
    const from = lens.at(at)
    const parts: SvgElement[] = []
    if (isShown(friction)) {
      const tip = tipOf(from, friction, greatest, lens)
      const { color } = marks.friction
      const below: Point = [tip[0], Math.max(tip[1], from[1]) + 20]
      parts.push(arrow(from, tip, { color, width_px: 3 }))
      parts.push(
        haloText(below, told(friction), { fill: color, 'font-weight': 600, 'text-anchor': 'middle' }),
      )
    }
    if (isShown(normal)) {
      const tip = tipOf(from, normal, greatest, lens)
      parts.push(arrow(from, tip, { color: marks.normal.color, width_px: 3, label: told(normal) }))
    }
    return parts
  })
  const points = forces.flatMap((force) =>
    force.points.map((point) =>
      circle(lens.at(point), 4, { fill: marks.contact.color, stroke: 'white', 'stroke-width': 1 }),
    ),
  )
  return {
    parts: [...points, ...arrows],
    marks: [
      ...(forces.some(({ normal }) => isShown(normal)) ? [marks.normal] : []),
      ...(forces.some(({ friction }) => isShown(friction)) ? [marks.friction] : []),
      ...(forces.length > 0 ? [marks.contact] : []),
    ],
  }
}

/** The velocity of what moves, m/s. */
export function drawSpeeds(
  bodies: readonly { readonly at: Place; readonly velocity: Place | null }[],
  lens: Lens,
): ArrowDrawing {
  const greatest = Math.max(...bodies.map(({ velocity }) => size(velocity)), 0)
  const parts = bodies.flatMap(({ at, velocity }) => {
    if (velocity === null || size(velocity) < Math.max(restSpeed, visible * greatest)) return []
    const [x, y] = lens.at(at)
    const [right, up] = lens.project(velocity)
    // Upwards and downwards it would cover the force of the ground.
    const from: Point = Math.abs(up) > Math.abs(right) ? [x + besideForce, y] : [x, y]
    const label = `${readable(size(velocity))} m/s`
    const { color } = marks.velocity
    return [arrow(from, tipOf(from, velocity, greatest, lens), { color, width_px: 3, label })]
  })
  return { parts, marks: parts.length > 0 ? [marks.velocity] : [] }
}
