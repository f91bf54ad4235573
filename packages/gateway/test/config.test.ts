import fs, { chmodSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import {
  ConfigFile,
  ConfigWatcher,
  describeEndpoint,
  type HostedServer,
  parseGatewayConfig,
  parseServer,
  redactUrl,
  renderEndpoint,
  renderOAuth,
  SecretsFile,
  type Variables,
} from '../src/config/index.ts'
import { RestartPolicy } from '../src/instances/restart-policy.ts'

const parse = (value: unknown) => parseGatewayConfig(JSON.stringify(value), '/data/mcp.json')

function server(entry: object, name = 'files'): HostedServer {
  const parsed = parseServer(name, entry)
  if (typeof parsed === 'string') throw new Error(parsed)
  return parsed
}

const variables = (more: Partial<Variables> = {}): Variables => ({ env: {}, secrets: {}, ...more })

verifies('gateway:config', async (t) => {
  const { servers, problems, profiles } = parse({
    mcpServers: {
      github: { type: 'http', url: 'https://api.githubcopilot.com/mcp/', disabled: false },
      files: {
        command: 'npx',
        args: ['-y', '@modelcontextprotocol/server-filesystem@2026.8.31', '${project}'],
        env: { TOKEN: '${secret:files_token}' },
        causeway: {
          ...{ app: 'Files', share: 'client', idleMs: 1000, concurrency: 1, start: 'eager', pin: 'warn' },
          ...{
            tools: { deny: ['move_file'] },
            core: ['read_text_file'],
            path: '/opt/bin',
            needsApproval: true,
          },
          oauth: { clientId: 'c' },
        },
      },
      old: { type: 'sse', url: 'http://localhost:1/sse' },
    },
    profiles: { physics: ['Replay', 'Files__read_*'] },
    inputs: [],
  })
  t.same(problems, [])
  t.same(profiles, { physics: ['Replay', 'Files__read_*'] })
  t.same(
    servers.map(({ name, endpoint }) => [name, endpoint.kind]),
    [
      ['github', 'http'],
      ['files', 'stdio'],
      ['old', 'sse'],
    ],
  )
  const [github, files] = servers
  t.match(github, {
    ...{ app: undefined, share: 'shared', idleMs: 600_000, concurrency: 8, start: 'lazy', pin: 'block' },
    ...{
      tools: { allow: undefined, deny: [] },
      core: [],
      enabled: true,
      needsApproval: false,
      path: undefined,
    },
  })
  t.match(files, {
    app: 'Files',
    share: 'client',
    concurrency: 1,
    pin: 'warn',
    needsApproval: true,
    path: '/opt/bin',
  })
  t.same(parseGatewayConfig(' ', 'x').servers, [])
  t.equal(
    parseGatewayConfig('{ // a comment\n "mcpServers": {"a": {"command": "a"},}, }', 'x').servers.length,
    1,
  )
})

verifies('gateway:config:contained', async (t) => {
  const { servers, problems } = parse({
    mcpServers: {
      good: { command: 'node', args: ['${MISSING}', '${secret:KEY}'] },
      both: { command: 'node', url: 'http://x' },
      ...{
        typed: { command: 3 },
        option: { command: 'a', causeway: { share: 'all' } },
        '-': { command: 'a' },
      },
      ...{ header: { url: 'http://x', headers: { 'a b': 'hunter2' } }, nothing: 'hunter2' },
      name: { command: 'a', causeway: { app: 'lower' } },
    },
  })
  t.same(
    servers.map(({ name }) => name),
    ['good'],
  )
  t.same(
    problems.map(({ name, error }) => [name, error.code]),
    ['both', 'typed', 'option', '-', 'header', 'nothing', 'name'].map((name) => [
      name,
      'GATEWAY_CONFIG_INVALID',
    ]),
  )
  t.match(problems[0]?.error.message, 'either "command" or "url"')
  t.notMatch(JSON.stringify(problems.map(({ error }) => error.message)), 'hunter2')
  const [good] = servers
  if (good === undefined) throw new Error('missing')
  t.throws(() => renderEndpoint(good, variables()), {
    code: 'VARIABLE_UNSET',
    message: 'the server "good" needs ${MISSING}, ${secret:KEY}',
  })
  t.throws(() => renderEndpoint(server({ command: 'a', args: ['${project}/x'] }), variables()), {
    code: 'PROJECT_UNKNOWN',
  })
  const secret = variables({ env: { URL: 'ftp://user:hunter2@host' } })
  for (const entry of [{ url: '${URL}' }, { url: 'http://a', headers: { a: 'hunter2\n${URL}' } }])
    t.throws(() => renderEndpoint(server(entry), secret), {
      code: 'GATEWAY_CONFIG_INVALID',
      message: /^((?!hunter).)*$/s,
    })
  for (const text of ['{', '[]', '{"mcpServers": 1}', '{"profiles": {"full": []}}', `${'['.repeat(100_000)}`])
    t.throws(
      () => parseGatewayConfig(text, '/data/mcp.json'),
      { code: 'GATEWAY_CONFIG_INVALID' },
      text.slice(0, 30),
    )
})

verifies('gateway:config:share', async (t) => {
  const share = (command: string, ...args: string[]) => server({ command, args }).share
  t.equal(share('npx', '-y', '@playwright/mcp@0.0.83'), 'client')
  t.equal(share('npx', 'chrome-devtools-mcp@latest'), 'client')
  t.equal(share('npx', '-y', '@modelcontextprotocol/server-sequential-thinking'), 'client')
  t.equal(share('npx', '-y', '@modelcontextprotocol/server-memory@2026.8.31'), 'shared')
  t.equal(share('/usr/bin/mcp-server-memory'), 'shared')
  t.equal(share('npx', '-y', '@upstash/context7-mcp'), 'shared')
  t.equal(share('uvx', 'mcp-server-git'), 'project')
  t.equal(share('node', 'C:\\tools\\server-memory.js'), 'shared')
  t.equal(share('node', '/opt/node_modules/@modelcontextprotocol/server-memory/dist/index.js'), 'shared')
  t.equal(share('node', 'C:\\node_modules\\@playwright\\mcp\\cli.js'), 'client')
  const { concurrency } = server({ command: 'npx', args: ['@modelcontextprotocol/server-memory'] })
  t.equal(concurrency, 1, 'runs calls one after another')
  t.equal(server({ command: 'npx', args: ['other'] }).concurrency, 8)
  t.equal(server({ url: 'https://example.com/mcp' }).share, 'shared')
  t.equal(server({ command: 'npx', args: ['@playwright/mcp'], causeway: { share: 'call' } }).share, 'call')
})

verifies('gateway:config:environment', async (t) => {
  const env = {
    ...{ HOME: '/h', LOGNAME: 'l', PATH: '/bin', SHELL: '() { :; }', TERM: 'xterm', USER: 'u' },
    ...{ AWS_SECRET_ACCESS_KEY: 'x', CAUSEWAY_TOKEN_FILE: 't', PORT: '80' },
  }
  const entry = {
    command: '${HOME}/run',
    args: ['${PORT:-1}', '${NONE:-a-b}', '${project}'],
    env: { TOKEN: '${secret:files.token}', NESTED: '${secret:nested}' },
    causeway: { path: '/opt/bin' },
  }
  const secrets = { 'files.token': 'hunter2', nested: '${HOME}' }
  t.same(renderEndpoint(server(entry), { env, secrets, project: '/p' }), {
    kind: 'stdio',
    command: '/h/run',
    args: ['80', 'a-b', '/p'],
    env: {
      ...{ HOME: '/h', LOGNAME: 'l', PATH: '/opt/bin', TERM: 'xterm', USER: 'u' },
      ...{ TOKEN: 'hunter2', NESTED: '${HOME}' },
    },
    cwd: '/p',
    secrets: ['hunter2', '${HOME}'],
  })
  t.match(renderEndpoint(server({ command: 'a', env: { PATH: '/own' } }), { env, secrets }), {
    env: { PATH: '/own' },
  })
  t.same(
    renderEndpoint(server({ url: 'https://h/${PORT}', headers: { A: 'Bearer ${secret:nested}' } }), {
      env,
      secrets,
    }),
    {
      kind: 'http',
      url: 'https://h/80',
      headers: { A: 'Bearer ${HOME}' },
      secrets: ['${HOME}'],
    },
  )
  const login = server({ url: 'http://h', causeway: { oauth: { clientSecret: '${secret:nested}' } } })
  t.same(renderOAuth(login, { env, secrets }), { clientSecret: '${HOME}' })
})

verifies('gateway:config:secrets', async (t) => {
  const dir = t.testdir()
  const file = new SecretsFile(dir)
  t.same(file.read(), {})
  file.set({ one: '1', two: '2' })
  file.set({ two: 'hunter2' })
  t.equal(statSync(file.path).mode & 0o777, 0o600)
  file.remove(['one', 'missing'])
  t.same(file.read(), { two: 'hunter2' })
  if (process.platform !== 'win32') {
    chmodSync(file.path, 0o640)
    t.throws(() => file.read(), { code: 'SECRETS_INVALID', remedy: `run chmod 600 ${file.path}` })
    chmodSync(file.path, 0o600)
  }
  writeFileSync(file.path, '{"a": "hunter2", }')
  t.throws(() => file.set({ b: 'c' }), { code: 'SECRETS_INVALID', message: /^((?!hunter).)*$/ })
  t.match(readFileSync(file.path, 'utf8'), 'hunter2')
})

function watch(t: Test, dataDir: string) {
  const events: string[] = []
  const watcher = new ConfigWatcher({
    dataDir,
    onChange: ({ servers, secrets }) =>
      events.push(`${servers.map(({ name }) => name)} ${Object.keys(secrets)}`),
    onFailure: ({ code }) => events.push(code),
  })
  t.teardown(() => watcher.close())
  return { watcher, events }
}

verifies('gateway:config:watch', async (t) => {
  const dir = t.testdir()
  const { watcher, events } = watch(t, dir)
  const path = join(dir, 'mcp.json')
  watcher.check()
  t.same(events, [])
  new ConfigFile(dir).setServer('a', { command: 'a' })
  watcher.check()
  watcher.check()
  new SecretsFile(dir).set({ key: 'x' })
  watcher.check()
  t.same(events.splice(0), ['a ', 'a key'])
  writeFileSync(path, '{ "mcpServers": ')
  watcher.check()
  writeFileSync(path, '{ "mcpServers": ')
  watcher.check()
  t.same(events.splice(0), ['GATEWAY_CONFIG_INVALID'])
  t.match(watcher.failure, { code: 'GATEWAY_CONFIG_INVALID' })
  t.match(watcher.current.servers, [{ name: 'a' }])
  rmSync(path)
  watcher.check()
  t.same(events.splice(0), [' key'])
  t.equal(watcher.failure, undefined)
  mkdirSync(path)
  watcher.check()
  t.same(events, ['GATEWAY_CONFIG_INVALID'])
})

verifies('gateway:config:watch', 'ConfigWatcher reads a file again after it could not be read', async (t) => {
  const dir = t.testdir()
  const { watcher, events } = watch(t, dir)
  new ConfigFile(dir).setServer('a', { command: 'a' })
  const { readFileSync } = fs
  fs.readFileSync = () => {
    throw Object.assign(new Error('EMFILE'), { code: 'EMFILE' })
  }
  syncBuiltinESMExports()
  t.teardown(() => {
    fs.readFileSync = readFileSync
    syncBuiltinESMExports()
  })
  watcher.check()
  watcher.check()
  fs.readFileSync = readFileSync
  syncBuiltinESMExports()
  watcher.check()
  watcher.check()
  t.same(events, ['GATEWAY_CONFIG_INVALID', 'a '])
})

t.test('ConfigWatcher reports an invalid configuration at startup', async (t) => {
  const dir = t.testdir({ 'mcp.json': '[' })
  const { watcher, events } = watch(t, dir)
  t.same(events, ['GATEWAY_CONFIG_INVALID'])
  t.same(watcher.current.servers, [])
})

t.test('ConfigWatcher also reads changed files on a timer', async (t) => {
  const dir = t.testdir()
  const changed = new Promise<void>((resolve) => {
    const watcher = new ConfigWatcher({
      dataDir: dir,
      onChange: () => resolve(),
      onFailure: () => {},
      pollMs: 5,
    })
    watcher.start()
    t.teardown(() => watcher.close())
  })
  new ConfigFile(dir).setServer('a', { command: 'a' })
  // Keeps the process alive, because the timer of the watcher does not.
  const keepAlive = setInterval(() => {}, 1000)
  await changed
  clearInterval(keepAlive)
})

verifies('gateway:redact', async (t) => {
  const describe = (entry: object) => describeEndpoint(server(entry).endpoint)
  t.equal(
    describe({
      command: 'npx',
      args: [
        ...[
          'mcp-remote',
          'https://u:p@h/sse?key=1#x',
          '--header',
          'Authorization: Bearer abc',
          '--header=X-Api-Key:1',
        ],
        ...[
          '--api-key',
          'abc',
          '--token=abc',
          '--name',
          'abc',
          '--key=${secret:a}',
          'ghp_0123456789abcdefghij',
        ],
      ],
    }),
    [
      'npx mcp-remote https://<redacted>@h/sse?<redacted> --header',
      "'Authorization: <redacted>' --header=X-Api-Key:<redacted> --api-key <redacted> --token=<redacted>",
      '--name abc --key=${secret:a} <redacted>',
    ].join(' '),
  )
  t.equal(describe({ url: 'https://h/${PATH}?token=${secret:a}' }), 'https://h/${PATH}?<redacted>')
  t.equal(redactUrl('http://h/mcp'), 'http://h/mcp')
  t.equal(redactUrl('postgres://user:pw@h:1/db'), 'postgres://<redacted>@h:1/db')
})

verifies('gateway:backoff', 'RestartPolicy delays attempts after failures', async (t) => {
  let now = 0
  const policy = new RestartPolicy({ now: () => now, random: () => 0.5 })
  const waits: number[] = []
  for (let failure = 1; failure <= 5; failure++) {
    policy.recordFailure()
    waits.push(policy.waitMs)
    t.equal(policy.isDown, failure === 5)
    now += failure === 5 ? 0 : policy.waitMs
  }
  t.same(waits, [0, 1000, 2000, 4000, 300_000])
  now += 300_000
  t.match(
    { waitMs: policy.waitMs, isDown: policy.isDown },
    { waitMs: 0, isDown: true },
    'permits one attempt after five minutes',
  )
  policy.recordFailure()
  t.equal(policy.waitMs, 300_000, 'waits five minutes again after the attempt failed')
  now += 600_000
  t.equal(policy.isDown, false, 'ignores failures after ten minutes')
  policy.recordFailure(600_000)
  t.equal(policy.waitMs, 600_000, 'waits as long as the server requested')
  policy.reset()
  t.ok(policy.isRecovered)
})
