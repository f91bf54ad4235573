import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { findScripts } from '../src/domain/command/command.ts'
import { decide } from '../src/domain/evaluation/halting.ts'
import { judgeSignal, type Reference, type StageFinding } from '../src/domain/evaluation/judge-signal.ts'
import { computeSpread, formatMetric, readMetric } from '../src/domain/evaluation/metric.ts'
import {
  advanceStanding,
  checksPass,
  computeAverage,
  computePerfValue,
  computeScore,
  createStanding,
  type Standing,
} from '../src/domain/evaluation/score.ts'
import type { SignalKind, SignalValue } from '../src/domain/evaluation/signal.ts'
import { findHelpers, findProtectedPaths, findTampering } from '../src/domain/evaluation/tamper.ts'
import { createGlobMatcher } from '../src/domain/ignore-rules.ts'
import { createRun, type TestStatus } from '../src/domain/report/test-run.ts'
import { haltSchema } from '../src/domain/session-config.ts'
import { judged as guardJudged, judge, openTrm, readText, repairSums, unittest } from './trm-kit.ts'

const defaultPolicy = haltSchema.parse({})

const signal = (name: string, kind: SignalKind, weight: number, value: number): SignalValue => ({
  name,
  kind,
  weight,
  value,
  ok: value === 1,
  why: '',
})

verifies(
  'trm:score:formula',
  'the example of the original design has the score 0.76, the sum of its contributions',
  async (t) => {
    const { score, signals } = computeScore([
      signal('dataQual', 'check', 0.3, 1),
      signal('test', 'test', 0.4, 45 / 50),
      signal('lint', 'lint', 0.1, 0),
      signal('perf', 'perf', 0.2, computePerfValue(2, 1, 'min')),
    ])
    t.ok(Math.abs(score - 0.76) < 1e-12)
    t.ok(Math.abs(signals.reduce((sum, { contribution }) => sum + contribution, 0) - score) < 1e-12)
    t.equal(computeScore([signal('test', 'test', 0.4, 0.9)]).score, 0.9, 'over the configured signals only')
    const all = [0.4, 0.1, 0.2].map((weight, index) => signal(`s${index}`, 'check', weight, 1))
    t.equal(computeScore(all).score, 1, 'and never more than one')
    t.equal(computeScore([]).score, 0)
    t.equal(computeScore([signal('test', 'test', 0, 1)]).score, 0)
  },
)

verifies('trm:score:formula', 'the average of 0.5 and 1 with alpha 0.9 is 0.95', async (t) => {
  t.equal(computeAverage(null, 0.5, 0.9), 0.5)
  t.ok(Math.abs(computeAverage(0.5, 1, 0.9) - 0.95) < 1e-12)
})

verifies('trm:score:formula', 'benchmarks of 100, 80 and 120 are worth 1, 1 and 2/3', async (t) => {
  let standing = createStanding('')
  const values = [100, 80, 120].map((value) => {
    const worth = computePerfValue(value, standing.best_perf, 'min')
    standing = advanceStanding(standing, {
      score: worth,
      isTrusted: true,
      isBaseline: false,
      alpha: 0.9,
      perf: { value, unit: 's', goal: 'min', contribution: worth, weightShare: 1, noise: 0.02 },
    })
    return worth
  })
  t.same(values, [1, 1, 80 / 120])
  t.match(standing, { best_perf: 80, streak: 2, step: 3, best_step: 1 })
  t.equal(computePerfValue(50, 100, 'max'), 0.5)
  for (const none of [0, -1, Number.NaN, Number.POSITIVE_INFINITY])
    t.equal(computePerfValue(none, 1, 'min'), 0)
})

const after = (scores: readonly number[]): Standing =>
  scores.reduce(
    (standing, score) =>
      advanceStanding(standing, { score, isTrusted: true, isBaseline: false, alpha: 0.9, perf: undefined }),
    createStanding(''),
  )

