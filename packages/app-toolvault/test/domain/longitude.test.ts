import t from 'tap'
import { boundsOf, normalLon, spanOf, unwrapped } from '../../src/domain/longitude.ts'
import { feature } from '../vault-kit.ts'

t.test('normalLon: within a turn, 180 stays on its side', async (t) => {
  t.same([180, -180, 181, 540, -181, 359].map(normalLon), [180, -180, -179, -180, 179, -1])
})

t.test('unwrapped: no step is longer than half a turn', async (t) => {
  t.same(unwrapped([179, -179, -178, 179]), [179, 181, 182, 179])
})

t.test('spanOf: the widest gap is left out', async (t) => {
  t.same(
    spanOf([
      [170, 170],
      [-170, -170],
    ]),
    [170, 190],
  )
  t.same(
    spanOf([
      [-10, 20],
      [5, 30],
    ]),
    [-10, 30],
  )
  t.same(
    spanOf([
      [-180, -60],
      [-60, 60],
      [60, 180],
    ]),
    [-180, 180],
  )
  t.equal(spanOf([]), undefined)
})

t.test('boundsOf: empty geometries have none', async (t) => {
  t.equal(boundsOf([feature('b', 'MultiPoint', [])]), undefined)
  t.same(boundsOf([feature('p', 'Point', [190, 5])]), [-170, 5, -170, 5])
})
