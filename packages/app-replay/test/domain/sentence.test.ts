import t from 'tap'
import { count, mainAxis, quantity, readable, several } from '../../src/domain/sentence.ts'

t.test('readable: four digits, and exponents where a number is very large or small', async (t) => {
  const pairs = [
    [0, '0'],
    [49.05, '49.05'],
    [-0.15696, '-0.157'],
    [1422.6129, '1422.6'],
    [12345.04, '12345'],
    [1.2341e195, '1.234e195'],
    [-2e-9, '-2e-9'],
    [100, '100'],
    [null, 'unknown'],
    [Number.NaN, 'unknown'],
    [Number.POSITIVE_INFINITY, 'infinite'],
    [Number.NEGATIVE_INFINITY, '-infinite'],
  ] as const
  for (const [value, text] of pairs) t.equal(readable(value), text)
  t.equal(quantity(2.5, 'm'), '2.5 m')
  t.equal(quantity(null, 'm'), 'unknown')
})

t.test('lists and nouns: counted, and cut after the first few', async (t) => {
  t.equal(count(1, 'body', 'bodies'), '1 body')
  t.equal(count(0, 'frame'), '0 frames')
  t.equal(several([1, 2, 3]), '1, 2, 3')
  t.equal(several([1, 2, 3, 4, 5, 6, 7]), '1, 2, 3, 4, 5 and 2 more')
})

t.test('main axis: named where most of the vector lies along it', async (t) => {
  t.equal(mainAxis({ x: 0.002, y: 0, z: 0 }, 'm'), ' (0.002 m in X)')
  t.equal(mainAxis({ x: 1, y: 1, z: 0 }, 'm'), '')
  t.equal(mainAxis({ x: 0, y: 0, z: 0 }, 'm'), '')
  t.equal(mainAxis({ x: null, y: 0, z: 0 }, 'm'), '')
})
