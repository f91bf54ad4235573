import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../../test/verifies.ts'
import { listSources } from '../../src/domain/candidate/apply.ts'
import { LineComparison } from '../../src/domain/candidate/line-diff.ts'
import { findPrograms, findScripts } from '../../src/domain/command/command.ts'
import { readDiagnostics } from '../../src/domain/evaluation/diagnostic.ts'
import { advisePython } from '../../src/domain/feedback/advice.ts'
import { formatFailures } from '../../src/domain/feedback/feedback.ts'
import { findProblems, formatProblem } from '../../src/domain/feedback/problem.ts'
import { readPythonErrors } from '../../src/domain/feedback/python-error.ts'
import { createGlobMatcher, parseIgnoreRules } from '../../src/domain/ignore-rules.ts'

const golden = (name: string) => readFileSync(new URL(`../golden/${name}`, import.meta.url), 'utf8')
const isOwn = (name: string) => name === 'sums'

t.test('readPythonErrors returns the type, message and every frame of a traceback', async (t) => {
  const output = `Traceback (most recent call last):
  File "main.py", line 9, in <module>
    run()
    ~~~^^
  File "pkg/job.py", line 4, in run
    raise pandas.errors.ParserError('bad row')
pandas.errors.ParserError: bad row
`
  t.same(readPythonErrors(output), [
    {
      type: 'pandas.errors.ParserError',
      message: 'bad row',
      frames: [
        { file: 'main.py', line: 9 },
        { file: 'pkg/job.py', line: 4 },
      ],
    },
  ])
})

verifies(
  'trm:feedback:problems',
  'readPythonErrors separates chained and grouped errors and accepts an empty message',
  async (t) => {
    const chained = `Traceback (most recent call last):
  File "a.py", line 1, in f
    {}['k']
KeyError: 'k'

The above exception was the direct cause of the following exception:

Traceback (most recent call last):
  File "a.py", line 3, in g
    raise StopIteration
StopIteration

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "a.py", line 5, in h
    x
NameError: name 'x' is not defined
`
    t.match(readPythonErrors(chained), [
      { type: 'KeyError', message: "'k'" },
      { type: 'StopIteration', message: '' },
      { type: 'NameError', frames: [{ line: 5 }] },
    ])
    const group = `  + Exception Group Traceback (most recent call last):
  |   File "g.py", line 7, in <module>
  |     raise ExceptionGroup('two', errors)
  | ExceptionGroup: two (1 sub-exception)
  +-+---------------- 1 ----------------
    | Traceback (most recent call last):
    |   File "g.py", line 3, in one
    |     raise ValueError('first')
    | ValueError: first
    +------------------------------------
`
    t.match(readPythonErrors(group), [
      { type: 'ValueError', message: 'first', frames: [{ file: 'g.py', line: 3 }] },
    ])
  },
)

t.test('findProblems returns the file, line and advice of a syntax error', async (t) => {
  const output = `  File "recipes.py", line 12
    def f(:
          ^
SyntaxError: invalid syntax
`
  t.match(findProblems([output], [], isOwn), [
    { kind: 'SyntaxError', file: 'recipes.py', line: 12, advice: /correct this line/ },
  ])
})

t.test('readPythonErrors reads the output of real runners', async (t) => {
  t.match(readPythonErrors(golden('pytest.txt')), [
    { type: 'RuntimeError', message: 'no database', frames: [{ file: 'tests/test_sums.py', line: 15 }] },
    { type: 'AssertionError', message: 'a should be two\nassert 1 == 2', frames: [{ line: 10 }] },
    { type: 'AssertionError', message: 'assert 3 < 3', frames: [{ line: 34 }] },
    { type: 'KeyError', message: "'rigth'", frames: [{ line: 38 }] },
  ])
  t.match(readPythonErrors(golden('unittest.txt')), [
    { type: 'ValueError', message: 'bad value', frames: [{ line: 12 }] },
    { type: 'AssertionError', message: '2 != 1' },
    { type: 'AssertionError', message: '2 != 3 : sum of ones' },
  ])
})

