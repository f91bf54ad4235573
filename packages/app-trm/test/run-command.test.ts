import { randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { commandEnvironment, redact, refusedName, reportEnvironment } from '../src/domain/environment.ts'
import { bwrapArguments, stricter } from '../src/domain/sandbox.ts'
import { capture, tidy } from '../src/runner/capture.ts'
import { endMarked, marked, markOf, signalGroup } from '../src/runner/process-group.ts'
import { type CommandRun, runCommand } from '../src/runner/run-command.ts'
import { makeSlots } from '../src/runner/slots.ts'

/** Runs a command in a folder of the test's own; nothing of it is left when the test ends. */
function run(t: Test, command: string, more: Partial<CommandRun> = {}) {
  const marker = more.marker ?? randomUUID()
  t.teardown(() => endMarked(marker))
  return runCommand({
    command,
    cwd: t.testdir(),
    env: commandEnvironment(process.env, {}),
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
  t.same(await marked(marker), [], 'nor what left the group')
})

verifies('trm:run:timeout', 'a command that ignores SIGTERM is ended too', async (t) => {
  const marker = randomUUID()
  const result = await run(t, 'trap "" TERM; while true; do sleep 0.1; done', { timeoutMs: 200, marker })
  t.match(result, { timedOut: true, exitCode: null })
  t.same(await marked(marker), [])
})

verifies('trm:run:timeout', 'what a command leaves in the background ends with it', async (t) => {
  const marker = randomUUID()
  const result = await run(t, 'sleep 300 & (setsid sleep 300 &) ; exit 3', { marker })
  t.match(result, { timedOut: false, exitCode: 3 })
  t.same(await marked(marker), [])
})

verifies('trm:run:output', 'the beginning, the end and failures between them are kept', async (t) => {
  const noise = 'yes "line of noise 0123456789" | head -c 30000000'
  const command = `echo "AssertionError: first"; ${noise}; echo "ValueError: middle"; ${noise}; echo "the end"`
  const { stdout } = await run(t, command)
  t.ok(stdout.bytes > 60_000_000 && stdout.truncated)
  t.ok(stdout.text.length < 500_000)
  for (const part of ['AssertionError: first', 'ValueError: middle', 'the end\n'])
    t.ok(stdout.text.includes(part), part)
})

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

verifies('trm:run:confined', 'limits hold for every command, and are not raised by one', async (t) => {
  const command = 'ulimit -c; ulimit -f; ulimit -t; ulimit -f unlimited 2>/dev/null || echo refused; exit 4'
  const { stdout, exitCode } = await run(t, command, { timeoutMs: 9500 })
  const [core, file, time, ...rest] = stdout.text.trim().split('\n')
  t.same([core, file, exitCode], ['0', '8388608', 4])
  t.equal(Number(time), 10 * availableParallelism() + 10)
  t.ok(process.getuid?.() === 0 || rest[0] === 'refused', 'but by root')
})

verifies(
  'trm:run:confined',
  'bubblewrap gets the folders of the command, the writable ones last',
  async (t) => {
    const folders = {
      cwd: '/data/trm/work/1/project',
      repo: '/home/me/p',
      writable: ['/tmp/r'],
      hidden: '/data',
    }
    const line = bwrapArguments(folders).join(' ')
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
      [stricter('none', 'auto'), stricter('bwrap', 'auto'), stricter('none', 'none')],
      ['auto', 'bwrap', 'none'],
    )
  },
)

verifies('trm:run:environment', 'an allow-list, what the session gave, and nothing else', async (t) => {
  const outer = {
    PATH: process.env.PATH,
    SECRET_TOKEN: 'abc',
    OPENROUTER_API_KEY: 'k',
    LC_ALL: 'C',
    CAUSEWAY_X: '1',
  }
  const { stdout } = await run(t, 'env', { env: commandEnvironment(outer, { GIVEN: 'g' }) })
  const names = stdout.text.split('\n').map((line) => line.split('=')[0])
  for (const name of ['SECRET_TOKEN', 'OPENROUTER_API_KEY', 'CAUSEWAY_X']) t.notOk(names.includes(name), name)
  for (const name of ['PATH', 'LC_ALL', 'GIVEN', 'PYTHONDONTWRITEBYTECODE']) t.ok(names.includes(name), name)
  t.equal(refusedName({ LD_PRELOAD: 'x' }), 'LD_PRELOAD')
  t.equal(refusedName({ DATABASE_URL: 'x' }), undefined)
  const reports = reportEnvironment({ xml: '/r.xml', nodeXml: '/n.xml' }, { PYTEST_ADDOPTS: '-x' })
  t.match(reports, { PYTEST_ADDOPTS: /--junitxml="?\/r\.xml.* -x$/, NODE_OPTIONS: /--test-reporter=junit/ })
})

verifies('trm:patterns:linear', 'redact takes time linear in the length of a word', async (t) => {
  for (const word of ['a', 'token', 'token-', 'passw'])
    t.equal(redact(word.repeat(50_000), {}).length, word.length * 50_000)
})

t.test('redact: values of secrets are taken out, and words that only look like it stay', async (t) => {
  t.equal(redact('API_TOKEN=abcdefgh123 done', {}), 'API_TOKEN=[redacted] done')
  t.equal(redact('url=http://a?token=abcdefgh1 b', {}), 'url=http://a?token=[redacted] b')
  t.equal(redact('"my-api-key" : "abcdefgh1"', {}), '"my-api-key" : "[redacted]"')
  t.equal(redact('tokens left: 12345678', {}), 'tokens left: 12345678')
  t.equal(redact('it is hunter22', { DB_PASSWORD: 'hunter22' }), 'it is [redacted]')
  t.equal(redact("KeyError: 'key: left'", {}), "KeyError: 'key: left'")
})

verifies('trm:submit:cancel', 'a command is ended when its caller goes', async (t) => {
  const controller = new AbortController()
  const marker = randomUUID()
  const result = run(t, 'echo on; sleep 300', {
    signal: controller.signal,
    marker,
    onOutput: () => controller.abort(),
  })
  t.match(await result, { cancelled: true, exitCode: null })
  t.same(await marked(marker), [])
  t.match(await run(t, 'sleep 300', { signal: AbortSignal.abort() }), { cancelled: true })
})

t.test('groups: no number that means this process is ever signalled', async (t) => {
  for (const pid of [0, 1, -1, process.pid, Number.NaN]) t.notOk(signalGroup(pid, 'SIGKILL'), String(pid))
  t.match(markOf(process.pid), { pid: process.pid })
})

t.test('capture: escapes, carriage returns and repeats', async (t) => {
  t.equal(
    tidy('\u001b[31mred\u001b[0m\n10%\r20%\r100%\na\na\na\na\na\nb'),
    'red\n100%\na\n[the line above 4 times more]\nb',
  )
  const small = capture()
  small.add(Buffer.from('all of it'))
  t.same(small.end(), { text: 'all of it', bytes: 9, truncated: false })
})

t.test('slots: at most so many at once, in order, and whoever leaves the line frees no place', async (t) => {
  const slots = makeSlots(1)
  const never = new AbortController().signal
  const free = await slots.take(never)
  const leaving = new AbortController()
  const left = slots.take(leaving.signal)
  const next = slots.take(never)
  t.equal(slots.waiting, 2)
  leaving.abort(new Error('gone'))
  await t.rejects(left, { message: 'gone' })
  free()
  free()
  const second = await next
  t.equal(slots.waiting, 0)
  second()
  await t.resolves(slots.take(never))
})
