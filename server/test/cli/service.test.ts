import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { quoteArgument } from '../../src/cli/service/scheduled-task.ts'
import { formatSystemdUnit } from '../../src/cli/service/systemd-unit.ts'
import { runHere } from './run-here.ts'

/** Creates a user whose systemctl records its arguments and exits with `code`. */
function createSystemdUser(t: Test, code = 0) {
  const dir = t.testdir({ config: {}, run: { systemd: {} }, bin: {}, work: {} })
  writeFileSync(
    join(dir, 'bin/systemctl'),
    `#!/bin/sh\necho "$@" >> ${dir}/calls\necho no bus >&2\nexit ${code}\n`,
  )
  chmodSync(join(dir, 'bin/systemctl'), 0o755)
  const env = {
    XDG_CONFIG_HOME: join(dir, 'config'),
    XDG_RUNTIME_DIR: join(dir, 'run'),
    PATH: `${join(dir, 'bin')}:/usr/bin:/bin`,
  }
  const cwd = join(dir, 'work')
  return {
    cwd,
    env,
    file: join(dir, 'config/systemd/user/causeway.service'),
    systemctlCalls: () => (existsSync(join(dir, 'calls')) ? readFileSync(join(dir, 'calls'), 'utf8') : ''),
    install: (words: string[] = [], more: NodeJS.ProcessEnv = {}) =>
      runHere(t, ['install-service', ...words], { env: { ...env, ...more }, cwd }),
  }
}

const isLinux = process.platform === 'linux'

verifies('command:install-service', async (t) => {
  const { install, file, cwd, systemctlCalls } = createSystemdUser(t)
  const words = ['--port', '3200', '--heap-mb', '512', '--env-file', 'own.env', '--data-dir', 'data dir']
  writeFileSync(join(cwd, 'own.env'), 'CAUSEWAY_LOG_FILES=true\n')
  const secrets = {
    OPENROUTER_API_KEY: 'planted-1',
    CAUSEWAY_HELP_DATABASE_URL: 'postgres://me:planted-2@x/y',
  }
  const { code, stdout, stderr } = await install([...words, ...(isLinux ? [] : ['--print'])], {
    ...secrets,
    CAUSEWAY_RECORDING_ROOTS: 'runs',
  })
  t.equal(code, 0, stderr)
  const unit = isLinux ? readFileSync(file, 'utf8') : stdout
  t.match(
    unit,
    /^ExecStart=\S*node\S* --max-old-space-size=512 --max-semi-space-size=8 --conditions=@causeway\/source \S*\/bin\/causeway\.js serve --env-file \S+\/own\.env$/m,
  )
  t.match(unit, `\nWorkingDirectory=${cwd}\n`)
  t.match(unit, '\nEnvironment=MCP_SERVER_PORT=3200\n')
  t.match(unit, '\nEnvironment=CAUSEWAY_RECORDING_ROOTS=runs\n')
  t.match(unit, `\nEnvironment="CAUSEWAY_DATA_DIR=${join(cwd, 'data dir')}"\n`)
  t.match(unit, /^Restart=on-failure$/m)
  t.match(unit, /^TimeoutStopSec=15$/m, 'longer than the grace period of calls')
  t.notMatch(unit, /planted/)
  if (!isLinux) return
  t.equal(stdout, `written: ${file}\n`)
  t.match(stderr, /next: systemctl --user enable --now causeway\.service/)
  t.equal(systemctlCalls(), '', 'enables nothing')
})

verifies('command:install-service', 'install-service omits secrets and lists their names', async (t) => {
  const { install, file, env } = createSystemdUser(t)
  const secrets = {
    OPENROUTER_API_KEY: 'planted-1',
    CAUSEWAY_HELP_DATABASE_URL: 'postgres://x/planted-2',
    MINDS_LLM_OPTIONS: '{"headers": {"authorization": "planted-3"}}',
    MINDS_LLM_PROVIDERS: '[{"name": "own", "base_url": "http://x/v1", "headers": {"x-key": "planted-4"}}]',
    MINDS_LLM_URL: 'http://me:planted-5@127.0.0.1:11434/v1',
    MINDS_LLM_API_KEY: 'planted-6',
    MINDS_EMBEDDINGS_API_KEY: 'planted-7',
    CAUSEWAY_EMBEDDINGS_KEY: 'planted-8',
  }
  const environmentFile = join(env.XDG_CONFIG_HOME, 'causeway/service.env')
  const plain = { MINDS_EMBEDDINGS_URL: 'http://127.0.0.1:11434/v1' }
  const { code, stdout, stderr } = await install(['--print'], { ...secrets, ...plain })
  t.equal(code, 0, stderr)
  t.notMatch(`${stdout}${stderr}`, /planted/)
  t.match(stdout, '\nEnvironment=MINDS_EMBEDDINGS_URL=http://127.0.0.1:11434/v1\n')
  for (const name of Object.keys(secrets))
    t.match(stderr, `${name} was left out: add it to ${environmentFile} (chmod 600)\n`)
  mkdirSync(dirname(environmentFile))
  writeFileSync(environmentFile, 'OPENROUTER_API_KEY=planted-1\n')
  t.notMatch(
    (await install(['--print'], secrets)).stderr,
    /OPENROUTER/,
    'ignores secrets that the file contains',
  )
  if (!isLinux) return
  await install()
  t.equal(statSync(file).mode & 0o777, 0o600)
  chmodSync(file, 0o644)
  await install(['--heap-mb', '1024'])
  t.equal(statSync(file).mode & 0o777, 0o600, 'corrects the mode')
  for (const name of readdirSync(dirname(file)).filter((one) => one.endsWith('.bak')))
    t.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600, 'protects the backup')
})