t.test('advisePython returns specific advice, and undefined for an unknown error', async (t) => {
  const advice = (type: string, message: string) => advisePython({ type, message }, isOwn)
  t.match(advice('AttributeError', "'DataFrame' object has no attribute 'colums'"), /'colums'.*DataFrame/)
  t.match(advice('NameError', "name 'colunm' is not defined. Did you mean: 'column'?"), "write 'column'")
  t.match(advice('ModuleNotFoundError', "No module named 'sklearn.svm'"), 'scikit-learn')
  t.match(advice('ModuleNotFoundError', "No module named 'sums.core'"), /part of the project.*do not install/)
  t.match(advice('ValueError', 'The truth value of a Series is ambiguous.'), '.any()')
  t.match(advice('pkg.errors.KeyError', "'k'"), '.get')
  t.equal(advice('RuntimeError', 'no database'), undefined)
})

verifies(
  'trm:feedback:problems',
  'problems that hide others come first, and equal problems are counted',
  async (t) => {
    const same = "a.py:3: KeyError\nE   KeyError: 'k'\na.py:3: KeyError\n"
    const found = findProblems(
      [
        `${same}${same}`,
        'Traceback (most recent call last):\n  File "b.py", line 1, in <module>\n    import sums.x\nModuleNotFoundError: No module named \'sums.x\'\n',
      ],
      readDiagnostics(golden('tsc.txt')),
      isOwn,
    )
    t.match(found[0], { kind: 'ModuleNotFoundError', file: 'b.py' })
    t.match(found[1], { kind: 'KeyError', count: 2 })
    t.match(
      found.filter(({ source }) => source === 'lint').map(({ kind }) => kind),
      ['TS2741', 'TS2322', 'TS2339', 'TS7006'],
    )
  },
)

t.test('formatProblem puts a problem and its advice on two lines, within the maximum length', async (t) => {
  const [problem] = findProblems(["a.py:3: KeyError\nE   KeyError: 'k'\na.py:3: KeyError\n"], [], isOwn)
  if (problem === undefined) throw new Error('no problem was found')
  t.equal(
    formatProblem(problem),
    "a.py:3 KeyError: 'k'\n  check that 'k' exists before it is read, or use .get",
  )
  const long = { ...problem, message: 'x'.repeat(5000), count: 3 }
  t.ok(formatProblem(long, 300).length <= 300)
  t.match(formatProblem(long, 300), '(3 times)')
})

const failure = (id: string, message: string) => ({
  id,
  status: 'fail' as const,
  file: 'tests/test_a.py',
  line: 9,
  message,
})

const nameError = `tests/test_a.py:9: in test_one
    load()
sums.py:12: in load
    return np.zeros(1)
E   NameError: name 'np' is not defined
sums.py:12: NameError`

t.test('failures with the same error are one item', async (t) => {
  const items = formatFailures(['a', 'b', 'c', 'd', 'e'].map((id) => failure(id, nameError)))
  t.same(items, [
    ['failed: a (tests/test_a.py:9)', 'the same error in b, c, d and 1 more', nameError].join('\n'),
  ])
})

t.test('equal assertions of different tests stay separate, and other text is unchanged', async (t) => {
  const assertion = 'E   assert 1 == 2\ntests/test_a.py:9: AssertionError'
  const items = formatFailures([failure('a', assertion), failure('b', assertion), failure('c', 'not ok')])
  t.equal(items.length, 3)
  t.equal(items[2], 'failed: c (tests/test_a.py:9)\nnot ok')
})

t.test('the advice about a missing module of unknown origin names PYTHONPATH and the package', async (t) => {
  const error = { type: 'ModuleNotFoundError', message: "No module named 'yaml'" }
  t.match(
    advisePython(error, () => undefined),
    /PYTHONPATH.*PyYAML/,
  )
})

