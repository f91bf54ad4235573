import t from 'tap'
import { renderChartSvg } from '../src/chart-svg.ts'
import {
  arrow,
  axisGizmo,
  drawing,
  element,
  group,
  type LineChart,
  lineChart,
  polyline,
  scaleBar,
  text,
} from '../src/index.ts'
import { placeLabels } from '../src/text-layout.ts'
import { createValueAxis } from '../src/value-axis.ts'

const frames = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

const draw = async (chart: LineChart): Promise<string> => (await renderChartSvg(lineChart(chart))).svg

/** Returns the texts of a picture in the order in which they are written. */
const findTexts = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text ?? '')

/** Returns the paths of one kind of mark: `line`, `area` or `point`. */
const findPaths = (svg: string, mark: string): string[] =>
  [...svg.matchAll(/<path aria-label="[^"]*" role="[^"]*" aria-roledescription="([^"]*)"[^>]*? d="([^"]*)"/g)]
    .filter(([, role]) => role === mark)
    .map(([, , path]) => path ?? '')

const findNumbers = (path: string): number[] => [...path.matchAll(/-?[\d.]+(?:e-?\d+)?/g)].map(Number)

const energy: LineChart = {
  title: 'Energy <jumps> & stays',
  subtitle: 'crate-slide.db',
  x: 'frame',
  series: [
    { name: 'kinetic', unit: 'J', quantity: 'energy', x: frames(60), y: frames(60).map((x) => x / 10) },
    { name: 'potential', unit: 'J', quantity: 'energy', x: frames(60), y: frames(60).map(() => 2) },
  ],
  markers: [{ x: 45, label: 'frame 45: +15.8 J' }],
  ranges: [{ from: 10, to: 20, label: 'not converged' }],
}

t.test('lineChart writes the title, unit, legend and labels of markers and ranges', async (t) => {
  const texts = findTexts(await draw(energy))
  for (const text of [
    'Energy &lt;jumps&gt; &amp; stays',
    'crate-slide.db',
    'energy (J)',
    'frame',
    'kinetic',
    'potential',
    'frame 45: +15.8 J',
    'not converged',
  ]) {
    t.ok(texts.includes(text), text)
  }
})

t.test('Vega-Lite does not log warnings for a linear or logarithmic lineChart', async (t) => {
  for (const scale of ['linear', 'log'] as const) {
    t.same((await renderChartSvg(lineChart({ ...energy, scale }))).warnings, [])
  }
})

t.test(
  'lineChart draws the series of each unit in a separate, aligned panel labelled with the unit',
  async (t) => {
    const x = frames(50).map((frame) => frame / 60)
    const chart: LineChart = {
      title: 'Body 1',
      x: 'time',
      series: [
        { name: 'speed', unit: 'm/s', x, y: x },
        { name: 'depth', unit: 'm', x, y: x.map((time) => time * 1e-5) },
        { name: 'utilisation', unit: '', x, y: x },
      ],
    }
    const svg = await draw(chart)
    const texts = findTexts(svg)
    for (const text of ['speed (m/s)', 'depth (m)', 'utilisation', 'time (s)'])
      t.ok(texts.includes(text), text)
    const starts = findPaths(svg, 'line mark').map((path) => findNumbers(path)[0])
    t.equal(starts.length, 3)
    t.equal(new Set(starts).size, 1)
  },
)

t.test('lineChart leaves gaps open and draws an isolated value as a dot', async (t) => {
  const y = frames(60).map((frame) => (frame > 20 && frame < 40 && frame !== 30 ? null : frame))
  const withNaN = y.map((value) => value ?? Number.NaN)
  for (const values of [y, withNaN, Float64Array.from(withNaN)]) {
    const svg = await draw({
      title: 'Gap',
      x: 'frame',
      series: [{ name: 'a', unit: 'm', x: frames(60), y: values }],
    })
    const [path = ''] = findPaths(svg, 'line mark')
    t.equal(path.match(/M/g)?.length, 3, 'draws one line per run of values')
    t.equal(findPaths(svg, 'point').length, 1)
  }
})

t.test('lineChart draws values up to 1e195 inside the panel on a symlog scale', async (t) => {
  const y = frames(200).map((frame) =>
    frame < 100 ? 10 + frame / 100 : (-1) ** frame * 10 ** Math.min(195, frame * 2),
  )
  const svg = await draw({
    title: 'Blow-up',
    x: 'frame',
    series: [{ name: 'energy', unit: 'J', x: frames(200), y }],
  })
  const texts = findTexts(svg)
  t.ok(texts.includes('energy (J) · symlog scale'))
  t.ok(texts.includes('1e195') && texts.includes('−1e195') && texts.includes('0'), texts.join(' '))
  const [path = ''] = findPaths(svg, 'line mark')
  const heights = findNumbers(path).filter((_, index) => index % 2 === 1)
  t.equal(heights.length, 200)
  t.ok(heights.every((height) => height >= 0 && height <= 340))
})

