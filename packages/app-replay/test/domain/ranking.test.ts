import t from 'tap'
import type { Finding, FindingKind, Severity } from '../../src/domain/laws/finding.ts'
import { rankFindings } from '../../src/domain/laws/ranking.ts'
import { count, mainAxis, quantity, readable, several } from '../../src/domain/sentence.ts'

const finding = (
  kind: FindingKind,
  [first, last]: readonly [number, number],
  bodies: readonly number[],
  severity: Severity = 'error',
): Finding => ({
  kind,
  severity,
  frames: { first, last, peak: first },
  bodies,
  pair: null,
  value: 1,
  limit: 0,
  unit: '1',
  confidence: 0.9,
})

const told = (findings: readonly Finding[]) =>
  rankFindings(findings).map(({ id, kind, follows }) => [id, kind, follows])

t.test('rankFindings: of one moment the cause stands before what follows from it', async (t) => {
  t.same(told([finding('energy_injection', [45, 45], [1]), finding('friction_cone', [45, 45], [1, 9])]), [
    ['f1', 'friction_cone', null],
    ['f2', 'energy_injection', 'f1'],
  ])
})

t.test(
  'rankFindings: a fault of another body is a cause of its own, and an earlier warning stands behind',
  async (t) => {
    t.same(
      told([
        finding('creep', [5, 30], [2], 'warning'),
        finding('momentum', [40, 40], [3]),
        finding('teleport', [41, 41], [4]),
      ]),
      [
        ['f1', 'momentum', null],
        ['f2', 'teleport', null],
        ['f3', 'creep', null],
      ],
    )
  },
)

t.test('rankFindings: after a blow-up nothing about its bodies is news', async (t) => {
  const late = finding('penetration', [900, 950], [3, 4])
  t.same(told([late, finding('blow_up', [60, 200], [3])]), [
    ['f1', 'blow_up', null],
    ['f2', 'penetration', 'f1'],
  ])
})

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