verifies('trm:halt:rules', async (t) => {
  const good = (score: number) => ({ score, signals: [signal('test', 'test', 1, 1)] })
  const bad = (score: number) => ({ score, signals: [signal('test', 'test', 1, 0.5)] })
  t.match(decide(after([0.95]), good(0.95), defaultPolicy), { shouldHalt: true, rule: 'success' })
  t.match(decide(after([0.94]), good(0.94), defaultPolicy), { shouldHalt: false, reasons: [] })
  t.match(decide(after([1]), bad(1), defaultPolicy), { shouldHalt: false }, 'a score alone does not suffice')
  t.match(decide(after([1]), good(1), { ...defaultPolicy, min: 2 }), { shouldHalt: false })
  t.match(decide(after([1, 1]), good(1), { ...defaultPolicy, min: 2 }), { rule: 'success' })
  t.match(decide(after([0.9, 0.9, 0.9]), bad(0.9), defaultPolicy), { shouldHalt: false })
  t.match(decide(after([0.9, 0.9, 0.9, 0.9]), bad(0.9), defaultPolicy), { rule: 'plateau' })
  const rising = (count: number) => after(Array.from({ length: count }, (_, index) => index / 100))
  t.match(decide(rising(12), bad(0.11), defaultPolicy), { rule: 'limit' })
  t.match(decide(rising(11), bad(0.1), defaultPolicy), { shouldHalt: false })
  const all = { max: 4, threshold: 0.9, patience: 3, min: 1 }
  t.match(decide(after([1, 1, 1, 1]), good(1), all), { rule: 'success' })
  t.match(decide(after([1, 1, 1, 1]), bad(1), all), { rule: 'plateau' })
})

verifies(
  'trm:halt:rules',
  'scores of 0, .5, .5, .5 and .5 give a streak of 3 and the average .49995',
  async (t) => {
    const standing = after([0, 0.5, 0.5, 0.5, 0.5])
    t.match(standing, { streak: 3, best_step: 2 })
    t.ok(Math.abs((standing.ema ?? 0) - 0.49995) < 1e-9)
  },
)

t.test(
  'a session without tests requires every other check to pass, and a benchmark alone is not sufficient',
  async (t) => {
    t.ok(checksPass([signal('lint', 'lint', 1, 1), signal('perf', 'perf', 1, 0.5)]))
    t.notOk(checksPass([signal('lint', 'lint', 1, 0), signal('dataQual', 'check', 1, 1)]))
    t.notOk(checksPass([signal('perf', 'perf', 1, 1)]))
    t.notOk(checksPass([]))
  },
)

verifies('trm:halt:noise', async (t) => {
  const outcome = (rest: number, worth: number, noise = 0.02) => ({
    score: rest + 0.2 * worth,
    isTrusted: true,
    isBaseline: false,
    alpha: 0.9,
    perf: { value: 1, unit: 's', goal: 'min' as const, contribution: 0.2 * worth, weightShare: 0.2, noise },
  })
  const first = advanceStanding(createStanding(''), outcome(0.5, 0.9))
  const quicker = advanceStanding(first, outcome(0.5, 0.915))
  t.match(quicker, { streak: 1, best_step: 2 }, 'one and a half percent are noise, though the best so far')
  t.match(advanceStanding(quicker, outcome(0.5, 0.94)), { streak: 0, best_step: 3 }, 'more than two are not')
  t.match(advanceStanding(first, outcome(0.5, 0.94, 0.1)), { streak: 1 }, 'of noisy measures they are')
  t.match(advanceStanding(first, outcome(0.501, 0.9)), { streak: 0 }, 'a change of the tests is not noise')
  t.equal(computeSpread([1, 1.1, 0.9]), 0.09999999999999998)
  t.equal(computeSpread([1, 2]), 0, 'two measurements have no spread')
})

const run = (...states: readonly TestStatus[]) =>
  createRun(
    'junit',
    states.map((status, index) => ({ id: `test ${index}`, status })),
  )

