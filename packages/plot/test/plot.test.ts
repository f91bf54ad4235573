import t from 'tap'
import {
  areBoundsOverlapping,
  type Bounds,
  coverSpans,
  findBounds,
  formatCount,
  listPaths,
  normalizeLongitude,
  padBounds,
  readInjection,
  retainVertices,
  unwrapBounds,
  unwrapLongitudes,
} from '../src/index.ts'

const point = (lon: number, lat: number) => [[lon, lat]] as const
const line = (...positions: readonly (readonly [lon: number, lat: number])[]) => positions
const isNear = (a: Bounds | null, b: Bounds): boolean =>
  a?.every((value, index) => Math.abs(value - (b[index] ?? Number.NaN)) < 1e-9) === true

t.test('normalizeLongitude returns a longitude from -180 to 180 and retains the sign of 180', async (t) => {
  t.same([180, -180, 181, 540, -181, 359].map(normalizeLongitude), [180, -180, -179, -180, 179, -1])
})

t.test('unwrapLongitudes never makes a step of more than 180 degrees', async (t) => {
  t.same(unwrapLongitudes([179, -179, -178, 179]), [179, 181, 182, 179])
})

t.test('coverSpans omits the widest gap', async (t) => {
  t.same(
    coverSpans([
      [170, 170],
      [-170, -170],
    ]),
    [170, 190],
  )
  t.same(
    coverSpans([
      [-10, 20],
      [5, 30],
    ]),
    [-10, 30],
  )
  t.same(
    coverSpans([
      [-180, -60],
      [-60, 60],
      [60, 180],
    ]),
    [-180, 180],
  )
  t.equal(coverSpans([]), null)
})

t.test('findBounds takes the shorter way for a line across the antimeridian', async (t) => {
  t.ok(isNear(findBounds([line([179.9, 10], [-179.9, 11])]), [179.9, 10, 180.1, 11]))
  t.ok(isNear(findBounds([point(179.9, 0), point(-179.9, 1)]), [179.9, 0, 180.1, 1]))
  t.ok(isNear(findBounds([point(-170, 0), point(170, 1), point(175, 2)]), [170, 0, 190, 2]))
  t.same(findBounds([point(190, 5)]), [-170, 5, -170, 5])
})

t.test('findBounds returns the smallest box, or null without positions', async (t) => {
  t.ok(isNear(findBounds([point(-1, 50), line([0, 51], [2, 53])]), [-1, 50, 2, 53]))
  t.ok(
    isNear(findBounds([point(-100, -10), point(100, 10)]), [100, -10, 260, 10]),
    'returns the box of the shorter way',
  )
  t.equal(findBounds([]), null)
})

t.test('padBounds adds a fraction of the size and enlarges small boxes', async (t) => {
  t.ok(isNear(padBounds([-1, 50, 2, 53], 0.1), [-1.3, 49.7, 2.3, 53.3]))
  t.ok(isNear(padBounds([5, 50, 5, 50], 0.1), [4.9994, 49.9994, 5.0006, 50.0006]))
})

t.test(
  'areBoundsOverlapping returns true for a shared corner and for boxes across the antimeridian',
  async (t) => {
    t.ok(areBoundsOverlapping([0, 0, 1, 1], [1, 1, 2, 2]))
    t.notOk(areBoundsOverlapping([0, 0, 1, 1], [1.1, 0, 2, 2]))
    t.ok(areBoundsOverlapping([179, 0, 181, 1], [-180, 0, -179, 1]))
    t.same(unwrapBounds([179, 0, -179, 1]), [179, 0, 181, 1])
  },
)

t.test('listPaths skips malformed parts', async (t) => {
  t.same(listPaths({ type: 'MultiPoint', coordinates: [] }), [])
  t.same(listPaths(null), [])
  t.same(listPaths({ type: 'Polygon', coordinates: [[[0, 1]], 'x', []] }), [[[0, 1]]])
  const point = { type: 'Point', coordinates: [1, 2] }
  t.same(listPaths({ type: 'GeometryCollection', geometries: [point, {}] }), [[[1, 2]]])
})

t.test('retainVertices also filters lists that have one entry per vertex', async (t) => {
  const lines = [
    [
      [0, 0],
      [1, 0],
    ],
    [[2, 0]],
  ]
  const feature = {
    type: 'Feature' as const,
    geometry: { type: 'MultiLineString', coordinates: lines },
    properties: { speeds: [1, 2, 3], tags: ['a', 'b'] },
  }
  t.match(retainVertices(feature, [0, 1]), {
    geometry: { coordinates: [lines[0]] },
    properties: { speeds: [1, 2], tags: ['a', 'b'] },
  })
})

t.test('readInjection returns null for an unknown form', async (t) => {
  t.equal(readInjection({ from: 'nowhere' }), null)
  t.equal(readInjection('selection'), null)
  t.same(readInjection({ from: 'selection', kinds: ['track'] }), {
    from: 'selection',
    kinds: ['track'],
    min: 1,
    max: null,
  })
})

t.test('formatCount uses the correct plural', async (t) => {
  const words = ['1 pass', '2 passes', '2 fixes', '0 tracks', '2 entries', '2 days']
  t.same(
    [
      formatCount(1, 'pass'),
      formatCount(2, 'pass'),
      formatCount(2, 'fix'),
      formatCount(0, 'track'),
      formatCount(2, 'entry'),
      formatCount(2, 'day'),
    ],
    words,
  )
})
