import { randomUUID } from 'node:crypto'
import { existsSync, writeFileSync } from 'node:fs'
import { availableParallelism, getPriority } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import {
  createEnvironment,
  createReportEnvironment,
  findForbiddenName,
  redact,
} from '../src/domain/command/environment.ts'
import { chooseStricter, createBwrapArguments } from '../src/domain/command/sandbox.ts'
import { Capture, cleanOutput } from '../src/runner/capture.ts'
import {
  createMark,
  findMarkedProcesses,
  killMarkedProcesses,
  signalGroup,
} from '../src/runner/process-group.ts'
import { type CommandOptions, runCommand } from '../src/runner/run-command.ts'
import { judge, judged, openTrm, readText, repairSums, replacing, unittest } from './trm-kit.ts'

/** Runs a command in the test's own folder, and kills all of its processes when the test ends. */
function run(t: Test, command: string, more: Partial<CommandOptions> = {}) {
  const marker = more.marker ?? randomUUID()
  t.teardown(() => killMarkedProcesses(marker))
  return runCommand({
    command,
    cwd: t.testdir(),
    env: createEnvironment(process.env, {}),
    timeoutMs: 20_000,
    marker,
    signal: new AbortController().signal,
    ...more,
  })
}

verifies('trm:run:timeout', async (t) => {
  const marker = randomUUID()
  const command = 'sleep 300 & setsid sleep 300 & echo started; sleep 300'
  const result = await run(t, command, { timeoutMs: 2000, marker })
  t.match(result, { timedOut: true, exitCode: null, stdout: { text: 'started\n' } })
  t.same(await findMarkedProcesses(marker), [], 'nor what left the group')
})

verifies(
  'trm:run:timeout',
  'a command that ignores SIGTERM is killed',
  inCI(async (t) => {
    const marker = randomUUID()
    const result = await run(t, 'trap "" TERM; while true; do sleep 0.1; done', { timeoutMs: 200, marker })
    t.match(result, { timedOut: true, exitCode: null })
    t.same(await findMarkedProcesses(marker), [])
  }),
)

verifies(
  'trm:run:timeout',
  'background processes of a command are killed with it',
  inCI(async (t) => {
    const marker = randomUUID()
    const result = await run(t, 'sleep 300 & (setsid sleep 300 &) ; exit 3', { marker })
    t.match(result, { timedOut: false, exitCode: 3 })
    t.same(await findMarkedProcesses(marker), [])
  }),
)

verifies(
  'trm:run:output',
  'the beginning and the end of an output, and failures in between, are stored',
  async (t) => {
    const noise = 'yes "line of noise 0123456789" | head -c 30000000'
    const command = `echo "AssertionError: first"; ${noise}; echo "ValueError: middle"; ${noise}; echo "the end"`
    const { stdout } = await run(t, command)
    t.ok(stdout.bytes > 60_000_000 && stdout.truncated)
    t.ok(stdout.text.length < 500_000)
    for (const part of ['AssertionError: first', 'ValueError: middle', 'the end\n'])
      t.ok(stdout.text.includes(part), part)
  },
)

verifies('trm:run:shell', async (t) => {
  const { exitCode, stdout } = await run(
    t,
    `A='x y' sh -c 'echo "$A"' && printf 'b\\na\\n' | sort && false || exit 7`,
  )
  t.match({ exitCode, text: stdout.text }, { exitCode: 7, text: 'x y\na\nb\n' })
  t.equal((await run(t, 'no-such-program')).exitCode, 127)
  const bare = await run(t, 'echo on', { env: { PATH: '/nonexistent' } })
  t.match(bare, { exitCode: 0, stdout: { text: 'on\n' } }, 'also where no program is found')
})

t.test('commands run with a lower priority than the server', async (t) => {
  const lowered = Math.max(getPriority(), 5)
  const { stdout } = await run(t, `until [ "$(nice)" = ${lowered} ]; do :; done; nice`)
  t.equal(stdout.text, `${lowered}\n`)
  if (!existsSync('/proc/self/autogroup')) return t.comment('this system does not group processes by session')
  const group = await run(t, 'until grep "nice 5" /proc/self/autogroup; do :; done')
  t.match(group.stdout.text, 'nice 5')
})