const yardstick = (more: Partial<Reference> = {}): Reference => ({
  baselineTests: undefined,
  baselineDiagnostics: {},
  bestPerf: undefined,
  goal: 'min',
  allowTestRemoval: false,
  countsNewTests: false,
  ...more,
})

const finding = (exitCode: number, more: Partial<StageFinding> = {}): StageFinding => ({
  spec: { name: 'test', kind: 'test', command: 'x', weight: 1 },
  end: { exitCode, timedOut: false, cancelled: false, timeoutS: 9 },
  ...more,
})

verifies('trm:score:missing', async (t) => {
  const baselineTests = run('pass', 'pass', 'fail')
  const value = (tests: ReturnType<typeof run> | undefined, exitCode = 0, more: Partial<Reference> = {}) => {
    const { value: given } = judgeSignal(finding(exitCode, { tests }), yardstick({ baselineTests, ...more }))
    return [given.value, given.ok]
  }
  t.same(value(undefined), [0, false], 'output that cannot be read')
  t.same(value(run()), [0, false], 'no tests ran')
  t.same(value(run('pass')), [1 / 3, false], 'two tests vanished')
  t.same(value(run('pass'), 0, { allowTestRemoval: true }), [1, true])
  t.same(value(run('pass', 'pass', 'skip')), [2 / 3, false], 'a failed test was skipped')
  t.same(value(run('pass', 'skip', 'fail')), [1 / 3, false], 'a passed test was skipped')
  t.same(
    value(run('pass', 'pass', 'fail', 'pass', 'pass')),
    [2 / 3, false],
    'new tests that pass do not count',
  )
  t.same(value(run('pass', 'pass', 'pass', 'fail')), [3 / 4, false], 'new tests that fail count')
  t.same(value(run('pass', 'pass', 'fail', 'pass'), 0, { countsNewTests: true }), [3 / 4, false])
  const text = (one: ReturnType<typeof run>) => ({ ...one, isComplete: false, cases: [] })
  const named = value(text(run('pass', 'pass', 'pass')))
  t.same(named, [0, false], 'the runner wrote no report')
  const counted = (tests: ReturnType<typeof run>) =>
    value(text(tests), 0, { baselineTests: text(baselineTests) })
  t.same(counted(run('pass', 'pass', 'skip')), [2 / 3, false], 'a skipped test counts without names')
  t.same(counted(run('pass', 'pass', 'fail', 'pass', 'pass')), [2 / 3, false], 'new tests without names')
  t.same(value(run('pass', 'pass', 'pass'), 1), [1, false], 'all pass, but the command failed')
  t.same(value(run('pass', 'pass', 'error')), [2 / 3, false])
})

verifies(
  'trm:score:missing',
  'skipped tests are named, and missing tests are counted even without names',
  async (t) => {
    const { comparison } = judgeSignal(
      finding(0, { tests: run('skip', 'pass') }),
      yardstick({ baselineTests: run('pass', 'pass') }),
    )
    t.same(comparison?.newlySkipped, ['test 0'])
    const text = { ...run('pass', 'pass', 'pass'), isComplete: false, cases: [] }
    const fewer = { ...text, passed: 1 }
    t.equal(judgeSignal(finding(0, { tests: fewer }), yardstick({ baselineTests: text })).value.value, 1 / 3)
  },
)

verifies('trm:perf:refused', async (t) => {
  const value = (measured: number, goal: 'min' | 'max' = 'min') => {
    const bestPerf = { value: 1, unit: 's' } as const
    const metric = { value: measured, unit: 's' } as const
    const perf = {
      ...finding(0, { metric }),
      spec: { name: 'perf', kind: 'perf', command: 'x', weight: 1 },
    } as const
    return judgeSignal(perf, yardstick({ bestPerf, goal })).value
  }
  t.match(value(0), { value: 0, ok: false, why: /refused/ })
  t.match(value(0.001), { value: 0, ok: false, why: /refused: 1000 times better/ })
  t.match(value(0.002), { value: 1, ok: true })
  t.match(value(1000, 'max'), { value: 0, ok: false })
})

