import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { projectFolders } from '../../../../test/downloads/projects.mjs'
import { sample } from '../../../../test/tier.ts'
import { verifies } from '../../../../test/verifies.ts'
import { selectTests } from '../../src/domain/command/select-tests.ts'
import { createMark, killLeftoverProcesses, markerName } from '../../src/runner/process-group.ts'
import { hasBwrap } from '../../src/runner/run-command.ts'
import { removeWorkCopies } from '../../src/workspace/work-copy.ts'
import { judge, judged, openTrm, python, readText, replacing, scored, unittest } from '../trm-kit.ts'

t.setTimeout(600_000)

/** Shell commands, each of which checks one restriction of a confined command. */
const checks = (dataDir: string) =>
  [
    'touch made.txt',
    `[ ! -e ${join(dataDir, 'trm.db')} ]`,
    '! touch "$HOME/causeway-sandbox-probe" 2>/dev/null',
    '! grep -Eq "eth0|wlan0|enp" /proc/net/dev',
    'touch "$TMPDIR/scratch"',
    '[ "$(ls /proc | grep -c "^[0-9]")" -lt 20 ]',
  ].map((check, index) => `{ ${check}; } || { echo "check ${index} failed"; exit 1; }`)

verifies(
  'trm:run:confined',
  'a session with the sandbox `bwrap` uses bubblewrap, or is rejected if it does not work',
  async (t) => {
    const { programs } = projectFolders(process.env)
    const { PATH } = process.env
    if (programs !== undefined) process.env.PATH = `${PATH}:${programs}`
    t.teardown(() => {
      process.env.PATH = PATH
    })
    const { client, dataDir, root } = await openTrm(t, { files: { 'p/a.txt': 'a\n' } })
    const { ask } = client()
    const start = (sandbox: string) =>
      ask('start', { repo: 'p', build: checks(dataDir).join('\n'), options: { sandbox } })
    if (await hasBwrap()) {
      const { config, baseline } = await start('bwrap')
      t.equal(config.sandbox, 'bwrap')
      t.match(baseline, { signals: [{ name: 'build', ok: true, why: 'exit 0' }] })
      t.same(baseline.isolation, ['work copy', 'process group', 'limits', 'bwrap'])
    } else await t.rejects(start('bwrap'), { code: 'SANDBOX_UNAVAILABLE' })
    process.env.PATH = '/nowhere'
    await t.rejects(start('bwrap'), { code: 'SANDBOX_UNAVAILABLE' })
    process.env.PATH = PATH
    t.notOk(existsSync(join(root, 'p', 'made.txt')))
    const plain = await ask('start', { repo: 'p', build: 'true' })
    t.same(plain.baseline.isolation, ['work copy', 'process group', 'limits'])
  },
)

verifies('trm:run:confined', 'the server can require bubblewrap for every session', async (t) => {
  const { PATH } = process.env
  t.teardown(() => {
    process.env.PATH = PATH
  })
  const { client } = await openTrm(t, { files: { 'p/a.txt': 'a\n' }, settings: { trmSandbox: 'bwrap' } })
  process.env.PATH = '/nowhere'
  const options = { sandbox: 'none' }
  await t.rejects(client().ask('start', { repo: 'p', build: 'true', options }), {
    code: 'SANDBOX_UNAVAILABLE',
  })
})

const hasPandas = spawnSync(python, ['-c', 'import pandas']).status === 0

/** A module with the two functions of pandas that the project needs, for machines without pandas. */
const frames = [
  'import csv',
  '',
  'class Frame(list):',
  '    def total(self, name):',
  '        return sum(float(row[name]) for row in self)',
  '    def missing(self, name):',
  '        return sum(row[name] == "" for row in self)',
  '',
  'def read_csv(path):',
  '    with open(path, newline="") as file:',
  '        return Frame(csv.DictReader(file))',
  '',
].join('\n')

interface DataProject {
  readonly report: string
  readonly check: string
  readonly total: string
}

