import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { projectFolders } from '../downloads/projects.mjs'
import { verifies } from '../verifies.ts'
import { startServer } from './server-process.ts'
import { callToEnd, openTrmClient } from './trm-client.ts'

t.setTimeout(600_000)

const folders = t.testdir({ trmRuns: { data: {}, root: {} }, trmProjects: { data: {}, root: {} } })

/**
 * Complete sessions on real projects: toolz with pytest and flake8, minimist with tape and node --test.
 * `node test/downloads/projects.mjs install` downloads them. They are skipped if CAUSEWAY_CLIENT_CACHE is not set, as it is outside of CI.
 */

const folder = `${folders}/trmRuns`
const root = join(folder, 'root')
const { url, server } = await startServer(t, {
  dir: join(folder, 'data'),
  env: { CAUSEWAY_TRM_ROOTS: root, SECRET_TOKEN: 'never-to-be-seen' },
})
const trmProjectsFolder = `${folders}/trmProjects`
const trmProjectsRoot = join(trmProjectsFolder, 'root')
const { url: trmProjectsUrl, server: trmProjectsServer } = await startServer(t, {
  dir: join(trmProjectsFolder, 'data'),
  env: { CAUSEWAY_TRM_ROOTS: trmProjectsRoot },
})
const found = projectFolders(process.env)

/** Returns the source folder of a project. Skips or fails the test if the folder does not exist. */
function source(t: Test, name: keyof typeof found): string | undefined {
  const at = process.env.CAUSEWAY_CLIENT_CACHE === undefined ? undefined : found[name]
  if (at !== undefined) return at
  const what = 'set CAUSEWAY_CLIENT_CACHE, and run: node test/downloads/projects.mjs install'
  if (process.env.CAUSEWAY_CLIENT_CACHE === undefined) t.pass(name, { skip: what })
  else t.fail(`${name} is not there; ${what}`)
  return undefined
}

function change(file: string, from: string, to: string): void {
  const text = readFileSync(file, 'utf8')
  if (!text.includes(from)) throw new Error(`not in ${file}: ${from}`)
  writeFileSync(
    file,
    text.replace(from, () => to),
  )
}

const replacing = (file: string, oldText: string, newText: string) => ({
  mode: 'modify',
  changes: [{ file, edits: [{ type: 'replace', oldText, newText }] }],
})

/** Copies toolz and returns the copy with the arguments of `start`. */
function toolz(python: string, name: string) {
  const repo = join(root, name)
  cpSync(join(python, 'toolz'), join(repo, 'toolz'), { recursive: true })
  return {
    repo,
    start: {
      repo: name,
      test: '/usr/bin/python3 -m pytest -q toolz',
      lint: '/usr/bin/python3 -m flake8 --select=E9,F821 toolz/itertoolz.py',
      options: { env: { PYTHONPATH: python } },
      timeout: 100,
    },
  }
}

