import t from 'tap'
import { verifies } from '../../../../../test/verifies.ts'
import type { Problem } from '../../../src/domain/feedback/problem.ts'
import type { EvalResult } from '../../../src/domain/result.ts'
import { codeFindings } from '../../../src/domain/suggest/code-finding.ts'
import { suggestions } from '../../../src/domain/suggest/suggest.ts'

const good: EvalResult = {
  step: 1,
  kind: 'submit',
  score: 1,
  emaScore: 1,
  bestScore: 1,
  noImproveStreak: 0,
  tests: { passed: 3, failed: 0, total: 3 },
  okBuild: null,
  okDataQuality: null,
  okLint: null,
  perf: null,
  signals: [],
  feedback: [],
  failures: [],
  missing: [],
  missingCount: 0,
  newlySkipped: [],
  broken: [],
  repaired: [],
  tamper: [],
  guard: null,
  coverage: null,
  warnings: [],
  isolation: [],
  stages: [],
  filesChanged: [],
  landed: true,
  ms: 1,
  shouldHalt: false,
  rule: null,
  reasons: [],
}

const problem = (more: Partial<Problem>): Problem => ({
  source: 'python',
  file: 'a.py',
  line: 1,
  kind: 'KeyError',
  message: "'k'",
  advice: undefined,
  isError: true,
  count: 1,
  ...more,
})

const asked = { result: good, problems: [], files: new Map<string, string>(), fixable: new Set<string>() }

t.test('suggestions: nothing is suggested where nothing is wrong', async (t) => {
  t.same(suggestions(asked), [])
})

verifies(
  'trm:advice:suggest',
  'suggestions: failures with one cause are one, and what hides others comes first',
  async (t) => {
    const found = suggestions({
      ...asked,
      files: new Map([['a.py', 'row["k"]\n']]),
      fixable: new Set(['b.py']),
      problems: [
        problem({ count: 7, advice: 'look' }),
        problem({ kind: 'SyntaxError', file: 'b.py', message: 'invalid syntax' }),
      ],
    })
    t.match(found, [
      { priority: 'critical', category: 'tests', issue: /SyntaxError/, autoFixable: true },
      {
        priority: 'high',
        issue: /7 times/,
        locations: [{ file: 'a.py', line: 1, snippet: 'row["k"]' }],
        suggestedFix: 'look',
      },
    ])
  },
)

t.test(
  'suggestions: tests that vanished, tampering, signals and regressions are told, at most five',
  async (t) => {
    const signal = {
      name: 'dataQual',
      kind: 'check',
      weight: 0.3,
      value: 0,
      ok: false,
      why: 'exit 1',
      contribution: 0,
    } as const
    const result: EvalResult = {
      ...good,
      missing: ['t.one'],
      missingCount: 1,
      tamper: [{ path: 'conftest.py', why: 'configures the tests', isTest: false }],
      signals: [signal, { ...signal, name: 'perf', kind: 'perf', value: 0.5 }],
      perf: { value: 2, unit: 's', best: 1 },
    }
    const lint = (line: number) =>
      problem({ source: 'lint', kind: 'E501', message: 'too long', line, isError: true })
    const found = suggestions({
      ...asked,
      result,
      problems: [lint(1), lint(2), lint(3), lint(4)],
      files: new Map([['b.py', 'try:\n    x\nexcept:\n    y\n']]),
    })
    t.match(
      found.map(({ priority, category }) => [priority, category]),
      [
        ['critical', 'tests'],
        ['high', 'tampering'],
        ['high', 'data-quality'],
        ['medium', 'lint'],
        ['medium', 'performance'],
      ],
    )
    t.match(found[3], { issue: 'E501 too long, and 3 more of its kind' })
    t.equal(found[3]?.locations?.length, 3)
    t.match(found[4], { issue: /100 % behind its best/ })
  },
)

t.test('code findings: Python shows its branches, sizes and habits', async (t) => {
  const branches = Array.from(
    { length: 11 },
    (_, index) => `    if x == ${index}:\n        return ${index}\n`,
  ).join('')
  const text = [
    `def busy(x):\n    """Doc."""\n${branches}`,
    'def deep(x) -> int:\n  if x:\n    for y in x:\n      while y:\n        with y:\n          try:\n            pass\n          except:\n            pass\n',
    'def shared(x: list = []) -> None:\n    df["a"]["b"] = 1\n    df.drop(inplace=True)\n    for row in df.iterrows(): pass\n',
    'try:\n    pass\nexcept ValueError:\n    pass\n',
  ].join('\n')
  t.same(
    codeFindings('a.py', text).map(({ line, category }) => [line, category]),
    [
      [1, 'complexity'],
      [1, 'type-safety'],
      [26, 'complexity'],
      [26, 'documentation'],
      [33, 'error-handling'],
      [36, 'error-handling'],
      [37, 'data-validation'],
      [38, 'data-validation'],
      [39, 'performance'],
    ],
  )
  t.match(codeFindings('long.py', 'x = 1\n'.repeat(501)), [{ line: 1, category: 'size' }])
})

t.test('code findings: JavaScript shows its branches and dropped errors', async (t) => {
  const branches = Array.from({ length: 11 }, (_, index) => `  if (x === ${index}) return ${index}\n`).join(
    '',
  )
  const text = `function busy(x) {\n${branches}}\ntry { busy() } catch {}\n`
  t.match(codeFindings('a.mjs', text), [
    { line: 1, category: 'complexity' },
    { line: 14, category: 'error-handling' },
  ])
  t.same(codeFindings('a.js', 'not a script ('), [])
  t.same(codeFindings('a.txt', text), [])
})
