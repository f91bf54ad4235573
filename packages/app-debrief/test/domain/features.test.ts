import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { boundsOf, overlap, padded } from '../../src/domain/bounds.ts'
import { checkFeatures, featureProblems } from '../../src/domain/feature-problems.ts'
import { plotName, titleOf } from '../../src/domain/plot-name.ts'
import { readTimeState, withOffset } from '../../src/domain/plot-state.ts'
import { keptVertices, simplified } from '../../src/domain/simplify.ts'

const feature = (id: unknown, geometry: unknown, properties: unknown = {}) => ({
  type: 'Feature',
  ...(id === undefined ? {} : { id }),
  geometry,
  properties,
})
const at = (...coordinates: unknown[]) => ({ type: 'Point', coordinates })
const line = (count: number) => ({
  type: 'LineString',
  coordinates: Array.from({ length: count }, (_, index) => [index / 100, 50]),
})
const stamps = (count: number) =>
  Array.from({ length: count }, (_, index) => `2024-01-01T00:${String(index).padStart(2, '0')}:00Z`)

verifies('debrief:validation', async (t) => {
  const problems = featureProblems(
    [
      feature('track', line(61), { dataType: 'track', timestamps: [...stamps(59), 'then'] }),
      feature('lat', at(0, 91)),
      feature('nan', at(Number.NaN, 1)),
      feature('null', at(null, 1)),
      feature('ring', {
        type: 'Polygon',
        coordinates: [
          [
            [0, 0],
            [1, 0],
            [1, 1],
            [0, 1],
          ],
        ],
      }),
      feature('times', at(0, 0), {
        dataType: 'reference-point',
        time: '2024-01-02T00:00:00Z',
        timeEnd: '2024-01-01T00:00:00Z',
      }),
      feature('colour', at(0, 0), { dataType: 'annotation', annotationType: 'note', color: 'red' }),
      feature('twice', at(0, 0)),
      feature('twice', at(0, 0)),
      feature(undefined, at(0, 0)),
      feature(undefined, at(0, 0)),
      feature('carrot', { type: 'Carrot', coordinates: [] }),
      feature('good', at(-5.35, 36.14, -30), { anything: { goes: true } }),
    ],
    { idRequired: true },
  )
  t.same(
    problems.map(({ index }) => index),
    [0, 1, 2, 3, 4, 5, 6, 8, 9, 10, 11],
  )
  const reasons = (index: number) => problems.find((one) => one.index === index)?.errors.join('; ') ?? ''
  t.match(reasons(0), /60 timestamps for 61 vertices.*timestamps\[59\]/)
  t.match(reasons(1), /latitude is 91/)
  t.match(reasons(4), /not closed/)
  t.match(reasons(5), /after time/)
  t.match(reasons(6), /annotationType.*color/)
  t.match(reasons(8), /features\[7\]/)
  t.match(reasons(9), /no id/)
  t.match(reasons(11), /Carrot/)
  t.match(problems[0], { featureId: 'track', featureType: 'track' })
})

verifies('debrief:validation', 'the error names twenty and counts all', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => feature(`f${index}`, at(0, 95)))
  t.throws(() => checkFeatures(many, { idRequired: false }), {
    code: 'INVALID_FEATURES',
    data: { total: 30 },
  })
  try {
    checkFeatures(many, { idRequired: false })
  } catch (error) {
    t.equal((error as { data: { features: unknown[] } }).data.features.length, 20)
  }
})

t.test('validation: every kind of geometry, and null, has its right form', async (t) => {
  const ring = [
    [0, 0],
    [1, 0],
    [1, 1],
    [0, 0],
  ]
  const good = [
    null,
    at(1, 2),
    { type: 'MultiPoint', coordinates: [] },
    line(2),
    {
      type: 'MultiLineString',
      coordinates: [
        [
          [0, 0],
          [1, 1],
        ],
      ],
    },
    { type: 'Polygon', coordinates: [ring] },
    { type: 'MultiPolygon', coordinates: [[ring]] },
    { type: 'GeometryCollection', geometries: [at(1, 2)] },
  ]
  t.same(
    featureProblems(
      good.map((geometry, index) => feature(index, geometry)),
      { idRequired: true },
    ),
    [],
  )
  const bad = [
    5,
    at('1', 2),
    at(181, 0),
    at(0, 0, 99_999),
    { type: 'LineString', coordinates: [[0, 0]] },
    { type: 'LineString', coordinates: 'x' },
    {
      type: 'Polygon',
      coordinates: [
        [
          [0, 0],
          [1, 1],
          [0, 0],
        ],
      ],
    },
    { type: 'MultiLineString', coordinates: [[[0, 0]]] },
    { type: 'GeometryCollection' },
    { type: 'toString', coordinates: [] },
  ]
  const found = featureProblems(
    bad.map((geometry, index) => feature(index, geometry)),
    { idRequired: true },
  )
  t.equal(found.length, bad.length)
})

const boundsLine = (...coordinates: (readonly [number, number])[]) => ({ type: 'LineString', coordinates })
const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
const near = (a: readonly number[] | null, b: readonly number[]): boolean =>
  a?.every((value, index) => Math.abs(value - (b[index] ?? Number.NaN)) < 1e-9) === true

