import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { getMachine } from '@causeway/protocol'
import fc from 'fast-check'
import { parse, stringify } from 'smol-toml'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { findBridge } from '../../src/cli/clients/bridge-program.ts'
import { type Client, clients } from '../../src/cli/clients/clients.ts'
import { readTomlValue, removeTomlTable, setTomlTable } from '../../src/cli/clients/edit-toml.ts'
import { runHere } from './run-here.ts'

const names = Object.keys(clients)

/** Files by client, as the client or its user writes them, with comments where the client permits them. */
const samples: Readonly<Record<string, string>> = {
  'claude-code': `{
  "numStartups": 12, "tipsHistory": {"shift-enter": 3},
  "projects": {
    "/home/a/game": { "allowedTools": [], "mcpServers": { "db": { "type": "stdio", "command": "db-mcp", "args": [] } } }
  },
  "mcpServers": {
    "files": { "type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-filesystem", "/home/a"], "env": {} }
  }
}
`,
  'claude-desktop': `{\r\n\t"globalShortcut": "",\r\n\t"mcpServers": {\r\n\t\t"memory": {\r\n\t\t\t"command": "npx",\r\n\t\t\t"args": ["-y", "@modelcontextprotocol/server-memory"]\r\n\t\t}\r\n\t}\r\n}\r\n`,
  vscode: `{
  // Shared by the team.
  "inputs": [{ "type": "promptString", "id": "token", "description": "Token", "password": true }],
  "servers": {
    "github": { "type": "http", "url": "https://api.githubcopilot.com/mcp/" }, /* remote */
  },
}
`,
  cursor: `{"mcpServers":{"one":{"command":"one"}}}`,
  codex: `# Codex
model = "gpt-5.4"
notify = [
  "[mcp_servers.causeway]", # not a table
]

[mcp_servers.files]
command = "npx"
args = ["-y", "@modelcontextprotocol/server-filesystem", "/home/a"]

[mcp_servers.files.env]
TOKEN = 'abc' # secret

[projects."/home/a/game"]
trust_level = "trusted"
`,
  gemini: `{
  // no servers yet
  "security": { "auth": { "selectedType": "gemini-api-key" } }
}
`,
  windsurf: `{
    "mcpServers": {
        "remote": {
            "serverUrl": "https://example.com/mcp"
        }
    }
}`,
  zed: `// Zed settings
//
// For information on how to configure Zed, see the Zed documentation: https://zed.dev/docs
{
  "context_servers": {
    "mine": { "source": "custom", "command": "mine", "args": [], "env": {} },
  },
  "ui_font_size": 16,
}
`,
}

/** Creates a user with a home folder. `connect` runs `causeway connect`. */
function createUser(t: Test) {
  const dir = t.testdir({ home: {}, project: {}, data: {} })
  const home = join(dir, 'home')
  const cwd = join(dir, 'project')
  const env = {
    ...{ CLAUDE_CONFIG_DIR: home, CODEX_HOME: join(home, '.codex'), XDG_CONFIG_HOME: join(home, '.config') },
    CAUSEWAY_DATA_DIR: join(dir, 'data'),
  }
  const machine = { ...getMachine(env), home }
  const file = (name: string) => {
    const { project, user } = clients[name] as Client
    return project === undefined ? user(machine) : join(cwd, project)
  }
  const connect = (name: string, ...words: string[]) => {
    const scope = clients[name]?.project ? ['--scope', 'project'] : []
    return runHere(t, ['connect', name, ...scope, ...words], { env, cwd })
  }
  const write = (name: string, text: string) => {
    mkdirSync(dirname(file(name)), { recursive: true })
    writeFileSync(file(name), text)
  }
  return {
    dir,
    home,
    cwd,
    env,
    file,
    connect,
    write,
    read: (name: string) => readFileSync(file(name), 'utf8'),
  }
}

/** Excludes Windsurf, which has no setting for its folder: a test would write into the user's home folder. */
const testable = names.filter((name) => name !== 'windsurf')

