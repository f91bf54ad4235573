import t from 'tap'
import { verifies } from '../../../../../test/verifies.ts'
import { filesOfDiff, filesOfTexts, LineComparison } from '../../../src/domain/review/changed-file.ts'
import { codeOf } from '../../../src/domain/review/line-rule.ts'
import { diffUrl, fetchingOff, isDiffHost, pullRequest } from '../../../src/domain/review/pull-url.ts'
import { review } from '../../../src/domain/review/review.ts'

const planted = `--- a/pkg/load.py
+++ b/pkg/load.py
@@ -10,4 +10,11 @@ def load(path: str) -> Rows:
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

t.test('a review: planted faults are found at the lines of the new file', async (t) => {
  const { comments, summary } = review(filesOfDiff(planted))
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

t.test('a review: a focus leaves its concerns only', async (t) => {
  const { comments, summary } = review(filesOfDiff(planted), ['todos'])
  t.same(
    comments.map(({ category }) => category),
    ['todos'],
  )
  t.equal(summary.assessment, 'comments')
})

t.test('a review: strings and comments are no code', async (t) => {
  const content = 'text = "print(1); eval(x)"\n# print(2)\nself.print(3)\nfootprint(4)\n'
  t.same(review(filesOfTexts([{ path: 'a.py', content }])).comments, [])
  const js = 'const a = "console.log(1)" // eval(x)\nif (a === b) x()\n'
  t.same(review(filesOfTexts([{ path: 'a.js', content: js }])).comments, [])
})

t.test('a review: of files looks at what they add to the original', async (t) => {
  const orig = 'import os\nprint(1)\n'
  const { comments, summary } = review(
    filesOfTexts([{ path: 'a.py', orig, content: `${orig}df.drop(inplace=True)\n` }]),
  )
  t.match(comments, [{ file: 'a.py', line: 3, category: 'data-validation' }])
  t.match(summary, { linesAdded: 1, linesRemoved: 0, assessment: 'comments' })
  t.equal(review(filesOfTexts([{ path: 'a.py', orig, content: orig }])).summary.assessment, 'approved')
})

t.test('a review: more than 200 added lines, and code without a test, are told', async (t) => {
  const content = Array.from({ length: 201 }, (_, index) => `x${index} = ${index}\n`).join('')
  t.match(
    review(filesOfTexts([{ path: 'a.py', content }])).comments.map(({ category }) => category),
    ['size', 'testing'],
  )
  const test = { path: 'tests/test_a.py', content: 'def test_a() -> None:\n    assert True\n' }
  t.match(
    review(filesOfTexts([{ path: 'a.py', content }, test])).comments.map(({ category }) => category),
    ['size'],
  )
})

t.test('a review: TypeScript and JavaScript have rules of their own', async (t) => {
  const content =
    'const a = b as any\nconsole.log(a == c)\ndebugger\nit.only("x", f)\ntry { f() } catch {}\n// @ts-ignore\n'
  t.same(
    review(filesOfTexts([{ path: 'a.ts', content }])).comments.map(({ line, category }) => [line, category]),
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

t.test('a review: code cells of a notebook are read, by cell', async (t) => {
  const notebook = (source: string[]) =>
    JSON.stringify({
      cells: [
        { cell_type: 'markdown', metadata: {}, source: ['print(1)'] },
        { cell_type: 'code', metadata: {}, outputs: [], source },
      ],
      nbformat: 4,
      nbformat_minor: 2,
    })
  const file = {
    path: 'n.ipynb',
    orig: notebook(['import os\n']),
    content: notebook(['import os\n', '%matplotlib inline\n', 'print(os)\n']),
  }
  t.match(review(filesOfTexts([file])).comments, [{ file: 'n.ipynb', line: 3, message: /^cell 1: / }])
})

t.test('a review: many warnings are no approval', async (t) => {
  const content = 'print(1)\n'.repeat(6)
  t.equal(review(filesOfTexts([{ path: 'a.py', content }])).summary.assessment, 'needs-changes')
  t.equal(review(filesOfTexts([{ path: 'a.py', content: content.slice(9) }])).summary.assessment, 'comments')
})

t.test('a review: what is no diff, and URLs, are refused', async (t) => {
  for (const text of ['', 'hello', '--- a\n+++ b\n', '@@@ -1 -1 +1 @@@\n']) {
    t.throws(() => filesOfDiff(text), { code: 'NOT_A_DIFF' }, JSON.stringify(text))
  }
  for (const url of [
    'https://github.com/a;touch x;/b/pull/1',
    'http://github.com/a/b/pull/1',
    'https://github.com/a/b/pull/1/../x',
  ]) {
    t.throws(() => pullRequest(url), { code: 'INVALID_URL' }, url)
  }
  const asked = pullRequest('https://github.com/a/b.c/pull/12')
  t.equal(diffUrl(asked), 'https://github.com/a/b.c/pull/12.diff')
  t.match(fetchingOff(asked), {
    code: 'REVIEW_URL_DISABLED',
    remedy: /^run gh pr diff 12 --repo a\/b.c and send its output as diff/,
  })
  t.ok(isDiffHost(new URL('https://patch-diff.githubusercontent.com/x')))
  for (const url of ['http://github.com/', 'https://github.com.evil.example/', 'https://github.com:444/'])
    t.notOk(isDiffHost(new URL(url)), url)
})

/** Lines on which a rule could backtrack from each of many starting points; 200,000 repetitions take hours if it does. */
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

verifies(
  'trm:review:linear',
  'review takes time linear in the length of a line for every rule',
  async (t) => {
    for (const [path, repeated, end = ''] of hostileLines) {
      const source = repeated.repeat(200_000) + end
      const cells = [{ cell_type: 'code', metadata: {}, outputs: [], source: `0${source}x` }]
      const content = path.endsWith('.ipynb') ? JSON.stringify({ cells, nbformat: 4 }) : source
      t.ok(
        review(filesOfTexts([{ path, content }])).summary.linesAdded > 0,
        `${path} ${JSON.stringify(repeated)}`,
      )
    }
  },
)

t.test(
  'review finds empty catch blocks, mutable defaults, chained assignments and reads without dtype',
  async (t) => {
    const found = (path: string, content: string) =>
      review(filesOfTexts([{ path, content }])).summary.commentsCount
    for (const line of ['catch {}', 'catch{ }', 'catch (e) {}', 'catch  (e: unknown)  {  }'])
      t.equal(found('a.ts', `try { f() } ${line}\n`), 1, line)
    t.equal(found('a.ts', 'try { f() } catch (e) { log(e) }\n'), 0)
    for (const line of ['async def f(a, b=[]) -> None: pass', 'def _f(a={}): pass', "df['a']['b'] = 1"])
      t.equal(found('a.py', `${line}\n`), 1, line)
    t.equal(found('a.py', "a = pd.read_csv('a', dtype=x); b = pd.read_csv('b')\n"), 1)
    t.equal(found('a.py', "a = pd.read_csv('a'); b = pd.read_csv('b', dtype=x)\n"), 0)
  },
)

t.test('codeOf removes strings and comments, and keeps unclosed quotes', async (t) => {
  t.equal(codeOf('f("a\\"b", \'c\') # don\'t "d"', 'py'), 'f("", "") ')
  t.equal(codeOf('it\'s "a" and `b`', 'js'), 'it\'s "" and ""')
  t.equal(codeOf('"\\"\\" // a', 'js'), '"\\"\\" ')
})

t.test('a comparison stops when the squares of the changed lines exceed its budget', async (t) => {
  const numbered = (prefix: string, count: number) =>
    Array.from({ length: count }, (_, index) => `${prefix}${index}\n`).join('')
  const comparison = new LineComparison()
  t.equal(comparison.hunks(numbered('a', 2000), numbered('b', 2000))?.length, 1)
  t.equal(comparison.hunks(numbered('a', 2000), numbered('b', 2000)), undefined)
  t.equal(comparison.hunks('a\n', 'b\n'), undefined, 'the budget is used up')
  t.equal(new LineComparison().hunks('a\n', 'b\n')?.length, 1)
})

t.test('review stores at most 50 comments of each severity and counts all', async (t) => {
  const content = 'eval(x) # TODO\nprint(1)\n'.repeat(1000)
  const { comments, summary, issues, suggestions } = review(filesOfTexts([{ path: 'a.py', content }]))
  t.match(summary, { criticalCount: 1000, warningCount: 1001, infoCount: 1001, commentsCount: 3002 })
  t.equal(comments.length, 50)
  t.equal(issues.length, 20)
  t.ok(suggestions.includes('use logging'))
})

verifies('trm:review:linear', 'review rejects more than a million lines', async (t) => {
  const code = 'FILE_TOO_LARGE'
  t.throws(
    () => filesOfTexts([{ path: 'a.js', content: '\n'.repeat(600_000), orig: '\n'.repeat(600_000) }]),
    { code },
  )
  t.throws(() => filesOfDiff(`@@ -0,0 +1 @@\n${'+\n'.repeat(1_000_001)}`), { code })
})
