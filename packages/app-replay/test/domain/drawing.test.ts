import type { SvgElement } from '@causeway/picture'
import type { Frame, FrictionConstraint } from '@causeway/recording'
import type { AnalysisContext } from '@causeway/recording/worker'
import t from 'tap'
import { findGeometry } from '../../src/analysis/geometry.ts'
import {
  type ArrowDrawing,
  drawForces,
  drawVelocities,
  type Projection,
} from '../../src/domain/drawing/arrow-drawing.ts'
import { type ContactForce, listContactForces } from '../../src/domain/drawing/contact-force.ts'
import { chooseOrigin, encodePoses } from '../../src/domain/drawing/encode-poses.ts'
import { drawFrame } from '../../src/domain/drawing/frame-drawing.ts'
import { edges, inferShape, listCorners, type SceneGeometry } from '../../src/domain/drawing/shape.ts'
import { computeConvexHull, createProjector, type ViewName } from '../../src/domain/drawing/view.ts'
import { type Point3, rotate } from '../../src/domain/vector.ts'
import { createFrames, floor } from './law-kit.ts'

t.test('computeConvexHull returns the corners counter-clockwise', async (t) => {
  const square = [
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
  ] as const
  t.same(
    computeConvexHull([[1, 1], [1, 0], square[2], square[0], [2, 1], square[3], [0.5, 1.5], square[1]]),
    square,
  )
})

t.test('edges joins corners of a box that differ in one coordinate', async (t) => {
  const corners = listCorners([1, 2, 3])
  const differing = edges.map(([from, to]) =>
    [0, 1, 2].filter((i) => corners[from]?.[i] !== corners[to]?.[i]),
  )
  t.same(
    differing.map(({ length }) => length),
    edges.map(() => 1),
  )
  t.equal(new Set(edges.map((edge) => edge.toSorted().join())).size, 12)
})

t.test('inferShape returns a box if three points are its corners, otherwise a ball', async (t) => {
  t.same(
    inferShape([
      [1, 2, -3],
      [-1, 2, -3],
      [1, -2, -3],
    ]),
    { box: [1, 2, 3] },
  )
  const two = inferShape([
    [1, 2, -2],
    [-1, 2, -2],
  ])
  t.same(two, { radius: 3 }, 'two corners are not enough')
  t.same(inferShape([[0, 0, 0]]), null)
})

t.test(
  'findGeometry reads contact points in the axes that a spinning body has before the step',
  async (t) => {
    // A quarter turn about z per frame.
    const turn = (frame: number) =>
      [Math.cos((frame * Math.PI) / 4), 0, 0, Math.sin((frame * Math.PI) / 4)] as const
    const corners: readonly Point3[] = [
      [1, 0.5, -0.5],
      [-1, 0.5, -0.5],
      [1, -0.5, -0.5],
      [-1, -0.5, -0.5],
    ]
    const window = createFrames({
      frames: 6,
      masses: [1],
      state: (frame) => ({ orientation: turn(frame), position: [0, 0, 0.5] }),
      touches: (frame) => corners.map((corner) => ({ lever: rotate(turn(frame - 1), corner) })),
    })
    async function* over() {
      yield window
    }
    const context = {
      summary: {
        bodies: [{ body_id: floor, is_environment: true }],
        geometry: [],
        frames: { first_frame: 1 },
      },
      reader: { outlines: () => new Map(), extents: () => new Map() },
      windows: { over },
    }
    const { shapes, grounds } = await findGeometry({ frame: 4 }, context as unknown as AnalysisContext)
    const { box = [] } = shapes.get(1) as { box?: Point3 }
    t.same(
      [...box].map((half) => Math.round(half * 1e9) / 1e9),
      [1, 0.5, 0.5],
    )
    t.match(grounds, [{ body: floor }])
  },
)

