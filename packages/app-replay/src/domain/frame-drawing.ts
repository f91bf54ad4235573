/** A frame as a drawing: bodies, ground, contacts with their forces, and how fast what moves. */
import {
  arrow,
  axisGizmo,
  circle,
  drawing,
  group,
  haloText,
  inks,
  line,
  type Point,
  palette,
  polygon,
  type SvgElement,
  scaleBar,
  text,
  textSizes,
} from '@causeway/picture'
import type { BodyId, BodyState, Frame } from '@causeway/recording'
import type { environmentTest, Pair } from './body.ts'
import type { ForceScale } from './force.ts'
import { type ContactForce, contactForces } from './scene-view/contact-force.ts'
import {
  cornersOf,
  edges,
  type Ground,
  type Looks,
  type Shape,
  type Turn,
  turned,
} from './scene-view/shape.ts'
import {
  add,
  known,
  outline,
  type Place,
  type Projected,
  projector,
  type ViewName,
} from './scene-view/view.ts'
import { count, quantity, readable } from './sentence.ts'

/** What is drawn. */
export interface FrameDrawing {
  readonly frame: Frame
  readonly view: ViewName
  readonly looks: Looks
  readonly scale: ForceScale
  /** null draws all */
  readonly bodies: readonly BodyId[] | null
  readonly isEnvironment: ReturnType<typeof environmentTest>
}

const width = 900
const height = 640
/** Where the scene may stand: title above, axes and scale below. */
const area = { left: 90, right: width - 90, top: 110, bottom: height - 110 }
const longestArrow = 120
const colors = { normal: '#2E7D32', friction: palette[1], velocity: palette[0], contact: '#C62828' }
const fills = ['#DCE9F5', '#FCE8D5', '#DDF1EA', '#F6E4EF', '#E3F2FA', '#FBF0D3', '#E8E8E8']

interface DrawnBody {
  readonly state: BodyState
  readonly at: Place
  readonly shape: Shape | null
  readonly turn: Turn
  readonly velocity: Place | null
}

/** SVG text of 900 by 640 pixels. Bodies without a finite place are named below the title. */
export function drawFrame({ frame, view, looks, scale, bodies, isEnvironment }: FrameDrawing): string {
  const isMeant = (id: BodyId): boolean => bodies === null || bodies.includes(id)
  const drawn = frame.states
    .filter(({ body_id }) => isMeant(body_id))
    .flatMap((state) => bodyOf(state, looks))
  const heightOf = new Map(drawn.map(({ state, at }) => [state.body_id, at[2]]))
  const carried = ({ body_a_id, body_b_id }: Pair): BodyId => {
    const [a, b] = [heightOf.get(body_a_id), heightOf.get(body_b_id)]
    if (isEnvironment(body_b_id) || b === undefined) return body_a_id
    return a !== undefined && a >= b ? body_a_id : body_b_id
  }
  const forces = contactForces(frame, scale, carried).filter(
    ({ body_a_id, body_b_id }) => isMeant(body_a_id) || isMeant(body_b_id),
  )
  const project = projector(view)
  const spans = [
    ...drawn.flatMap((body) => reach(body).map(project)),
    ...forces.flatMap(({ points }) => points.map(project)),
  ]
  const { place, perMetre } = fit(spans)
  const at = (world: Place): Point => place(project(world))
  const missing = frame.states.filter(({ position, body_id }) => isMeant(body_id) && known(position) === null)
  const parts = [
    ...looks.grounds.map((ground) => groundPart(ground, drawn, { at, perMetre })),
    ...drawn.map((body, index) => bodyPart(body, index, { at, perMetre })),
    ...forceParts(forces, { at, project }),
    ...velocityParts(drawn, { at, project }),
    ...labels(drawn, at),
  ]
  return drawing(
    { width_px: width, height_px: height },
    ...parts,
    ...heading(frame, view, missing),
    axisGizmo([58, height - 52], gizmo(view), 32),
    scaleBar([width - 210, height - 36], { px_per_unit: perMetre, unit: 'm' }),
    ...legend(forces, drawn),
  )
}

function bodyOf(state: BodyState, { shapes }: Looks): DrawnBody[] {
  const at = known(state.position)
  if (at === null) return []
  const vector = known(state.orientation)
  const { w } = state.orientation
  const turn: Turn = vector === null || w === null ? [1, 0, 0, 0] : [w, ...vector]
  return [{ state, at, shape: shapes.get(state.body_id) ?? null, turn, velocity: known(state.velocity) }]
}

