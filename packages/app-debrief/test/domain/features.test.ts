import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { findFeatureProblems, requireValidFeatures } from '../../src/domain/commands/feature-problems.ts'
import { getTitle, parsePlotName } from '../../src/domain/document/plot-name.ts'
import { addOffset, readTimeState } from '../../src/domain/document/plot-state.ts'
import { selectLineVertices, simplifyFeature } from '../../src/domain/queries/simplify.ts'

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
  const problems = findFeatureProblems(
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

verifies('debrief:validation', 'the error lists twenty invalid features and counts all', async (t) => {
  const many = Array.from({ length: 30 }, (_, index) => feature(`f${index}`, at(0, 95)))
  t.throws(() => requireValidFeatures(many, { idRequired: false }), {
    code: 'INVALID_FEATURES',
    data: { total: 30 },
  })
  try {
    requireValidFeatures(many, { idRequired: false })
  } catch (error) {
    t.equal((error as { data: { features: unknown[] } }).data.features.length, 20)
  }
})

t.test('a feature can have any valid geometry or a null geometry', async (t) => {
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
    findFeatureProblems(
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
  const found = findFeatureProblems(
    bad.map((geometry, index) => feature(index, geometry)),
    { idRequired: true },
  )
  t.equal(found.length, bad.length)
})

const createLine = (...coordinates: (readonly [number, number])[]) => ({ type: 'LineString', coordinates })
t.test('simplifyFeature retains ends, corners and the times of their vertices', async (t) => {
  const run = [0, 1, 2, 3, 4].map((x) => [x / 100, 50] as const)
  t.same(selectLineVertices(run, 10), [0, 4])
  const corner = [...run, [0.04, 50.01] as const]
  t.same(selectLineVertices(corner, 10), [0, 4, 5])
  const feature = {
    type: 'Feature',
    geometry: createLine(...corner),
    properties: { timestamps: ['a', 'b', 'c', 'd', 'e', 'f'], speeds: [1, 2, 3, 4, 5, 6], name: 'x' },
  }
  t.match(simplifyFeature(feature, 10), {
    geometry: {
      coordinates: [
        [0, 50],
        [0.04, 50],
        [0.04, 50.01],
      ],
    },
    properties: { timestamps: ['a', 'e', 'f'], speeds: [1, 5, 6], name: 'x' },
  })
})

verifies('debrief:names', 'parsePlotName rejects invalid names', async (t) => {
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
  for (const name of bad)
    t.throws(() => parsePlotName(name), { code: 'INVALID_FILENAME' }, JSON.stringify(name))
  t.equal(parsePlotName('U\u0308ber plan.plot.json'), '\u00dcber plan.plot.json')
  t.equal(parsePlotName('mission1.plot.json'), 'mission1.plot.json')
  t.equal(getTitle('mission1.plot.json'), 'mission1')
})

verifies('debrief:time', 'a time without an offset is read as UTC', async (t) => {
  t.equal(addOffset('2024-11-14T12:00:00'), '2024-11-14T12:00:00Z')
  t.equal(addOffset('2024-11-14'), '2024-11-14T00:00:00Z')
  t.equal(addOffset('2024-11-14T12:00:00-03:00'), '2024-11-14T12:00:00-03:00')
})

verifies(
  'debrief:time',
  'readTimeState rejects a current time outside its range and accepts the legacy form',
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

t.test('selectLineVertices computes at most 65 distances per vertex of a narrowing zigzag', async (t) => {
  const zigzag = Array.from(
    { length: 4000 },
    (_, place) => [place * 1e-9, 50 + (place % 2 === 0 ? 1 : -1) * (4000 - place) * 1e-5] as const,
  )
  const { min } = Math
  let distances = 0
  // Each distance calls `Math.min` once.
  Math.min = (...values) => {
    distances += 1
    return min(...values)
  }
  t.teardown(() => {
    Math.min = min
  })
  const kept = selectLineVertices(zigzag, 1)
  t.ok(distances <= 65 * zigzag.length, `${distances} distances`)
  t.equal(kept.length, zigzag.length, 'every corner is farther than the tolerance')
})