t.test('listContactForces adds the rows of a pair as forces on the supported body', async (t) => {
  const vector = (x: number, y: number, z: number) => ({ x, y, z })
  const row = (change: Partial<FrictionConstraint> = {}) => ({
    body_a_id: 1,
    body_b_id: 2,
    normal: vector(0, 0, -1),
    tangent1: vector(1, 0, 0),
    tangent2: vector(0, 1, 0),
    normal_lambda: 0.2,
    tangent1_lambda: 0.03,
    tangent2_lambda: -0.01,
    ...change,
  })
  const forces = (carried: number, ...rows: readonly object[]) => {
    const contacts = [{ point_a: vector(1, 0, 0) }, { point_a: vector(3, 0, 2) }]
    const frame = { collisions: [{ body_a_id: 1, body_b_id: 2, contacts }], friction_constraints: rows }
    return listContactForces(frame as unknown as Frame, { unit: 'N·s', dt: 0.01 }, () => carried)
  }
  const rounded = (place: readonly number[] | null | undefined) =>
    place?.map((part) => Number(part.toFixed(9)))
  const [onA] = forces(1, row(), row({ body_a_id: 7 }), row())
  t.match(onA, { body: 1, at: [2, 0, 1], points: { length: 2 } })
  t.same(rounded(onA?.normal), [0, 0, 40])
  t.same(rounded(onA?.friction), [6, -2, 0])
  const [onB] = forces(2, row())
  t.same(rounded(onB?.normal), [0, 0, -20])
  t.same(rounded(onB?.friction), [-3, 1, 0])
  const unknown = { normal_lambda: null, tangent1_lambda: null, tangent2_lambda: null }
  t.match(forces(1, row(unknown)), [{ normal: null, friction: null }], 'an unknown force is not zero')
})

const lens: Projection = { at: ([x, , z]) => [100 * x, -100 * z], project: createProjector('front') }

/** Returns the tips of arrows, and the labels with their positions. */
function shown({ parts, labels, marks }: ArrowDrawing) {
  const all = (part: SvgElement | string): SvgElement[] =>
    typeof part === 'string' ? [] : [part, ...part.children.flatMap(all)]
  const elements = parts.flatMap(all)
  return {
    tips: elements
      .filter(({ name }) => name === 'polygon')
      .map(({ attributes }) => String(attributes.points).split(/[ ,]/).slice(0, 2).map(Number)),
    labels: labels.map(({ text, at }) => [text, ...at]),
    marks: marks.map(({ name }) => name),
  }
}
const force = (normal: Point3 | null, friction: Point3 | null): ContactForce => ({
  ...{ body_a_id: 1, body_b_id: 2, body: 1 },
  ...{ at: [1, 0, 0], points: [[1, 0, 0]], normal, friction },
})

t.test('drawForces draws the largest force 120 pixels long and the others to scale', async (t) => {
  const drawing = shown(drawForces([force([0, 0, 40], [-30, 0, 0])], lens))
  t.same(drawing.tips, [
    [100 - 90, 0],
    [100, -120],
  ])
  t.same(drawing.labels, [
    ['30 N', 10, 20],
    ['40 N', 100, -126],
  ])
  t.same(drawing.marks, ['normal force', 'friction', 'contact point'])
})

t.test('drawForces labels friction 20 pixels below the lower end of its arrow', async (t) => {
  const label = (friction: Point3) => shown(drawForces([force([0, 0, 40], friction)], lens)).labels[0]
  t.same(label([0, 0, 30]), ['30 N', 100, 20])
  t.same(label([0, 0, -30]), ['30 N', 100, 110])
})

t.test('drawForces omits unknown forces and forces up to 1 % of the largest', async (t) => {
  const marks = (normal: Point3 | null, friction: Point3 | null) =>
    shown(drawForces([force(normal, friction)], lens)).marks
  t.same(marks([0, 0, 40], [0.4, 0, 0]), ['normal force', 'contact point'])
  t.same(marks([0, 0, 40], [0.41, 0, 0]), ['normal force', 'friction', 'contact point'])
  t.same(marks([0.41, 0, 0], [0, 0, 40]), ['normal force', 'friction', 'contact point'])
  t.same(marks(null, null), ['contact point'])
  t.same(marks([0, 0, 0], [0, 0, 0]), ['contact point'])
  t.same(drawForces([], lens), { parts: [], labels: [], marks: [] })
})

