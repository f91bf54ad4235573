import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { serviceUnit } from '../../src/cli/service-unit.ts'
import { runHere } from './run-here.ts'

/** A user of a machine whose systemctl writes down what it is asked, and ends with this code. */
function user(t: Test, code = 0) {
  const dir = t.testdir({ config: {}, run: { systemd: {} }, bin: {}, work: {} })
  writeFileSync(
    join(dir, 'bin/systemctl'),
    `#!/bin/sh\necho "$@" >> ${dir}/asked\necho no bus >&2\nexit ${code}\n`,
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
    asked: () => (existsSync(join(dir, 'asked')) ? readFileSync(join(dir, 'asked'), 'utf8') : ''),
    install: (words: string[] = [], more: NodeJS.ProcessEnv = {}) =>
      runHere(t, ['install-service', ...words], { env: { ...env, ...more }, cwd }),
  }
}

const isLinux = process.platform === 'linux'

verifies('command:install-service', async (t) => {
  const { install, file, cwd, asked } = user(t)
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
  t.match(unit, /^TimeoutStopSec=15$/m, 'longer than calls get')
  t.notMatch(unit, /planted/)
  if (!isLinux) return
  t.equal(stdout, `written: ${file}\n`)
  t.match(stderr, /next: systemctl --user enable --now causeway\.service/)
  t.equal(asked(), '', 'nothing is switched on')
})

verifies('command:install-service', 'secrets stay out of the unit, and each is told', async (t) => {
  const { install, file, env } = user(t)
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
  const kept = join(env.XDG_CONFIG_HOME, 'causeway/service.env')
  const plain = { MINDS_EMBEDDINGS_URL: 'http://127.0.0.1:11434/v1' }
  const { code, stdout, stderr } = await install(['--print'], { ...secrets, ...plain })
  t.equal(code, 0, stderr)
  t.notMatch(`${stdout}${stderr}`, /planted/)
  t.match(stdout, '\nEnvironment=MINDS_EMBEDDINGS_URL=http://127.0.0.1:11434/v1\n')
  for (const name of Object.keys(secrets))
    t.match(stderr, `${name} left out: put it into ${kept} (chmod 600)\n`)
  mkdirSync(join(kept, '..'))
  writeFileSync(kept, 'OPENROUTER_API_KEY=planted-1\n')
  t.notMatch((await install(['--print'], secrets)).stderr, /OPENROUTER/, 'what is there is not missed')
  if (!isLinux) return
  await install()
  t.equal(statSync(file).mode & 0o777, 0o600)
  chmodSync(file, 0o644)
  await install(['--heap-mb', '1024'])
  t.equal(statSync(file).mode & 0o777, 0o600, 'also one that others could read')
  for (const name of readdirSync(dirname(file)).filter((one) => one.endsWith('.bak')))
    t.equal(statSync(join(dirname(file), name)).mode & 0o777, 0o600, 'and its copy')
})

verifies('command:install-service', 'again, and switched on', async (t) => {
  if (!isLinux) return
  const { install, file, asked } = user(t)
  await install()
  t.match(await install(), { code: 0, stdout: `unchanged: ${file}\n` })
  const changed = await install(['--heap-mb', '1024', '--enable'])
  t.match(changed, { code: 0, stdout: `written: ${file}\n`, stderr: /as it was: / })
  t.equal(asked(), '--user daemon-reload\n--user enable --now causeway.service\n')
  const refusing = user(t, 1)
  t.match(await refusing.install(['--enable']), { code: 1, stderr: /daemon-reload failed: no bus/ })
})

verifies('command:install-service:no-systemd', async (t) => {
  const { install, file } = user(t)
  const { code, stderr } = await install([], { XDG_RUNTIME_DIR: '/nowhere' })
  t.equal(code, 1)
  t.match(stderr, /NO_SERVICE_MANAGER: .*causeway\.js serve; or write the unit .* --print/)
  t.notOk(existsSync(file))
  t.match(await install(['--print'], { XDG_RUNTIME_DIR: '/nowhere' }), { code: 0, stdout: /^\[Unit\]/ })
  t.match(await install(['--heap-mb', 'much']), { code: 2 })
})

t.test(
  'serviceUnit: paths and values that systemd would read otherwise, judged by systemd where it is',
  async (t) => {
    const dir = t.testdir({ 'a b': {} })
    const unit = serviceUnit({
      node: '/bin/sh',
      nodeArgs: [],
      program: '/tmp/50% $HOME/"x".js',
      args: ['serve'],
      cwd: join(dir, 'a b'),
      heapMb: 128,
      environment: { ONE: 'a b\\c"d%e', TWO: 'plain' },
      environmentFile: '/tmp/100%.env',
      shutdownMs: 0,
    })
    t.match(
      unit,
      'ExecStart=/bin/sh --max-old-space-size=128 --max-semi-space-size=8 "/tmp/50%% $$HOME/\\"x\\".js" serve\n',
    )
    t.match(unit, 'Environment="ONE=a b\\\\c\\"d%%e"\nEnvironment=TWO=plain\n')
    t.match(unit, 'EnvironmentFile=-/tmp/100%%.env\n')
    const file = join(dir, 'causeway.service')
    writeFileSync(file, unit)
    const judged = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir },
    })
    if (judged.error !== undefined) return
    t.notMatch(judged.stderr, /causeway\.service:/, 'nothing to complain of')
  },
)
