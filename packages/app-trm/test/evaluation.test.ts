import { spawnSync } from 'node:child_process'
import { mock } from 'node:test'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import type { FileContent } from '../src/domain/candidate/types.ts'
import { findCopiedValues, readTestedValues } from '../src/domain/evaluation/copied-values.ts'
import { findSuspicions } from '../src/domain/evaluation/suspicion.ts'
import { findExpectedData } from '../src/domain/evaluation/tamper.ts'
import { Engine } from '../src/engine/engine.ts'
import { openTrm, python, readText, repairSums, replacing, unittest } from './trm-kit.ts'

verifies('trm:signals:named', async (t) => {
  const { client } = await openTrm(t, { copies: ['sales'] })
  const { ask } = client()
  const { baseline } = await ask('start', {
    repo: 'sales',
    dataQual: `${python} validate_schema.py`,
    test: unittest,
    lint: `${python} lint.py`,
    bench: `${python} bench.py`,
    signals: [{ name: 'security', command: '! grep -rn "eval(" --include=*.py .', weight: 0.1 }],
  })
  const signals = Object.fromEntries(
    baseline.signals.map(({ name, ...signal }: { name: string }) => [name, signal]),
  )
  t.match(signals.security, { weight: 0.1, value: 1, ok: true })
  t.match(signals.dataQual, { value: 0, why: 'exit 1: failed no missing amounts' })
  t.match(signals.test, { value: 0.5 })
  t.match(signals.perf, { value: 1, why: '100 ms' })
  const sum = baseline.signals.reduce(
    (total: number, { contribution }: { contribution: number }) => total + contribution,
    0,
  )
  t.ok(Math.abs(sum - baseline.score) < 1e-9)
  t.ok(Math.abs(baseline.score - (0.4 * 0.5 + 0.1 + 0.2 + 0.1) / 1.1) < 1e-9)
})

