import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { drawing, lineChart, openPicture, polygon, text } from '../src/index.ts'
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

t.test('drawing: the PNG has the asked width times the scale, and the proportions of the SVG', async (t) => {
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
})

t.test('drawing: text is drawn in the bundled font, bold heavier than regular', async (t) => {
  const inkOf = async (svg: string) => ink(decodePng((await pictures.drawing(svg)).png))
  const empty = await inkOf(drawing(size))
  const regular = await inkOf(small)
  const bold = await inkOf(
    drawing(size, text([10, 60], 'Energy 4.9 J', { 'font-size': 40, 'font-weight': 600 })),
  )
  t.equal(empty, 0)
  t.ok(regular > 2000, `${regular} dark pixels`)
  t.ok(bold > regular * 1.15, `${bold} against ${regular}`)
})

t.test('chart: the title is drawn as ink, the same chart without it has none there', async (t) => {
  const [named, unnamed] = await Promise.all([
    pictures.chart(chart('Total energy of body 1')),
    pictures.chart(chart(' ')),
  ])
  const title = [0, 0, 0.6, 0.08] as const
  t.equal(ink(decodePng(unnamed.png), title), 0)
  t.ok(ink(decodePng(named.png), title) > 500)
  t.equal(named.width_px, 1350)
})

t.test('chart: the same data gives the same bytes', async (t) => {
  const first = await pictures.chart(chart('Energy'))
  const second = await pictures.chart(chart('Energy'))
  t.equal(first.svg, second.svg)
  t.same(first.png, second.png)
})

t.test('chart: what cannot be drawn is INVALID_PICTURE, and the next one is drawn', async (t) => {
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
})

t.test('chart: nothing is loaded from the network or the disk', async (t) => {
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
    await t.rejects(pictures.chart(image), { code: 'INVALID_PICTURE' }, `image ${url}`)
  }
  t.equal(requests, 0)
})

t.test('drawing: what is no SVG, reaches outside or is too large is INVALID_PICTURE', async (t) => {
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

t.test('drawing: places far outside the picture do no harm', async (t) => {
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