t.test('bounds: a line over the antimeridian is 0.2 degrees wide and not 360', async (t) => {
  t.ok(near(boundsOf([boundsLine([179.9, 10], [-179.9, 11])]), [179.9, 10, 180.1, 11]))
  t.ok(near(boundsOf([point(179.9, 0), point(-179.9, 1)]), [179.9, 0, 180.1, 1]))
  t.ok(near(boundsOf([point(-170, 0), point(170, 1), point(175, 2)]), [170, 0, 190, 2]))
})

t.test('bounds: elsewhere they are the plain least and greatest', async (t) => {
  t.ok(near(boundsOf([point(-1, 50), boundsLine([0, 51], [2, 53])]), [-1, 50, 2, 53]))
  t.ok(near(boundsOf([point(-100, -10), point(100, 10)]), [100, -10, 260, 10]), 'the shorter way round')
  t.equal(boundsOf([{ type: 'MultiPoint', coordinates: [] }, null]), null)
  t.ok(near(padded([-1, 50, 2, 53], 0.1), [-1.3, 49.7, 2.3, 53.3]))
  const small = padded([5, 50, 5, 50], 0.1)
  t.ok(near(small, [4.9994, 49.9994, 5.0006, 50.0006]))
})

t.test('bounds: boxes overlap by a shared edge, and across the antimeridian', async (t) => {
  t.ok(overlap([0, 0, 1, 1], [1, 1, 2, 2]))
  t.notOk(overlap([0, 0, 1, 1], [1.1, 0, 2, 2]))
  t.ok(overlap([179, 0, 181, 1], [-180, 0, -179, 1]))
})

t.test(
  'simplify: a straight run keeps its ends, a corner stays, and times stay with their vertices',
  async (t) => {
    const run = [0, 1, 2, 3, 4].map((x) => [x / 100, 50] as const)
    t.same(keptVertices(run, 10), [0, 4])
    const corner = [...run, [0.04, 50.01] as const]
    t.same(keptVertices(corner, 10), [0, 4, 5])
    const feature = {
      type: 'Feature',
      geometry: boundsLine(...corner),
      properties: { timestamps: ['a', 'b', 'c', 'd', 'e', 'f'], speeds: [1, 2, 3, 4, 5, 6], name: 'x' },
    }
    t.match(simplified(feature, 10), {
      geometry: {
        coordinates: [
          [0, 50],
          [0.04, 50],
          [0.04, 50.01],
        ],
      },
      properties: { timestamps: ['a', 'e', 'f'], speeds: [1, 5, 6], name: 'x' },
    })
  },
)

verifies('debrief:names', 'by the form of the name alone', async (t) => {
  const bad = [
    '../x.plot.json',
    '../../etc/passwd.plot.json',
    'a/b.plot.json',
    '..\\x.plot.json',
    '%2e%2e/x.plot.json',
    '%2e%2e%2fx.plot.json',
    'x\0.plot.json',
    'x\n.plot.json',
    '.plot.json',
    '.hidden.plot.json',
    'x.json',
    'x.plot.json ',
    'x .plot.json',
    ' x.plot.json',
    'CON.plot.json',
    'c:x.plot.json',
    `${'x'.repeat(250)}.plot.json`,
    '',
  ]
  for (const name of bad) t.throws(() => plotName(name), { code: 'INVALID_FILENAME' }, JSON.stringify(name))
  t.equal(plotName('U\u0308ber plan.plot.json'), '\u00dcber plan.plot.json')
  t.equal(plotName('mission1.plot.json'), 'mission1.plot.json')
  t.equal(titleOf('mission1.plot.json'), 'mission1')
})

verifies('debrief:time', 'without an offset it is UTC', async (t) => {
  t.equal(withOffset('2024-11-14T12:00:00'), '2024-11-14T12:00:00Z')
  t.equal(withOffset('2024-11-14'), '2024-11-14T00:00:00Z')
  t.equal(withOffset('2024-11-14T12:00:00-03:00'), '2024-11-14T12:00:00-03:00')
})

verifies(
  'debrief:time',
  'a current time outside its range is refused, and the older form is read',
  async (t) => {
    t.same(readTimeState({ current: '2024-01-01T06:00', range: ['2024-01-01', '2024-01-02T00:00:00Z'] }), {
      current: '2024-01-01T06:00Z',
      start: '2024-01-01T00:00:00Z',
      end: '2024-01-02T00:00:00Z',
    })
    const range = { start: '2024-01-01T00:00:00Z', end: '2024-01-02T00:00:00Z' }
    for (const state of [
      { ...range, current: '2024-01-03T00:00:00Z' },
      { ...range, current: '' },
      { current: '2024-01-01T00:00:00Z' },
      { current: range.start, start: range.end, end: range.start },
    ])
      t.throws(() => readTimeState(state), { code: 'INVALID_COMMAND' })
  },
)

t.test('keptVertices takes at most 65 distances for each vertex of a narrowing zigzag', async (t) => {
  const zigzag = Array.from(
    { length: 4000 },
    (_, place) => [place * 1e-9, 50 + (place % 2 === 0 ? 1 : -1) * (4000 - place) * 1e-5] as const,
  )
  const { min } = Math
  let distances = 0
  // Each distance takes one minimum.
  Math.min = (...values) => {
    distances += 1
    return min(...values)
  }
  t.teardown(() => {
    Math.min = min
  })
  const kept = keptVertices(zigzag, 1)
  t.ok(distances <= 65 * zigzag.length, `${distances} distances`)
  t.equal(kept.length, zigzag.length, 'every corner is farther than the tolerance')
})
