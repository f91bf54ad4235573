import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { runHere } from './run-here.ts'

/** Creates a user with configurations of clients. `mcp` runs `causeway mcp`. */
function createUser(t: Test, files: Readonly<Record<string, string>> = {}) {
  const dir = t.testdir({ home: {}, project: {}, data: {} })
  const [home, cwd, data] = [join(dir, 'home'), join(dir, 'project'), join(dir, 'data')]
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true })
    writeFileSync(join(dir, path), text)
  }
  const env = {
    ...{
      HOME: home,
      CLAUDE_CONFIG_DIR: home,
      XDG_CONFIG_HOME: join(home, '.config'),
      PATH: '/opt/bin:/usr/bin',
    },
    CAUSEWAY_DATA_DIR: data,
  }
  return {
    ...{ dir, home, cwd, data },
    mcp: (...words: string[]) => runHere(t, ['mcp', ...words], { env, cwd }),
    readConfig: () => JSON.parse(readFileSync(join(data, 'mcp.json'), 'utf8')).mcpServers,
    readSecrets: () => JSON.parse(readFileSync(join(data, 'secrets.json'), 'utf8')),
    writeConfig: (servers: object) =>
      writeFileSync(join(data, 'mcp.json'), JSON.stringify({ mcpServers: servers }, null, 2), {
        mode: 0o600,
      }),
  }
}

const clientFiles = {
  'home/.claude.json': JSON.stringify({
    numStartups: 3,
    mcpServers: {
      github: {
        type: 'http',
        url: 'https://api.githubcopilot.com/mcp/',
        headers: { Authorization: 'Bearer ghp_abcdefghijklmnopqrst' },
      },
      causeway: { type: 'stdio', command: '/usr/bin/node', args: ['/opt/causeway/bridge/run.mjs'] },
      checkout: { command: 'node', args: ['bridge/run.mjs', '--autostart'] },
    },
    projects: {
      '/home/a/game': {
        mcpServers: {
          db: { command: 'db-mcp', args: ['--password', 'hunter2', 'postgres://u:hunter2@h/db'] },
        },
      },
    },
  }),
  'project/.mcp.json': JSON.stringify({
    mcpServers: {
      files: {
        command: 'npx',
        args: ['-y', 'server-files', '${ROOT:-/srv}'],
        env: { API_KEY: '${API_KEY}' },
      },
    },
  }),
  'project/.vscode/mcp.json': `{
  // The team's servers.
  "inputs": [{ "id": "linear-key", "type": "promptString" }],
  "servers": {
    "linear": { "url": "https://mcp.linear.app/sse?api_key=hunter2", "type": "sse", "headers": { "X-Key": "\${input:linear-key}" } },
    "root": { "command": "srv", "args": ["\${workspaceFolder}", "\${env:MODE}"], },
  }
}`,
  'home/.cursor/mcp.json': JSON.stringify({
    mcpServers: {
      sentry: {
        command: 'npx',
        args: [
          '-y',
          'mcp-remote@latest',
          'https://mcp.sentry.dev/mcp',
          '3334',
          '--header',
          'Authorization:${AUTH}',
        ],
        env: { AUTH: 'Bearer hunter2hunter2' },
      },
      github: {
        url: 'https://api.githubcopilot.com/mcp/',
        headers: { Authorization: 'Bearer ghp_abcdefghijklmnopqrst' },
      },
      local: { url: 'http://localhost:3100/mcp/core' },
      'bad name!': { command: 'x', disabled: true },
    },
  }),
  'home/.codex/config.toml': `model = "gpt-5.4"
[mcp_servers.docs]
command = "docs-mcp"
env_vars = ["DOCS_HOME"]
disabled_tools = ["delete"]
[mcp_servers.docs.env]
TOKEN = "hunter2"
[mcp_servers.figma]
url = "https://mcp.figma.com/mcp"
bearer_token_env_var = "FIGMA_TOKEN"
http_headers = { "X-Region" = "eu" }
`,
  'home/.gemini/settings.json': `{ "mcpServers": { "old": { "url": "http://h/sse" }, "new": { "httpUrl": "http://h/mcp", "headers": { "Authorization": "$G_KEY" } }, "none": {} } }`,
  'home/.config/zed/settings.json':
    '{ "context_servers": { "editor": { "command": { "path": "z", "args": ["1"], "env": {"A": "b"} } } } /* end */ }',
  'home/.config/Claude/claude_desktop_config.json': '{"mcpServers": {"desk": {"command": "desk"}}}',
}