verifies(
  'trm:run:confined',
  'a command has limits that it cannot raise unless it runs as root',
  async (t) => {
    const command = 'ulimit -c; ulimit -f; ulimit -t; ulimit -f unlimited 2>/dev/null || echo refused; exit 4'
    const { stdout, exitCode } = await run(t, command, { timeoutMs: 9500 })
    const [core, file, time, ...rest] = stdout.text.trim().split('\n')
    t.same([core, file, exitCode], ['0', '8388608', 4])
    t.equal(Number(time), 10 * availableParallelism() + 10)
    t.ok(process.getuid?.() === 0 || rest[0] === 'refused', 'but by root')
  },
)

verifies(
  'trm:run:confined',
  'bubblewrap receives the folders of a command, writable folders last',
  async (t) => {
    const folders = {
      cwd: '/data/trm/work/1/project',
      repo: '/home/me/p',
      writable: ['/tmp/r'],
      hidden: '/data',
    }
    const line = createBwrapArguments(folders).join(' ')
    t.match(line, /^bwrap --die-with-parent --unshare-net /)
    const order = [
      '--ro-bind / /',
      '--tmpfs /tmp',
      '--tmpfs /data',
      '--ro-bind /home/me/p',
      '--bind /data/trm/work/1',
    ]
    const places = order.map((part) => line.indexOf(part))
    t.ok(
      places.every((at, index) => at > (places[index - 1] ?? 0)),
      String(places),
    )
    t.match(line, /--bind \/tmp\/r \/tmp\/r .*--chdir \/data\/trm\/work\/1\/project --$/)
    t.same(
      [chooseStricter('none', 'auto'), chooseStricter('bwrap', 'auto'), chooseStricter('none', 'none')],
      ['auto', 'bwrap', 'none'],
    )
  },
)

