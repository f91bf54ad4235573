import { execFile } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { promisify } from 'node:util'
import type { Worker } from 'node:worker_threads'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { drawing, lineChart, openPicture, type PictureLimits, polygon, text } from '../src/index.ts'
import { decodePng, ink } from './png-kit.ts'

type Spec = Parameters<ReturnType<typeof openPicture>['chart']>[0]

const size = { width_px: 400, height_px: 100 }
const small = drawing(size, text([10, 60], 'Energy 4.9 J', { 'font-size': 40 }))

const chart = (title: string) =>
  lineChart({
    title,
    x: 'frame',
    series: [{ name: 'total energy', unit: 'J', x: [1, 2, 3], y: [4, 5, 4.5] }],
  })

const pictures = openPicture()
t.teardown(() => pictures.close())

t.test(
  'the PNG has the aspect ratio of the SVG, and a width of the requested width times the scale',
  async (t) => {
    for (const [options, width, height] of [
      [{}, 1350, 338],
      [{ width_px: 400, scale: 1 }, 400, 100],
      [{ width_px: 200, scale: 3 }, 600, 150],
    ] as const) {
      const picture = await pictures.drawing(small, options)
      const { width: w, height: h } = decodePng(picture.png)
      t.same([w, h], [width, height])
      t.same([picture.width_px, picture.height_px], [width, height])
      t.equal(picture.svg, small)
    }
  },
)

t.test('semi-bold text has more dark pixels than regular text', async (t) => {
  const countInk = async (svg: string) => ink(decodePng((await pictures.drawing(svg)).png))
  const empty = await countInk(drawing(size))
  const regular = await countInk(small)
  const bold = await countInk(
    drawing(size, text([10, 60], 'Energy 4.9 J', { 'font-size': 40, 'font-weight': 600 })),
  )
  t.equal(empty, 0)
  t.ok(regular > 2000, `draws ${regular} dark pixels`)
  t.ok(bold > regular * 1.15, `draws ${bold} dark pixels in bold, ${regular} in regular`)
})

t.test('a chart with a title has pixels where the same chart without a title is blank', async (t) => {
  const [named, unnamed] = await Promise.all([
    pictures.chart(chart('Total energy of body 1')),
    pictures.chart(chart(' ')),
  ])
  const title = [0, 0, 0.6, 0.08] as const
  t.equal(ink(decodePng(unnamed.png), title), 0)
  t.ok(ink(decodePng(named.png), title) > 500)
  t.equal(named.width_px, 1350)
})

t.test('two charts of the same data have the same bytes', async (t) => {
  const first = await pictures.chart(chart('Energy'))
  const second = await pictures.chart(chart('Energy'))
  t.equal(first.svg, second.svg)
  t.same(first.png, second.png)
})

t.test(
  'a chart that cannot be drawn is rejected with INVALID_PICTURE, and the next chart is drawn',
  async (t) => {
    const data = { values: [{ x: 1 }] }
    const bad: readonly unknown[] = [
      {},
      null,
      [],
      'line',
      { data, mark: 'no such mark', encoding: { x: { field: 'x', type: 'quantitative' } } },
      { data, mark: 'point', transform: [{ calculate: '1 +', as: 'y' }] },
      { data, mark: 'point', transform: [{ calculate: 'nothing(1)', as: 'y' }] },
      { data: { values: [{ x: () => 1 }] }, mark: 'point' },
    ]
    for (const spec of bad) await t.rejects(pictures.chart(spec as Spec), { code: 'INVALID_PICTURE' })
    t.equal((await pictures.chart(chart('Energy'))).width_px, 1350)
  },
)

