import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { linesText, readCoverage } from '../../src/domain/coverage.ts'

const golden = (name: string) => readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8')

verifies(
  'trm:signals:coverage',
  'coverage.py, istanbul and Cobertura say the same of the same code',
  async (t) => {
    const changed = ['tests/unit_sums.py', 'src/other.py']
    const json = readCoverage('coverage.json', golden('coverage.json'), changed)
    const xml = readCoverage('coverage.xml', golden('coverage.xml'), changed)
    t.match(json, { percent: Number, covered: Number, total: Number })
    t.same({ ...json, source: '' }, { ...xml, source: '' })
    t.ok((json?.uncovered['tests/unit_sums.py']?.length ?? 0) > 0)
    const summary = readCoverage('coverage-summary.json', golden('coverage-summary.json'), [])
    t.match(summary, { percent: Number, uncovered: {} })
    t.ok((summary?.covered ?? 0) < (summary?.total ?? 0))
  },
)

t.test('coverage: what is none is passed over', async (t) => {
  for (const text of ['', '{', '[]', 'null', '{"total": 3}', '{"totals": {"covered_lines": "3"}}'])
    t.equal(readCoverage('coverage.json', text, []), undefined, text)
  for (const text of ['', '<a/>', '<coverage>', '<!DOCTYPE c [<!ENTITY a "b">]><coverage/>'])
    t.equal(readCoverage('coverage.xml', text, []), undefined, text)
})

t.test('coverage: line numbers in few characters', async (t) => {
  t.equal(linesText([3, 4, 5, 9]), '3-5, 9')
  t.equal(linesText([]), '')
})
