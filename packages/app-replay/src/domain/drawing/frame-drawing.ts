import {
  arrow,
  axisGizmo,
  circle,
  drawing,
  element,
  group,
  type Point,
  type SvgElement,
  scaleBar,
  text,
  textSizes,
  themeColors,
} from '@causeway/picture'
import type { BodyId, Frame } from '@causeway/recording'
import type { createEnvironmentTest } from '../bodies/body.ts'
import type { ForceScale } from '../contacts/force.ts'
import { formatCount, formatQuantity } from '../sentence.ts'
import { add, distance, type Point3 } from '../vector.ts'
import { drawForces, drawVelocities, type Mark } from './arrow-drawing.ts'
import {
  type Canvas,
  type DrawnBody,
  drawBody,
  drawFixed,
  drawGround,
  findGroundCenter,
  getBodyStyle,
  getReach,
  listExtremes,
  toDrawnBody,
} from './body-drawing.ts'
import { createSupportedBodySelector, listContactForces } from './contact-force.ts'
import { drawLabel, type Label, separateLabels } from './label.ts'
import type { SceneGeometry } from './shape.ts'
import { createProjector, type Projected, type ViewName } from './view.ts'

interface FrameDrawing {
  readonly frame: Frame
  readonly view: ViewName
  readonly geometry: SceneGeometry
  readonly scale: ForceScale
  /** `null` draws all bodies. */
  readonly bodies: readonly BodyId[] | null
  readonly isEnvironment: ReturnType<typeof createEnvironmentTest>
}

const width = 900
const height = 640
/** The title is above this area, axes and scale are below. */
const area = { left: 90, right: width - 90, top: 110, bottom: height - 110 }
const labelArea = { left: 8, right: width - 8, top: 76, bottom: height - 84 }

/** Returns an SVG of 900 by 640 pixels. */
export function drawFrame({ frame, view, geometry, scale, bodies, isEnvironment }: FrameDrawing): string {
  const isRequested = (id: BodyId): boolean => bodies === null || bodies.includes(id)
  const states = frame.states.filter(({ body_id }) => isRequested(body_id))
  const finiteBodies = states.flatMap((state) => {
    const body = toDrawnBody(state, geometry)
    return body === null ? [] : [{ ...body, size: 2 * getReach(body.shape) }]
  })
  const drawnBodies = selectVisible(finiteBodies)
  const drawnIds = new Set(drawnBodies.map(({ id }) => id))
  const getSupportedBody = createSupportedBodySelector(
    new Map(drawnBodies.map(({ id, at }) => [id, at[2]])),
    isEnvironment,
  )
  const forces = listContactForces(frame, scale, getSupportedBody).filter(
    ({ body_a_id, body_b_id }) => drawnIds.has(body_a_id) || drawnIds.has(body_b_id),
  )
  const project = createProjector(view)
  const fixed = geometry.fixed.filter((body) => isVisible(body.at, drawnBodies))
  const { toCanvas, perMetre } = fitToArea([
    ...drawnBodies.flatMap((body) => listExtremes(body).map(project)),
    ...forces.filter(({ body }) => drawnIds.has(body)).flatMap(({ points }) => points.map(project)),
    ...fixed.map(({ at }) => project(at)),
  ])
  const canvas: Canvas = { at: (world) => toCanvas(project(world)), perMetre }
  const projection = { at: canvas.at, project }
  const [forceDrawing, speedDrawing] = [
    drawForces(forces, projection),
    drawVelocities(drawnBodies, projection),
  ]
  const half = (width * groundWidthShare[view]) / perMetre
  const labels = [
    ...drawnBodies.map((body) => nameBody(body, geometry, canvas)),
    ...forceDrawing.labels,
    ...speedDrawing.labels,
    ...nameEnvironment({ ...geometry, fixed }, drawnBodies, canvas),
  ]
  const parts = [
    ...geometry.grounds.map((ground) => drawGround(ground, drawnBodies, { at: canvas.at, half })),
    ...fixed.map((body) => drawFixed(body, canvas)),
    ...drawnBodies.map((body) => drawBody(body, getBodyStyle(finiteBodies.indexOf(body)), canvas)),
    ...forceDrawing.parts,
    ...speedDrawing.parts,
    ...separateLabels(labels, labelArea).map(drawLabel),
  ]
  const listMissing = (from: readonly BodyId[], included: ReadonlySet<BodyId>): readonly BodyId[] =>
    from.filter((id) => !included.has(id))
  const missingBodies = {
    notFinite: listMissing(
      states.map(({ body_id }) => body_id),
      new Set(finiteBodies.map(({ id }) => id)),
    ),
    distant: listMissing(
      finiteBodies.map(({ id }) => id),
      drawnIds,
    ),
  }
  return drawing(
    { width_px: width, height_px: height },
    ...parts,
    ...drawMargins(),
    ...drawHeading(frame, view, missingBodies),
    axisGizmo([58, height - 52], listAxes(view), 32),
    scaleBar([width - 210, height - 36], { px_per_unit: perMetre, unit: 'm' }),
    ...drawLegend([...forceDrawing.marks, ...speedDrawing.marks]),
  )
}