verifies('trm:perf:units', async (t) => {
  const expected: readonly (readonly [string, number, string])[] = [
    ['elapsed: 83.5 ms\n', 0.0835, 's'],
    ['1.23s', 1.23, 's'],
    ['parse: 100   ms', 0.1, 's'],
    ['5 models trained in 3.2 s\npeak 120 MB\n', 3.2, 's'],
    ['peak 120 MB', 120e6, 'B'],
    ['heap used: 1.5 GiB', 1.5 * 2 ** 30, 'B'],
    ['2048 bytes', 2048, 'B'],
    ['12,345 ops/s', 12_345, 'ops/s'],
    ['took 250 µs', 250e-6, 's'],
    ['first 2 s\nlast 3 min', 180, 's'],
    ['{"elapsed": 0.25}', 0.25, 's'],
    ['log\n{"metric": 7, "unit": "kB"}', 7000, 'B'],
    ['result\n42\n', 42, ''],
    ['1e-3', 0.001, ''],
  ]
  for (const [text, value, unit] of expected) {
    const metric = readMetric(text)
    t.equal(metric?.unit, unit, text)
    t.ok(Math.abs((metric?.value ?? Number.NaN) - value) <= 1e-9 * value, `${text}: ${metric?.value}`)
  }
  t.equal(readMetric('no numbers here'), undefined)
  t.equal(readMetric('version 1.2.3 of 4 files'), undefined)
  t.equal(formatMetric({ value: 0.0835, unit: 's' }), '83.5 ms')
})

t.test('findScripts returns the scripts that a command runs, without the files that it reads', async (t) => {
  const cases: readonly (readonly [string, readonly string[]])[] = [
    ['python3 -u ./scripts/bench.py a.csv', ['scripts/bench.py']],
    ['flake8 a.py && node --no-warnings tools/lint.mjs', ['tools/lint.mjs']],
    ['n=$(cat score.txt); ./check.sh', ['check.sh']],
    ['FOO=1 npx tsx check.ts | sort', ['check.ts']],
    ['python3 -m pytest tests/test_a.py', []],
    ['/usr/bin/env python3 a.py', []],
  ]
  for (const [command, found] of cases) t.same(findScripts(command), found, command)
})

verifies(
  'trm:submit:tamper',
  'findTampering distinguishes tests, their configuration and scripts of commands',
  async (t) => {
    const paths = [
      'src/a.py',
      'tests/test_a.py',
      'conftest.py',
      'package.json',
      'scripts/bench.py',
      'a.spec.ts',
    ]
    t.same(
      findTampering(paths, ['python scripts/bench.py']).map(({ path, isTest }) => [path, isTest]),
      [
        ['tests/test_a.py', true],
        ['conftest.py', false],
        ['package.json', false],
        ['scripts/bench.py', false],
        ['a.spec.ts', true],
      ],
    )
  },
)

/** Replaces the tests with tests of the same names that always pass. */
const bribed = {
  mode: 'files',
  files: [
    {
      path: 'test_sums.py',
      content: `import unittest


class Sums(unittest.TestCase):
    def test_total(self): pass
    def test_mean(self): pass
    def test_mean_of_one(self): pass
`,
    },
  ],
}

verifies('trm:submit:guard', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { baseline } = await ask('start', { repo: 'sums', test: unittest })
  t.equal(baseline.guard, null)
  const cheat = await ask('submit', { candidate: bribed })
  t.match(cheat, {
    score: 1 / 3,
    bestScore: 1 / 3,
    shouldHalt: false,
    rule: null,
    guard: { files: ['test_sums.py'], passes: false, tests: { passed: 1, total: 3 } },
  })
  t.match(cheat.feedback[0], /^no success: with test_sums.py as at the start/)
  t.match(await ask('halt'), { shouldHalt: false, reasons: [/no success/] })
  t.match(
    readText(root, 'sums', 'test_sums.py'),
    /: pass/,
    'the files of the user are those of the candidate',
  )
  const honest = await ask('submit', { candidate: repairSums })
  t.match(honest, { shouldHalt: true, rule: 'success', guard: { passes: true, tests: { passed: 3 } } })
})