verifies('gateway:import', async (t) => {
  const user = createUser(t, clientFiles)
  const before = Object.keys(clientFiles).map((path) => [path, readFileSync(join(user.dir, path), 'utf8')])
  const dry = await user.mcp('import', '--dry-run')
  t.equal(dry.code, 0, dry.stderr)
  t.same(readdirSync(user.data), [])
  const { code, stdout, stderr } = await user.mcp('import')
  t.equal(code, 0)
  t.equal(stdout, dry.stdout)
  for (const text of [stdout, stderr, readFileSync(join(user.data, 'mcp.json'), 'utf8')]) {
    t.notMatch(text, 'hunter2')
    t.notMatch(text, 'ghp_')
  }
  const servers = user.readConfig()
  t.same(Object.keys(servers).sort(), [
    ...[
      'bad name-',
      'db',
      'desk',
      'docs',
      'editor',
      'figma',
      'files',
      'github',
      'linear',
      'new',
      'old',
      'root',
      'sentry',
    ],
  ])
  for (const [name, { causeway }] of Object.entries<{ causeway: { needsApproval: boolean } }>(servers))
    t.equal(causeway.needsApproval, true, name)
  t.match(servers.github, {
    ...{ type: 'http', url: 'https://api.githubcopilot.com/mcp/' },
    headers: { Authorization: 'Bearer ${secret:github_Authorization}' },
  })
  t.match(servers.db, {
    args: ['--password', '${secret:db_password}', '${secret:db_argument}'],
    cwd: '/home/a/game',
    causeway: { path: '/opt/bin:/usr/bin' },
  })
  t.match(servers.files, { args: ['-y', 'server-files', '${ROOT:-/srv}'], env: { API_KEY: '${API_KEY}' } })
  t.match(servers.linear, {
    ...{ type: 'sse', url: 'https://mcp.linear.app/sse?api_key=${secret:linear_api_key}' },
    headers: { 'X-Key': '${secret:linear-key}' },
  })
  t.match(servers.root.args, ['${project}', '${MODE}'])
  t.match(servers.sentry, {
    ...{ type: 'http', url: 'https://mcp.sentry.dev/mcp', command: undefined },
    headers: { Authorization: 'Bearer ${secret:sentry_Authorization}' },
  })
  t.match(servers['bad name-'], { causeway: { enabled: false } })
  t.match(servers.docs, {
    env: { DOCS_HOME: '${DOCS_HOME}', TOKEN: '${secret:docs_TOKEN}' },
    causeway: { tools: { deny: ['delete'] } },
  })
  t.match(servers.figma, { headers: { Authorization: 'Bearer ${FIGMA_TOKEN}', 'X-Region': 'eu' } })
  t.match([servers.old.type, servers.new.type], ['sse', 'http'])
  t.match(servers.new.headers, { Authorization: '${G_KEY}' })
  t.match(servers.editor, { command: 'z', args: ['1'], env: { A: 'b' } })
  t.same(user.readSecrets(), {
    ...{ db_argument: 'postgres://u:hunter2@h/db', db_password: 'hunter2', docs_TOKEN: 'hunter2' },
    ...{ github_Authorization: 'ghp_abcdefghijklmnopqrst', linear_api_key: 'hunter2' },
    sentry_Authorization: 'hunter2hunter2',
  })
  t.equal(statSync(join(user.data, 'secrets.json')).mode & 0o777, 0o600)
  t.match(stderr, /skipped causeway of .*: it is Causeway itself/)
  t.match(stderr, /skipped checkout of .*: it is Causeway itself/)
  t.match(stderr, /skipped local of .*: it is Causeway itself/)
  t.match(stderr, /skipped github of .*: the same server as in .*\.claude\.json/)
  t.match(stderr, /skipped none of .*: the entry has neither a command nor a URL/)
  for (const [path = '', text] of before) t.equal(readFileSync(join(user.dir, path), 'utf8'), text, path)
  const again = await user.mcp('import')
  t.match(again, { code: 0, stdout: '', stderr: /skipped files of .*: mcp\.json has a server of this name/ })
})

verifies('gateway:import', 'mcp import accepts one client, one file or some servers', async (t) => {
  const user = createUser(t, clientFiles)
  const only = await user.mcp('import', 'codex', '--only', 'docs')
  t.match(only, { code: 0, stdout: /^docs {2}docs-mcp\n$/ })
  const file = join(user.cwd, 'servers.json')
  writeFileSync(file, '\uFEFF{"mcpServers": {"docs": {"command": "other"}, "more": {"command": "more"}}}')
  t.match(await user.mcp('import', 'servers.json'), {
    code: 0,
    stdout: 'more  more\n',
    stderr: /skipped docs/,
  })
  t.match(await user.mcp('import', 'codex', '--only', 'docs,nope'), {
    code: 2,
    stderr: /no such server: nope/,
  })
  t.match(await user.mcp('import', 'missing.json'), {
    code: 1,
    stderr: /neither a client nor a file: missing.json/,
  })
  writeFileSync(file, '{ "mcpServers": {"a": {"command": "hunter2",,} }')
  const broken = await user.mcp('import', 'servers.json')
  t.match(broken, { code: 1, stderr: /was not imported: not valid JSON: .* in line 1/ })
  t.notMatch(broken.stderr, 'hunter2')
  t.match(await user.mcp('import', 'windsurf'), { code: 1, stderr: /no servers found/ })
})

