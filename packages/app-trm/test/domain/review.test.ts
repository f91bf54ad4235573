import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { compareFiles, readChangedFiles, review } from '../../src/domain/advice/review.ts'
import { suggest } from '../../src/domain/advice/suggest.ts'
import type { EvalResult } from '../../src/domain/evaluation/result.ts'
import type { Problem } from '../../src/domain/feedback/problem.ts'

const planted = `--- a/pkg/load.py
+++ b/pkg/load.py
@@ -10,4 +10,9 @@ def load(path: str) -> Rows:
 context = 1
+print('loading')
+try:
+    run()
+except:
+    pass
+# TODO: check the columns
+long = '${'x'.repeat(130)}'
--- removed comment
-gone = 2
 last = 3
`

t.test('a review reports planted faults at their lines in the new file', async (t) => {
  const { comments, summary } = review(readChangedFiles(planted))
  t.same(
    comments.map(({ line, category, severity }) => [line, category, severity]),
    [
      [14, 'error-handling', 'error'],
      [11, 'logging', 'warning'],
      [16, 'todos', 'info'],
      [17, 'formatting', 'info'],
    ],
  )
  t.match(summary, {
    filesChanged: 1,
    linesAdded: 7,
    linesRemoved: 2,
    commentsCount: 4,
    assessment: 'needs-changes',
  })
})

t.test('a review with a focus returns only comments of its categories', async (t) => {
  const { comments, summary } = review(readChangedFiles(planted), ['todos'])
  t.same(
    comments.map(({ category }) => category),
    ['todos'],
  )
  t.equal(summary.assessment, 'comments')
})

t.test('the code rules of a review ignore strings and comments', async (t) => {
  const content = 'text = "print(1); eval(x)"\n# print(2)\nself.print(3)\nfootprint(4)\n'
  t.same(review(compareFiles([{ path: 'a.py', content }])).comments, [])
  const js = 'const a = "console.log(1)" // eval(x)\nif (a === b) x()\n'
  t.same(review(compareFiles([{ path: 'a.js', content: js }])).comments, [])
})

t.test('a review of files compares them with their originals', async (t) => {
  const orig = 'import os\nprint(1)\n'
  const { comments, summary } = review(
    compareFiles([{ path: 'a.py', orig, content: `${orig}df.drop(inplace=True)\n` }]),
  )
  t.match(comments, [{ file: 'a.py', line: 3, category: 'data-validation' }])
  t.match(summary, { linesAdded: 1, linesRemoved: 0, assessment: 'comments' })
  t.equal(review(compareFiles([{ path: 'a.py', orig, content: orig }])).summary.assessment, 'approved')
})

t.test('a review comments on a change of more than 200 lines and on code without a test', async (t) => {
  const content = Array.from({ length: 201 }, (_, index) => `x${index} = ${index}\n`).join('')
  t.match(
    review(compareFiles([{ path: 'a.py', content }])).comments.map(({ category }) => category),
    ['size', 'testing'],
  )
  const test = { path: 'tests/test_a.py', content: 'def test_a() -> None:\n    assert True\n' }
  t.match(
    review(compareFiles([{ path: 'a.py', content }, test])).comments.map(({ category }) => category),
    ['size'],
  )
})

t.test('a review applies its rules to TypeScript', async (t) => {
  const content =
    'const a = b as any\nconsole.log(a == c)\ndebugger\nit.only("x", f)\ntry { f() } catch {}\n// @ts-ignore\n'
  t.same(
    review(compareFiles([{ path: 'a.ts', content }])).comments.map(({ line, category }) => [line, category]),
    [
      [3, 'code-quality'],
      [4, 'testing'],
      [1, 'type-safety'],
      [2, 'logging'],
      [5, 'error-handling'],
      [6, 'type-safety'],
      [2, 'code-quality'],
    ],
  )
})

t.test('more than five warnings change the assessment to needs-changes', async (t) => {
  const content = 'print(1)\n'.repeat(6)
  t.equal(review(compareFiles([{ path: 'a.py', content }])).summary.assessment, 'needs-changes')
  t.equal(review(compareFiles([{ path: 'a.py', content: content.slice(9) }])).summary.assessment, 'comments')
})