const withFrames: DataProject = {
  report: 'import frames\n\n\ndef total(path):\n    return frames.read_csv(path).total("amount")\n',
  check: 'import sys\nimport frames\n\nsys.exit(frames.read_csv("sales.csv").missing("amount"))\n',
  total: '5.5',
}

const withPandas: DataProject = {
  report:
    'import pandas as pd\n\n\ndef total(path):\n    return pd.read_csv(path)["amount"].sum(skipna=False)\n',
  check:
    'import sys\nimport pandas as pd\n\nsys.exit(int(pd.read_csv("sales.csv")["amount"].isna().sum()))\n',
  total: '5.5',
}

async function refine(t: Test, { report, check, total }: DataProject, flags: readonly string[]) {
  const { client, root } = await openTrm(t, {
    files: {
      'p/.gitignore': '.venv/\n',
      'p/sales.csv': 'region,amount\nnorth,2\nsouth,\neast,3.5\n',
      'p/report.py': report,
      'p/validate_schema.py': check,
      'p/test_report.py': `import unittest\nimport report\n\n\nclass Report(unittest.TestCase):\n    def test_total(self):\n        self.assertEqual(report.total("sales.csv"), ${total})\n`,
    },
  })
  const repo = join(root, 'p')
  const made = spawnSync(python, ['-m', 'venv', '--without-pip', ...flags, join(repo, '.venv')])
  t.equal(made.status, 0, String(made.stderr))
  const lib = join(repo, '.venv', 'lib')
  const [version = ''] = readdirSync(lib)
  const packages = join(lib, version, 'site-packages')
  mkdirSync(packages, { recursive: true })
  writeFileSync(join(packages, 'frames.py'), frames)
  const { ask } = client()
  const dataQual = '.venv/bin/python validate_schema.py'
  const test = '.venv/bin/python -m unittest'
  const { baseline, detected, commands, warnings } = await ask('start', {
    repo: 'p',
    dataQual,
    test,
    weights: { dataQual: 0.5, test: 0.5 },
  })
  t.match(detected.test, /^\.venv\/bin\/python -m (unittest discover|pytest -q)/)
  t.match(commands, { dataQual: { status: 'available' }, test: { status: 'available' } })
  t.same(warnings, [])
  t.match(baseline, { score: 0, okDataQuality: false, tests: { passed: 0, failed: 1 } })
  const right = await ask('submit', { candidate: replacing('sales.csv', 'south,\n', 'south,0\n') })
  t.match(right, { score: 1, rule: 'success', okDataQuality: true, tests: { passed: 1, total: 1 } })
  t.equal(readText(repo, 'sales.csv'), 'region,amount\nnorth,2\nsouth,0\neast,3.5\n')
  t.notOk(existsSync(join(packages, '__pycache__')), 'nothing was written into the environment')
}

verifies('trm:runs:venv', 'an evaluation can use the modules of a virtual environment', (t) =>
  refine(t, withFrames, []),
)

if (hasPandas)
  verifies('trm:runs:venv', 'a virtual environment can use the pandas of the machine', (t) =>
    refine(t, withPandas, ['--system-site-packages']),
  )
else t.comment('pandas is not installed (python3-pandas of Debian): its project was not refined')

verifies('trm:submit:fail-fast', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  const commands = { test: judge, lint: 'true', bench: 'echo 100 ms' }
  const { baseline } = await ask('start', { repo: 'p', ...commands, options: { failFast: true } })
  t.ok(
    baseline.stages.every(({ exitCode }: { exitCode: number | null }) => exitCode !== null),
    'a baseline runs all',
  )
  const { signals, score, stages } = await ask('submit', { candidate: scored(2) })
  t.match(signals, [
    { name: 'test', value: 0.5 },
    { name: 'lint', value: 0, ok: false, why: 'not run: test failed' },
    { name: 'perf', value: 0, why: 'not run: test failed' },
  ])
  t.ok(Math.abs(score - (0.4 * 0.5) / 0.7) < 1e-9, 'what was not run counts, and is worth nothing')
  t.match(stages[1], { stage: 'lint', exitCode: null, ms: 0 })
  t.match(await ask('submit', { candidate: scored(4) }), { score: 1, rule: 'success' })
})

