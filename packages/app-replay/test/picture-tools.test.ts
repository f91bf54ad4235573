import { verifies } from '../../../test/verifies.ts'
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