t.test('lineChart draws the peak of a single bucket in the band of 500 buckets', async (t) => {
  const buckets = frames(500).map((bucket) => bucket * 200)
  const chart: LineChart = {
    title: '100 000 frames',
    x: 'frame',
    series: [
      {
        name: 'energy',
        unit: 'J',
        x: buckets,
        y: buckets.map(() => 10),
        low: buckets.map(() => 9),
        high: buckets.map((_, index) => (index === 77 ? 50 : 11)),
      },
    ],
  }
  const svg = await draw(chart)
  const [band = ''] = findPaths(svg, 'area mark')
  const heights = findNumbers(band).filter((_, index) => index % 2 === 1)
  const top = Math.min(...heights)
  t.equal(heights.filter((height) => height === top).length, 1)
  t.ok(top < 20, `draws the peak at ${top} of 340 pixels`)
  t.ok(svg.length < 100_000)
})

t.test('lineChart writes a message if there is nothing to draw', async (t) => {
  for (const series of [
    [],
    [{ name: 'a', unit: 'm', x: [], y: [] }],
    [{ name: 'a', unit: 'm', x: [1, 2], y: [null, Number.NaN] }],
  ]) {
    t.ok(findTexts(await draw({ title: 'Nothing', x: 'frame', series })).includes('no values'))
  }
})

t.test('lineChart distinguishes series by dashes if there are more series than colours', async (t) => {
  const series = frames(9).map((body) => ({ name: `body ${body}`, unit: 'm', x: [1, 2], y: [body, body] }))
  const svg = await draw({ title: 'Bodies', x: 'frame', series })
  const looks = [...svg.matchAll(/aria-roledescription="line mark"[^>]*>/g)].map(([mark]) => [
    /stroke="([^"]*)"/.exec(mark)?.[1],
    /stroke-dasharray="([^"]*)"/.exec(mark)?.[1],
  ])
  t.equal(looks.length, 9)
  t.equal(new Set(looks.map(String)).size, 9)
})

t.test('lineChart widens the axis for a marker outside the series', async (t) => {
  const svg = await draw({ ...energy, markers: [{ x: 5000, label: 'frame 5000' }], ranges: [] })
  t.ok(findTexts(svg).includes('5,000'))
})

t.test('lineChart truncates long names and titles and stays 900 pixels wide', async (t) => {
  const long = 'a very long name '.repeat(20)
  const svg = await draw({
    ...energy,
    title: long,
    subtitle: long,
    series: energy.series.map((one, index) => ({ ...one, name: `${index} ${long}` })),
    markers: [{ x: 45, label: long }],
  })
  const width = Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1])
  t.ok(width > 870 && width < 930, `${width} wide`)
})

const label = (item: string, center: number, width = 100) => ({ item, center, width })

t.test('placeLabels centres labels in row 0 if they do not overlap', (t) => {
  t.match(placeLabels([label('a', 100), label('b', 300)], { width: 400, rows: 3 }), [
    { item: 'a', left: 50, row: 0 },
    { item: 'b', left: 250, row: 0 },
  ])
  t.end()
})

t.test('placeLabels moves overlapping labels to higher rows, and the first stays in row 0', (t) => {
  const placed = placeLabels([label('a', 100), label('b', 120), label('c', 300)], { width: 400, rows: 3 })
  t.same(
    placed.map(({ row }) => row),
    [0, 1, 0],
  )
  t.end()
})

t.test('placeLabels moves a label at the edge inwards', (t) => {
  const placed = placeLabels([label('a', 0), label('b', 400)], { width: 400, rows: 1 })
  t.same(
    placed.map(({ left }) => left),
    [0, 300],
  )
  t.end()
})

t.test('placeLabels omits a label that does not fit into the last row', (t) => {
  t.same(
    placeLabels([label('a', 50), label('b', 50)], { width: 400, rows: 1 }).map(({ item }) => item),
    ['a'],
  )
  t.end()
})

const size = { width_px: 100, height_px: 50 }

t.test('drawing escapes texts and attribute values in the SVG', (t) => {
  const hostile = `"/><script>&'\u0000\uD800`
  const svg = drawing(size, text([1, 2], hostile, { id: hostile }))
  t.notMatch(svg, '<script>')
  t.ok(svg.includes(`>&quot;/&gt;&lt;script&gt;&amp;'\uFFFD\uFFFD</text>`))
  t.ok(svg.includes('id="&quot;/&gt;&lt;script&gt;'))
  t.end()
})

t.test('the SVG contains short numbers and omits undefined attributes', (t) => {
  const svg = drawing(size, polyline([[1 / 3, 2]], { stroke: undefined }), group({}, element('g')))
  t.ok(svg.includes('<polyline points="0.333,2" fill="none"/>'))
  t.ok(svg.includes('<g><g/></g>'))
  t.end()
})

t.test('a position that is not finite is rejected with INVALID_PICTURE', (t) => {
  t.throws(() => drawing(size, polyline([[Number.NaN, 2]])), { code: 'INVALID_PICTURE' })
  t.throws(() => drawing(size, text([1, Number.POSITIVE_INFINITY], 'far')), { code: 'INVALID_PICTURE' })
  t.end()
})

