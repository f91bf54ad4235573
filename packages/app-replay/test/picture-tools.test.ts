import type { Frame, FrictionConstraint } from '@causeway/recording'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { contactForces } from '../src/domain/scene-view/contact-force.ts'
import { cornersOf, edges, shapeOfContacts } from '../src/domain/scene-view/shape.ts'
import { outline } from '../src/domain/scene-view/view.ts'
import { ask, openReplay, textOf } from './replay-kit.ts'

interface Image {
  readonly type: string
  readonly data?: string
  readonly mimeType?: string
  readonly uri?: string
}

/** Width and height of a PNG, from its header. */
function sizeOf(content: readonly Image[]): readonly [number, number] {
  const png = Buffer.from(content.find(({ type }) => type === 'image')?.data ?? '', 'base64')
  if (png.toString('latin1', 1, 4) !== 'PNG') throw new Error('not a PNG')
  return [png.readUInt32BE(16), png.readUInt32BE(20)]
}

verifies(
  'replay:plot',
  'plot: a PNG, exact totals, and a link to its SVG, in which the cited frame is marked',
  async (t) => {
    const one = await ask(t, 'slide_at_45')
    const answer = await one.answer('plot', {
      series: ['energy.total', 'body.1.speed'],
      mark_frame: 45,
      shade_findings: true,
    })
    const content = answer.content as unknown as Image[]
    const [width, height] = sizeOf(content)
    t.ok(width >= 1000 && height >= 400)
    const link = content.find(({ type }) => type === 'resource_link')
    t.match(link, { uri: /^replay:\/\/recordings\/slide_at_45\/plots\//, mimeType: 'image/svg+xml' })
    const svg = await textOf(one, link?.uri)
    for (const told of ['frame 45', 'energy (J)', 'speed (m/s)', 'friction cone']) t.match(svg, told, told)
    t.match(answer.structuredContent, { series: [{ name: 'energy.total', max_frame: 45 }, {}] })
    await t.rejects(one.read('replay://recordings/slide_at_45/plots/nothing'), { code: 'RESOURCE_NOT_FOUND' })
  },
)

verifies('replay:plot', 'plot: refuses what it cannot draw, in words that help', async (t) => {
  const one = await ask(t, 'slide_at_45')
  await t.rejects(one.call('plot', { series: [] }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('plot', { series: Array(9).fill('energy.total') }), { code: 'INVALID_ARGUMENTS' })
  await t.rejects(one.call('plot', { series: ['energy.total'], mark_frame: 4000 }), {
    code: 'FRAME_NOT_FOUND',
  })
})

verifies('replay:render', 'render_frame: bodies, forces in N and speeds in every view', async (t) => {
  const one = await ask(t, 'slide_at_45')
  for (const view of ['front', 'side', 'top', 'iso']) {
    const answer = await one.answer('render_frame', { frame_id: 46, view })
    const content = answer.content as unknown as Image[]
    t.same(sizeOf(content), [1350, 960], view)
    const svg = await textOf(one, content.find(({ uri }) => uri !== undefined)?.uri)
    t.match(svg, 'Frame 46, t = 0.184 s')
    t.match(svg, '0.9804 m/s')
    t.equal(svg.includes('98.1 N'), true, 'the weight of the body')
    t.match(svg, '49.05 N', 'friction at its limit')
  }
})

verifies(
  'replay:render',
  'render_frame: what is not finite is named and not drawn, and every era has a picture',
  async (t) => {
    const names = ['nan', 'era_states_only', 'era_flat_contacts', 'era_unified', 'tunnelling']
    const { client } = await openReplay(t, names)
    const one = client()
    for (const recording of names) {
      const { last_frame } = await one.call('get_metadata', { recording })
      const frame_id = Math.floor(Number(last_frame) / 2)
      const answer = await one.answer('render_frame', {
        recording,
        frame_id,
        view: 'iso',
      })
      t.same(sizeOf(answer.content as unknown as Image[]), [1350, 960], recording)
    }
  },
)

t.test('outline returns the corners of the convex hull counter-clockwise', async (t) => {
  const square = [
    [0, 0],
    [2, 0],
    [2, 2],
    [0, 2],
  ] as const
  t.same(outline([[1, 1], [1, 0], square[2], square[0], [2, 1], square[3], [0.5, 1.5], square[1]]), square)
})

t.test('edges joins the corners of a box that differ in one coordinate', async (t) => {
  const corners = cornersOf([1, 2, 3])
  const differing = edges.map(([from, to]) =>
    [0, 1, 2].filter((i) => corners[from]?.[i] !== corners[to]?.[i]),
  )
  t.same(
    differing.map(({ length }) => length),
    edges.map(() => 1),
  )
  t.equal(new Set(edges.map((edge) => edge.toSorted().join())).size, 12)
})

t.test('shapeOfContacts returns a box if three points are its corners', async (t) => {
  t.same(
    shapeOfContacts([
      [1, 2, -3],
      [-1, 2, -3],
      [1, -2, -3],
    ]),
    { box: [1, 2, 3] },
  )
  const two = shapeOfContacts([
    [1, 2, -2],
    [-1, 2, -2],
  ])
  t.same(two, { radius: 3 }, 'two corners are not enough')
  t.same(shapeOfContacts([[0, 0, 0]]), null)
})

t.test('contactForces adds the rows of a pair as forces on the carried body', async (t) => {
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
    return contactForces(frame as unknown as Frame, { unit: 'N·s', dt: 0.01 }, () => carried)
  }
  const rounded = (place: readonly number[] | null | undefined) =>
    place?.map((part) => Number(part.toFixed(9)))
  const [onA] = forces(1, row(), row({ body_a_id: 7 }), row())
  t.match(onA, { on: 1, at: [2, 0, 1], points: { length: 2 } })
  t.same(rounded(onA?.normal), [0, 0, 40])
  t.same(rounded(onA?.friction), [6, -2, 0])
  const [onB] = forces(2, row())
  t.same(rounded(onB?.normal), [0, 0, -20])
  t.same(rounded(onB?.friction), [-3, 1, 0])
  const unknown = { normal_lambda: null, tangent1_lambda: null, tangent2_lambda: null }
  t.match(forces(1, row(unknown)), [{ normal: null, friction: null }], 'an unknown force is not zero')
})