t.test('a review rejects text that is not a diff', async (t) => {
  for (const text of ['', 'hello', '--- a\n+++ b\n', '@@@ -1 -1 +1 @@@\n']) {
    t.throws(() => readChangedFiles(text), { code: 'NOT_A_DIFF' }, JSON.stringify(text))
  }
})

/** Lines on which a rule could backtrack from many starting points. 200,000 repetitions would then take hours. */
const hostileLines: readonly (readonly [path: string, repeated: string, end?: string])[] = [
  ['a.js', 'catch ('],
  ['a.js', 'catch'],
  ['a.js', 'catch {'],
  ['a.js', '\\"'],
  ['a.js', '"\\\''],
  ['a.js', '\\`'],
  ['a.js', '/*', '\r'],
  ['a.py', 'def t('],
  ['a.py', 'df'],
  ['a.py', 'df[a]['],
  ['a.py', '.read_csv(', 'dtype'],
  ['a.py', 'except Exception:'],
  ['a.py', 'from a import '],
  ['a.py', '# type: '],
  ['a.ts', ': any'],
  ['a.ipynb', '\n\t'],
]

verifies('trm:review:linear', 'a review handles long lines on which a rule could backtrack', async (t) => {
  for (const [path, repeated, end = ''] of hostileLines) {
    const source = repeated.repeat(200_000) + end
    const cells = [{ cell_type: 'code', metadata: {}, outputs: [], source: `0${source}x` }]
    const content = path.endsWith('.ipynb') ? JSON.stringify({ cells, nbformat: 4 }) : source
    t.ok(
      review(compareFiles([{ path, content }])).summary.linesAdded > 0,
      `${path} ${JSON.stringify(repeated)}`,
    )
  }
})

t.test(
  'a review finds empty catch blocks, mutable defaults, chained assignments and reads without dtype',
  async (t) => {
    const found = (path: string, content: string) =>
      review(compareFiles([{ path, content }])).summary.commentsCount
    for (const line of ['catch {}', 'catch{ }', 'catch (e) {}', 'catch  (e: unknown)  {  }'])
      t.equal(found('a.ts', `try { f() } ${line}\n`), 1, line)
    t.equal(found('a.ts', 'try { f() } catch (e) { log(e) }\n'), 0)
    for (const line of ['async def f(a, b=[]) -> None: pass', 'def _f(a={}): pass', "df['a']['b'] = 1"])
      t.equal(found('a.py', `${line}\n`), 1, line)
    t.equal(found('a.py', "a = pd.read_csv('a', dtype=x); b = pd.read_csv('b')\n"), 1)
    t.equal(found('a.py', "a = pd.read_csv('a'); b = pd.read_csv('b', dtype=x)\n"), 0)
  },
)

t.test('a review returns at most 50 comments and counts all', async (t) => {
  const content = 'eval(x) # TODO\nprint(1)\n'.repeat(1000)
  const { comments, summary, issues, suggestions } = review(compareFiles([{ path: 'a.py', content }]))
  t.match(summary, { criticalCount: 1000, warningCount: 1001, infoCount: 1001, commentsCount: 3002 })
  t.equal(comments.length, 50)
  t.equal(issues.length, 20)
  t.ok(suggestions.includes('use logging'))
})

verifies('trm:review:linear', 'a review rejects more than a million lines', async (t) => {
  const code = 'FILE_TOO_LARGE'
  t.throws(
    () => compareFiles([{ path: 'a.js', content: '\n'.repeat(600_000), orig: '\n'.repeat(600_000) }]),
    { code },
  )
  t.throws(() => readChangedFiles(`@@ -0,0 +1 @@\n${'+\n'.repeat(1_000_001)}`), { code })
})

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

const asked = {
  result: good,
  problems: [],
  files: new Map<string, string>(),
  fixableFiles: new Set<string>(),
}

t.test('a result without problems has no suggestions', async (t) => {
  t.same(suggest(asked), [])
})

verifies(
  'trm:advice:suggest',
  'failures with the same cause form one suggestion, and causes that hide others come first',
  async (t) => {
    const found = suggest({
      ...asked,
      files: new Map([['a.py', 'row["k"]\n']]),
      fixableFiles: new Set(['b.py']),
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
  'suggestions name missing tests, tampering, failed signals, lint problems and regressions',
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
    const found = suggest({
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