t.test('drawVelocities starts vertical velocities 50 pixels to the right of the body', async (t) => {
  const from = (velocity: Point3) => ({ at: [1, 0, 2] as const, velocity })
  const drawing = shown(drawVelocities([from([2, 0, 0]), from([0, 0, 1]), from([0, 0, -1])], lens))
  t.same(drawing.tips, [
    [220, -200],
    [150, -260],
    [150, -140],
  ])
  t.same(
    drawing.labels.map(([label]) => label),
    ['2 m/s', '1 m/s', '1 m/s'],
  )
})

t.test('drawVelocities omits bodies slower than 1 mm/s or 1 % of the fastest', async (t) => {
  const speeds = (...values: readonly number[]) =>
    shown(
      drawVelocities(
        values.map((speed) => ({ at: [0, 0, 0], velocity: [speed, 0, 0] })),
        lens,
      ),
    ).labels.map(([label]) => label)
  t.same(speeds(0.9e-3), [])
  t.same(speeds(1.1e-3), ['0.0011 m/s'])
  t.same(speeds(2, 0.019), ['2 m/s'])
  t.same(speeds(2, 0.021), ['2 m/s', '0.021 m/s'])
  t.same(drawVelocities([{ at: [0, 0, 0], velocity: null }], lens), { parts: [], labels: [], marks: [] })
})

const numbersIn = (svg: string, pattern: RegExp): number[][] =>
  [...svg.matchAll(pattern)].map(([, ...found]) => found.flatMap((text) => text.split(/[ ,]+/)).map(Number))

