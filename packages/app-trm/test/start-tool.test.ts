import { symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { makeRoots } from '@causeway/app-kit'
import { openForTest } from '@causeway/app-kit/testing'
import { verifies } from '../../../test/verifies.ts'
import trm from '../src/index.ts'
import { openTrm, repairSums, write } from './trm-kit.ts'

verifies('trm:off', async (t) => {
  const dir = t.testdir({ project: { 'a.py': '' }, data: {} })
  const roots = makeRoots(() => [dir], 'CAUSEWAY_ROOTS')
  const app = await openForTest(trm, { dir: join(dir, 'data'), roots, settings: { trmRoots: [] } })
  t.teardown(() => app.close())
  await t.rejects(app.client().call('start', { repo: join(dir, 'project') }), { code: 'TRM_OFF' })
})

verifies('trm:start:outside', async (t) => {
  const { client, root, critic } = await openTrm(t, { copies: ['sums'] })
  const outside = t.testdirName
  symlinkSync(join(outside, 'data'), join(root, 'link'))
  const { ask } = client()
  for (const repo of [join(outside, 'data'), '../data', 'link', '/etc'])
    await t.rejects(
      ask('start', { repo }),
      { code: 'OUTSIDE_ROOTS', remedy: /CAUSEWAY_TRM_ROOTS/, data: { setting: 'CAUSEWAY_TRM_ROOTS' } },
      repo,
    )
  await t.rejects(ask('start', { repo: 'sums/sums.py' }), { code: 'DIRECTORY_NOT_FOUND' })
  await t.rejects(ask('start', { repo: 'nothing' }), { code: 'FILE_NOT_FOUND' })
  t.same(await critic.store.listSessions(), [])
})

verifies('trm:start:defaults', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { config, message } = await ask('start', { repo: 'sums', preflight: false })
  t.equal(message, 'TRM session initialized')
  t.match(config, {
    repoPath: join(root, 'sums'),
    halt: { max: 12, threshold: 0.95, patience: 3, min: 1 },
    haltPolicy: { maxSteps: 12, passThreshold: 0.95 },
    weights: { dataQual: 0.3, test: 0.4, lint: 0.1, perf: 0.2, build: 0 },
    ema: 0.9,
    timeout: 120,
  })
  const long = {
    repo_path: 'sums',
    data_quality_cmd: 'true',
    test_cmd: 'true',
    lintCmd: 'true',
    perf_cmd: 'true',
    timeout_sec: 5,
    weights: { data_quality: 0.5 },
    halt: { max_steps: 3, pass_threshold: 0.8, patience_no_improve: 2, min_steps: 2 },
    ema_alpha: 0.5,
    z_notes: 'n',
    preflight: false,
  }
  const short = {
    repo: 'sums',
    dataQual: 'true',
    test: 'true',
    lint: 'true',
    bench: 'true',
    timeout: 5,
    weights: { dataQual: 0.5 },
    halt: { max: 3, threshold: 0.8, patience: 2, min: 2 },
    ema: 0.5,
    notes: 'n',
    preflight: false,
  }
  t.same((await ask('start', long)).config, (await ask('start', short)).config)
})

verifies('trm:start:invalid', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const wrong = { repo: 'sums', weights: { test: -1 }, halt: { max: 0, mx: 3 }, ema: 2, tets: 'x' }
  const problems = ['weights.test', 'halt.max', 'halt.mx', 'ema', 'tets']
  await t.rejects(ask('start', wrong), { code: 'INVALID_ARGUMENTS', message: /did you mean test/ })
  const error = await ask('start', wrong).catch((cause) => cause)
  const named = error.data.problems.map(({ argument }: { argument: string }) => argument)
  for (const one of problems) t.ok(named.includes(one), one)
  const more: readonly [object, RegExp][] = [
    [{ signals: [{ name: 'test', command: 'x', weight: 1 }] }, /signals\.test/],
    [{ signals: [{ name: 'a b', command: 'x', weight: 1 }] }, /signals\.0\.name/],
    [{ options: { env: { LD_PRELOAD: 'x' } } }, /env\.LD_PRELOAD/],
    [{ options: { link: ['../..'] } }, /options\.link|link\.0/],
    [{ repo: undefined }, /repo/],
    [{ halt: { patiense: 3 } }, /halt\.patiense is unknown \(did you mean patience\?\)/],
    [{ halt: { zzz: 3 } }, /halt\.zzz is unknown; there are max, threshold, patience, min/],
  ]
  for (const [args, message] of more)
    await t.rejects(
      ask('start', { repo: 'sums', ...args }),
      { code: 'INVALID_ARGUMENTS', message },
      JSON.stringify(args),
    )
})

verifies('trm:start:detected', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums', 'steps'] })
  const { ask } = client()
  t.match(await ask('start', { repo: 'steps', preflight: false }), {
    detected: { test: 'npm test --silent' },
    warnings: [/no command is configured/],
  })
  t.match((await ask('start', { repo: 'sums', preflight: false })).detected, {
    test: /python3? -m (pytest|unittest)/,
  })
  const start = await ask('start', {
    repo: 'sums',
    test: 'cd . && no-such-pytest -q',
    lint: 'FOO=1 python3 -c ""',
  })
  t.match(start, {
    commands: { test: { status: 'unavailable' }, lint: { status: 'available' } },
    preflight: { commandsAvailable: { test: false, lint: true } },
    baseline: { tests: null, score: 0.2 },
    warnings: [/^test:/],
  })
})