const hasPytest = spawnSync(python, ['-m', 'pytest', '--version']).status === 0

/** Three tests, one of which fails. Each prints its name. */
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

for (const { name, test, all } of sample(runners, 3))
  verifies('trm:submit:only', `${name}: failed or named tests run alone without a step`, async (t) => {
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
    const occasions = (await critic.store.listCommands(sid)).map(({ occasion }) => occasion)
    t.same(occasions, ['only', 'step 1 guard', 'step 1', 'only', 'step 0'])
  })

verifies('trm:submit:only', 'a runner that cannot select tests is reported', async (t) => {
  const { client } = await openTrm(t, { files: judged })
  const { ask } = client()
  await ask('start', { repo: 'p', test: judge })
  await t.rejects(ask('submit', { only: 'failed' }), { code: 'TESTS_NOT_SELECTABLE' })
  const both = { only: 'failed', candidate: { mode: 'files', files: [{ path: 'score', content: '4' }] } }
  await t.rejects(ask('submit', both), { code: 'INVALID_ARGUMENTS' })
})

t.test('selectTests adds the arguments that each runner requires', async (t) => {
  const select = (command: string, ids: string[], source = 'junit') => selectTests(command, source, ids)
  t.same(select('pytest -q tests && true', ['tests.test_a.TestX::test_b[1-2]', 'tests.test_a::test_b[3]']), {
    command: 'pytest -q tests && true',
    env: { PYTEST_ADDOPTS: '-k "test_b"' },
  })
  t.same(select('npx jest', ["a.js > sums > it's (new)"])?.command, "npx jest -t 'it'\\''s \\(new\\)'")
  t.same(select('mocha', ['adds', 'fails #2'])?.command, "mocha -g 'adds|fails'")
  t.same(
    select('python3 -m unittest', ['a.B.test_c (n=2)', 'unittest.loader._FailedTest.test_x'])?.command,
    "python3 -m unittest -k 'a.B.test_c' -k 'test_x'",
  )
  t.same(select('node --test', ['a.js > "quoted"'])?.env, {
    NODE_OPTIONS: '--test-name-pattern="\\"quoted\\""',
  })
  t.equal(select('cd a && mocha', ['x']), undefined)
  t.equal(select('make check', ['x'], 'tap'), undefined)
})

t.test(
  'removeWorkCopies kills the processes that a killed server left, and removes the copies',
  async (t) => {
    const dir = t.testdir({ trm: { work: { 'trial-1': { project: {} }, 'trial-2.mark': '' } } })
    const children = ['trial-1', 'trial-2'].map((marker) =>
      spawn('sleep', ['60'], {
        detached: true,
        stdio: 'ignore',
        env: { ...process.env, [markerName]: marker },
      }),
    )
    t.teardown(() => children.map((child) => child.kill('SIGKILL')))
    const gone = Promise.all(children.map((child) => once(child, 'exit')))
    await removeWorkCopies(dir)
    t.same(
      (await gone).map(([, signal]) => signal),
      ['SIGKILL', 'SIGKILL'],
    )
    t.notOk(existsSync(join(dir, 'trm', 'work')))
    await removeWorkCopies(join(dir, 'nowhere'))
  },
)

t.test('a process with the same pid after a reboot is not killed', async (t) => {
  const child = spawn('sleep', ['60'], { detached: true, stdio: 'ignore' })
  t.teardown(() => child.kill('SIGKILL'))
  const gone = once(child, 'exit')
  const mark = createMark(child.pid as number)
  await killLeftoverProcesses({ ...mark, started: `another${mark.started}` }, 'no-marker')
  t.equal(child.kill(0), true)
  t.same(createMark(mark.pid), mark, 'it lives')
  await killLeftoverProcesses(mark, 'no-marker')
  t.same(await gone, [null, 'SIGKILL'])
  t.same(createMark(mark.pid), { pid: mark.pid, started: null })
})
