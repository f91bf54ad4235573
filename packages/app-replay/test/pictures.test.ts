/** Draws scenes and charts. Stores them in the folder `CAUSEWAY_PICTURES`, so that people can look at them. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { TestClient } from '@causeway/app-kit/testing'
import t, { type Test } from 'tap'
import { generatedRecordings } from '../../../fixtures/generate/generated/generated.ts'
import { listCleanRuns, listFaultyRuns } from '../../../fixtures/generate/rigid/runs.ts'
import { inCI, isComplete, sample } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import type { ReplayStore } from '../src/store/store.ts'
import { openReplay } from './replay-kit.ts'

t.setTimeout(300_000)

const runs = [...listCleanRuns('nothing'), ...listFaultyRuns('nothing')]

/** Records generated runs by name, such as `stack/1`, with all their data. */
async function recordRuns(t: Test, names: readonly string[]): Promise<TestClient> {
  const { app, client } = await openReplay(t, [])
  const { recorder } = app.store as ReplayStore
  for (const name of names) {
    const run = runs.find((one) => one.name === `${name}/nothing`)
    if (run === undefined) throw new Error(`the run ${name} does not exist`)
    await recorder.write(toRunName(name), sendLines(run.lines()))
  }
  return client()
}

const toRunName = (name: string): string => name.replaceAll(/[^\w.-]/g, '-')

async function* sendLines(lines: readonly string[]): AsyncGenerator<Uint8Array> {
  yield Buffer.from(`${lines.join('\n')}\n`)
}

/** Calls a tool that draws. Returns its data and SVG, and stores the PNG. */
async function draw(client: TestClient, tool: string, args: object, title: string) {
  const { content, structuredContent } = await client.answer(tool, args)
  const image = content.find((part) => part.type === 'image')
  if (image === undefined || image.type !== 'image') throw new Error('no picture')
  const folder = process.env.CAUSEWAY_PICTURES
  if (folder !== undefined) {
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, `${title}.png`), Buffer.from(image.data, 'base64'))
  }
  const data = structuredContent as Record<string, unknown>
  const contents = await client.read(String(data.svg))
  return { data, svg: 'text' in contents ? contents.text : '' }
}

const frames = [
  { run: 'stack/1', frame_id: 40, view: 'front', names: ['floor'] },
  { run: 'landing_box/1', frame_id: 100, view: 'iso', names: ['floor'] },
  { run: 'landing_capsule/1', frame_id: 90, view: 'iso', names: ['floor'] },
  { run: 'rolling_capsule/1', frame_id: 60, view: 'side', names: ['floor'] },
  { run: 'against_walls/1', frame_id: 100, view: 'front', names: ['floor', 'wall 1'] },
  { run: 'double_pendulum/1', frame_id: 120, view: 'front', names: ['pivot'] },
  { run: 'explodes_in_first_frame/1000000000', frame_id: 20, view: 'front', names: [] },
  { run: 'inside_a_wall/0.1', frame_id: 10, view: 'front', names: ['wall'] },
] as const

/** Returns the approximate boxes of a picture's texts. */
function readTextBoxes(svg: string) {
  const pattern = /<text x="([^"]*)" y="([^"]*)"([^>]*)>([^<]*)</g
  return [...svg.matchAll(pattern)].map(([, x, y, attributes = '', text = '']) => {
    const size = Number(/font-size="([^"]*)"/.exec(attributes)?.[1] ?? 12)
    const anchor = /text-anchor="([^"]*)"/.exec(attributes)?.[1] ?? 'start'
    const width = 0.5 * size * text.length
    const left = Number(x) - (anchor === 'middle' ? width / 2 : anchor === 'end' ? width : 0)
    return { text, left, right: left + width, top: Number(y) - 0.7 * size, bottom: Number(y) }
  })
}

verifies(
  'replay:render:shapes',
  'render_frame draws all names inside the picture, without overlaps',
  async (t) => {
    const drawn = isComplete ? frames : sample(frames, 3)
    const client = await recordRuns(
      t,
      drawn.map(({ run }) => run),
    )
    for (const { run, frame_id, view, names } of drawn) {
      const args = { recording: toRunName(run), frame_id, view }
      const { data, svg } = await draw(client, 'render_frame', args, `frame-${toRunName(run)}`)
      t.same(data.unsized_bodies, [], run)
      const boxes = readTextBoxes(svg)
      for (const name of names)
        t.ok(
          boxes.some(({ text }) => text === name),
          `${run} shows ${name}`,
        )
      for (const [i, a] of boxes.entries()) {
        t.ok(a.left >= 0 && a.right <= 900 && a.top >= 0 && a.bottom <= 640, `${run}: ${a.text} is inside`)
        for (const b of boxes.slice(i + 1))
          t.notOk(
            a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom,
            `${run}: ${a.text} and ${b.text} do not overlap`,
          )
      }
    }
  },
)

verifies(
  'replay:render:shapes',
  'render_frame draws the outline of a collision mesh',
  inCI(async (t) => {
    const { folder } = await generatedRecordings()
    const recording = 'clean_rolling_cylinder'
    const { client } = await openReplay(t, [recording], { source: folder })
    const { svg } = await draw(client(), 'render_frame', { recording, frame_id: 20 }, 'mesh')
    const corners = [...svg.matchAll(/<polygon points="([^"]*)"[^>]*stroke-linejoin/g)].map(
      ([, points = '']) => points.split(' ').length,
    )
    t.ok(Math.max(...corners) > 8, `a cylinder is rounder than a box: ${corners}`)
  }),
)

verifies(
  'replay:render:shapes',
  'render_frame shows only the nearby bodies of an exploded scene',
  inCI(async (t) => {
    const run = 'explodes_in_first_frame/1000000000'
    const client = await recordRuns(t, [run])
    const recording = toRunName(run)
    const { svg } = await draw(client, 'render_frame', { recording, frame_id: 20 }, 'exploded')
    t.match(svg, 'too far away to show: 2')
    t.match(svg, /<circle[^>]* r="[5-9]|<circle[^>]* r="\d\d/, 'the ball is visible')
  }),
)

verifies(
  'replay:plot:overlay',
  inCI(async (t) => {
    const names = ['bounces/1', 'bounces/2', 'blow_up/5', 'slide_to_rest/1', 'pendulum/1']
    const client = await recordRuns(t, names)
    const [first = '', second = '', exploding = '', sliding = '', pendulum = ''] = names.map(toRunName)
    const overlaid = await draw(
      client,
      'plot',
      { recording: first, overlay: second, series: ['body.1.z', 'body.1.speed'] },
      'plot-overlay',
    )
    t.same(
      (overlaid.data.series as { name: string }[]).map(({ name }) => name),
      ['body.1.z', 'body.1.speed']
        .flatMap((name) => [`${name}, ${first}`])
        .concat(['body.1.z', 'body.1.speed'].map((name) => `${name}, ${second}`)),
    )
    t.match(overlaid.svg, second)
    const blown = await draw(
      client,
      'plot',
      { recording: exploding, series: ['energy.total', 'body.1.speed'], shade_findings: true },
      'plot-blow-up',
    )
    t.match(blown.svg, /(sym)?log scale/)
    const linear = await draw(
      client,
      'plot',
      { recording: sliding, series: ['body.1.speed', 'energy.linear'], mark_frame: 30 },
      'plot-sliding',
    )
    t.notMatch(linear.svg, /log scale/)
    await draw(client, 'plot', { recording: pendulum, series: ['body.1.z', 'energy.total'] }, 'plot-pendulum')
  }),
)
