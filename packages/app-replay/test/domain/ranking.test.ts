import t from 'tap'
import type { Finding, FindingKind, Severity } from '../../src/domain/laws/finding.ts'
import { rankFindings } from '../../src/domain/laws/ranking.ts'

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
