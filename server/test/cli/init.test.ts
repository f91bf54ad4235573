import { spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join, relative } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { bridgeCommand, findBridge } from '../../src/cli/clients/bridge-program.ts'
import { clients } from '../../src/cli/clients/clients.ts'
import { formatServiceUnit } from '../../src/cli/service/service-unit.ts'
import { runHere } from './run-here.ts'

/** Creates the home and project folders of a user. */
function createUser(t: Test, project: Parameters<Test['testdir']>[0] = {}) {
  const dir = t.testdir({ home: {}, project })
  const [home, cwd] = [join(dir, 'home'), join(dir, 'project')]
  const env = { CLAUDE_CONFIG_DIR: home, XDG_CONFIG_HOME: join(home, '.config') }
  const init = (...words: string[]) => runHere(t, ['init', ...words], { env, cwd })
  return { home, cwd, init, read: (path: string) => readFileSync(join(cwd, path), 'utf8') }
}

const files = { claude: '.mcp.json', vscode: '.vscode/mcp.json', cursor: '.cursor/mcp.json' }
const keys = { claude: 'mcpServers', vscode: 'servers', cursor: 'mcpServers' }
const names = ['claude', 'vscode', 'cursor'] as const

verifies('command:init', async (t) => {
  const { home, cwd, init, read } = createUser(t)
  for (const name of names) {
    const { code, stdout, stderr } = await init(name)
    t.match({ code, stdout }, { code: 0, stdout: `written: ${join(cwd, files[name])}\n` })
    t.match(stderr, clients[name === 'claude' ? 'claude-code' : name]?.next.project)
    const entry = JSON.parse(read(files[name]))[keys[name]].causeway
    t.match(entry, { type: 'stdio', command: process.execPath })
    t.equal(entry.args[0], findBridge()?.program)
    t.ok(existsSync(entry.args[0]))
  }
  await init('claude', '--scope', 'user')
  t.ok(JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers.causeway)
  if (process.platform !== 'linux') return
  await init('vscode', '--scope', 'user')
  t.ok(JSON.parse(readFileSync(join(home, '.config/Code/User/mcp.json'), 'utf8')).servers.causeway)
})

t.test('init uses the configuration paths of each platform', async (t) => {
  const location = { cwd: '/p', env: { APPDATA: '/A' }, home: '/h' }
  const path = (name: string, platform: NodeJS.Platform) =>
    clients[name]?.file('user', { ...location, platform })
  t.equal(path('claude-code', 'linux'), '/h/.claude.json')
  t.equal(path('cursor', 'darwin'), '/h/.cursor/mcp.json')
  t.equal(path('vscode', 'linux'), '/h/.config/Code/User/mcp.json')
  t.equal(path('vscode', 'darwin'), '/h/Library/Application Support/Code/User/mcp.json')
  t.equal(path('vscode', 'win32'), '/A/Code/User/mcp.json')
})

verifies('command:init', 'writes only arguments that differ from the defaults of the bridge', async (t) => {
  const { cwd, init, read } = createUser(t)
  const { args } = JSON.parse((await init('claude', '--print')).stdout).mcpServers.causeway
  t.same(args, [findBridge()?.program])
  const flags = ['--port', '3200', '--token-file', 'tokens', '--data-dir', 'data', '--autostart']
  await init('cursor', ...flags)
  t.match(JSON.parse(read('.cursor/mcp.json')).mcpServers.causeway, {
    args: [
      ...[String, '--url', 'http://localhost:3200/mcp'],
      ...['--token-file', join(cwd, 'tokens'), '--autostart'],
    ],
    env: { CAUSEWAY_DATA_DIR: join(cwd, 'data') },
  })
})

verifies('command:init', 'preserves a path of this bridge that is relative to the project', async (t) => {
  const { cwd, init, read } = createUser(t)
  const program = relative(cwd, findBridge()?.program ?? '')
  const text = JSON.stringify({
    mcpServers: { causeway: { type: 'stdio', command: 'node', args: [program] } },
  })
  writeFileSync(join(cwd, '.mcp.json'), text)
  t.match(await init('claude'), { code: 0, stdout: `unchanged: ${join(cwd, '.mcp.json')}\n` })
  t.equal(read('.mcp.json'), text)
  await init('claude', '--autostart')
  t.match(JSON.parse(read('.mcp.json')).mcpServers.causeway, { args: [findBridge()?.program, '--autostart'] })
})

t.test('init configures npx if the bridge is missing or in the npx cache', async (t) => {
  const program = '/home/me/.npm/_npx/0123/node_modules/causeway-mcp/bridge/dist/bridge.js'
  t.match(bridgeCommand({ program, version: '0.1.0' }), ['npx', '-y', /^causeway-mcp-bridge@\d/])
  t.match(bridgeCommand(undefined), ['npx', '-y', /^causeway-mcp-bridge@\d/])
})

verifies(
  'command:init:foreign-kept',
  'preserves comments, inputs and other keys of a VS Code file',
  async (t) => {
    const before = `{
    // prompted once
    "inputs": [{ "id": "key", "type": "promptString" }],
    "servers": {
        "other": { "command": "other" }, // the other one
        "causeway": {
            "type": "stdio",
            "command": "old", /* outdated */
            "args": [],
            "dev": { "watch": "x" },
        },
    },
}
`
    const { init, read } = createUser(t, { '.vscode': { 'mcp.json': before } })
    t.equal((await init('vscode')).code, 0)
    const program = JSON.stringify(process.execPath)
    const args = `[\n                ${JSON.stringify(findBridge()?.program)}\n            ]`
    t.equal(read('.vscode/mcp.json'), before.replace('"old"', program).replace('[]', args))
  },
)