verifies(
  'trm:runs:toolz',
  'fixes a fault that few tests detect, after a wrong candidate, with a diff whose line numbers are wrong',
  async (t, channel) => {
    const python = source(t, 'python')
    if (python === undefined) return
    const { repo, start } = toolz(python, `e1-${channel}`)
    const file = join(repo, 'toolz', 'itertoolz.py')
    change(file, 'yield prev[:len(seq) % n]', 'yield prev[:len(seq) // n]')
    const call = await openTrmClient(t, channel, { url, root })
    const { sessionId: sid, baseline } = await callToEnd(call, 'start', start)
    const total = baseline.tests.total
    t.match(baseline, { tests: { passed: total - 1, failed: 1 }, okLint: true })
    const [{ id }] = baseline.failures
    t.match(id, /partition_all/)
    const wrong = await callToEnd(call, 'submit', {
      sid,
      candidate: replacing('toolz/itertoolz.py', 'len(seq) // n', 'len(seq) // n + 1'),
    })
    t.match(wrong, { noImproveStreak: 1, shouldHalt: false, failures: [{ id }] })
    t.ok(wrong.score <= baseline.score)
    t.match(wrong.failures[0], { file: /itertoolz/, line: Number })
    t.ok(wrong.feedback[0].length <= 1500)
    const at = readFileSync(file, 'utf8')
      .split('\n')
      .findIndex((line) => line.includes('len(seq) // n + 1'))
    const lines = readFileSync(file, 'utf8').split('\n')
    const diff = [
      `@@ -${at - 1 + 17},9 +${at - 1 + 17},2 @@`,
      ` ${lines[at - 2]}`,
      ` ${lines[at - 1]}`,
      `-${lines[at]}`,
      `+${lines[at]?.replace('len(seq) // n + 1', 'len(seq) % n')}`,
      ` ${lines[at + 1]}`,
      ` ${lines[at + 2]}`,
      '',
    ].join('\n')
    const right = await callToEnd(call, 'submit', {
      sid,
      candidate: { mode: 'diff', changes: [{ path: 'toolz/itertoolz.py', diff }] },
    })
    t.match(right, {
      tests: { passed: total, failed: 0, total },
      shouldHalt: true,
      rule: 'success',
      repaired: [id],
    })
    t.equal(readFileSync(file, 'utf8'), readFileSync(join(python, 'toolz', 'itertoolz.py'), 'utf8'))
    t.match(await call('end', { sid }), { ok: true })
  },
)

verifies(
  'trm:runs:toolz',
  'a syntax error counts every test as missing, and a surviving mutant is not reported as a repair',
  async (t, channel) => {
    const python = source(t, 'python')
    if (python === undefined) return
    const { repo, start } = toolz(python, `e2-${channel}`)
    const recipes = join(repo, 'toolz', 'recipes.py')
    const before = readFileSync(recipes, 'utf8')
    const call = await openTrmClient(t, channel, { url, root })
    const { sessionId: sid, baseline } = await callToEnd(call, 'start', start)
    const { total } = baseline.tests
    t.match(baseline, { score: 1, tests: { failed: 0 } })
    const broken = await callToEnd(call, 'submit', {
      sid,
      candidate: {
        mode: 'files',
        files: [{ path: 'toolz/recipes.py', content: `${before}\ndef broken(:\n` }],
      },
    })
    t.match(broken, { missingCount: total, shouldHalt: false, bestScore: 1 })
    t.equal(broken.signals.find(({ name }: { name: string }) => name === 'test').value, 0)
    const line = before.split('\n').length + 1
    t.ok(
      broken.feedback.some((item: string) => item.includes('recipes.py') && item.includes(String(line))),
      'the feedback contains the file and the line',
    )
    t.match(await call('undo', { sid }), { currentStep: 0, filesRestored: ['toolz/recipes.py'] })
    t.equal(readFileSync(recipes, 'utf8'), before)
    t.match(await call('state', { sid }), { step: 0, bestScore: 1, noImproveStreak: 0 })
    const mutant = replacing(
      'toolz/dicttoolz.py',
      '            if key in d2:\n                del d2[key]',
      '            del d2[key]',
    )
    const survived = await callToEnd(call, 'submit', { sid, candidate: mutant })
    t.match(survived, { score: 1, tests: { passed: total, total }, repaired: [], broken: [] })
  },
)

/** Copies minimist and links its tools. */
function minimist(javascript: string, name: string): string {
  const repo = join(root, name)
  cpSync(join(javascript, 'node_modules', 'minimist'), repo, { recursive: true })
  symlinkSync(join(javascript, 'node_modules'), join(repo, 'node_modules'))
  return repo
}