t.test('arrow puts its tip on the target and its head behind the tip', (t) => {
  const svg = drawing(size, arrow([10, 40], [10, 10], { label: '4.9 N' }))
  const [, tip, left, right] = /points="(\S+) (\S+) (\S+)"/.exec(svg) ?? []
  t.equal(tip, '10,10')
  t.same([left, right], ['14,20', '6,20'].sort())
  t.ok(svg.includes('>4.9 N</text>'))
  t.end()
})

t.test('arrow draws a dot for an arrow without length', (t) => {
  const svg = drawing(size, arrow([10, 40], [10, 40], { label: '0 N' }))
  t.ok(svg.includes('<circle cx="10" cy="40"'))
  t.notMatch(svg, 'polygon')
  t.end()
})

t.test('axisGizmo labels every axis and draws an axis along the view as a dot', (t) => {
  const svg = drawing(
    size,
    axisGizmo(
      [20, 30],
      [
        { name: 'x', direction: [1, 0] },
        { name: 'z', direction: [0, -1] },
        { name: 'y', direction: [0, 0] },
      ],
    ),
  )
  for (const name of 'xyz') t.ok(svg.includes(`>${name}</text>`))
  t.equal(svg.match(/<polygon/g)?.length, 2)
  t.equal(svg.match(/<circle/g)?.length, 1)
  t.end()
})

t.test('scaleBar draws a round length that fits and is to scale', (t) => {
  for (const [px_per_unit, label, width] of [
    [150, '1 m', 150],
    [31, '5 m', 155],
    [70, '2 m', 140],
    [1, '100 m', 100],
    [4000, '0.02 m', 80],
    [1.3e-5, '1e7 m', 130],
  ] as const) {
    const svg = drawing(size, scaleBar([10, 40], { px_per_unit, unit: 'm' }))
    t.ok(svg.includes(`>${label}</text>`), `${label}: ${svg}`)
    t.ok(svg.includes(`<line x1="10" y1="40" x2="${10 + width}" y2="40"`), label)
  }
  t.end()
})

t.test('createValueAxis returns a linear axis from minimum to maximum for ordinary values', (t) => {
  t.match(createValueAxis([3, 1, 2], 'auto'), { type: 'linear', domain: [1, 3], labelExpr: null })
  t.end()
})

t.test('createValueAxis does not magnify differences that are only rounding errors', (t) => {
  const { domain } = createValueAxis([4.905, 4.905 + 1e-15], 'auto')
  t.ok(domain[0] < 4.7 && domain[1] > 5.1)
  t.same(createValueAxis([0, 0], 'auto').domain, [-1, 1])
  t.end()
})

t.test('createValueAxis selects a log scale for diverging values only if the scale is auto', (t) => {
  const values = [1, 2, 3, 4, 1e9]
  t.equal(createValueAxis(values, 'auto').type, 'log')
  t.equal(createValueAxis([...values, -1], 'auto').type, 'symlog')
  t.equal(createValueAxis(values, 'linear').type, 'linear')
  t.equal(createValueAxis([10, 1e195, 1e195, 1e195, 1e195], 'auto').type, 'log')
  t.equal(createValueAxis([1, 2, 3, 4, 1000], 'auto').type, 'linear')
  t.equal(
    createValueAxis([1e-17, 1e-17, 1e-17, 1], 'auto').type,
    'linear',
    'uses a linear scale for motion after rest',
  )
  t.end()
})

t.test('createValueAxis puts log ticks at powers of ten inside the domain', (t) => {
  const { domain, ticks } = createValueAxis([2e-9, 0.5], 'log')
  t.same(ticks, [1e-9, 1e-7, 1e-5, 1e-3, 0.1, 10])
  t.same(domain, [1e-9, 10])
  t.end()
})

t.test('createValueAxis uses a symmetric symlog scale for values at or below zero', (t) => {
  const { type, domain, ticks } = createValueAxis([-1e6, 0, 1, 1e6], 'log')
  t.equal(type, 'symlog')
  t.same(domain, [-1e6, 1e6])
  t.ok(ticks?.includes(0))
  t.same(ticks, ticks?.map((tick) => -tick || 0).reverse())
  t.end()
})

t.test('createValueAxis returns a finite and ascending axis up to the limits of float64', (t) => {
  const most = Number.MAX_VALUE
  const least = Number.MIN_VALUE
  for (const values of [
    [most, -most],
    [most],
    [least],
    [-least, most],
    [least, 1],
    [least, most],
    [0],
    [1e195, 1],
  ]) {
    for (const scale of ['auto', 'linear', 'log'] as const) {
      const { type, domain, ticks, constant } = createValueAxis(values, scale)
      const label = `${values} ${scale}`
      t.ok(domain.every(Number.isFinite) && domain[0] < domain[1], label)
      t.ok(type !== 'log' || domain[0] > 0, label)
      t.ok(constant === undefined || (constant > 0 && Number.isFinite(domain[1] / constant)), label)
      t.ok(
        (ticks ?? []).every((tick) => tick >= domain[0] && tick <= domain[1]),
        label,
      )
    }
  }
  t.end()
})