function readEntry(name: string, text: string): unknown {
  if (clients[name]?.format === 'toml') return readTomlValue(text, ['mcp_servers', 'causeway'])
  const plain = text.replaceAll(/^\s*\/\/.*$|\/\* remote \*\//gm, '').replaceAll(/,(?=\s*[}\]])/g, '')
  return JSON.parse(plain)[clients[name]?.key ?? ''].causeway
}

verifies('gateway:connect', async (t) => {
  const { connect, file, write, read } = createUser(t)
  for (const name of testable) {
    const sample = samples[name] ?? ''
    write(name, sample)
    const { code, stdout, stderr } = await connect(name)
    t.match({ code, stdout }, { code: 0, stdout: `written: ${file(name)}\n` }, `${name}: ${stderr}`)
    t.match(stderr, /backup: .*\.bak/)
    const text = read(name)
    t.match(readEntry(name, text), { command: process.execPath, args: [findBridge()?.program] }, name)
    t.equal('type' in (readEntry(name, text) as object), clients[name]?.hasType, name)
    let at = 0
    for (const line of sample.split(/\r?\n/).map((line) => line.replace(/[{}\],\s]+$/, ''))) {
      at = text.indexOf(line, at)
      t.not(at, -1, `${name} keeps ${line}`)
    }
    t.match(await connect(name), { code: 0, stdout: `unchanged: ${file(name)}\n` })
  }
})

verifies('gateway:connect', 'connect creates a missing file, by default for the user', async (t) => {
  const { cwd, env, home } = createUser(t)
  const connect = (...words: string[]) => runHere(t, ['connect', ...words], { env, cwd })
  t.equal((await connect('codex', '--view', 'core')).code, 0)
  t.match(parse(readFileSync(join(home, '.codex/config.toml'), 'utf8')), {
    mcp_servers: { causeway: { command: process.execPath, env: { CAUSEWAY_VIEW: 'core' } } },
  })
  t.equal((await connect('claude-code', '--port', '3200', '--autostart')).code, 0)
  const { causeway } = JSON.parse(readFileSync(join(home, '.claude.json'), 'utf8')).mcpServers
  t.match(causeway, {
    args: [String, '--url', 'http://localhost:3200/mcp', '--autostart'],
    env: { CAUSEWAY_DATA_DIR: env.CAUSEWAY_DATA_DIR },
  })
  const dry = await connect('zed', '--dry-run')
  t.match(dry, { code: 0, stdout: /"context_servers"/, stderr: /nothing written/ })
  t.match(await connect('codex', '--print'), { code: 0, stdout: /^\[mcp_servers\.causeway\]\ncommand = / })
  t.match(await connect('windsurf', '--print'), { code: 0, stdout: /^\{\n {2}"mcpServers"/ })
  t.notOk(existsSync(join(home, '.config/zed')))
  t.match(await connect('claude-desktop', '--scope', 'project'), {
    code: 2,
    stderr: /no configuration of a project/,
  })
  t.match(await connect('codex', '--view', 'a b'), { code: 2, stderr: /--view must be full, core or/ })
  t.match(await connect('emacs'), { code: 2, stderr: /unknown argument: emacs/ })
})

verifies('gateway:connect', 'connect updates an entry and preserves other keys', async (t) => {
  const { connect, write, read } = createUser(t)
  const own =
    '[mcp_servers.causeway]\nurl = "http://old"\nstartup_timeout_sec = 20\n\n[mcp_servers.causeway.env]\nA = "1"\n'
  write('codex', `${own}\n# the last table\n[tools]\nweb_search = true\n`)
  t.equal((await connect('codex', '--view', 'full')).code, 0)
  t.match(parse(read('codex')), {
    mcp_servers: {
      causeway: { startup_timeout_sec: 20, env: { A: '1', CAUSEWAY_VIEW: 'full' }, url: undefined },
    },
    tools: { web_search: true },
  })
  t.match(read('codex'), '\n# the last table\n[tools]\nweb_search = true\n')
})

verifies('gateway:connect:undo', async (t) => {
  const { connect, file, write, read, cwd } = createUser(t)
  for (const name of testable) {
    const sample = samples[name] ?? ''
    write(name, sample)
    await connect(name)
    t.match(await connect(name, '--undo', '--dry-run'), {
      code: 0,
      stdout: sample.trimEnd().replace(/^\uFEFF/, ''),
    })
    t.match(await connect(name, '--undo'), { code: 0, stdout: `restored: ${file(name)}\n` }, name)
    t.equal(read(name), sample, name)
    t.match(await connect(name, '--undo'), { code: 1, stderr: /nothing to undo/ })
  }
  for (const name of testable) {
    write(name, samples[name] ?? '')
    await connect(name)
    write(
      name,
      read(name)
        .replace(/causeway/, 'causeway')
        .replace(/\s*$/, '\n\n'),
    )
    t.match(
      await connect(name, '--undo'),
      { code: 0, stdout: /entry reverted, because the file has changed/ },
      name,
    )
    t.notMatch(read(name), /bridge/, name)
  }
  const fresh = join(cwd, 'fresh')
  mkdirSync(fresh)
  const inFresh = (...words: string[]) =>
    runHere(t, ['connect', 'cursor', '--scope', 'project', ...words], {
      env: { CAUSEWAY_DATA_DIR: join(fresh, 'data') },
      cwd: fresh,
    })
  await inFresh()
  t.match(await inFresh('--undo'), { code: 0, stdout: `deleted: ${join(fresh, '.cursor/mcp.json')}\n` })
  t.same(readdirSync(join(fresh, '.cursor')), [])
})

verifies('gateway:connect:undo', 'undo restores the previous entry of a changed file', async (t) => {
  const { connect, write, read } = createUser(t)
  const old = { command: 'mine', args: ['x'] }
  write('gemini', JSON.stringify({ mcpServers: { causeway: old } }))
  await connect('gemini')
  write('gemini', read('gemini').replace(/\}$/, ', "later": 1}'))
  await connect('gemini', '--undo')
  t.same(JSON.parse(read('gemini')), { mcpServers: { causeway: old }, later: 1 })
})