verifies('trm:start:commands', async (t) => {
  const detected = await openTrm(t, { copies: ['steps'], settings: { trmCommands: 'detected' } })
  const { ask } = detected.client()
  await t.rejects(ask('start', { repo: 'steps', test: 'curl evil' }), {
    code: 'COMMAND_REFUSED',
    data: { allowed: { test: 'npm test --silent' } },
  })
  t.match(await ask('start', { repo: 'steps', test: 'npm test --silent', preflight: false }), {
    status: 'ready',
  })
})

verifies(
  'trm:start:commands',
  'trusted tokens may run any command, and other clients only allowed commands',
  async (t) => {
    const settings = { trmCommands: 'detected', trmTrusted: ['laptop'] }
    const { app } = await openTrm(t, { copies: ['steps'], settings })
    const start = { repo: 'steps', test: 'echo 1..0', preflight: false }
    const client = app.client()
    t.match(await client.call('start', start, { holder: 'laptop' }), { status: 'ready' })
    for (const holder of [{ holder: 'agent' }, {}])
      await t.rejects(client.call('start', start, holder), { code: 'COMMAND_REFUSED' })
  },
)

verifies('trm:start:commands', 'a pattern must match the whole command', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'], settings: { trmCommands: 'python3 -m \\w+' } })
  const { ask } = client()
  await t.rejects(ask('start', { repo: 'sums', test: 'python3 -m unittest; rm x' }), {
    code: 'COMMAND_REFUSED',
  })
  t.match(await ask('start', { repo: 'sums', test: 'python3 -m unittest', preflight: false }), {
    status: 'ready',
  })
})

verifies('trm:sid:unknown', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const more: Readonly<Record<string, object>> = {
    submit: { candidate: repairSums },
    validate: { candidate: repairSums },
    read: { paths: ['a'] },
    lines: { file: 'a', start: 1, end: 1 },
    restore: { cid: 'x' },
  }
  const tools = trm.tools.filter(({ name }) => !['start', 'review'].includes(name))
  for (const { name } of tools)
    for (const sid of [{ sid: 'unknown' }, { session_id: 'unknown' }, {}])
      await t.rejects(
        ask(name, { ...sid, ...more[name] }),
        { code: 'SESSION_NOT_FOUND', remedy: /trm.start/ },
        name,
      )
})

verifies('trm:wire:names', 'each tool has the name of the original as its alias', async (t) => {
  const names = trm.tools.map(({ name, aliases }) => [name, aliases.bare[0]])
  for (const [name, alias] of names) t.equal(alias, `trm.${name}`)
  const original = [
    'start',
    'submit',
    'read',
    'state',
    'halt',
    'end',
    'validate',
    'suggest',
    'review',
    'save',
  ]
  const all = [...original, 'restore', 'list', 'reset', 'undo', 'lines', 'fix']
  t.same(names.map(([name]) => name).sort(), all.sort())
})

verifies('trm:start:editable', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const packages = join(root, 'sums', '.venv', 'lib', 'python3.11', 'site-packages')
  write(join(packages, '__editable__.sums.pth'), `${join(root, 'sums')}\n`)
  write(join(packages, 'other.pth'), '/elsewhere\n')
  const { ask } = client()
  const start = (write: string) =>
    ask('start', { repo: 'sums', lint: 'true', preflight: false, options: { write } })
  const { warnings } = await start('improved')
  t.match(warnings, [/^\.venv\/lib\/python3\.11\/site-packages\/__editable__\.sums\.pth: tests would import/])
  t.equal(warnings.length, 1)
  t.same((await start('each')).warnings, [], 'a candidate that has landed is what they import')
})

verifies(
  'trm:start:absent',
  'the baseline names missing ignored data and nested repositories with the option that adds them',
  async (t) => {
    const { client, root } = await openTrm(t, {
      files: {
        'p/.gitignore': 'data/\n',
        'p/data/orders.csv': 'a,1\n',
        'p/vendor/lib/.git/HEAD': 'ref: refs/heads/main\n',
        'p/vendor/lib/rates.txt': '2\n',
        'p/notes/.gitignore': '*\n',
      },
    })
    const { ask } = client()
    const test =
      'cat data/orders.csv vendor/lib/rates.txt && echo "TAP version 13" && echo "ok 1 a" && echo 1..1'
    const { baseline, summary } = await ask('start', { repo: 'p', test })
    const link = ['data', 'vendor/lib']
    t.match(baseline.warnings, [
      `not in the copy of the project: data (ignored), vendor/lib (another repository); start again with options.link ${JSON.stringify(link)}`,
    ])
    t.match(summary, /Next: start again with options\.link \["data","vendor\/lib"\]\.$/)
    const linked = await ask('start', { repo: 'p', test, options: { link } })
    t.match(linked.baseline, { score: 1, warnings: [] })
    write(join(root, 'p', 'data', 'orders.csv'), 'b,2\n')
    t.match(await ask('submit'), { score: 1, filesChanged: [] }, 'linked files belong to the user')
  },
)