verifies(
  'trm:run:environment',
  'a command receives only allowed variables and those of the session',
  async (t) => {
    const outer = {
      PATH: process.env.PATH,
      SECRET_TOKEN: 'abc',
      OPENROUTER_API_KEY: 'k',
      LC_ALL: 'C',
      CAUSEWAY_X: '1',
    }
    const { stdout } = await run(t, 'env', { env: createEnvironment(outer, { GIVEN: 'g' }) })
    const names = stdout.text.split('\n').map((line) => line.split('=')[0])
    for (const name of ['SECRET_TOKEN', 'OPENROUTER_API_KEY', 'CAUSEWAY_X'])
      t.notOk(names.includes(name), name)
    for (const name of ['PATH', 'LC_ALL', 'GIVEN', 'PYTHONDONTWRITEBYTECODE'])
      t.ok(names.includes(name), name)
    t.equal(findForbiddenName({ LD_PRELOAD: 'x' }), 'LD_PRELOAD')
    t.equal(findForbiddenName({ DATABASE_URL: 'x' }), undefined)
    const reports = createReportEnvironment({ xml: '/r.xml', nodeXml: '/n.xml' }, { PYTEST_ADDOPTS: '-x' })
    t.match(reports, { PYTEST_ADDOPTS: /--junitxml="?\/r\.xml.* -x$/, NODE_OPTIONS: /--test-reporter=junit/ })
  },
)

verifies('trm:patterns:linear', 'redact handles very long words', async (t) => {
  for (const word of ['a', 'token', 'token-', 'passw'])
    t.equal(redact(word.repeat(50_000), {}).length, word.length * 50_000)
})

t.test('redact removes only the values of secrets', async (t) => {
  t.equal(redact('API_TOKEN=abcdefgh123 done', {}), 'API_TOKEN=[redacted] done')
  t.equal(redact('url=http://a?token=abcdefgh1 b', {}), 'url=http://a?token=[redacted] b')
  t.equal(redact('"my-api-key" : "abcdefgh1"', {}), '"my-api-key" : "[redacted]"')
  t.equal(redact('tokens left: 12345678', {}), 'tokens left: 12345678')
  t.equal(redact('it is hunter22', { DB_PASSWORD: 'hunter22' }), 'it is [redacted]')
  t.equal(redact("KeyError: 'key: left'", {}), "KeyError: 'key: left'")
})

verifies('trm:submit:cancel', 'a command is killed when its caller cancels', async (t) => {
  const controller = new AbortController()
  const marker = randomUUID()
  const result = run(t, 'echo on; sleep 300', {
    signal: controller.signal,
    marker,
    onStart: async () => controller.abort(),
  })
  t.match(await result, { cancelled: true, exitCode: null })
  t.same(await findMarkedProcesses(marker), [])
  t.match(await run(t, 'sleep 300', { signal: AbortSignal.abort() }), { cancelled: true })
})

t.test('signalGroup never signals the group of this process', async (t) => {
  for (const pid of [0, 1, -1, process.pid, Number.NaN]) t.notOk(signalGroup(pid, 'SIGKILL'), String(pid))
  t.match(createMark(process.pid), { pid: process.pid })
})

t.test(
  'cleanOutput removes escape sequences and overwritten text, and collapses repeated lines',
  async (t) => {
    t.equal(
      cleanOutput('\u001b[31mred\u001b[0m\n10%\r20%\r100%\na\na\na\na\na\nb'),
      'red\n100%\na\n[the line above 4 more times]\nb',
    )
    const small = new Capture()
    small.add(Buffer.from('all of it'))
    t.same(small.finish(), { text: 'all of it', bytes: 9, truncated: false })
  },
)

verifies(
  'trm:run:isolated',
  'an ignored folder can be linked, or copied for each evaluation',
  inCI(async (t) => {
    const files = {
      ...judged,
      'p/.gitignore': 'cache/\nshared/\n',
      'p/cache/kept.txt': 'kept',
      'p/shared/kept.txt': 'kept',
    }
    const { client, root } = await openTrm(t, { files })
    const { ask } = client()
    const test = `cat cache/kept.txt shared/kept.txt && echo spoilt | tee cache/kept.txt shared/kept.txt; ${judge}`
    const { baseline } = await ask('start', {
      repo: 'p',
      test,
      options: { copy: ['cache', 'node_modules'], link: ['shared'] },
    })
    t.match(baseline, { tests: { passed: 1, total: 4 } })
    t.equal(readText(root, 'p', 'cache', 'kept.txt'), 'kept', 'the copy took it')
    t.equal(readText(root, 'p', 'shared', 'kept.txt'), 'spoilt\n', 'a link leads there')
    await t.rejects(ask('start', { repo: 'p', options: { copy: ['../other'] } }), {
      code: 'INVALID_ARGUMENTS',
    })
  }),
)

verifies('trm:run:isolated', async (t) => {
  const { client, root, dataDir } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const test = 'touch junk; rm -rf ../* 2>/dev/null; rm -f sums.py; echo x > ../outside; true'
  await ask('start', { repo: 'sums', test })
  await ask('submit', { candidate: repairSums })
  t.notOk(existsSync(join(root, 'sums', 'junk')) || existsSync(join(root, 'outside')))
  t.match(readText(root, 'sums', 'sums.py'), /len\(values\)\)/)
  t.notOk(existsSync(join(dataDir, 'trm', 'work', 'outside')))
})

verifies('trm:submit:wait', async (t) => {
  const { client, root } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const gate = join(root, 'gate')
  const test = `while [ ! -e ${gate} ]; do sleep 0.05; done; ${unittest}`
  await ask('start', { repo: 'sums', test, preflight: false })
  const first = await ask('submit', { candidate: repairSums, wait: 0.05 })
  t.match(first, { status: 'running', step: 1, score: null })
  t.match(await ask('state', { wait: 0 }), { status: 'running', running: { step: 1 } })
  await t.rejects(ask('submit', { candidate: repairSums }), { code: 'SESSION_BUSY' })
  for (const tool of ['undo', 'reset', 'save']) await t.rejects(ask(tool), { code: 'SESSION_BUSY' }, tool)
  const waiting = ask('state', { wait: 20 })
  writeFileSync(gate, '')
  t.match(await waiting, { status: 'halted', step: 1, last: { score: 1, step: 1 }, running: null })
})

verifies('trm:submit:busy', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  await ask('start', { repo: 'sums', test: unittest, preflight: false })
  const both = await Promise.allSettled([
    ask('submit', { candidate: repairSums }),
    ask('submit', { candidate: replacing('sums.py', '"""Sums', '"""More sums') }),
  ])
  t.same(both.map(({ status }) => status).sort(), ['fulfilled', 'rejected'])
  const refused = both.find(({ status }) => status === 'rejected') as PromiseRejectedResult
  t.equal(refused.reason.code, 'SESSION_BUSY')
  t.equal((await ask('state')).step, 1)
})