verifies('gateway:connect:refused', async (t) => {
  const { connect, write, read, env } = createUser(t)
  const bad: readonly (readonly [string, string, RegExp])[] = [
    ['codex', 'a = "secret', /not valid TOML in line 1, column/],
    ['codex', 'mcp_servers = { causeway = { command = "a" } }\n', /cannot be changed without changing other/],
    ['codex', '[mcp_servers]\ncauseway.command = "a"\n', /cannot be changed/],
    [
      'codex',
      '[mcp_servers.causeway]\n# mine\ncommand = "a"\n',
      /comments in mcp_servers.causeway would be lost/,
    ],
    ['codex', '[mcp_servers.causeway]\n[other]\n[mcp_servers.causeway.env]\n', /not adjacent/],
    ['codex', 'a = """\n[mcp_servers.causeway]\n"""\n', /cannot be changed/],
    ['codex', 'mcp_servers = 1\n', /mcp_servers is not a table/],
    ['zed', '{ "context_servers": [] }', /context_servers is not an object/],
    ['claude-code', '{ "a": 1, }', /not valid JSON: .* in line 1/],
  ]
  for (const [name, text, problem] of bad) {
    write(name, text)
    const { code, stderr } = await connect(name)
    t.equal(code, 1, text)
    t.match(stderr, /CLIENT_FILE_REFUSED/)
    t.match(stderr, problem)
    t.notMatch(stderr, /secret/)
    t.equal(read(name), text)
  }
  t.notOk(existsSync(join(env.CAUSEWAY_DATA_DIR, 'connections.json')))
})

t.test('setTomlTable and removeTomlTable change only their table, or throw', async (t) => {
  const key = fc.constantFrom('a', 'b c', 'mcp_servers', 'causeway', 'x.y')
  const leaf = fc.oneof(
    fc.string(),
    fc.integer(),
    fc.boolean(),
    fc.array(fc.string()),
    fc.constant('[mcp_servers.causeway]\n'),
  )
  const table = fc.dictionary(
    key,
    fc.oneof(leaf, fc.dictionary(key, fc.oneof(leaf, fc.dictionary(key, leaf)))),
  )
  const path = ['mcp_servers', 'causeway']
  const entry = { command: 'node', args: ['a "quoted" \\ path', 'ü'], env: { A: '1' } }
  fc.assert(
    fc.property(table, (value) => {
      const text = stringify(value)
      let set: string
      try {
        set = setTomlTable(text, path, entry)
      } catch (error) {
        return (error as Error).name === 'JsonEditError'
      }
      const { mcp_servers: servers, ...others } = parse(set) as Record<string, Record<string, unknown>>
      const { mcp_servers: before = {}, ...othersBefore } = parse(text) as Record<
        string,
        Record<string, unknown>
      >
      t.same(servers?.causeway, entry)
      t.same({ ...servers, causeway: 0 }, { ...before, causeway: 0 })
      t.same(others, othersBefore)
      const removed = parse(removeTomlTable(set, path)) as Record<string, Record<string, unknown>>
      t.notOk(removed.mcp_servers?.causeway)
      return true
    }),
  )
})
