import t from 'tap'
import { chartSvg } from '../src/chart-svg.ts'
import { type LineChart, lineChart } from '../src/index.ts'

const frames = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

const draw = async (chart: LineChart): Promise<string> => (await chartSvg(lineChart(chart))).svg

/** Texts of a picture, in the order in which they are written. */
const textsOf = (svg: string): string[] =>
  [...svg.matchAll(/<text[^>]*>([^<]*)</g)].map(([, text]) => text ?? '')

/** Paths of one kind of mark: `line`, `area`, `point`. */
const pathsOf = (svg: string, mark: string): string[] =>
  [...svg.matchAll(/<path aria-label="[^"]*" role="[^"]*" aria-roledescription="([^"]*)"[^>]*? d="([^"]*)"/g)]
    .filter(([, role]) => role === mark)
    .map(([, , path]) => path ?? '')

const numbersOf = (path: string): number[] => [...path.matchAll(/-?[\d.]+(?:e-?\d+)?/g)].map(Number)

const energy: LineChart = {
  title: 'Energy <jumps> & stays',
  subtitle: 'crate-slide.db',
  x: 'frame',
  series: [
    { name: 'kinetic', unit: 'J', quantity: 'energy', x: frames(60), y: frames(60).map((x) => x / 10) },
    { name: 'potential', unit: 'J', quantity: 'energy', x: frames(60), y: frames(60).map(() => 2) },
  ],
  cited: [{ x: 45, label: 'frame 45: +15.8 J' }],
  ranges: [{ from: 10, to: 20, label: 'not converged' }],
}

t.test('lineChart: titles, units, legend, cited frame and run are all written', async (t) => {
  const texts = textsOf(await draw(energy))
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

t.test('lineChart: nothing that could be drawn is odd to Vega-Lite', async (t) => {
  for (const scale of ['linear', 'log'] as const) {
    t.same((await chartSvg(lineChart({ ...energy, scale }))).warnings, [])
  }
})

t.test(
  'lineChart: series of other units have a panel of their own, in line and with their unit',
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
    const texts = textsOf(svg)
    for (const text of ['speed (m/s)', 'depth (m)', 'utilisation', 'time (s)'])
      t.ok(texts.includes(text), text)
    const starts = pathsOf(svg, 'line mark').map((path) => numbersOf(path)[0])
    t.equal(starts.length, 3)
    t.equal(new Set(starts).size, 1)
  },
)

t.test('lineChart: a gap stays a gap, and a value alone in it is a dot', async (t) => {
  const y = frames(60).map((frame) => (frame > 20 && frame < 40 && frame !== 30 ? null : frame))
  const withNaN = y.map((value) => value ?? Number.NaN)
  for (const values of [y, withNaN, Float64Array.from(withNaN)]) {
    const svg = await draw({
      title: 'Gap',
      x: 'frame',
      series: [{ name: 'a', unit: 'm', x: frames(60), y: values }],
    })
    const [path = ''] = pathsOf(svg, 'line mark')
    t.equal(path.match(/M/g)?.length, 3, 'before, alone, after')
    t.equal(pathsOf(svg, 'point').length, 1)
  }
})

t.test(
  'lineChart: values up to 1e195 are drawn on a scale on which the healthy ones stay visible',
  async (t) => {
    const y = frames(200).map((frame) =>
      frame < 100 ? 10 + frame / 100 : (-1) ** frame * 10 ** Math.min(195, frame * 2),
    )
    const svg = await draw({
      title: 'Blow-up',
      x: 'frame',
      series: [{ name: 'energy', unit: 'J', x: frames(200), y }],
    })
    const texts = textsOf(svg)
    t.ok(texts.includes('energy (J) · symlog scale'))
    t.ok(texts.includes('1e195') && texts.includes('−1e195') && texts.includes('0'), texts.join(' '))
    const [path = ''] = pathsOf(svg, 'line mark')
    const heights = numbersOf(path).filter((_, index) => index % 2 === 1)
    t.equal(heights.length, 200)
    t.ok(heights.every((height) => height >= 0 && height <= 340))
  },
)

t.test('lineChart: the band of a bucketed run of 100 000 frames keeps the peak of one frame', async (t) => {
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
  const [band = ''] = pathsOf(svg, 'area mark')
  const heights = numbersOf(band).filter((_, index) => index % 2 === 1)
  const top = Math.min(...heights)
  t.equal(heights.filter((height) => height === top).length, 1)
  t.ok(top < 20, `the peak stands at ${top} of 340 pixels`)
  t.ok(svg.length < 100_000)
})

t.test('lineChart: nothing to draw is said in the picture', async (t) => {
  for (const series of [
    [],
    [{ name: 'a', unit: 'm', x: [], y: [] }],
    [{ name: 'a', unit: 'm', x: [1, 2], y: [null, Number.NaN] }],
  ]) {
    t.ok(textsOf(await draw({ title: 'Nothing', x: 'frame', series })).includes('no values'))
  }
})

t.test('lineChart: more series than colours are told apart by dashes', async (t) => {
  const series = frames(9).map((body) => ({ name: `body ${body}`, unit: 'm', x: [1, 2], y: [body, body] }))
  const svg = await draw({ title: 'Bodies', x: 'frame', series })
  const looks = [...svg.matchAll(/aria-roledescription="line mark"[^>]*>/g)].map(([mark]) => [
    /stroke="([^"]*)"/.exec(mark)?.[1],
    /stroke-dasharray="([^"]*)"/.exec(mark)?.[1],
  ])
  t.equal(looks.length, 9)
  t.equal(new Set(looks.map(String)).size, 9)
})

t.test('lineChart: a cited frame outside the series widens the axis', async (t) => {
  const svg = await draw({ ...energy, cited: [{ x: 5000, label: 'frame 5000' }], ranges: [] })
  t.ok(textsOf(svg).includes('5,000'))
})

t.test('lineChart: long names and titles are cut, the picture stays 900 wide', async (t) => {
  const long = 'a very long name '.repeat(20)
  const svg = await draw({
    ...energy,
    title: long,
    subtitle: long,
    series: energy.series.map((one, index) => ({ ...one, name: `${index} ${long}` })),
    cited: [{ x: 45, label: long }],
  })
  const width = Number(/<svg[^>]* width="([\d.]+)"/.exec(svg)?.[1])
  t.ok(width > 870 && width < 930, `${width} wide`)
})
