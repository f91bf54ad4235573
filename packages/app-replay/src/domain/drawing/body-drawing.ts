import {
  circle,
  group,
  line,
  type Point,
  palette,
  polygon,
  type SvgElement,
  themeColors,
} from '@causeway/picture'
import type { BodyId, BodyState } from '@causeway/recording'
import { add, cross, type Point3, type Rotation, rotate } from '../vector.ts'
import { edges, type FixedBody, type Ground, listCorners, type SceneGeometry, type Shape } from './shape.ts'
import { computeConvexHull, toPoint3 } from './view.ts'

export interface DrawnBody {
  readonly id: BodyId
  readonly at: Point3
  readonly shape: Shape | null
  readonly rotation: Rotation
  readonly velocity: Point3 | null
}

export interface Canvas {
  readonly at: (world: Point3) => Point
  readonly perMetre: number
}

interface BodyStyle {
  readonly fill: string
  readonly stroke: string
}

const fillColors = ['#DCE9F5', '#FCE8D5', '#DDF1EA', '#F6E4EF', '#E3F2FA', '#FBF0D3', '#E8E8E8']
const environmentStyle: BodyStyle = { fill: '#EEF0F2', stroke: themeColors.axis }

export const getBodyStyle = (index: number): BodyStyle => ({
  fill: fillColors[index % fillColors.length] ?? themeColors.axis,
  stroke: palette[index % palette.length] ?? themeColors.axis,
})

export function toDrawnBody(state: BodyState, { shapes }: SceneGeometry): DrawnBody | null {
  const at = toPoint3(state.position)
  if (at === null) return null
  const vector = toPoint3(state.orientation)
  const { w } = state.orientation
  const rotation: Rotation = vector === null || w === null ? [1, 0, 0, 0] : [w, ...vector]
  const { body_id: id } = state
  return { id, at, shape: shapes.get(id) ?? null, rotation, velocity: toPoint3(state.velocity) }
}

/** Returns half of the largest extent in m. */
export function getReach(shape: Shape | null): number {
  if (shape === null) return 0
  if ('box' in shape) return Math.max(...shape.box)
  return shape.radius + ('halfLength' in shape ? shape.halfLength : 0)
}

type Solid = Pick<DrawnBody, 'at' | 'shape' | 'rotation'>

export function listExtremes({ at, shape, rotation }: Solid): Point3[] {
  if (shape === null) return [at]
  if ('box' in shape) {
    const corners = 'outline' in shape ? shape.outline : listCorners(shape.box)
    return corners.map((corner) => add(at, rotate(rotation, corner)))
  }
  const { radius } = shape
  const corners = listCorners([radius, radius, radius])
  return listBallCenters({ at, shape, rotation }).flatMap((center) =>
    corners.map((corner) => add(center, corner)),
  )
}

function listBallCenters({ at, shape, rotation }: Solid): Point3[] {
  if (shape === null || !('halfLength' in shape)) return [at]
  const half = rotate(rotation, [0, 0, shape.halfLength])
  return [add(at, half), add(at, half, -1)]
}

export function drawBody(body: Solid, { fill, stroke }: BodyStyle, { at, perMetre }: Canvas): SvgElement {
  const { shape } = body
  const style = { fill, stroke, 'stroke-width': 2, 'fill-opacity': 0.85, 'stroke-linejoin': 'round' } as const
  if (shape === null)
    return circle(at(body.at), 14, { ...style, 'stroke-dasharray': '4 3', 'fill-opacity': 0.8 })
  const thinStyle = { stroke, 'stroke-width': 1, 'stroke-opacity': 0.55 }
  if ('halfLength' in shape) {
    const [first, second] = listBallCenters(body).map(at)
    const rims = listBallCenters(body).flatMap((center) => listRimPoints(at(center), shape.radius * perMetre))
    return group(
      {},
      polygon(computeConvexHull(rims), style),
      line(first ?? at(body.at), second ?? at(body.at), { ...thinStyle, 'stroke-dasharray': '6 4' }),
    )
  }
  if ('radius' in shape) {
    const rim = rotate(body.rotation, [0, 0, shape.radius])
    return group(
      {},
      circle(at(body.at), Math.max(4, shape.radius * perMetre), style),
      line(at(body.at), at(add(body.at, rim)), thinStyle),
    )
  }
  const corners = listExtremes(body).map(at)
  if ('outline' in shape) return polygon(computeConvexHull(corners), style)
  const lines = edges.map(([from, to]) => line(corners[from] ?? [0, 0], corners[to] ?? [0, 0], thinStyle))
  return group({}, polygon(computeConvexHull(corners), style), ...lines)
}

const rimPoints = 64

const listRimPoints = ([x, y]: Point, radius: number): Point[] =>
  Array.from({ length: rimPoints }, (_, i) => {
    const angle = (2 * Math.PI * i) / rimPoints
    return [x + radius * Math.cos(angle), y + radius * Math.sin(angle)]
  })

/** Draws an environment body; a small one, such as the pivot of a pendulum, as a point. */
export function drawFixed(body: FixedBody, canvas: Canvas): SvgElement {
  if (getReach(body.shape) * canvas.perMetre >= 4) return drawBody(body, environmentStyle, canvas)
  return circle(canvas.at(body.at), 5, { fill: themeColors.axis })
}

/** `half` is half of the side of the drawn square in m. */
export function drawGround(
  { at: groundPoint, normal }: Ground,
  bodies: readonly DrawnBody[],
  { at, half }: Pick<Canvas, 'at'> & { readonly half: number },
): SvgElement {
  const centre = findGroundCenter({ at: groundPoint, normal }, bodies)
  const seed: Point3 = Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]
  const u = normalize(cross(normal, seed))
  const v = cross(normal, u)
  const corners = (
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ] as const
  ).map(([i, j]) => at(add(add(centre, u, i * half), v, j * half)))
  return polygon(corners, {
    fill: environmentStyle.fill,
    stroke: environmentStyle.stroke,
    'stroke-width': 2.5,
    'stroke-linejoin': 'round',
  })
}

export function findGroundCenter(
  { at: groundPoint, normal }: Pick<Ground, 'at' | 'normal'>,
  drawn: readonly DrawnBody[],
): Point3 {
  if (drawn.length === 0) return groundPoint
  // Uses the middle of the extent, because the mean would be biased towards clusters of bodies.
  const [x, y, z] = [0, 1, 2].map((i) => {
    const parts = drawn.map((body) => body.at[i] ?? 0)
    return (Math.min(...parts) + Math.max(...parts)) / 2
  })
  const middle: Point3 = [x ?? 0, y ?? 0, z ?? 0]
  const height =
    (middle[0] - groundPoint[0]) * normal[0] +
    (middle[1] - groundPoint[1]) * normal[1] +
    (middle[2] - groundPoint[2]) * normal[2]
  return add(middle, normal, -height)
}
const normalize = (v: Point3): Point3 => add([0, 0, 0], v, 1 / Math.hypot(...v))