verifies('command:init:foreign-kept', 'replaces an entry that used HTTP', async (t) => {
  const old = { type: 'http', url: 'http://localhost:3100/mcp', headers: { a: 'b' }, timeout: 5 }
  const { init, read } = createUser(t, {
    '.mcp.json': JSON.stringify({ mcpServers: { causeway: old, x: {} } }),
  })
  t.equal((await init('claude')).code, 0)
  const { causeway, x } = JSON.parse(read('.mcp.json')).mcpServers
  t.same(x, {})
  t.same(Object.keys(causeway).sort(), ['args', 'command', 'timeout', 'type'])
})

verifies('command:init:refused', async (t) => {
  const refuses = async (name: (typeof names)[number], before: string, reason: RegExp) => {
    const { cwd, init, read } = createUser(t, {})
    const path = join(cwd, files[name])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, before)
    const { code, stderr } = await init(name)
    t.equal(code, 1, before)
    t.match(stderr, /was not changed: .* \[CLIENT_FILE_REFUSED\]/)
    t.match(stderr, reason)
    t.match(stderr, `"${keys[name]}": {\n    "causeway": {`, 'prints the lines to paste')
    t.equal(read(files[name]), before)
    t.same(readdirSync(dirname(path)), [files[name].split('/').at(-1)], 'creates no other files')
  }
  await refuses('claude', '{"mcpServers": {', /not valid JSON: .* line 1, column 17/)
  await refuses('claude', '{} // mine', /invalid comment token in line 1, column 4/)
  await refuses('vscode', '[]', /the top level is not an object/)
  await refuses('cursor', '{"mcpServers": []}', /mcpServers is not an object/)
  const args = '{"servers": {"causeway": {"command": "x", "args": ["--app" /* Replay only */]}}}'
  await refuses('vscode', args, /comments in servers\.causeway\.args would be lost/)
})

verifies('command:init:careful', async (t) => {
  const before = '{\n  "mcpServers": {}\n}\n'
  const { cwd, init, read } = createUser(t, { 'real.json': before })
  const path = join(cwd, '.mcp.json')
  symlinkSync('real.json', path)
  chmodSync(path, 0o640)

  const dry = await init('claude', '--dry-run')
  t.match(JSON.parse(dry.stdout), { mcpServers: { causeway: {} } })
  t.match(dry.stderr, 'nothing written')
  t.match(JSON.parse((await init('claude', '--print')).stdout), { mcpServers: { causeway: {} } })
  t.equal(read('.mcp.json'), before)

  const { stderr } = await init('claude')
  const backup = /backup: (.*)/.exec(stderr)?.[1] ?? ''
  t.equal(readFileSync(backup, 'utf8'), before)
  t.equal(read('.mcp.json'), `${dry.stdout}`)
  t.ok(lstatSync(path).isSymbolicLink(), 'preserves the symbolic link')
  if (process.platform !== 'win32') t.equal(statSync(path).mode & 0o777, 0o640)

  const entries = readdirSync(cwd)
  t.match(await init('claude'), { code: 0, stdout: `unchanged: ${path}\n` })
  t.same(readdirSync(cwd), entries)
})

t.test('init reports a system error in one line', async (t) => {
  const { init } = createUser(t, { '.mcp.json': {} })
  const { code, stderr } = await init('claude')
  t.equal(code, 1)
  t.match(stderr, /^causeway: EISDIR: [^\n]*\n$/)
})

t.test('init rejects unknown clients and scopes', async (t) => {
  const { init } = createUser(t)
  t.match(await init('emacs'), { code: 2, stderr: /unknown argument: emacs; use claude, vscode, cursor/ })
  t.match(await init(), { code: 2 })
  t.match(await init('claude', '--scope', 'local'), { code: 2, stderr: /--scope must be project or user/ })
})

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

verifies('command:install-service', 'leaves secrets out of the unit and lists them', async (t) => {
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

verifies('command:install-service', 'updates and enables the unit', async (t) => {
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
  t.match(stderr, /\[NO_SERVICE_MANAGER\]\n.*causeway\.js serve; or print the unit .* --print/)
  t.notOk(existsSync(file))
  t.match(await install(['--print'], { XDG_RUNTIME_DIR: '/nowhere' }), { code: 0, stdout: /^\[Unit\]/ })
  t.match(await install(['--heap-mb', 'much']), { code: 2 })
})

t.test(
  'formatServiceUnit escapes paths and values, verified by systemd-analyze if it is installed',
  async (t) => {
    const dir = t.testdir({ 'a b': {} })
    const unit = formatServiceUnit({
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
    const verified = spawnSync('systemd-analyze', ['--user', '--man=no', 'verify', file], {
      encoding: 'utf8',
      env: { ...process.env, XDG_RUNTIME_DIR: dir },
    })
    if (verified.error !== undefined) return
    t.notMatch(verified.stderr, /causeway\.service:/)
  },
)
