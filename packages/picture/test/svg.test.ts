import t from 'tap'
import { arrow, axisGizmo, drawing, element, group, polyline, scaleBar, text } from '../src/index.ts'

const size = { width_px: 100, height_px: 50 }

t.test('drawing: names and labels cannot break out of their place', (t) => {
  const hostile = `"/><script>&'\u0000\uD800`
  const svg = drawing(size, text([1, 2], hostile, { id: hostile }))
  t.notMatch(svg, '<script>')
  t.ok(svg.includes(`>&quot;/&gt;&lt;script&gt;&amp;'\uFFFD\uFFFD</text>`))
  t.ok(svg.includes('id="&quot;/&gt;&lt;script&gt;'))
  t.end()
})

t.test('drawing: numbers are short, absent attributes are left out', (t) => {
  const svg = drawing(size, polyline([[1 / 3, 2]], { stroke: undefined }), group({}, element('g')))
  t.ok(svg.includes('<polyline points="0.333,2" fill="none"/>'))
  t.ok(svg.includes('<g><g/></g>'))
  t.end()
})

t.test('drawing: a place that is not finite is INVALID_PICTURE', (t) => {
  t.throws(() => drawing(size, polyline([[Number.NaN, 2]])), { code: 'INVALID_PICTURE' })
  t.throws(() => drawing(size, text([1, Number.POSITIVE_INFINITY], 'far')), { code: 'INVALID_PICTURE' })
  t.end()
})

t.test('arrow: its tip is exactly where it points, its head behind', (t) => {
  const svg = drawing(size, arrow([10, 40], [10, 10], { label: '4.9 N' }))
  const [, tip, left, right] = /points="(\S+) (\S+) (\S+)"/.exec(svg) ?? []
  t.equal(tip, '10,10')
  t.same([left, right], ['14,20', '6,20'].sort())
  t.ok(svg.includes('>4.9 N</text>'))
  t.end()
})

t.test('arrow: one without length is a dot', (t) => {
  const svg = drawing(size, arrow([10, 40], [10, 40], { label: '0 N' }))
  t.ok(svg.includes('<circle cx="10" cy="40"'))
  t.notMatch(svg, 'polygon')
  t.end()
})

t.test('axisGizmo: every axis is named, one seen from its end is a dot', (t) => {
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

t.test('scaleBar: a round length that fits, drawn to scale', (t) => {
  for (const [px_per_unit, label, width] of [
    [150, '1 m', 150],
    [31, '5 m', 155],
    [70, '2 m', 140],
    [1, '100 m', 100],
    [4000, '0.02 m', 80],
    [1.3e-5, '10,000,000 m', 130],
  ] as const) {
    const svg = drawing(size, scaleBar([10, 40], { px_per_unit, unit: 'm' }))
    t.ok(svg.includes(`>${label}</text>`), `${label}: ${svg}`)
    t.ok(svg.includes(`<line x1="10" y1="40" x2="${10 + width}" y2="40"`), label)
  }
  t.end()
})