/** Places that a body takes up. */
function reach({ at, shape, turn }: DrawnBody): Place[] {
  if (shape === null) return [at]
  if ('box' in shape) return cornersOf(shape.box).map((corner) => add(at, turned(turn, corner)))
  return cornersOf([shape.radius, shape.radius, shape.radius]).map((corner) => add(at, corner))
}

interface Fit {
  readonly place: (projected: Projected) => Point
  readonly perMetre: number
}

/** The largest scale at which everything stands in the area, centred. */
function fit(spans: readonly Projected[]): Fit {
  const ends = (axis: 0 | 1): readonly [number, number] =>
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
      : [ends(0), ends(1)]
  const wide = Math.max(right - left, high - low, 1e-6)
  const perMetre =
    Math.min(
      (area.right - area.left) / Math.max(right - left, 0.2 * wide),
      (area.bottom - area.top) / Math.max(high - low, 0.2 * wide),
    ) * 0.8
  const [cx, cy] = [(left + right) / 2, (low + high) / 2]
  return {
    perMetre,
    place: ([x, y]) => [
      (area.left + area.right) / 2 + (x - cx) * perMetre,
      (area.top + area.bottom) / 2 - (y - cy) * perMetre,
    ],
  }
}

interface Canvas {
  readonly at: (world: Place) => Point
  readonly perMetre: number
}

function groundPart(
  { at: foot, normal }: Ground,
  drawn: readonly DrawnBody[],
  { at, perMetre }: Canvas,
): SvgElement {
  const middle = drawn.reduce((sum, body) => add(sum, body.at, 1 / drawn.length), [0, 0, 0] as Place)
  const above =
    (middle[0] - foot[0]) * normal[0] + (middle[1] - foot[1]) * normal[1] + (middle[2] - foot[2]) * normal[2]
  const centre = drawn.length === 0 ? foot : add(middle, normal, -above)
  const seed: Place = Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]
  const u = unit(cross(normal, seed))
  const v = cross(normal, u)
  const half = (width * 0.42) / perMetre
  const corners = (
    [
      [-1, -1],
      [1, -1],
      [1, 1],
      [-1, 1],
    ] as const
  ).map(([i, j]) => at(add(add(centre, u, i * half), v, j * half)))
  return polygon(corners, {
    fill: '#EEF0F2',
    stroke: inks.axis,
    'stroke-width': 2.5,
    'stroke-linejoin': 'round',
  })
}

const cross = (a: Place, b: Place): Place => [
  a[1] * b[2] - a[2] * b[1],
  a[2] * b[0] - a[0] * b[2],
  a[0] * b[1] - a[1] * b[0],
]
const unit = (v: Place): Place => add([0, 0, 0], v, 1 / Math.hypot(...v))

function bodyPart(body: DrawnBody, index: number, { at, perMetre }: Canvas): SvgElement {
  const { shape } = body
  const fill = fills[index % fills.length]
  const stroke = palette[index % palette.length]
  if (shape === null)
    return circle(at(body.at), 14, {
      fill,
      stroke,
      'stroke-width': 2,
      'stroke-dasharray': '4 3',
      'fill-opacity': 0.8,
    })
  if ('radius' in shape) {
    const rim = turned(body.turn, [0, 0, shape.radius])
    return group(
      {},
      circle(at(body.at), Math.max(4, shape.radius * perMetre), {
        fill,
        stroke,
        'stroke-width': 2,
        'fill-opacity': 0.85,
      }),
      line(at(body.at), at(add(body.at, rim)), { stroke, 'stroke-width': 1, 'stroke-opacity': 0.6 }),
    )
  }
  const corners = reach(body).map(at)
  const lines = edges.map(([from, to]) =>
    line(corners[from] ?? [0, 0], corners[to] ?? [0, 0], {
      stroke,
      'stroke-width': 1,
      'stroke-opacity': 0.5,
    }),
  )
  return group(
    {},
    polygon(outline(corners), {
      fill,
      stroke,
      'stroke-width': 2,
      'fill-opacity': 0.85,
      'stroke-linejoin': 'round',
    }),
    ...lines,
  )
}

interface Lens {
  readonly at: (world: Place) => Point
  readonly project: (direction: Place) => Projected
}

/** An arrow of a vector: as long as its share of the greatest, drawn in the plane of the view. */
function vectorArrow(
  from: Point,
  vector: Place,
  {
    project,
    greatest,
    color,
    label,
  }: { project: Lens['project']; greatest: number; color: string; label: string },
): SvgElement {
  const [right, up] = project(vector)
  const factor = longestArrow / greatest
  return arrow(from, [from[0] + right * factor, from[1] - up * factor], { color, width_px: 3, label })
}

