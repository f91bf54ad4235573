import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../../../test/verifies.ts'
import { readDiagnostics } from '../../../src/domain/diagnostic.ts'
import { pythonAdvice } from '../../../src/domain/feedback/advice.ts'
import { problems, problemText } from '../../../src/domain/feedback/problem.ts'
import { pythonErrors } from '../../../src/domain/feedback/python-error.ts'

const golden = (name: string) => readFileSync(new URL(`../../golden/${name}`, import.meta.url), 'utf8')
const project = { hasModule: (name: string) => name === 'sums' }

t.test('Python errors: a traceback gives type, message and every frame', async (t) => {
  const output = `Traceback (most recent call last):
  File "main.py", line 9, in <module>
    run()
    ~~~^^
  File "pkg/job.py", line 4, in run
    raise pandas.errors.ParserError('bad row')
pandas.errors.ParserError: bad row
`
  t.same(pythonErrors(output), [
    {
      type: 'pandas.errors.ParserError',
      message: 'bad row',
      frames: [
        { file: 'main.py', line: 9, scope: '<module>' },
        { file: 'pkg/job.py', line: 4, scope: 'run' },
      ],
      follows: undefined,
    },
  ])
})

verifies(
  'trm:feedback:problems',
  'Python errors: chains, groups, and errors without a message are kept apart',
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
    t.match(pythonErrors(chained), [
      { type: 'KeyError', message: "'k'", follows: undefined },
      { type: 'StopIteration', message: '', follows: 'caused' },
      { type: 'NameError', follows: 'while-handling', frames: [{ line: 5 }] },
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
    t.match(pythonErrors(group), [
      { type: 'ValueError', message: 'first', frames: [{ file: 'g.py', line: 3 }] },
    ])
  },
)

t.test('Python errors: a syntax error names the file that cannot be read', async (t) => {
  const output = `  File "recipes.py", line 12
    def f(:
          ^
SyntaxError: invalid syntax
`
  t.match(problems([output], [], project), [
    { kind: 'SyntaxError', file: 'recipes.py', line: 12, advice: /correct this line/ },
  ])
})

t.test('Python errors: what real runners wrote is read', async (t) => {
  t.match(pythonErrors(golden('pytest.txt')), [
    { type: 'RuntimeError', message: 'no database', frames: [{ file: 'tests/test_sums.py', line: 15 }] },
    { type: 'AssertionError', message: 'a should be two\nassert 1 == 2', frames: [{ line: 10 }] },
    { type: 'AssertionError', message: 'assert 3 < 3', frames: [{ line: 34 }] },
    { type: 'KeyError', message: "'rigth'", frames: [{ line: 38 }] },
  ])
  t.match(pythonErrors(golden('unittest.txt')), [
    { type: 'ValueError', message: 'bad value', frames: [{ line: 12, scope: 'test_error' }] },
    { type: 'AssertionError', message: '2 != 1' },
    { type: 'AssertionError', message: '2 != 3 : sum of ones' },
  ])
})

t.test('advice: names the names as they are, and nothing that is not sure', async (t) => {
  const advice = (type: string, message: string) => pythonAdvice({ type, message }, project)
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
  'problems: what hides others comes first, the same ones are counted, TypeScript has advice',
  async (t) => {
    const same = "a.py:3: KeyError\nE   KeyError: 'k'\na.py:3: KeyError\n"
    const found = problems(
      [
        `${same}${same}`,
        'Traceback (most recent call last):\n  File "b.py", line 1, in <module>\n    import sums.x\nModuleNotFoundError: No module named \'sums.x\'\n',
      ],
      readDiagnostics(golden('tsc.txt')),
      project,
    )
    t.match(found[0], { kind: 'ModuleNotFoundError', file: 'b.py' })
    t.match(found[1], { kind: 'KeyError', count: 2 })
    t.match(
      found.filter(({ source }) => source === 'lint').map(({ kind, advice }) => [kind, typeof advice]),
      [
        ['TS2741', 'string'],
        ['TS2322', 'string'],
        ['TS2339', 'string'],
        ['TS7006', 'string'],
      ],
    )
  },
)

t.test('a problem: is told in a line and what to do, within its room', async (t) => {
  const [problem] = problems(["a.py:3: KeyError\nE   KeyError: 'k'\na.py:3: KeyError\n"], [], project)
  if (problem === undefined) throw new Error('no problem was found')
  t.equal(
    problemText(problem),
    "a.py:3 KeyError: 'k'\n  check that 'k' is there before it is read, or use .get",
  )
  const long = { ...problem, message: 'x'.repeat(5000), count: 3 }
  t.ok(problemText(long, 300).length <= 300)
  t.match(problemText(long, 300), '(3 times)')
})
