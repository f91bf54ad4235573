import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { checkFeatures, featureProblems } from '../../src/domain/feature-problems.ts'

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
