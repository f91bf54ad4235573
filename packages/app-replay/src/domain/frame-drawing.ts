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
import { drawForces, drawSpeeds, type Mark } from './scene-view/arrow-drawing.ts'
import { contactForces } from './scene-view/contact-force.ts'
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
import { count, quantity } from './sentence.ts'

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
  const forceDrawing = drawForces(forces, { at, project })
  const speedDrawing = drawSpeeds(drawn, { at, project })
  const parts = [
    ...looks.grounds.map((ground) => groundPart(ground, drawn, { at, perMetre, share: groundShare[view] })),
    ...drawn.map((body, index) => bodyPart(body, index, { at, perMetre })),
    ...forceDrawing.parts,
    ...speedDrawing.parts,
    ...labels(drawn, at, perMetre),
  ]
  return drawing(
    { width_px: width, height_px: height },
    ...parts,
    ...heading(frame, view, missing),
    axisGizmo([58, height - 52], gizmo(view), 32),
    scaleBar([width - 210, height - 36], { px_per_unit: perMetre, unit: 'm' }),
    ...legend([...forceDrawing.marks, ...speedDrawing.marks]),
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

/** A scene of less extent, m, is a place without a size: it is drawn as if it were 1 m wide. */
const leastSpan = 1e-5

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
  const span = Math.max(right - left, high - low)
  const wide = span > leastSpan ? span : 1
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

/** Half the side of the ground in widths of the picture: seen from above it must leave the title free. */
const groundShare: Readonly<Record<ViewName, number>> = { front: 0.42, side: 0.42, top: 0.28, iso: 0.26 }

interface Canvas {
  readonly at: (world: Place) => Point
  readonly perMetre: number
}

function groundPart(
  { at: foot, normal }: Ground,
  drawn: readonly DrawnBody[],
  { at, perMetre, share }: Canvas & { readonly share: number },
): SvgElement {
  const middle = drawn.reduce((sum, body) => add(sum, body.at, 1 / drawn.length), [0, 0, 0] as Place)
  const above =
    (middle[0] - foot[0]) * normal[0] + (middle[1] - foot[1]) * normal[1] + (middle[2] - foot[2]) * normal[2]
  const centre = drawn.length === 0 ? foot : add(middle, normal, -above)
  const seed: Place = Math.abs(normal[0]) < 0.9 ? [1, 0, 0] : [0, 1, 0]
  const u = unit(cross(normal, seed))
  const v = cross(normal, u)
  const half = (width * share) / perMetre
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

/** How far from its centre to its left end a body's name stands: forces and velocities begin in the middle. */
const nameShare = 0.6

const labels = (drawn: readonly DrawnBody[], at: Canvas['at'], perMetre: number): SvgElement[] =>
  drawn.map((body) => {
    const middle = at(body.at)
    const { shape } = body
    const left: Point =
      shape !== null && 'box' in shape
        ? reach(body)
            .map(at)
            .reduce((one, other) => (other[0] < one[0] ? other : one), middle)
        : [middle[0] - Math.max(14, (shape?.radius ?? 0) * perMetre), middle[1]]
    return haloText(
      [middle[0] + nameShare * (left[0] - middle[0]), middle[1] + nameShare * (left[1] - middle[1]) + 6],
      String(body.state.body_id),
      { 'text-anchor': 'middle', 'font-weight': 700, 'font-size': 17 },
    )
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
    ...(change === null ? [] : [`energy step ${change > 0 ? '+' : ''}${quantity(change, 'J')}`]),
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

function legend(marks: readonly Mark[]): SvgElement[] {
  return marks.map(({ name, color }, index) => {
    const [x, y] = [150 + index * 128, height - 40]
    const mark =
      name === 'contact point'
        ? circle([x + 10, y - 5], 4, { fill: color })
        : arrow([x, y - 5], [x + 24, y - 5], { color, width_px: 3 })
    return group({}, mark, text([x + 30, y], name, { 'font-size': textSizes.note, fill: inks.quiet }))
  })
}
