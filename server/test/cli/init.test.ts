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
import { bridgeCommand, findBridge } from '../../src/cli/bridge-program.ts'
import { clients } from '../../src/cli/clients.ts'
import { runHere } from './run-here.ts'

/** A user with a home and a project. */
function person(t: Test, project: Parameters<Test['testdir']>[0] = {}) {
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
  const { home, cwd, init, read } = person(t)
  for (const name of names) {
    const { code, stdout, stderr } = await init(name)
    t.match({ code, stdout }, { code: 0, stdout: `written: ${join(cwd, files[name])}\n` })
    t.match(stderr, clients[name]?.next.project)
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

t.test('init: where the files of each system are', async (t) => {
  const place = { cwd: '/p', env: { APPDATA: '/A' }, home: '/h' }
  const at = (name: string, platform: NodeJS.Platform) => clients[name]?.file('user', { ...place, platform })
  t.equal(at('claude', 'linux'), '/h/.claude.json')
  t.equal(at('cursor', 'darwin'), '/h/.cursor/mcp.json')
  t.equal(at('vscode', 'linux'), '/h/.config/Code/User/mcp.json')
  t.equal(at('vscode', 'darwin'), '/h/Library/Application Support/Code/User/mcp.json')
  t.equal(at('vscode', 'win32'), '/A/Code/User/mcp.json')
})

verifies('command:init', 'says what the bridge has to know of this server, and no more', async (t) => {
  const { cwd, init, read } = person(t)
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

verifies('command:init', 'a project that names this bridge from its own folder stays as it is', async (t) => {
  const { cwd, init, read } = person(t)
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

t.test('init: a bridge in a folder that npx empties is named to the client through npx', async (t) => {
  const program = '/home/me/.npm/_npx/0123/node_modules/@causeway/bridge/dist/bridge.js'
  t.match(bridgeCommand({ program, version: '0.1.0' }), ['npx', '-y', /^@causeway\/bridge@\d/])
  t.match(bridgeCommand(undefined), ['npx', '-y', /^@causeway\/bridge@\d/])
})

verifies(
  'command:init:foreign-kept',
  'comments of VS Code, its inputs, and what was said of our server',
  async (t) => {
    const before = `{
    // asked once
    "inputs": [{ "id": "key", "type": "promptString" }],
    "servers": {
        "other": { "command": "other" }, // the other one
        "causeway": {
            "type": "stdio",
            "command": "old", /* of last year */
            "args": [],
            "dev": { "watch": "x" },
        },
    },
}
`
    const { init, read } = person(t, { '.vscode': { 'mcp.json': before } })
    t.equal((await init('vscode')).code, 0)
    const program = JSON.stringify(process.execPath)
    const args = `[\n                ${JSON.stringify(findBridge()?.program)}\n            ]`
    t.equal(read('.vscode/mcp.json'), before.replace('"old"', program).replace('[]', args))
  },
)

verifies('command:init:foreign-kept', 'one that was reached over HTTP is replaced', async (t) => {
  const old = { type: 'http', url: 'http://localhost:3100/mcp', headers: { a: 'b' }, timeout: 5 }
  const { init, read } = person(t, { '.mcp.json': JSON.stringify({ mcpServers: { causeway: old, x: {} } }) })
  t.equal((await init('claude')).code, 0)
  const { causeway, x } = JSON.parse(read('.mcp.json')).mcpServers
  t.same(x, {})
  t.same(Object.keys(causeway).sort(), ['args', 'command', 'timeout', 'type'])
})

verifies('command:init:refused', async (t) => {
  const refused = async (name: (typeof names)[number], before: string, why: RegExp) => {
    const { cwd, init, read } = person(t, {})
    const path = join(cwd, files[name])
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, before)
    const { code, stderr } = await init(name)
    t.equal(code, 1, before)
    t.match(stderr, /CLIENT_FILE_REFUSED: .* was left as it is: /)
    t.match(stderr, why)
    t.match(stderr, `"${keys[name]}": {\n    "causeway": {`, 'the lines to paste')
    t.equal(read(files[name]), before)
    t.same(readdirSync(dirname(path)), [files[name].split('/').at(-1)], 'nothing stands beside it')
  }
  await refused('claude', '{"mcpServers": {', /not JSON: .* line 1, column 17/)
  await refused('claude', '{} // mine', /there is a comment in line 1, column 4/)
  await refused('vscode', '[]', /it is no object/)
  await refused('cursor', '{"mcpServers": []}', /mcpServers is no object/)
  const args = '{"servers": {"causeway": {"command": "x", "args": ["--app" /* only this */]}}}'
  await refused('vscode', args, /comments in servers\.causeway\.args would be lost/)
})

verifies('command:init:careful', async (t) => {
  const before = '{\n  "mcpServers": {}\n}\n'
  const { cwd, init, read } = person(t, { 'real.json': before })
  const path = join(cwd, '.mcp.json')
  symlinkSync('real.json', path)
  chmodSync(path, 0o640)

  const dry = await init('claude', '--dry-run')
  t.match(JSON.parse(dry.stdout), { mcpServers: { causeway: {} } })
  t.match(dry.stderr, 'nothing written')
  t.match(JSON.parse((await init('claude', '--print')).stdout), { mcpServers: { causeway: {} } })
  t.equal(read('.mcp.json'), before)

  const { stderr } = await init('claude')
  const backup = /as it was: (.*)/.exec(stderr)?.[1] ?? ''
  t.equal(readFileSync(backup, 'utf8'), before)
  t.equal(read('.mcp.json'), `${dry.stdout}`)
  t.ok(lstatSync(path).isSymbolicLink(), 'a link stays')
  if (process.platform !== 'win32') t.equal(statSync(path).mode & 0o777, 0o640)

  const entries = readdirSync(cwd)
  t.match(await init('claude'), { code: 0, stdout: `unchanged: ${path}\n` })
  t.same(readdirSync(cwd), entries)
})

t.test('init: what the system refuses is told in a sentence', async (t) => {
  const { init } = person(t, { '.mcp.json': {} })
  const { code, stderr } = await init('claude')
  t.equal(code, 1)
  t.match(stderr, /^causeway: EISDIR: [^\n]*\n$/)
})

t.test('init: a client or a scope that is not known', async (t) => {
  const { init } = person(t)
  t.match(await init('emacs'), { code: 2, stderr: /clients are claude, vscode, cursor: emacs/ })
  t.match(await init(), { code: 2 })
  t.match(await init('claude', '--scope', 'local'), { code: 2, stderr: /--scope is project or user/ })
})
