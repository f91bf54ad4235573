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
import { findBridge, getBridgeCommand } from '../../src/cli/clients/bridge-program.ts'
import { clients } from '../../src/cli/clients/clients.ts'
import { runHere } from './run-here.ts'

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
  const path = (name: string, platform: NodeJS.Platform) =>
    clients[name]?.user({ platform, env: { APPDATA: '/A' }, home: '/h' })
  t.equal(path('claude-code', 'linux'), '/h/.claude.json')
  t.equal(path('cursor', 'darwin'), '/h/.cursor/mcp.json')
  t.equal(path('vscode', 'linux'), '/h/.config/Code/User/mcp.json')
  t.equal(path('vscode', 'darwin'), '/h/Library/Application Support/Code/User/mcp.json')
  t.equal(path('vscode', 'win32'), '/A/Code/User/mcp.json')
})

verifies('command:init', 'init writes only arguments that differ from the bridge defaults', async (t) => {
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

verifies('command:init', 'init preserves a project-relative path of this bridge', async (t) => {
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
  t.match(getBridgeCommand({ program, version: '0.1.0' }), ['npx', '-y', /^causeway-mcp-bridge@\d/])
  t.match(getBridgeCommand(undefined), ['npx', '-y', /^causeway-mcp-bridge@\d/])
})

verifies(
  'command:init:foreign-kept',
  'init preserves comments, inputs and other keys of a VS Code file',
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

verifies('command:init:foreign-kept', 'init replaces an entry that used HTTP', async (t) => {
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