verifies('trm:submit:guard', 'a forged verdict does not land with `write: improved`', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, options: { write: 'improved' } })
  t.match(await ask('submit', { candidate: bribed }), { landed: false, guard: { passes: false } })
  t.notMatch(readText(root, 'sums', 'test_sums.py'), /: pass/)
})

verifies(
  'trm:submit:guard',
  'a session that trusts tests has no guard, and a harmless change of a test file is confirmed',
  async (t) => {
    const { client } = await openTrm(t, { files: guardJudged })
    const { ask } = client()
    const tests = (note: string) => ({ mode: 'files', files: [{ path: 'tests/note.py', content: note }] })
    await ask('start', { repo: 'p', test: judge, options: { protect: [] } })
    const trusted = { ...tests('one'), files: [...tests('one').files, { path: 'score', content: '4\n' }] }
    t.match(await ask('submit', { candidate: trusted }), { rule: 'success', guard: null })
    await ask('reset')
    await ask('start', { repo: 'p', test: judge })
    t.match(await ask('submit', { candidate: tests('two') }), {
      guard: { files: ['tests/note.py'], confirms: true },
      tamper: [{ isTest: true }],
    })
  },
)

verifies('trm:submit:protected', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'], files: { 'sums/data/rows.csv': 'a\n' } })
  const { ask } = client()
  await ask('start', { repo: 'sums', preflight: false, options: { protect: ['tests', 'data/'] } })
  const paths = ['test_sums.py']
  await t.rejects(ask('submit', { candidate: bribed }), { code: 'PROTECTED_FILE', data: { paths } })
  t.match(await ask('validate', { candidate: bribed }), {
    valid: false,
    errors: [{ code: 'PROTECTED_FILE' }],
  })
  const data = { mode: 'files', files: [{ path: 'data/rows.csv', delete: true }] }
  await t.rejects(ask('submit', { candidate: data }), { code: 'PROTECTED_FILE' })
  t.equal(readText(root, 'sums', 'data', 'rows.csv'), 'a\n')
  t.match(await ask('submit', { candidate: repairSums }), { step: 1 })
})

t.test('createGlobMatcher matches patterns, and findProtectedPaths returns tests', async (t) => {
  const cases: readonly (readonly [string, string, boolean])[] = [
    ['*.lock', 'a/b/yarn.lock', true],
    ['*.lock', 'yarn.lock.txt', false],
    ['data/', 'data/a/b.csv', true],
    ['data/', 'database/a.csv', false],
    ['src/*.py', 'src/a.py', true],
    ['src/*.py', 'src/deep/a.py', false],
    ['src/**/*.py', 'src/a.py', true],
    ['src/**', 'src/deep/a.py', true],
    ['a?.(b)', 'ax.(b)', true],
    ['a.b', 'aXb', false],
  ]
  for (const [pattern, path, is] of cases) t.equal(createGlobMatcher(pattern)(path), is, `${pattern} ${path}`)
  t.same(findProtectedPaths({ paths: ['tests/a.py', 'a.py'], protection: ['tests'], commands: [] }), [
    'tests/a.py',
  ])
  t.same(findProtectedPaths({ paths: ['tests/a.py'], protection: 'compare', commands: [] }), [])
})

t.test('findHelpers returns the files that package scripts run, but not the main file', async (t) => {
  const manifest = { main: 'index.js', scripts: { test: 'node run-tests.js' } }
  const originals = new Map(['index.js', 'run-tests.js'].map((path) => [path, '']))
  const find = (text: string) => findHelpers(new Map([['package.json', text]]), originals, new Set())
  t.same(find(JSON.stringify(manifest)), ['run-tests.js'])
  t.same(find('{'), [])
})