verifies('command:install-service', 'install-service updates and enables the unit', async (t) => {
  if (!isLinux) return
  const { install, file, systemctlCalls } = createSystemdUser(t)
  await install()
  t.match(await install(), { code: 0, stdout: `unchanged: ${file}\n` })
  const changed = await install(['--heap-mb', '1024', '--enable'])
  t.match(changed, { code: 0, stdout: `written: ${file}\n`, stderr: /backup: / })
  t.equal(systemctlCalls(), '--user daemon-reload\n--user enable --now causeway.service\n')
  const failing = createSystemdUser(t, 1)
  t.match(await failing.install(['--enable']), { code: 1, stderr: /daemon-reload failed: no bus/ })
})

verifies('command:install-service:no-systemd', async (t) => {
  const { install, file } = createSystemdUser(t)
  const { code, stderr } = await install([], { XDG_RUNTIME_DIR: '/nowhere' })
  t.equal(code, 1)
  t.match(stderr, /\[NO_SERVICE_MANAGER\]\n.*causeway\.js serve; or print the declaration .* --print/)
  t.notOk(existsSync(file))
  t.match(await install(['--print'], { XDG_RUNTIME_DIR: '/nowhere' }), { code: 0, stdout: /^\[Unit\]/ })
  t.match(await install(['--heap-mb', 'much']), { code: 2 })
})

t.test(
  'formatSystemdUnit escapes paths and values, verified by systemd-analyze if it is installed',
  async (t) => {
    const dir = t.testdir({ 'a b': {} })
    const unit = formatSystemdUnit({
      command: ['/bin/sh', '--max-old-space-size=128', '/tmp/50% $HOME/"x".js', 'serve'],
      cwd: join(dir, 'a b'),
      environment: { ONE: 'a b\\c"d%e', TWO: 'plain' },
      environmentFile: '/tmp/100%.env',
      shutdownMs: 0,
    })
    t.match(unit, 'ExecStart=/bin/sh --max-old-space-size=128 "/tmp/50%% $$HOME/\\"x\\".js" serve\n')
    t.match(unit, 'Environment="ONE=a b\\\\c\\"d%%e"\nEnvironment=TWO=plain\n')
    t.match(unit, 'EnvironmentFile=-/tmp/100%%.env\n')
    const file = join(dir, 'causeway.service')
    writeFileSync(file, unit)
    const verified = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir },
    })
    if (verified.error !== undefined) return
    t.notMatch(verified.stderr, /causeway\.service:/)
  },
)

/** A machine of another platform, whose service manager records its arguments. */
function simulate(t: Test, platform: NodeJS.Platform, programs: Readonly<Record<string, number>>) {
  const dir = t.testdir({ home: {}, bin: {}, work: {} })
  for (const [name, code] of Object.entries(programs)) {
    const script = `#!/bin/sh\necho ${name} "$@" >> ${dir}/calls\necho refused >&2\nexit ${code}\n`
    writeFileSync(join(dir, 'bin', name), script, { mode: 0o755 })
  }
  const [home, cwd] = [join(dir, 'home'), join(dir, 'work')]
  const env = { PATH: `${join(dir, 'bin')}:/usr/bin:/bin` }
  return {
    cwd,
    home,
    calls: () => readFileSync(join(dir, 'calls'), 'utf8').trimEnd().split('\n'),
    install: (words: readonly string[], more: NodeJS.ProcessEnv = {}) => {
      const own = { ...env, ...more }
      return runHere(t, ['install-service', ...words], {
        env: own,
        cwd,
        machine: { platform, env: own, home },
      })
    },
  }
}