t.test('a chart does not load anything from the network or the disk', async (t) => {
  let requests = 0
  const server = createServer((_, answer) => {
    requests++
    answer.end('[]')
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const web = `http://127.0.0.1:${(server.address() as AddressInfo).port}/data.json`
  for (const url of [web, '/etc/hostname', 'file:///etc/hostname']) {
    await t.rejects(pictures.chart({ data: { url }, mark: 'point' }), { code: 'INVALID_PICTURE' }, url)
    const image: Spec = { data: { values: [{}] }, mark: { type: 'image', url } }
    await t.rejects(pictures.chart(image), { code: 'INVALID_PICTURE' }, `rejects image ${url}`)
  }
  t.equal(requests, 0)
})

t.test('drawing rejects text that is not SVG, has images or entities, or is too large', async (t) => {
  const wrap = (inside: string, head = '') =>
    `${head}<svg xmlns="http://www.w3.org/2000/svg" width="10" height="10">${inside}</svg>`
  const bad = [
    '',
    'text',
    '<svg/>',
    wrap('<g>'),
    wrap('<image href="/etc/logo.png" width="9" height="9"/>'),
    wrap('<s:image xmlns:s="http://www.w3.org/2000/svg" href="/etc/logo.png" width="9" height="9"/>'),
    wrap('<filter id="f"><feImage href="/etc/logo.png"/></filter>'),
    wrap('&e;', '<!DOCTYPE svg [<!ENTITY e "e">]>'),
    '<svg xmlns="http://www.w3.org/2000/svg" width="1" height="1000000"/>',
    '<svg xmlns="http://www.w3.org/2000/svg" width="1000000" height="1"/>',
  ]
  for (const svg of bad) await t.rejects(pictures.drawing(svg), { code: 'INVALID_PICTURE' }, svg)
  for (const options of [{ width_px: 0 }, { width_px: Number.NaN }, { width_px: 1e6 }, { scale: 100 }]) {
    await t.rejects(pictures.drawing(small, options), { code: 'INVALID_PICTURE' })
  }
})

t.test('positions far outside the picture are accepted', async (t) => {
  const far = drawing(
    size,
    polygon([
      [0, 0],
      [1e195, 50],
      [-1e195, 90],
    ]),
  )
  t.equal((await pictures.drawing(far)).width_px, 1350)
})

const rendererSmall = drawing({ width_px: 400, height_px: 100 }, text([10, 60], 'Energy 4.9 J'))

const rendererChart = lineChart({
  title: 'Energy',
  x: 'frame',
  series: [{ name: 'total energy', unit: 'J', x: [1, 2, 3], y: [4, 5, 4.5] }],
})

/** Never ends, because the expression backtracks through 2^60 ways. */
const hanging: Spec = {
  data: { values: [{ x: `${'a'.repeat(60)}b` }] },
  transform: [{ filter: 'test(/(a+)+$/, datum.x)' }],
  mark: 'point',
}

function open(t: Test, limits: Partial<PictureLimits> = {}) {
  const pictures = openPicture({ limits })
  t.teardown(() => pictures.close())
  return pictures
}

function countWorkers(t: Test): Worker[] {
  const workers: Worker[] = []
  const note = (worker: Worker) => workers.push(worker)
  process.on('worker', note)
  t.teardown(() => process.off('worker', note))
  return workers
}

t.test('the renderer starts one worker when it draws the first picture', async (t) => {
  const workers = countWorkers(t)
  const pictures = open(t)
  t.equal(workers.length, 0)
  await Promise.all([
    pictures.drawing(rendererSmall),
    pictures.drawing(rendererSmall),
    pictures.chart(rendererChart),
  ])
  t.equal(workers.length, 1)
})

t.test('the renderer draws pictures in the order of calls', async (t) => {
  const pictures = open(t)
  const order: number[] = []
  await Promise.all(
    [0, 1, 2, 3].map(async (index) => {
      await (index % 2 === 0 ? pictures.chart(rendererChart) : pictures.drawing(rendererSmall))
      order.push(index)
    }),
  )
  t.same(order, [0, 1, 2, 3])
})

t.test(
  'the renderer reports WORKER_LOST if its worker is lost, and restarts it for the next picture',
  async (t) => {
    const workers = countWorkers(t)
    const pictures = open(t)
    const ends = Promise.allSettled([pictures.chart(hanging), pictures.drawing(rendererSmall)])
    const [first] = (await once(process, 'worker')) as [Worker]
    await first.terminate()
    const [dead, next] = await ends
    t.match(dead, { status: 'rejected', reason: { code: 'WORKER_LOST', remedy: /call again/ } })
    t.match(next, { status: 'fulfilled', value: { width_px: 1350 } })
    t.equal(workers.length, 2)
  },
)

t.test(
  'the renderer stops a picture that takes too long and draws the next one',
  inCI(async (t) => {
    const workers = countWorkers(t)
    const pictures = open(t, { deadlineMs: 8000 })
    const [late, next] = await Promise.allSettled([pictures.chart(hanging), pictures.drawing(rendererSmall)])
    t.match(late, { status: 'rejected', reason: { code: 'DEADLINE_EXCEEDED', data: { deadline_ms: 8000 } } })
    t.match(next, { status: 'fulfilled' })
    t.equal(workers.length, 2)
  }),
)

t.test('the renderer ends an aborted call immediately, whether it is queued or being drawn', async (t) => {
  const pictures = open(t)
  const before = AbortSignal.abort()
  await t.rejects(pictures.drawing(rendererSmall, { signal: before }), { code: 'CANCELLED' })
  const running = new AbortController()
  const waiting = new AbortController()
  const calls = [
    pictures.chart(hanging, { signal: running.signal }),
    pictures.drawing(rendererSmall, { signal: waiting.signal }),
  ]
  const settled = Promise.allSettled(calls)
  waiting.abort()
  running.abort()
  for (const end of await settled) t.match(end, { status: 'rejected', reason: { code: 'CANCELLED' } })
})

t.test('an abort does not affect the pictures of other calls', async (t) => {
  const pictures = open(t)
  const mine = new AbortController()
  const calls = [
    pictures.chart(rendererChart, { signal: mine.signal }),
    pictures.drawing(rendererSmall, { signal: mine.signal }),
    pictures.drawing(rendererSmall),
  ]
  mine.abort()
  const ends = await Promise.allSettled(calls)
  t.same(
    ends.map(({ status }) => status),
    ['rejected', 'rejected', 'fulfilled'],
  )
})

t.test('the renderer rejects pictures beyond the queue limit with OVERLOADED', async (t) => {
  const pictures = open(t, { maxQueued: 1 })
  const taken = [pictures.drawing(rendererSmall), pictures.drawing(rendererSmall)]
  await t.rejects(pictures.drawing(rendererSmall), { code: 'OVERLOADED', data: { retry_after_ms: 1000 } })
  await Promise.all(taken)
})

t.test('the renderer stops an idle worker and starts another for the next picture', async (t) => {
  const workers = countWorkers(t)
  const pictures = open(t, { idleMs: 1 })
  await pictures.drawing(rendererSmall)
  const [first] = workers
  if (!first) throw new Error('no worker was started')
  // An idle worker does not keep the test running either.
  first.ref()
  if (first.threadId !== -1) await once(first, 'exit')
  await pictures.drawing(rendererSmall)
  t.equal(workers.length, 2)
})

t.test('close ends running calls and the worker, and later calls are rejected', async (t) => {
  const workers = countWorkers(t)
  const pictures = open(t)
  const ends = Promise.allSettled([pictures.chart(hanging), pictures.drawing(rendererSmall)])
  await pictures.close()
  for (const end of await ends) t.match(end, { status: 'rejected', reason: { code: 'SHUTTING_DOWN' } })
  await t.rejects(pictures.drawing(rendererSmall), { code: 'SHUTTING_DOWN' })
  t.same(
    workers.map(({ threadId }) => threadId),
    [-1],
    'ends the worker thread',
  )
})

t.test('a process exits by itself if the renderer is closed or idle', async (t) => {
  const source = JSON.stringify(new URL('../src/index.ts', import.meta.url).href)
  for (const last of ['await pictures.close()', '']) {
    const script = `import { drawing, openPicture } from ${source}
      const pictures = openPicture()
      const picture = await pictures.drawing(drawing({ width_px: 90, height_px: 50 }))
      console.log(picture.height_px)
      ${last}`
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--conditions=@causeway/source', '--input-type=module', '-e', script],
      { timeout: 30_000 },
    )
    t.equal(stdout.trim(), '750')
  }
})