verifies(
  'trm:submit:cancel',
  'a cancelled submit restores its files and does not use a step',
  inCI(async (t) => {
    const { client, root, critic } = await openTrm(t, { copies: ['sums'] })
    const { ask } = client()
    const { sessionId } = await ask('start', { repo: 'sums', test: 'sleep 300', preflight: false })
    const before = readText(root, 'sums', 'sums.py')
    const controller = new AbortController()
    const submitting = ask('submit', { candidate: repairSums }, { signal: controller.signal })
    await new Promise<void>((resolve) => {
      const look = setInterval(() => {
        if (critic.running.get(sessionId)?.progress.stage !== 'test') return
        clearInterval(look)
        resolve()
      }, 10)
    })
    t.not(readText(root, 'sums', 'sums.py'), before, 'it had landed')
    const marker = critic.running.get(sessionId)?.step.marker ?? ''
    controller.abort()
    await t.rejects(submitting, { code: 'CANCELLED' })
    t.equal(readText(root, 'sums', 'sums.py'), before)
    t.same(await findMarkedProcesses(marker), [])
    t.match(await ask('state'), {
      status: 'cancelled',
      step: 0,
      running: null,
      history: [{ status: 'cancelled' }],
    })
  }),
)

verifies('trm:submit:progress', async (t) => {
  const { client } = await openTrm(t, { copies: ['sums'] })
  const { ask, client: raw } = client()
  await ask('start', { repo: 'sums', test: unittest, lint: 'true', dataQual: 'true', preflight: false })
  await ask('submit', { candidate: repairSums })
  const stages = raw.progress.map(([, , message]) => message)
  for (const stage of ['dataQual', 'test', 'lint']) t.ok(stages.includes(stage), stage)
  const done = raw.progress.map(([at]) => at)
  t.ok(
    done.every((at, index) => index === 0 || at > (done[index - 1] ?? 0)),
    String(done),
  )
  t.ok(raw.progress.every(([at, total]) => at <= (total ?? 0)))
})

verifies('trm:run:audit', async (t) => {
  const { client, critic } = await openTrm(t, { copies: ['sums'] })
  const { ask } = client()
  const { sessionId } = await ask('start', { repo: 'sums', lint: 'exit 3', test: unittest, timeout: 20 })
  await ask('submit', { candidate: replacing('sums.py', 'total(values) / (len', 'totl(values) / (len') })
  await ask('submit', { only: 'failed' })
  await ask('end')
  const rows = await critic.store.listCommands(sessionId)
  t.same(
    rows
      .map(({ occasion, stage, exit_code }) => [occasion, stage, exit_code])
      .reverse()
      .slice(0, 4),
    [
      ['step 0', 'test', 1],
      ['step 0', 'lint', 3],
      ['step 1', 'test', 1],
      ['step 1', 'lint', 3],
    ],
  )
  t.ok(
    rows.some(({ occasion }) => occasion === 'only'),
    'runs of selected tests too',
  )
  for (const { pid, ms, bytes, cwd, command } of rows)
    t.ok(pid > 1 && ms !== null && bytes !== null && cwd.startsWith('/') && command !== '', command)
})

t.test('the output of a command can be read as a resource', async (t) => {
  const { client, dataDir } = await openTrm(t, { copies: ['sums'] })
  const { ask, client: raw } = client()
  const { sessionId } = await ask('start', {
    repo: 'sums',
    lint: 'echo to stdout; echo to stderr >&2; exit 1',
  })
  const { outputs } = await ask('state')
  t.same(outputs, [`trm://sessions/${sessionId}/steps/0/output/lint`])
  t.match(await raw.read(outputs[0]), { text: /^to stdout\n\n--- stderr ---\nto stderr\n$/ })
  const session = await raw.read(`trm://sessions/${sessionId}`)
  t.match(JSON.parse('text' in session ? session.text : ''), {
    steps: [{ kind: 'baseline' }],
    commands: [{ occasion: 'step 0', stage: 'lint', command: /^echo to stdout/, exit_code: 1, bytes: 20 }],
  })
  t.notMatch(JSON.stringify(session), dataDir, 'the session does not contain a folder of the server')
  await t.rejects(raw.read(`trm://sessions/${sessionId}/steps/0/output/none`), { code: 'RESOURCE_NOT_FOUND' })
})