/** Draws bodies of unknown shape on a ground. */
function drawn(
  view: ViewName,
  places: readonly Point3[],
  geometry: Partial<SceneGeometry> & Pick<SceneGeometry, 'grounds'> = { grounds: [] },
): string {
  const states = places.map(([x, y, z], index) => ({
    body_id: index + 1,
    position: { x, y, z },
    velocity: { x: 0, y: 0, z: 0 },
    orientation: { w: 1, x: 0, y: 0, z: 0 },
  }))
  const frame = { frame_id: 1, simulation_time: 0, states, collisions: [], friction_constraints: [] }
  return drawFrame({
    frame: { ...frame, system_energy: null } as unknown as Frame,
    view,
    geometry: { shapes: new Map(), fixed: [], names: new Map(), ...geometry },
    scale: { unit: 'N', dt: 0.01 },
    bodies: null,
    isEnvironment: () => false,
  })
}
const bodyCircles = /<circle cx="([^"]*)" cy="([^"]*)" r="14"/g

t.test('drawFrame centres bodies and fits them into 80 % of the drawing area', async (t) => {
  // 2 m in 0.8 * (900 - 2 * 90) pixels: 288 pixels per metre.
  const svg = drawn('front', [
    [4, 0, 1],
    [6, 9, 1],
  ])
  t.same(numbersIn(svg, bodyCircles), [
    [162, 320],
    [738, 320],
  ])
  t.same(numbersIn(svg, /<text x="([^"]*)" y="([^"]*)"[^>]*>1</g), [[162 - 0.6 * 14, 326]])
  // 2 m in 0.8 * (640 - 2 * 110) pixels: 168 pixels per metre.
  const tall = drawn('side', [
    [0, 5, 4],
    [0, 5, 6],
  ])
  t.same(numbersIn(tall, bodyCircles), [
    [450, 488],
    [450, 152],
  ])
  t.match(svg, '0.5 m', 'the scale bar has the longest round length within 160 pixels')
})

t.test('drawFrame draws a sloping ground below the middle of the bodies, in its plane', async (t) => {
  const normal: Point3 = [2 / 7, 3 / 7, 6 / 7]
  const places: readonly Point3[] = [
    [0, 0, 3],
    [2, 4, 3],
  ]
  // The middle (1, 2, 3) is 26 / 7 m above the plane through the origin.
  const centre: Point3 = [1 - 52 / 49, 2 - 78 / 49, 3 - 156 / 49]
  const views = { front: [0, 2, 0.42], side: [1, 2, 0.42], top: [0, 1, 0.28] } as const
  const offsets = [0, 1, 2, 3].map((): [number, number, number] => [0, 0, 0])
  for (const [view, [right, up, share]] of Object.entries(views)) {
    const svg = drawn(view as ViewName, places, { grounds: [{ body: 9, at: [0, 0, 0], normal }] })
    const [[x1 = 0, y1 = 0] = [], [x2 = 0] = []] = numbersIn(svg, bodyCircles)
    const [corners = []] = numbersIn(svg, /<polygon points="([^"]*)" fill="#EEF0F2"/g)
    const scale = (x2 - x1) / ((places[1]?.[right] ?? 0) - (places[0]?.[right] ?? 0))
    const middle = [0, 1].map((i) => [0, 1, 2, 3].reduce((sum, k) => sum + (corners[2 * k + i] ?? 0) / 4, 0))
    const [x = 0, y = 0] = middle
    t.ok(Math.abs(x - (x1 + scale * (centre[right] - 0))) < 0.01, `${view}: to the right`)
    t.ok(Math.abs(y - (y1 - scale * (centre[up] - (places[0]?.[up] ?? 0)))) < 0.01, `${view}: up`)
    for (const [k, offset] of offsets.entries()) {
      offset[right] = ((corners[2 * k] ?? 0) - x) / (900 * share)
      offset[up] = -((corners[2 * k + 1] ?? 0) - y) / (900 * share)
    }
  }
  for (const offset of offsets) {
    t.ok(Math.abs(offset[0] * normal[0] + offset[1] * normal[1] + offset[2] * normal[2]) < 1e-4)
    t.ok(Math.abs(Math.hypot(...offset) - Math.SQRT2) < 1e-4, 'half a diagonal')
  }
})

t.test('encodePoses writes CWP1 with positions relative to the origin', async (t) => {
  const [x, y, z] = [400_000.001, -3, 12.5]
  const origin = chooseOrigin([Float64Array.from([x, y, z, 1, 0, 0, 0])], 1e6)
  t.same(origin, [400_000, -3, 13])
  const values = Float32Array.from([x - 400_000, y + 3, z - 13, 1, 0, 0, 0])
  const one = {
    bodies: [7],
    frames: Float64Array.of(3),
    times: Float64Array.of(0.5),
    states: Uint8Array.of(1),
  }
  const bytes = encodePoses({ ...one, origin, values })
  const view = new DataView(bytes.buffer)
  t.equal(Buffer.from(bytes.subarray(0, 4)).toString(), 'CWP1')
  t.same(
    [4, 8, 12].map((at) => view.getUint32(at, true)),
    [1, 1, 1],
    'version, frames, bodies',
  )
  t.equal(view.getFloat64(16, true), 400_000)
  t.same([view.getFloat64(56, true), view.getFloat64(64, true), view.getUint32(72, true)], [3, 0.5, 7])
  t.equal(bytes[76], 1)
  t.ok(Math.abs(view.getFloat32(80, true) + 400_000 - x) < 1e-6, 'millimetres remain')
  t.equal(bytes.length, 80 + 7 * 4)
})

t.test('chooseOrigin ignores positions that are not finite or too far away', async (t) => {
  t.same(chooseOrigin([Float64Array.from([3e168, 0, 0, 1, 0, 0, 0])], 1e6), [0, 0, 0])
  t.same(
    chooseOrigin([Float64Array.from([Number.NaN, 0, 0, 1, 0, 0, 0, 2, 2, 2, 1, 0, 0, 0])], 1e6),
    [0, 0, 0],
  )
})
