import t from 'tap'
import { boundsOf, overlap, padded } from '../../src/domain/bounds.ts'
import { keptVertices, simplified } from '../../src/domain/simplify.ts'

const line = (...coordinates: (readonly [number, number])[]) => ({ type: 'LineString', coordinates })
const point = (lon: number, lat: number) => ({ type: 'Point', coordinates: [lon, lat] })
const near = (a: readonly number[] | null, b: readonly number[]): boolean =>
  a?.every((value, index) => Math.abs(value - (b[index] ?? Number.NaN)) < 1e-9) === true

t.test('bounds: a line over the antimeridian is 0.2 degrees wide and not 360', async (t) => {
  t.ok(near(boundsOf([line([179.9, 10], [-179.9, 11])]), [179.9, 10, 180.1, 11]))
  t.ok(near(boundsOf([point(179.9, 0), point(-179.9, 1)]), [179.9, 0, 180.1, 1]))
  t.ok(near(boundsOf([point(-170, 0), point(170, 1), point(175, 2)]), [170, 0, 190, 2]))
})

t.test('bounds: elsewhere they are the plain least and greatest', async (t) => {
  t.ok(near(boundsOf([point(-1, 50), line([0, 51], [2, 53])]), [-1, 50, 2, 53]))
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
      geometry: line(...corner),
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