const isVisible = (at: Point3, drawnBodies: readonly (DrawnBody & { readonly size: number })[]): boolean =>
  selectVisible([...drawnBodies, { at, size: 0 }]).some((body) => body.at === at)

interface Viewport {
  readonly toCanvas: (projected: Projected) => Point
  readonly perMetre: number
}

/** In m. Smaller scenes are drawn as if they were 0.2 m wide. */
const minSpan = 1e-5

function fitToArea(spans: readonly Projected[]): Viewport {
  const getRange = (axis: 0 | 1): readonly [number, number] =>
    spans.reduce(([low, high], span) => [Math.min(low, span[axis]), Math.max(high, span[axis])] as const, [
      Number.POSITIVE_INFINITY,
      Number.NEGATIVE_INFINITY,
    ] as const)
  const [[left, right], [low, high]] =
    spans.length === 0
      ? ([
          [0, 1],
          [0, 1],
        ] as const)
      : [getRange(0), getRange(1)]
  const span = Math.max(right - left, high - low)
  const spanOrDefault = span > minSpan ? span : 1
  const perMetre =
    Math.min(
      (area.right - area.left) / Math.max(right - left, 0.2 * spanOrDefault),
      (area.bottom - area.top) / Math.max(high - low, 0.2 * spanOrDefault),
    ) * 0.8
  const [cx, cy] = [(left + right) / 2, (low + high) / 2]
  return {
    perMetre,
    toCanvas: ([x, y]) => [
      (area.left + area.right) / 2 + (x - cx) * perMetre,
      (area.top + area.bottom) / 2 - (y - cy) * perMetre,
    ],
  }
}

/** Ratio of half the ground's side to the picture's width. */
const groundWidthShare: Readonly<Record<ViewName, number>> = { front: 0.42, side: 0.42, top: 0.28, iso: 0.26 }

/** Position of a name between the centre, where arrows begin, and the leftmost point. */
const nameHeightShare = 0.6

function nameBody(body: DrawnBody, { names }: SceneGeometry, { at, perMetre }: Canvas): Label {
  const middle = at(body.at)
  const { shape } = body
  const left: Point =
    shape !== null && !('radius' in shape)
      ? listExtremes(body)
          .map(at)
          .reduce((leftmost, point) => (point[0] < leftmost[0] ? point : leftmost), middle)
      : [middle[0] - Math.max(14, (shape?.radius ?? 0) * perMetre), middle[1]]
  const [x, y] = [0, 1].map((i) => (middle[i] ?? 0) + nameHeightShare * ((left[i] ?? 0) - (middle[i] ?? 0)))
  return {
    text: names.get(body.id) ?? String(body.id),
    at: [x ?? 0, (y ?? 0) + 6],
    size: 17,
    weight: 700,
  }
}

const environmentLabel = { size: textSizes.note, weight: 600, color: themeColors.secondaryText } as const

/** Distance of a name from the surface, px. */
const labelDepth = 22

/** Places names on the solid side of planes and below fixed bodies. */
function nameEnvironment(
  { names, grounds, fixed }: SceneGeometry,
  drawn: readonly DrawnBody[],
  { at }: Canvas,
): Label[] {
  const positions = [
    ...grounds.map((ground) => {
      const groundPoint = findGroundCenter(ground, drawn)
      const [x, y] = at(groundPoint)
      const [u, v] = at(add(groundPoint, ground.normal, -1))
      const size = Math.hypot(u - x, v - y)
      // Seen from above, the solid side has no direction.
      const [dx, dy] = size < 1e-6 ? [0, 1] : [(u - x) / size, (v - y) / size]
      return { body: ground.body, position: [x + 1.6 * labelDepth * dx, y + labelDepth * dy] as Point }
    }),
    ...fixed.map(({ body, at: center }) => {
      const [x, y] = at(center)
      return { body, position: [x, y + labelDepth] as Point }
    }),
  ]
  return positions.flatMap(({ body, position }) => {
    const name = names.get(body)
    return name === undefined || !isInside(position)
      ? []
      : [{ ...environmentLabel, text: name, at: position }]
  })
}