verifies('trm:runs:minimist', 'tape and node --test lead to success', async (t, channel) => {
  const javascript = source(t, 'javascript')
  if (javascript === undefined) return
  const hex = '\tif ((/^0x[0-9a-f]+$/i).test(x)) { return true; }\n'
  for (const [name, test] of Object.entries({
    tape: "npx tape 'test/*.js'",
    node: 'node --test test/*.js',
  })) {
    const repo = minimist(javascript, `e3-${name}-${channel}`)
    change(join(repo, 'index.js'), hex, '')
    const call = await openTrmClient(t, channel, { url, root })
    const { sessionId: sid, baseline } = await callToEnd(call, 'start', {
      repo: `e3-${name}-${channel}`,
      test,
    })
    t.ok(
      baseline.tests.failed >= 1 && baseline.tests.passed > 10,
      `${name}: ${JSON.stringify(baseline.tests)}`,
    )
    const anchor = "\tif (typeof x === 'number') { return true; }\n"
    const wrong = replacing('index.js', anchor, `${anchor}\tif (x === '0') { return true; }\n`)
    t.match(
      await callToEnd(call, 'submit', { sid, candidate: wrong }),
      { noImproveStreak: 1, shouldHalt: false },
      name,
    )
    const right = replacing('index.js', "\tif (x === '0') { return true; }\n", hex)
    t.match(
      await callToEnd(call, 'submit', { sid, candidate: right }),
      { tests: { failed: 0 }, rule: 'success' },
      name,
    )
  }
})

verifies('trm:runs:minimist', 'benchmarks of 100, 80 and 120 ms score 1, 1 and 2/3', async (t, channel) => {
  const javascript = source(t, 'javascript')
  if (javascript === undefined) return
  const repo = minimist(javascript, `e4-${channel}`)
  writeFileSync(join(repo, 'cost'), '100')
  const call = await openTrmClient(t, channel, { url, root })
  const { sessionId: sid } = await callToEnd(call, 'start', {
    repo: `e4-${channel}`,
    bench: 'echo "parse: $(cat cost) ms"',
    preflight: false,
  })
  const results = []
  for (const cost of ['100 ', '80', '120'])
    results.push(
      await callToEnd(call, 'submit', {
        sid,
        candidate: { mode: 'files', files: [{ path: 'cost', content: cost }] },
      }),
    )
  const worth = results.map(({ score }) => Math.round(score * 1000) / 1000)
  t.same(worth, [1, 1, 0.667])
  t.same(
    results.map(({ noImproveStreak }) => noImproveStreak),
    [0, 1, 2],
  )
  t.ok(Math.abs((results[2]?.emaScore ?? 0) - (0.9 * (2 / 3) + 0.1)) < 1e-9)
})