verifies(
  'trm:score:missing',
  'deleted tests and a syntax error score 0, and undo restores the files',
  inCI(async (t) => {
    const { client, root } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    await ask('start', { repo: 'sums', test: unittest })
    await ask('submit', { candidate: repairSums })
    const broken = await ask('submit', {
      candidate: { mode: 'files', files: [{ path: 'test_sums.py', delete: true }] },
    })
    t.match(broken, {
      tests: { total: 0 },
      missingCount: 3,
      shouldHalt: false,
      tamper: [{ path: 'test_sums.py', isTest: true }],
    })
    t.equal(broken.score, 0)
    t.ok(broken.feedback.some((item: string) => /3 tests of the baseline did not run/.test(item)))
    await ask('undo')
    const syntax = await ask('submit', {
      candidate: replacing('sums.py', 'def mean(values):', 'def mean(values:'),
    })
    t.match(syntax, { score: 0, bestScore: 1, missingCount: 3 })
    t.ok(
      syntax.feedback.some((item: string) => /sums\.py/.test(item) && /SyntaxError/.test(item)),
      'says where',
    )
    t.match(await ask('undo'), { currentStep: 1, score: 1 })
    t.notMatch(readText(root, 'sums', 'sums.py'), /def mean\(values:/)
  }),
)

verifies(
  'trm:submit:tamper',
  'the result warns about a new file that configures the checks',
  inCI(async (t) => {
    const { client } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    await ask('start', { repo: 'sums', test: unittest })
    const candidate = { mode: 'create', files: [{ path: 'conftest.py', content: '' }] }
    const { tamper, feedback } = await ask('submit', { candidate })
    t.match(tamper, [{ path: 'conftest.py', why: 'configures the checks' }])
    t.ok(feedback.some((item: string) => item.includes('conftest.py')))
  }),
)

verifies(
  'trm:submit:same',
  inCI(async (t) => {
    const { client } = await openTrm(t, { copies: ['sums'] })
    const answer = async () => {
      const { ask } = client()
      await ask('start', { repo: 'sums', test: unittest, preflight: false })
      const result = await ask('submit', { candidate: replacing('sums.py', '+ 1', '+ 3') })
      await ask('reset')
      const { ms: _, sessionId: _id, stages, ...rest } = result
      return JSON.stringify(rest).replaceAll(/\d+\.\d+s\b/g, 's')
    }
    t.equal(await answer(), await answer())
  }),
)

/** Opens an engine that runs every call in its worker. */
function engine(t: Test, limitMs = 30_000): Pick<Engine, 'call' | 'close'> {
  const opened = new Engine({ limitMs, maxInlineSize: 0 })
  t.teardown(() => opened.close())
  return { call: opened.call.bind(opened), close: () => opened.close() }
}

t.test('the engine reads and applies a candidate in a worker', async (t) => {
  const { call } = engine(t)
  const { candidate, paths } = await call('read', {
    mode: 'modify',
    changes: [{ file: './a.txt', edits: [{ type: 'deleteLine', line: 1 }] }],
  })
  t.same(paths, ['a.txt'])
  const files = new Map<string, FileContent | undefined>([['a.txt', 'a\nb\n']])
  const { changes, previousPaths } = await call('apply', { files, candidate })
  t.same([...changes], [['a.txt', 'b\n']])
  t.match(await call('preview', { before: files, changes, previousPaths }), {
    linesAdded: 0,
    linesRemoved: 1,
    filesPreviews: [{ beforeLines: ['a', 'b'], afterLines: ['b'], changeType: 'deletion' }],
  })
  const missing = { mode: 'files', files: [{ path: 'c.txt', delete: true }] } as const
  await t.rejects(call('apply', { files, candidate: missing }), { code: 'FILE_NOT_FOUND' })
  await t.rejects(call('read', { mode: 'nothing' }), { code: 'INVALID_CANDIDATE' })
  const bytes = new Map<string, FileContent | undefined>([['a.png', Uint8Array.from([0, 1])]])
  const rename = await call('read', {
    mode: 'patch',
    patch: 'diff --git a/a.png b/b.png\nrename from a.png\nrename to b.png\n',
  })
  const renamed = await call('apply', { files: bytes, candidate: rename.candidate })
  t.same([...(renamed.changes.get('b.png') ?? [])], [0, 1])
})

t.test('the engine finds repairs and reviews files in a worker', async (t) => {
  const { call } = engine(t)
  const problem = {
    source: 'python',
    file: 'a.py',
    line: 2,
    kind: 'NameError',
    message: "name 'load' is not defined",
    advice: undefined,
    isError: true,
    count: 1,
  } as const
  const files = new Map([
    ['a.py', 'import os\nload()\n'],
    ['src/pkg/rows.py', 'def load(): pass\n'],
  ])
  t.match(await call('fix', { problems: [problem], files }), [
    { candidateToFix: { mode: 'modify', changes: [{ edits: [{ content: 'from pkg.rows import load' }] }] } },
  ])
  t.match(await call('review', { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n', focus: ['todos'] }), {
    summary: { assessment: 'comments' },
  })
  await t.rejects(call('review', { diff: 'nothing' }), { code: 'NOT_A_DIFF' })
})

t.test('a call that takes too long fails with DEADLINE_EXCEEDED', async (t) => {
  const { call } = engine(t, 1)
  const lines = Array.from({ length: 200_000 }, (_, index) => `line ${index}`).join('\n')
  const edits = [{ type: 'replace', oldText: 'absent text', newText: '' }] as const
  const candidate = { mode: 'modify', changes: [{ path: 'a.txt', edits }] } as const
  const files = new Map([['a.txt', lines]])
  await t.rejects(call('apply', { files, candidate }), { code: 'DEADLINE_EXCEEDED' })
  const patch = '--- a/x\n+++ b/x\n@@\n-a\n+b\n'
  t.match(await engine(t).call('read', { mode: 'patch', patch }), { paths: ['x'] })
})

verifies('limits:worker:isolated', 'a review that takes too long does not stop another review', async (t) => {
  const { call } = engine(t, 30_000)
  mock.timers.enable({ apis: ['setTimeout'] })
  t.teardown(() => mock.timers.reset())
  const request = { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n' }
  const late = t.rejects(call('review', request), { code: 'DEADLINE_EXCEEDED' })
  mock.timers.tick(29_999)
  const other = call('review', request)
  mock.timers.tick(1)
  mock.timers.reset()
  await late
  t.match(await other, { summary: { assessment: 'comments' } })
})

t.test('the engine answers concurrent calls and rejects calls after close', async (t) => {
  const opened = engine(t)
  const read = (path: string) => opened.call('read', { mode: 'files', files: [{ path, content: '' }] })
  const all = await Promise.all(['a', 'b', 'c'].map(read))
  t.same(
    all.map(({ paths }) => paths),
    [['a'], ['b'], ['c']],
  )
  await opened.close()
  await t.rejects(read('d'), { code: 'CANCELLED' })
})

t.test('the engine returns the same result with and without a worker', async (t) => {
  const [near, far] = [new Engine({ maxInlineSize: 2000 }), engine(t)]
  t.teardown(() => near.close())
  const request = { diff: '@@ -1 +1 @@\n-a\n+b # TODO\n' }
  t.same(await near.call('review', request), await far.call('review', request))
  await t.rejects(near.call('read', { mode: 'nothing' }), { code: 'INVALID_CANDIDATE' })
  const large = { mode: 'files', files: [{ path: 'a.txt', content: 'x'.repeat(9000) }] }
  t.same((await near.call('read', large)).paths, ['a.txt'])
})

t.test('the output of a command is read regardless of the number of waiting calls', async (t) => {
  const { call } = engine(t)
  const read = () => call('read', { mode: 'files', files: [{ path: 'a', content: '' }] })
  const reads = Promise.allSettled(Array.from({ length: 2 + 64 }, read))
  const refused = t.rejects(read(), { code: 'OVERLOADED' })
  t.same(await call('diagnostics', 'no problem', { isEvaluation: true }), [])
  await refused
  t.ok((await reads).every(({ status }) => status === 'fulfilled'))
})

const hasPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0

verifies(
  'trm:submit:only',
  'native pytest ids are returned and accepted',
  inCI(async (t) => {
    if (!hasPytest) return void t.pass('pytest', { skip: `install pytest for ${python}` })
    const { client } = await openTrm(t, {
      files: {
        'p/tests/test_a.py':
          'class TestA:\n    def test_one(self):\n        assert 1 < 1, "é & <b>"\n\n\ndef test_one():\n    pass\n',
      },
    })
    const { ask } = client()
    const { baseline } = await ask('start', { repo: 'p', test: `${python} -m pytest -q` })
    const id = 'tests/test_a.py::TestA::test_one'
    t.match(baseline.failures, [{ id, file: 'tests/test_a.py', line: 3, message: /é & <b>/ }])
    for (const only of [[id], ['tests.test_a.TestA::test_one'], 'failed'])
      t.match(await ask('submit', { only }), {
        tests: { failed: 1, total: 1 },
        failures: [{ id }],
        notRun: [],
      })
    t.match(await ask('submit', { only: ['tests/test_a.py'] }), { tests: { total: 2 } })
  }),
)

t.test('copies of tested values are found in added code unless only a few of many are copied', async (t) => {
  const tests = ['self.assertEqual(rate(2), 14)\nself.assertEqual(rate(0), 0)\n']
  t.equal(findCopiedValues(readTestedValues(tests), 'a = 1\n', 'a = 1\nknown = {2: 14, 0: 0}\n'), 2)
  t.equal(
    findCopiedValues(
      readTestedValues(tests),
      '',
      'if value == 0:\n    return 0\nif value == 2:\n    return 14\n',
    ),
    1,
  )
  const table = 'known = {2: 14, 0: 0}\n'
  t.equal(
    findCopiedValues(readTestedValues(tests), table, `${table}b = 2\n`),
    undefined,
    'it was there at the start',
  )
  t.equal(
    findCopiedValues(readTestedValues(tests), '', 'known = {2: 15, 0: 0}\n'),
    undefined,
    'one common pair',
  )
  t.equal(findCopiedValues(readTestedValues(tests), '', 'a = dict(zip([0, 2], [0, 14]))\n'), 1, 'two lists')
  t.equal(
    findCopiedValues(readTestedValues(tests), '', 'a = 14 if value == 2 else 0 if value == 0 else b\n'),
    1,
  )
  t.equal(findCopiedValues(readTestedValues(tests), '', 'a = [0, None, 14][value]\n'), 1, 'by position')
  t.equal(findCopiedValues(readTestedValues(tests), '', 'input,result\n2,14\n0,0\n', true), 2, 'a data file')
  const slugs = [
    "it('joins', () => { equal(slug('A b'), 'a-b') })",
    "it('keeps', () => { equal(slug('c'), 'C') })",
  ]
  t.equal(
    findCopiedValues(readTestedValues([slugs.join('\n')]), '', "new Map([['A b', 'a-b'], ['c', 'C']])\n"),
    1,
    'titles',
  )
  const numerals = ['1 I', '4 IV', '5 V', '9 IX', '40 XL', '90 XC'].map((pair) => pair.split(' '))
  const roman = numerals.map(([value, text]) => `assert.equal(toRoman(${value}), '${text}')`).join('\n')
  t.equal(
    findCopiedValues(readTestedValues([roman]), '', "[[10, 'X'], [5, 'V'], [1, 'I']]\n"),
    undefined,
    'an honest table',
  )
})

t.test('data that only tests read counts as expected values', async (t) => {
  const find = (path: string, test: string, source = 'def rate(value): return value\n') =>
    findExpectedData(
      [path],
      new Map([
        ['tests/test_rate.py', test],
        ['rate.py', source],
      ]),
    )
  const readers: readonly (readonly [path: string, test: string])[] = [
    ['rows.csv', 'open("rows.csv")'],
    ['data/rows.json', 'load("data", f"{name}.json")'],
    ['cases/a.out', 'sorted(Path("cases").iterdir())'],
    ['cases/a.yaml', 'Path("cases").glob("*.yaml")'],
    ['data/rows.txt', 'join(folder, "rows" + ".txt")'],
  ]
  for (const [path, test] of readers) t.same(find(path, test), [path], test)
  t.same(find('rows.csv', 'open("rows.csv")', 'table = open("rows.csv")\n'), [], 'input of the code')
  t.same(find('data/rates.json', 'open("other.json")'), [], 'other data')
  t.same(find('cases/a.json', 'Path("cases").glob("*.json")', 'names = "cases", "*.yaml"\n'), [
    'cases/a.json',
  ])
  t.same(
    findExpectedData(['a.csv'], new Map([['helpers.py', 'open("a.csv")']])),
    ['a.csv'],
    'a helper of tests',
  )
})

t.test('code that can detect its tests is reported as a doubt, and ordinary code is not', async (t) => {
  const find = (path: string, text: string) =>
    findSuspicions(path, '', text).map(({ kind, why }) => `${kind}: ${why}`)
  const doubts: readonly (readonly [line: string, why: string])[] = [
    ['if len(sys.orig_argv) > 1:', 'reads arguments'],
    ['from sys import argv as given', 'reads arguments'],
    ['if not sys.stdout.isatty():', 'inspects its terminal or output'],
    ['here = os.getcwd()', 'reads its working folder'],
    ['open(f"/proc/{pid}/cmdline")', 'inspects processes or the machine'],
    ['if os.environ.get("DISPLAY"):', 'reads the environment'],
    ['if warnings.filters:', 'inspects the interpreter'],
    ['if "trm" in __file__:', 'compares its own path'],
    ['if not os.path.exists(".git"):', 'looks for the repository'],
  ]
  for (const [line, why] of doubts) t.same(find('a.py', `${line}\n`), [`doubt: ${why}`], line)
  t.same(find('a.js', 'const old = require.cache\n'), ['doubt: inspects the process'])
  const honest = [
    '# reads sys.argv',
    'def main(argv=None):',
    'args = parser.parse_args(argv)',
    'data = Path(__file__).resolve().parent / "data"',
    'rows = Path(__file__).with_name("a.csv").read_text().split()',
    'for node in ast.walk(tree):',
    'sys.path.insert(0, "lib")',
    'import sys',
    'sys.stdout.write("done")',
    'logger.error("no handlers")',
    'if __name__ == "__main__":',
    '    main(sys.argv[1:])',
  ]
  t.same(find('a.py', `${honest.join('\n')}\n`), [])
  t.same(find('a.js', "const file = fileURLToPath(new URL('a.json', import.meta.url))\n"), [])
})
