import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { findNamedPaths } from '../src/domain/evaluation/absent-path.ts'
import { readDiagnostics } from '../src/domain/evaluation/diagnostic.ts'
import { readPythonErrors } from '../src/domain/feedback/python-error.ts'
import { compareTests } from '../src/domain/report/compare-tests.ts'
import { readTests } from '../src/domain/report/read-tests.ts'
import { createRun, selectCases, type TestRun } from '../src/domain/report/test-run.ts'
import { cleanOutput } from '../src/runner/capture.ts'

/** Returns the output of a real tool, which `golden/make.mjs` recorded. */
const golden = (name: string): string =>
  cleanOutput(readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8'))

const report = (name: string): TestRun | undefined =>
  readTests({ reports: [golden(name)], stdout: '', stderr: '' })
const output = (name: string): TestRun | undefined =>
  readTests({ reports: [], stdout: golden(name), stderr: '' })
const findStatus = (run: TestRun | undefined, id: string) => run?.cases.find((one) => one.id === id)?.status

/** Returns the numbers of passed tests, failed tests, errors and skipped tests. */
const counts = (run: TestRun | undefined) => run && [run.passed, run.failed, run.errors, run.skipped]

verifies(
  'trm:tests:reports',
  'a report of pytest has counts, native ids, messages and locations',
  async (t) => {
    const run = report('pytest.xml')
    t.same(counts(run), [3, 3, 1, 2])
    t.equal(findStatus(run, 'tests/test_sums.py::TestMean::test_two'), 'pass')
    t.equal(findStatus(run, 'tests/test_sums.py::test_many[3]'), 'fail')
    t.equal(findStatus(run, 'tests/test_sums.py::test_error'), 'error')
    t.equal(findStatus(run, 'tests/test_sums.py::test_expected'), 'xfail')
    const wrong = run?.cases.find(({ id }) => id.endsWith('test_wrong'))
    t.match(wrong, { file: 'tests/test_sums.py', line: 10, message: /AssertionError: a should be two/ })
  },
)

verifies('trm:tests:reports', 'a file that pytest cannot load is an error with its location', async (t) => {
  const run = report('pytest-collection.xml')
  t.same(counts(run), [0, 0, 2, 0])
  t.match(run?.cases[0], { id: 'broken/test_a.py', file: '/work/python/broken/test_a.py', line: 1 })
  t.match(run?.cases[1], { id: 'broken/test_b.py', message: /No module named/ })
})

verifies(
  'trm:tests:reports',
  'reports of node --test are read with groups, skipped and todo tests',
  async (t) => {
    for (const run of [report('node-test.xml'), output('node-test.tap')]) {
      t.same(counts(run), [2, 2, 0, 2], run?.source ?? 'no report')
      t.equal(run?.isComplete, true)
    }
    const inner = report('node-test.xml')?.cases.find(({ id }) => id.endsWith('group > inner fails'))
    t.match(inner, {
      status: 'fail',
      file: '/work/javascript/node.test.js',
      line: 11,
      message: /x is not a function/,
    })
  },
)

verifies('trm:tests:reports', 'reports of tape, vitest, jest and mocha are read', async (t) => {
  t.same(counts(output('tape.tap')), [3, 1, 0, 1])
  t.match(output('tape.tap')?.cases[1], {
    id: 'adds > three',
    file: '/work/javascript/tape.test.js',
    line: 5,
  })
  t.same(counts(report('vitest.xml')), [1, 1, 0, 2])
  t.same(counts(report('jest.json')), [2, 1, 0, 1])
  t.match(
    report('jest.json')?.cases.find(({ status }) => status === 'fail'),
    { id: '/work/javascript/jest.spec.cjs > sums > fails', line: 3 },
  )
  t.same(counts(report('mocha.json')), [1, 1, 0, 1])
})

verifies('trm:tests:text', async (t) => {
  const expected: Readonly<Record<string, readonly number[]>> = {
    'pytest.txt': [3, 3, 1, 2],
    'pytest-none.txt': [0, 0, 0, 0],
    'pytest-collection.txt': [0, 0, 2, 0],
    'pytest-log.txt': [2, 0, 0, 0],
    'unittest.txt': [1, 3, 1, 2],
    'unittest-verbose.txt': [1, 3, 1, 2],
    'node-test.txt': [2, 2, 0, 2],
    'vitest.txt': [1, 1, 0, 2],
    'jest.txt': [2, 1, 0, 1],
    'mocha.txt': [1, 1, 0, 1],
  }
  for (const [name, numbers] of Object.entries(expected)) t.same(counts(output(name)), numbers, name)
})

verifies('trm:tests:text', 'failures in text output have names and locations', async (t) => {
  const failed = (name: string) =>
    output(name)
      ?.cases.filter(({ status }) => status === 'fail' || status === 'error')
      .map(({ id, line }) => [id, line])
  t.same(failed('pytest.txt')?.[0], ['tests/test_sums.py::TestMean::test_wrong', 10])
  t.same(failed('unittest.txt')?.[2], ['unit_sums.Sums.test_wrong', 9])
  t.same(failed('vitest.txt'), [['vitest.spec.js > sums > fails', 5]])
  t.same(failed('jest.txt'), [['sums › fails', 3]])
  t.same(failed('mocha.txt'), [['sums > fails', 4]])
  t.ok(failed('node-test.txt')?.some(([id, line]) => id === 'inner fails' && line === 11))
})

verifies(
  'trm:tests:text',
  'readTests returns undefined for output without tests and for numbers in a log',
  async (t) => {
    t.equal(output('flake8.txt'), undefined)
    const log = 'collected 99 passed items, 7 failed\nall is well\n'
    t.equal(readTests({ reports: [], stdout: log, stderr: '' }), undefined)
    t.equal(readTests({ reports: ['<nonsense', ''], stdout: '', stderr: '' }), undefined)
  },
)

t.test('a JUnit report that declares entities is not read', async (t) => {
  const bomb =
    '<!DOCTYPE a [<!ENTITY x "y">]><testsuites><testsuite><testcase name="&x;"/></testsuite></testsuites>'
  t.equal(readTests({ reports: [bomb], stdout: '', stderr: '' }), undefined)
})

verifies('trm:lint:diagnostics', async (t) => {
  const found = (name: string) =>
    readDiagnostics(golden(name)).map(({ file, line, code }) => [file, line, code])
  t.same(found('flake8.txt'), [
    ['src/sums.py', 1, 'F401'],
    ['src/sums.py', 2, 'F401'],
    ['src/sums.py', 6, 'W291'],
    ['src/sums.py', 14, 'F821'],
  ])
  t.equal(found('pylint.txt').length, 8)
  t.same(found('pylint.txt')[5], ['src/sums.py', 14, 'E0602'])
  t.same(found('mypy.txt'), [['src/sums.py', 10, 'return-value']])
  for (const name of ['tsc.txt', 'tsc-pretty.txt'])
    t.same(
      found(name).map(([, , code]) => code),
      ['TS2741', 'TS2322', 'TS2339', 'TS7006'],
      name,
    )
  t.same(found('eslint.txt'), [
    ['/work/javascript/lint.js', 1, 'no-unused-vars'],
    ['/work/javascript/lint.js', 2, 'no-undef'],
    ['/work/javascript/lint.js', 2, 'eqeqeq'],
    ['/work/javascript/lint.js', 3, 'no-undef'],
  ])
})

verifies('trm:tests:reports', 'entities and character references are decoded once', async (t) => {
  const xml = `<testsuites><testsuite name="pytest"><testcase classname="a" name="t[q&quot;&lt;&#233;&#x20AC;]" file="a.py">
    <failure message="x&#10;&amp;#10; &copy; &#x110000;">&lt;b&gt; &#x1F600;<![CDATA[ &lt;]]></failure></testcase></testsuite></testsuites>`
  t.match(readTests({ reports: [xml], stdout: '', stderr: '' })?.cases, [
    { id: 'a.py::t[q"<é€]', message: 'x\n&#10; &copy; &#x110000;\n<b> 😀 &lt;' },
  ])
})

const pytestReport = (...cases: readonly string[]): TestRun | undefined =>
  readTests({
    reports: [`<testsuites><testsuite name="pytest">${cases.join('')}</testsuite></testsuites>`],
    stdout: '',
    stderr: '',
  })

verifies('trm:tests:reports', 'an inherited test of pytest has the id of its own module', async (t) => {
  const inherited =
    '<testcase classname="tests.test_x.TestA.TestB" name="test_i[a::b]" file="tests/base.py"/>'
  const own = '<testcase classname="tests.test_x" name="test_own" file="tests/test_x.py"/>'
  const ids = (run: TestRun | undefined) => run?.cases.map(({ id }) => id)
  const expected = 'tests/test_x.py::TestA::TestB::test_i[a::b]'
  t.same(ids(pytestReport(inherited, own)), [expected, 'tests/test_x.py::test_own'])
  t.same(ids(pytestReport(inherited)), [expected])
  t.same(ids(pytestReport('<testcase classname="a.b.C" name="t"/>')), ['a.b.C::t'])
})

verifies('trm:tests:reports', 'a baseline with dotted ids matches the native ids of pytest', async (t) => {
  const before = createRun('junit', [
    { id: 'tests.test_x.TestA::test_a[b::c]', status: 'fail' },
    { id: 'tests.test_x::test_b', status: 'pass' },
    { id: 'tests.test_y', status: 'error' },
  ])
  const now = createRun('junit', [
    { id: 'tests/test_x.py::TestA::test_a[b::c]', status: 'pass' },
    { id: 'tests/test_x.py::test_b', status: 'fail' },
    { id: 'tests/test_y.py', status: 'pass' },
  ])
  t.match(compareTests(before, now), {
    missing: [],
    broken: ['tests.test_x::test_b'],
    repaired: ['tests.test_x.TestA::test_a[b::c]', 'tests.test_y'],
  })
})

verifies('trm:submit:only', 'an id, a class or a file of pytest selects its tests', async (t) => {
  const ids = ['tests/test_x.py::TestA::test_a[1]', 'tests/test_x.py::test_ab', 'tests/test_xy.py::test_a']
  const run = createRun(
    'junit',
    ids.map((id) => ({ id, status: 'pass' })),
  )
  const selected = (...wanted: string[]) => selectCases(run, wanted).cases.map(({ id }) => id)
  t.same(selected('tests/test_x.py'), ids.slice(0, 2))
  t.same(selected('./tests/test_x.py::TestA'), ids.slice(0, 1))
  t.same(selected('tests/test_x.py::TestA::test_a'), ids.slice(0, 1))
  t.same(selected('tests.test_x::test_ab', ids[2] ?? ''), ids.slice(1))
  t.same(selected('tests/test_x.py::test_a'), [])
})

const tap = (text: string) => counts(readTests({ reports: [], stdout: text, stderr: '' }))

verifies('trm:tests:text', 'TAP that ends early counts as an error', async (t) => {
  t.same(tap('TAP version 13\nok 1 a\nok 2 b\n1..2\n'), [2, 0, 0, 0])
  t.same(tap('1..2\nok 1 a\nnot ok 2 b\n'), [1, 1, 0, 0], 'the version line is optional')
  t.same(tap('TAP version 13\nok 1 a\nok 2 b\n'), [2, 0, 1, 0], 'no plan')
  t.same(tap('TAP version 14\n1..5\nok 1 a\nok 2 b\n'), [2, 0, 1, 0], 'tests of the plan are missing')
  t.same(tap('TAP version 13\nok 1 a\nBail out! no database\n'), [1, 0, 1, 0])
  t.same(tap('TAP version 13\nBail out! no database\n'), [0, 0, 1, 0])
  t.same(tap('TAP version 13\n1..0 # SKIP no database\n'), [0, 0, 0, 0])
  t.equal(tap('ok 1 of 3 files copied\n'), undefined)
})

verifies('trm:tests:text', 'exceptions with a dotted name are read', async (t) => {
  const text = `
    def test_a():
>       find()
E       pkg.errors.NotFound: no such order

tests/test_a.py:3: NotFound
`
  t.match(readPythonErrors(text), [
    { type: 'pkg.errors.NotFound', message: 'no such order', frames: [{ file: 'tests/test_a.py', line: 3 }] },
  ])
  const run = pytestReport(
    `<testcase classname="tests.test_a" name="test_a" file="tests/test_a.py"><failure message="pkg">${text.replaceAll('>', '&gt;')}</failure></testcase>`,
  )
  t.match(run?.cases, [{ file: 'tests/test_a.py', line: 3 }])
})

verifies('trm:start:absent', 'absent files are recognized in the output of commands', async (t) => {
  const paths = ['data', 'notes', 'vendor/lib', 'big.csv', 'schema_pb2.py'].map((path) => ({
    path,
    isFolder: !path.includes('.'),
    isRepository: path === 'vendor/lib',
  }))
  const named = (...outputs: string[]) => findNamedPaths(paths, outputs).map(({ path }) => path)
  t.same(named("FileNotFoundError: [Errno 2] No such file or directory: 'data/rows/a.csv'"), ['data'])
  t.same(named('open("../big.csv"): no such file'), ['big.csv'])
  t.same(named("ModuleNotFoundError: No module named 'vendor.lib'"), ['vendor/lib'])
  t.same(named('cannot open ./vendor/lib/core.py.'), ['vendor/lib'])
  t.same(named("No module named 'schema_pb2'", '<open notes>'), ['schema_pb2.py'])
  t.same(named('3 failed, see the notes about big data', '/usr/lib/vendor/lib/python', 'big.csv.gz'), [])
})