verifies('trm:runs:hostile', async (t, channel) => {
  const name = `e6-${channel}`
  const repo = join(root, name)
  mkdirSync(repo)
  writeFileSync(join(repo, 'kept.txt'), 'kept\n')
  const hostile = [
    'import os, subprocess, sys',
    'print("secret is " + os.environ.get("SECRET_TOKEN", "absent"), flush=True)',
    'subprocess.Popen(["sleep", "600"])',
    'subprocess.Popen(["sleep", "600"], start_new_session=True)',
    'subprocess.run("rm -rf ../*", shell=True)',
    'line = "x" * 99 + "\\n"',
    'for _ in range(2000): sys.stdout.write(line * 1000)',
    'sys.stdout.flush()',
    'while True: pass',
  ]
  const call = await openTrmClient(t, channel, { url, root })
  const { sessionId: sid } = await callToEnd(call, 'start', {
    repo: name,
    test: 'python3 hostile.py',
    timeout: 5,
    preflight: false,
  })
  const memory = (): number =>
    Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${server.process.pid}/status`, 'utf8'))?.[1])
  const before = memory()
  const candidate = { mode: 'create', files: [{ path: 'hostile.py', content: hostile.join('\n') }] }
  const result = await callToEnd(call, 'submit', { sid, candidate })
  t.match(result, { score: 0, stages: [{ timedOut: true }] })
  t.ok(result.ms < 5000 + 10_000, `${result.ms} ms`)
  t.ok(channel === 'direct' || memory() - before < 150_000, `${memory() - before} kB more`)
  t.ok(result.stages[0].bytes > 1_000_000)
  t.notMatch(JSON.stringify(result), /never-to-be-seen/)
  t.ok(JSON.stringify(result).length < 20_000)
  t.ok(existsSync(join(repo, 'kept.txt')))
  t.equal(readFileSync(join(repo, 'kept.txt'), 'utf8'), 'kept\n')
})

// Slow sessions on small projects.

const projects = fileURLToPath(new URL('../../fixtures/projects', import.meta.url))

const unittest = 'python3 -m unittest'

const writing = (path: string, content: string) => ({ mode: 'files', files: [{ path, content }] })

verifies('trm:runs:data', async (t, channel) => {
  const repo = `sales-${channel}`
  cpSync(join(projects, 'sales'), join(trmProjectsRoot, repo), { recursive: true })
  const call = await openTrmClient(t, channel, { url: trmProjectsUrl, root: trmProjectsRoot })
  const { sessionId: sid, baseline } = await callToEnd(call, 'start', {
    repo,
    dataQual: 'python3 validate_schema.py',
    test: unittest,
    lint: 'python3 lint.py',
    bench: 'python3 bench.py',
    signals: [{ name: 'security', command: '! grep -rn "eval(" --include=*.py .', weight: 0.25 }],
  })
  const submit = (candidate: object) => callToEnd(call, 'submit', { sid, candidate })
  const results = [
    baseline,
    await submit(replacing('report.py', 'float(row["amount"])', 'float(row["amount"] or 0)')),
    await submit(replacing('sales.csv', 'north,2,\n', 'north,2,0\n')),
    await submit(writing('cost.txt', '200\n')),
    await submit(writing('unsafe.py', 'eval("1")\n')),
    await submit({
      mode: 'files',
      files: [
        { path: 'unsafe.py', delete: true },
        { path: 'cost.txt', content: '50\n' },
      ],
    }),
  ]
  // data quality .3, tests .4, lint .1, benchmark .2, security .25
  const sums = [0.2 + 0.1 + 0.2 + 0.25, 0.4 + 0.1 + 0.2 + 0.25, 1.25, 1.15, 0.9, 1.25]
  for (const [step, sum] of sums.entries())
    t.ok(Math.abs(results[step]?.score - sum / 1.25) < 1e-9, `step ${step}: ${results[step]?.score}`)
  t.match(results[4]?.signals.at(-1), { name: 'security', value: 0, contribution: 0, ok: false })
  t.match(results[5], { perf: { value: 0.05, unit: 's', best: 0.05 }, rule: 'success' })
})

verifies(
  'trm:run:output',
  'the result for 200 MB of output is small and contains the first failure',
  async (t) => {
    cpSync(join(projects, 'sums'), join(trmProjectsRoot, 'flood'), { recursive: true })
    const call = await openTrmClient(t, 'http', { url: trmProjectsUrl, root: trmProjectsRoot })
    const test = `${unittest}; yes "$(seq -s , 30)" | head -c 200000000; exit 1`
    const { sessionId: sid } = await call('start', { repo: 'flood', test, preflight: false })
    const result = await callToEnd(call, 'submit', { sid, candidate: replacing('sums.py', '+ 1', '+ 2') })
    t.ok(result.stages[0].bytes > 200_000_000)
    t.match(result.failures[0], { id: 'test_sums.Sums.test_mean', message: /AssertionError/ })
    t.match(result.feedback[0], /test_mean/)
    t.ok(JSON.stringify(result).length < 40_000, `${JSON.stringify(result).length} characters`)
    t.ok(JSON.stringify(await call('state', { sid })).length < 50_000)
    t.ok(trmProjectsServer.process.exitCode === null)
  },
)