/** Parses a property list or a task with Python, which is independent of our code. */
function parseWithPython(program: string, file: string): unknown {
  const output = execFileSync('python3', ['-c', `import json, sys\n${program}`, file], { encoding: 'utf8' })
  return JSON.parse(output)
}

const dataDir = '/data & more/"x"'
const secret = { OPENROUTER_API_KEY: 'planted' }

verifies('command:install-service', 'install-service sets up a launch agent on macOS', async (t) => {
  const { install, home, cwd, calls } = simulate(t, 'darwin', { launchctl: 0 })
  const file = join(home, 'Library/LaunchAgents/causeway.plist')
  const words = ['--port', '3200', '--data-dir', dataDir]
  const planned = await install(words, secret)
  t.match(planned, { code: 0, stdout: `written: ${file}\n` })
  t.match(
    planned.stderr,
    /OPENROUTER_API_KEY was left out: add it to .*service\.env .* run this command again\n/,
  )
  t.match(planned.stderr, /next: launchctl bootstrap gui\/\d+ .*causeway\.plist\n/)
  t.notMatch(readFileSync(file, 'utf8'), 'planted')
  mkdirSync(join(home, '.config/causeway'), { recursive: true })
  const environmentFile = join(home, '.config/causeway/service.env')
  writeFileSync(environmentFile, 'OPENROUTER_API_KEY=planted\n')
  t.match(await install([...words, '--enable'], secret), { code: 0, stdout: `written: ${file}\n` })
  const [bootout, bootstrap] = calls()
  t.match(bootout, /^launchctl bootout gui\/\d+\/causeway$/)
  t.match(bootstrap, new RegExp(`^launchctl bootstrap gui/\\d+ ${file}$`))
  t.equal(statSync(file).mode & 0o777, 0o600)
  const agent = parseWithPython(
    'import plistlib\nprint(json.dumps(plistlib.load(open(sys.argv[1], "rb"))))',
    file,
  ) as Record<string, unknown>
  t.match(agent, {
    Label: 'causeway',
    WorkingDirectory: cwd,
    EnvironmentVariables: { MCP_SERVER_PORT: '3200', CAUSEWAY_DATA_DIR: dataDir },
    RunAtLoad: true,
    KeepAlive: { SuccessfulExit: false },
    ExitTimeOut: 15,
    Umask: 0o77,
  })
  const command = agent.ProgramArguments as string[]
  t.same([command[0], ...command.slice(-3)], [process.execPath, 'serve', '--env-file', environmentFile])
  const refused = simulate(t, 'darwin', { launchctl: 5 })
  t.match(await refused.install(['--enable']), {
    code: 1,
    stderr: /launchctl bootstrap .* failed: refused \[NO_SERVICE_MANAGER\]/,
  })
})

verifies('command:install-service', 'install-service sets up a task on Windows', async (t) => {
  const { install, home, cwd, calls } = simulate(t, 'win32', { schtasks: 0 })
  const file = join(home, '.config/causeway/task.xml')
  const words = ['--port', '3200', '--data-dir', dataDir, '--enable']
  t.match(await install(words, secret), { code: 0, stdout: `written: ${file}\n`, stderr: /close the window/ })
  t.match(await install(words, secret), { stdout: `unchanged: ${file}\n` })
  t.same(calls().slice(0, 2), [`schtasks /Create /TN Causeway /XML ${file} /F`, 'schtasks /Run /TN Causeway'])
  t.same([...readFileSync(file).subarray(0, 2)], [0xff, 0xfe], 'UTF-16 with a byte order mark')
  const texts = parseWithPython(
    `import xml.etree.ElementTree as tree
elements = tree.parse(sys.argv[1]).iter()
print(json.dumps({element.tag.split("}")[1]: element.text for element in elements}))`,
    file,
  ) as Record<string, string>
  t.match(texts, { Command: process.execPath, WorkingDirectory: cwd, ExecutionTimeLimit: 'PT0S' })
  t.match(texts.Arguments, /causeway\.js serve --port 3200 --data-dir "\/data & more\/\\"x\\""$/)
  t.notMatch(texts.Arguments, 'planted')
})

t.test('quoteArgument follows the rules of CommandLineToArgvW', async (t) => {
  for (const [text, quoted] of [
    ['plain', 'plain'],
    ['C:\\a\\', 'C:\\a\\'],
    ['', '""'],
    ['a b', '"a b"'],
    ['C:\\a b\\', '"C:\\a b\\\\"'],
    ['a\\"b', '"a\\\\\\"b"'],
  ] as const)
    t.equal(quoteArgument(text), quoted)
})