const isInside = ([x, y]: Point): boolean =>
  x >= labelArea.left && x <= labelArea.right && y >= labelArea.top && y <= labelArea.bottom

const drawMargins = (): SvgElement[] =>
  [
    { y: 0, height: labelArea.top - 4 },
    { y: labelArea.bottom + 4, height: height - labelArea.bottom - 4 },
  ].map((strip) => element('rect', { x: 0, width, fill: 'white', ...strip }))

const viewDescriptions: Readonly<Record<ViewName, string>> = {
  front: 'from the front',
  side: 'from the side',
  top: 'from above',
  iso: 'askew from above',
}

interface MissingBodies {
  readonly notFinite: readonly BodyId[]
  readonly distant: readonly BodyId[]
}

const maxListedIds = 6

const formatIds = (ids: readonly BodyId[]): string =>
  ids.length <= maxListedIds
    ? ids.join(', ')
    : `${ids.slice(0, maxListedIds).join(', ')} and ${ids.length - maxListedIds} more`

function drawHeading(frame: Frame, view: ViewName, { notFinite, distant }: MissingBodies): SvgElement[] {
  const { frame_id, simulation_time, system_energy, collisions } = frame
  const change = system_energy?.delta_e ?? null
  const headingParts = [
    `${formatCount(collisions.length, 'pair')} in contact`,
    ...(change === null ? [] : [`energy step ${change > 0 ? '+' : ''}${formatQuantity(change, 'J')}`]),
    ...(notFinite.length === 0 ? [] : [`position not finite: ${formatIds(notFinite)}`]),
    ...(distant.length === 0 ? [] : [`too far away to show: ${formatIds(distant)}`]),
  ]
  return [
    text(
      [24, 38],
      `Frame ${frame_id}, t = ${formatQuantity(simulation_time, 's')}, seen ${viewDescriptions[view]}`,
      {
        'font-size': textSizes.title,
        'font-weight': 600,
      },
    ),
    text([24, 62], headingParts.join(' · '), {
      'font-size': textSizes.subtitle,
      fill: themeColors.secondaryText,
    }),
  ]
}

function listAxes(view: ViewName) {
  const project = createProjector(view)
  return (['x', 'y', 'z'] as const).map((name, axis) => {
    const [right, up] = project([Number(axis === 0), Number(axis === 1), Number(axis === 2)])
    return { name, direction: [right, -up] as Point }
  })
}

function drawLegend(marks: readonly Mark[]): SvgElement[] {
  return marks.map(({ name, color }, index) => {
    const [x, y] = [150 + index * 128, height - 40]
    const mark =
      name === 'contact point'
        ? circle([x + 10, y - 5], 4, { fill: color })
        : arrow([x, y - 5], [x + 24, y - 5], { color, width_px: 3 })
    return group(
      {},
      mark,
      text([x + 30, y], name, { 'font-size': textSizes.note, fill: themeColors.secondaryText }),
    )
  })
}

interface Placed {
  readonly at: Point3
  /** Largest extent, m. */
  readonly size: number
}

/** Maximum distance of a drawn body from the central one, in multiples of the scene's size. */
const maxDistance = 300

/** m */
const minSize = 0.1

/** Returns the bodies near the one with the smallest sum of distances. Ties go to the body nearest to the origin. */
function selectVisible<Body extends Placed>(bodies: readonly Body[]): Body[] {
  const [center] = bodies
    .map((body) => ({ body, sum: sumDistances(body, bodies), norm: Math.hypot(...body.at) }))
    .sort((a, b) => a.sum - b.sum || a.norm - b.norm)
  if (center === undefined) return []
  const distances = bodies.map((body) => distance(body.at, center.body.at)).sort((a, b) => a - b)
  const median = distances[Math.floor((distances.length - 1) / 2)] ?? 0
  const size = Math.max(...bodies.map((body) => body.size), minSize)
  return bodies.filter((body) => distance(body.at, center.body.at) <= maxDistance * (median + size))
}

const sumDistances = (body: Placed, bodies: readonly Placed[]): number =>
  bodies.reduce((sum, other) => sum + distance(body.at, other.at), 0)
