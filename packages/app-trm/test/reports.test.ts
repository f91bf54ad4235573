import { readFileSync } from 'node:fs'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { readDiagnostics } from '../src/domain/diagnostic.ts'
import { readTests } from '../src/domain/report/read-tests.ts'
import type { TestRun } from '../src/domain/report/test-run.ts'
import { tidy } from '../src/runner/capture.ts'

/** What a real tool wrote; `golden/make.mjs` ran it. */
const golden = (name: string): string =>
  tidy(readFileSync(new URL(`golden/${name}`, import.meta.url), 'utf8'))

const report = (name: string): TestRun | undefined =>
  readTests({ reports: [golden(name)], stdout: '', stderr: '' })
const output = (name: string): TestRun | undefined =>
  readTests({ reports: [], stdout: golden(name), stderr: '' })
const statusOf = (run: TestRun | undefined, id: string) => run?.cases.find((one) => one.id === id)?.status

/** passed, failed, errors, skipped: what the projects beside the outputs are made to give. */
const counts = (run: TestRun | undefined) => run && [run.passed, run.failed, run.errors, run.skipped]

verifies('trm:tests:reports', 'pytest: counts, identities, messages and places', async (t) => {
  const run = report('pytest.xml')
  t.same(counts(run), [3, 3, 1, 2])
  t.equal(statusOf(run, 'tests.test_sums.TestMean::test_two'), 'pass')
  t.equal(statusOf(run, 'tests.test_sums::test_many[3]'), 'fail')
  t.equal(statusOf(run, 'tests.test_sums::test_error'), 'error')
  t.equal(statusOf(run, 'tests.test_sums::test_expected'), 'xfail')
  const wrong = run?.cases.find(({ id }) => id.endsWith('test_wrong'))
  t.match(wrong, { file: 'tests/test_sums.py', line: 10, message: /AssertionError: a should be two/ })
})

verifies(
  'trm:tests:reports',
  'pytest: files that cannot be loaded are errors that name the place',
  async (t) => {
    const run = report('pytest-collection.xml')
    t.same(counts(run), [0, 0, 2, 0])
    t.match(run?.cases[0], { id: 'broken.test_a', file: '/work/python/broken/test_a.py', line: 1 })
    t.match(run?.cases[1], { id: 'broken.test_b', message: /No module named/ })
  },
)

verifies('trm:tests:reports', 'node --test: groups, skipped and todo', async (t) => {
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
})

verifies('trm:tests:reports', 'tape, vitest, jest and mocha', async (t) => {
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

verifies('trm:tests:text', 'the failures of each text are named with their places', async (t) => {
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
  'output that tells of no tests is none, and numbers in a log are not a summary',
  async (t) => {
    t.equal(output('flake8.txt'), undefined)
    const log = 'collected 99 passed items, 7 failed\nall is well\n'
    t.equal(readTests({ reports: [], stdout: log, stderr: '' }), undefined)
    t.equal(readTests({ reports: ['<nonsense', ''], stdout: '', stderr: '' }), undefined)
  },
)

t.test('junit: a report that declares entities is not read', async (t) => {
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
  for (const name of ['eslint.txt', 'eslint.json'])
    t.same(
      found(name),
      [
        ['/work/javascript/lint.js', 1, 'no-unused-vars'],
        ['/work/javascript/lint.js', 2, 'no-undef'],
        ['/work/javascript/lint.js', 2, 'eqeqeq'],
        ['/work/javascript/lint.js', 3, 'no-undef'],
      ],
      name,
    )
})