const size = (vector: Place | null): number => (vector === null ? 0 : Math.hypot(...vector))

/** Forces smaller than this share of the greatest are no more than a dot. */
const visible = 0.01

function forceParts(forces: readonly ContactForce[], { at, project }: Lens): SvgElement[] {
  const greatest = Math.max(...forces.flatMap(({ normal, friction }) => [size(normal), size(friction)]), 0)
  const arrows = forces.flatMap(({ at: from, normal, friction }) =>
    (
      [
        [normal, colors.normal],
        [friction, colors.friction],
      ] as const
    ).flatMap(([force, color]) =>
      force === null || size(force) <= visible * greatest || greatest === 0
        ? []
        : [vectorArrow(at(from), force, { project, greatest, color, label: `${readable(size(force))} N` })],
    ),
  )
  const points = forces.flatMap((force) =>
    force.points.map((point) =>
      circle(at(point), 4, { fill: colors.contact, stroke: 'white', 'stroke-width': 1 }),
    ),
  )
  return [...points, ...arrows]
}

/** m/s below which a body is at rest for a picture. */
const restSpeed = 1e-3

function velocityParts(drawn: readonly DrawnBody[], { at, project }: Lens): SvgElement[] {
  const greatest = Math.max(...drawn.map(({ velocity }) => size(velocity)), 0)
  return drawn.flatMap(({ at: from, velocity }) =>
    velocity === null || size(velocity) < Math.max(restSpeed, visible * greatest)
      ? []
      : [
          vectorArrow(at(from), velocity, {
            project,
            greatest,
            color: colors.velocity,
            label: `${readable(size(velocity))} m/s`,
          }),
        ],
  )
}

const labels = (drawn: readonly DrawnBody[], at: Canvas['at']): SvgElement[] =>
  drawn.map(({ state, at: middle }) => {
    const [x, y] = at(middle)
    return haloText([x - 10, y + 5], String(state.body_id), {
      'text-anchor': 'end',
      'font-weight': 700,
      'font-size': 16,
    })
  })

const viewWords: Readonly<Record<ViewName, string>> = {
  front: 'from the front',
  side: 'from the side',
  top: 'from above',
  iso: 'askew from above',
}

function heading(frame: Frame, view: ViewName, missing: readonly BodyState[]): SvgElement[] {
  const { frame_id, simulation_time, system_energy, collisions } = frame
  const change = system_energy?.delta_e ?? null
  const facts = [
    `${count(collisions.length, 'pair')} in contact`,
    ...(change === null ? [] : [`energy ${change > 0 ? '+' : ''}${quantity(change, 'J')}`]),
    ...(missing.length === 0 ? [] : [`no finite place: ${missing.map(({ body_id }) => body_id).join(', ')}`]),
  ]
  return [
    text([24, 38], `Frame ${frame_id}, t = ${quantity(simulation_time, 's')}, seen ${viewWords[view]}`, {
      'font-size': textSizes.title,
      'font-weight': 600,
    }),
    text([24, 62], facts.join(' · '), { 'font-size': textSizes.subtitle, fill: inks.quiet }),
  ]
}

function gizmo(view: ViewName) {
  const project = projector(view)
  return (['x', 'y', 'z'] as const).map((name, axis) => {
    const [right, up] = project([Number(axis === 0), Number(axis === 1), Number(axis === 2)])
    return { name, direction: [right, -up] as Point }
  })
}

function legend(forces: readonly ContactForce[], drawn: readonly DrawnBody[]): SvgElement[] {
  const shown = [
    ...(forces.some(({ normal }) => normal !== null)
      ? [['normal force', colors.normal] as const, ['friction', colors.friction] as const]
      : []),
    ...(drawn.some(({ velocity }) => size(velocity) >= restSpeed)
      ? [['velocity', colors.velocity] as const]
      : []),
    ...(forces.length === 0 ? [] : [['contact point', colors.contact] as const]),
  ]
  return shown.map(([name, color], index) => {
    const [x, y] = [150 + index * 128, height - 40]
    const mark =
      name === 'contact point'
        ? circle([x + 10, y - 5], 4, { fill: color })
        : arrow([x, y - 5], [x + 24, y - 5], { color, width_px: 3 })
    return group({}, mark, text([x + 30, y], name, { 'font-size': textSizes.note, fill: inks.quiet }))
  })
}