t.test('createGlobMatcher matches names, folders and paths', async (t) => {
  const cases: readonly (readonly [
    pattern: string,
    matching: readonly string[],
    other: readonly string[],
  ])[] = [
    ['data/', ['data/a', 'data/b/c'], ['data', 'x/data/a']],
    ['/data/', ['data/a'], ['x/data/a']],
    ['*.lock', ['a.lock', 'b/c/a.lock'], ['a.lock/b', 'a.locks']],
    ['/src/*.ts', ['src/a.ts'], ['src/b/a.ts', 'x/src/a.ts']],
    ['src/**/a.ts', ['src/a.ts', 'src/b/c/a.ts'], ['src/ba.ts', 'a.ts']],
    ['src/**', ['src/a', 'src/b/c'], ['src']],
    ['a?.(b)[c]', ['ax.(b)[c]', 'd/ax.(b)[c]'], ['a/.(b)[c]', 'ax.bc']],
  ]
  for (const [pattern, matching, other] of cases) {
    const matches = createGlobMatcher(pattern)
    for (const path of matching) t.ok(matches(path), `${pattern} matches ${path}`)
    for (const path of other) t.notOk(matches(path), `${pattern} does not match ${path}`)
  }
})

verifies(
  'trm:patterns:linear',
  'createGlobMatcher and parseIgnoreRules handle patterns that could cause backtracking',
  async (t) => {
    const path = 'a/'.repeat(500) + 'a'.repeat(500)
    for (const pattern of [`${'*a'.repeat(90)}b`, `${'**/a/'.repeat(30)}b`, `${'**'.repeat(90)}b`]) {
      t.notOk(createGlobMatcher(pattern)(path), pattern)
      t.equal(parseIgnoreRules(pattern)(path, false), undefined, pattern)
    }
    t.equal(parseIgnoreRules('['.repeat(100_000))('a', false), undefined)
    t.equal(parseIgnoreRules(`${' '.repeat(100_000)}a`)('a', false), undefined)
  },
)

t.test('parseIgnoreRules treats three stars like two, and removes only one leading slash', async (t) => {
  const rules = parseIgnoreRules('***/a\n//b\nc/***\n')
  t.equal(rules('x/y/a', false), true)
  t.equal(rules('b', false), undefined)
  t.equal(rules('c/x/y', false), true)
  t.equal(rules('c', true), undefined)
})

t.test('parseIgnoreRules skips a malformed range and retains an escaped space', async (t) => {
  const rules = parseIgnoreRules('[z-a]\nb\\ \nc  \n')
  t.equal(rules('z', false), undefined)
  t.equal(rules('b ', false), true)
  t.equal(rules('b', false), undefined)
  t.equal(rules('c', false), true)
})

t.test('LineComparison stops comparing when its budget is spent', async (t) => {
  const numbered = (prefix: string) =>
    Array.from({ length: 1000 }, (_, index) => `${prefix}${index}\n`).join('')
  const spent = new LineComparison()
  const count = (before: string, after: string, comparison = spent) => {
    const lines = comparison.compare(before, after).flatMap((hunk) => hunk.lines)
    return ['-', '+'].map((sign) => lines.filter((line) => line.startsWith(sign)).length)
  }
  const [before, after] = [`${numbered('a')}same\n`, `${numbered('b')}same\n`]
  for (let file = 0; file < 4; file++) t.same(count(before, after), [1000, 1000])
  t.same(count('a\nsame\nb\n', 'c\nsame\nd\n'), [3, 3], 'the budget is spent')
  t.same(count('a\nsame\nb\n', 'c\nsame\nd\n', new LineComparison()), [2, 2])
})

t.test('listSources rejects more than 10,000 edits', async (t) => {
  const edits = Array.from({ length: 10_001 }, () => ({ type: 'deleteLine', line: 1 }) as const)
  t.throws(() => listSources({ mode: 'modify', changes: [{ path: 'a.txt', edits }] }), {
    code: 'FILE_TOO_LARGE',
    data: { edits: 10_001, max: 10_000 },
  })
})

t.test('findPrograms and findScripts handle a word with 100,000 quotes', async (t) => {
  const quotes = '"'.repeat(100_000)
  t.equal(findPrograms(`a${quotes}b`).length, 1)
  t.same(findScripts(`a${quotes}b`), [])
  t.same(findPrograms('cd x && "pytest" -q'), ['pytest'])
  t.same(findScripts('"./run.sh" a'), ['run.sh'])
})
