import { spawnSync } from 'node:child_process'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { selectTests } from '../src/domain/select-tests.ts'
import { judge, judged, openTrm, python, replacing, unittest } from './trm-kit.ts'

t.setTimeout(300_000)

const hasPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0

/** Three tests of which one fails; each says that it ran. */
const pythonTests = [
  'import unittest',
  'from amounts import half',
  '',
  'class Halves(unittest.TestCase):',
  '    def test_even(self):',
  '        print("ran even")',
  '        self.assertEqual(half(4), 2)',
  '    def test_odd(self):',
  '        print("ran odd")',
  '        self.assertEqual(half(3), 1.5)',
  '    def test_zero(self):',
  '        print("ran zero")',
  '        self.assertEqual(half(0), 0)',
  '',
].join('\n')

const nodeTests = [
  "import { test } from 'node:test'",
  "import { readFileSync } from 'node:fs'",
  "import { equal } from 'node:assert/strict'",
  "const text = readFileSync('amounts.py', 'utf8')",
  "test('rounds (down)', () => { console.log('ran down'); equal(text.includes('//'), false) })",
  "test('is there', () => { console.log('ran there'); equal(text.length > 5, true) })",
  '',
].join('\n')

const files = {
  'p/amounts.py': 'def half(value):\n    return value // 2\n',
  'p/test_amounts.py': pythonTests,
  'p/amounts.test.mjs': nodeTests,
}

const runners = [
  { name: 'unittest', test: unittest, all: 3 },
  { name: 'node --test', test: `${process.execPath} --test`, all: 2 },
  ...(hasPytest ? [{ name: 'pytest', test: `cd . && ${python} -m pytest -s`, all: 3 }] : []),
]

for (const { name, test, all } of runners)
  verifies('trm:submit:only', name, async (t) => {
    const { client, critic } = await openTrm(t, { files })
    const { ask } = client()
    const { sessionId: sid, baseline } = await ask('start', { repo: 'p', test })
    t.match(baseline, { tests: { passed: all - 1, failed: 1, total: all } })
    const before = await ask('state', { sid })
    const [{ id }] = baseline.failures
    const failed = await ask('submit', { only: 'failed' })
    t.match(failed, {
      status: 'done',
      score: null,
      step: 0,
      tests: { passed: 0, failed: 1, total: 1 },
      failures: [{ id }],
      notRun: [],
      shouldHalt: false,
    })
    t.match(failed.feedback[0], /(AssertionError|strictly equal|Expected)/)
    t.same(await ask('state', { sid }), before, 'nothing of it counts')
    await ask('submit', { candidate: replacing('amounts.py', '//', '/') })
    t.match(await ask('submit', { only: [id, 'gone.Away.test_x'] }), {
      tests: { passed: 1, failed: 0, total: 1 },
      notRun: ['gone.Away.test_x'],
    })
    await t.rejects(ask('submit', { only: 'failed' }), { code: 'NO_TESTS_CHOSEN' })
    const occasions = (await critic.store.commands(sid)).map(({ occasion }) => occasion)
    t.same(occasions, ['only', 'step 1', 'only', 'step 0'])
  })

verifies('trm:submit:only', 'a runner that cannot choose says so', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await t.rejects(ask('submit', { only: 'failed' }), { code: 'TESTS_NOT_SELECTABLE' })
  const both = { only: 'failed', candidate: { mode: 'files', files: [{ path: 'score', content: '4' }] } }
  await t.rejects(ask('submit', both), { code: 'INVALID_ARGUMENTS' })
})

t.test('selectTests: each runner gets its own words', async (t) => {
  const told = (command: string, ids: string[], source = 'junit') => selectTests(command, source, ids)
  t.same(told('pytest -q tests && true', ['tests.test_a.TestX::test_b[1-2]', 'tests.test_a::test_b[3]']), {
    command: 'pytest -q tests && true',
    env: { PYTEST_ADDOPTS: '-k "test_b"' },
  })
  t.same(told('npx jest', ["a.js > sums > it's (new)"])?.command, "npx jest -t 'it'\\''s \\(new\\)'")
  t.same(told('mocha', ['adds', 'fails #2'])?.command, "mocha -g 'adds|fails'")
  t.same(
    told('python3 -m unittest', ['a.B.test_c (n=2)', 'unittest.loader._FailedTest.test_x'])?.command,
    "python3 -m unittest -k 'a.B.test_c' -k 'test_x'",
  )
  t.same(told('node --test', ['a.js > "quoted"'])?.env, {
    NODE_OPTIONS: '--test-name-pattern="\\"quoted\\""',
  })
  t.equal(told('cd a && mocha', ['x']), undefined)
  t.equal(told('make check', ['x'], 'tap'), undefined)
})