verifies('gateway:list', async (t) => {
  const { mcp, writeConfig, data } = createUser(t)
  t.match(await mcp(), { code: 0, stdout: /^no servers in .*mcp\.json; causeway mcp add/ })
  writeConfig({
    files: { command: 'npx', args: ['files', '--token', 'hunter2'], env: { A_TOKEN: 'hunter2', MODE: 'x' } },
    api: {
      url: 'https://u:hunter2@h/mcp?key=hunter2',
      headers: { 'X-A': 'hunter2' },
      causeway: { enabled: false },
    },
    new: { command: 'new', causeway: { needsApproval: true, oauth: { clientSecret: 'hunter2' } } },
    bad: { command: 'bad', causeway: { share: 'hunter2' } },
  })
  const list = await mcp()
  t.equal(list.code, 1)
  t.same(list.stdout.split('\n'), [
    'files  not running     project  npx files --token <redacted>',
    'api    disabled        shared   https://<redacted>@h/mcp?<redacted>',
    'new    needs_approval  project  new',
    '',
  ])
  t.match(list.stderr, /bad: the server "bad" is invalid: causeway\.share: /)
  t.same((await mcp('list')).stdout, list.stdout)
  const json = await mcp('list', '--json')
  t.match(JSON.parse(json.stdout), {
    servers: [{ name: 'files' }, { name: 'api' }, { name: 'new' }],
    problems: [{ name: 'bad' }],
  })
  const show = await mcp('show', 'files')
  t.match(show, {
    code: 0,
    stdout: /^files: not running\n {2}command +npx files --token <redacted>\n.*variables +A_TOKEN, MODE\n/s,
  })
  const one = await mcp('show', 'api', '--json')
  for (const { stdout, stderr } of [list, json, show, one]) t.notMatch(stdout + stderr, 'hunter2')
  t.match(await mcp('show', 'bad'), { code: 1, stderr: /GATEWAY_CONFIG_INVALID/ })
  t.match(await mcp('show', 'file'), {
    code: 1,
    stderr: /no server "file" \(did you mean files\?\) \[SERVER_NOT_FOUND\]/,
  })
  writeFileSync(join(data, 'mcp.json'), '{ "mcpServers": ')
  t.match(await mcp('list'), { code: 1, stdout: '', stderr: /not valid JSON.*GATEWAY_CONFIG_INVALID/ })
})

verifies('gateway:change', async (t) => {
  const { mcp, writeConfig, readConfig, readSecrets, data } = createUser(t)
  writeConfig({
    one: { command: 'one', args: ['${secret:both}', '${secret:own}'], note: 'kept' },
    two: { command: 'two', env: { A: '${secret:both}' } },
    bad: { command: 1, env: '${secret:bad}' },
  })
  writeFileSync(join(data, 'secrets.json'), '{"both": "1", "own": "2", "bad": "3"}')
  chmodSync(join(data, 'secrets.json'), 0o600)
  t.match(await mcp('disable', 'one'), { code: 0, stdout: 'disabled: one\n' })
  t.match(await mcp('disable', 'one'), { code: 0 })
  t.match(readConfig().one, { note: 'kept', causeway: { enabled: false } })
  t.match(await mcp('enable', 'one'), { code: 0, stdout: 'enabled: one\n' })
  t.match(readConfig().one, { causeway: { enabled: true } })
  t.match(await mcp('remove', 'one', '--dry-run'), {
    code: 0,
    stdout: 'would remove: one, own\n',
    stderr: /nothing removed/,
  })
  t.match(await mcp('remove', 'one'), {
    code: 0,
    stdout: 'removed: one\n',
    stderr: /removed the secrets own/,
  })
  t.same(readSecrets(), { both: '1', bad: '3' })
  t.match(await mcp('remove', 'bad'), { code: 0, stderr: /removed the secrets bad/ })
  t.same(Object.keys(readConfig()), ['two'])
  for (const verb of ['remove', 'enable', 'disable'])
    t.match(await mcp(verb, 'one'), { code: 1, stderr: /SERVER_NOT_FOUND/ }, verb)
  t.match(await mcp('enable'), { code: 2, stderr: /missing <name>\n {2}-> see causeway mcp enable --help/ })
  t.match(await mcp('ad'), { code: 2, stderr: /unknown argument: ad/ })
})

t.test('the help of mcp lists its subcommands', async (t) => {
  t.testdir()
  const { stdout } = await runHere(t, ['mcp', '--help'])
  t.match(stdout, /subcommands:\n {2}mcp add/)
  t.equal(
    (await runHere(t, ['help', 'mcp', 'import'])).stdout,
    (await runHere(t, ['mcp', 'import', '--help'])).stdout,
  )
})
