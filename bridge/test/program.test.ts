import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  cpSync,
  existsSync,
  linkSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { openProtectedServer } from '../../packages/oauth/test/protected-server.ts'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { openDebugLog, redact } from '../src/lifecycle/debug-log.ts'
import { groups, options } from '../src/settings/options.ts'
import { readFlags, readSettings, type Settings } from '../src/settings/settings.ts'
import { usage } from '../src/settings/usage.ts'
import { version } from '../src/version.ts'
import { startBackend } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'
import { findOldestNode } from './oldest-node.ts'

verifies('bridge:help', async (t) => {
  const version = startBridge(t, { args: ['--version'] })
  t.same(await version.exited, { code: 0, signal: null })
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))
  t.same(version.lines, [manifest.version])
  const help = startBridge(t, { args: ['--help'] })
  t.same(await help.exited, { code: 0, signal: null })
  const text = help.lines.join('\n')
  for (const word of ['--url', '--max-line', '--drain', '--help', '--version', 'MCP_SERVER_URL', 'DEBUG'])
    t.match(text, word)
  for (const word of ['CAUSEWAY_SESSION', 'CAUSEWAY_MAX_LINE_BYTES', 'CAUSEWAY_DRAIN_MS']) t.match(text, word)
})

verifies(
  'bridge:setting:url',
  'for an unknown flag or an invalid URL, the bridge prints one line and exits with 2',
  async (t) => {
    for (const start of [{ args: ['--port', '1'] }, { url: 'nonsense' }]) {
      const bridge = startBridge(t, start)
      t.same(await bridge.exited, { code: 2, signal: null })
      t.match(bridge.stderr, /^causeway-bridge: INVALID_SETTING: [^\n]+\n$/)
      t.same(bridge.lines, [], 'nothing on standard output')
    }
  },
)

verifies('bridge:setting:debug', 'the log contains the messages without secrets', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { DEBUG: 'true', TMPDIR: dir } })
  await bridge.open()
  await bridge.call(1, 'tools/call', { name: 'x', arguments: { api_key: 'hidden-value' } })
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  bridge.end()
  await bridge.exited
  const log = readFileSync(join(dir, 'mcp_wrapper.log'), 'utf8')
  for (const line of log.trimEnd().split('\n'))
    t.match(line, new RegExp(`^\\d{4}-\\d\\d-\\d\\dT[\\d:.]+Z \\[${bridge.process.pid}\\] `))
  t.match(log, 'tools/call')
  t.match(log, 'PARSE_ERROR')
  t.match(log, 'end of input')
  t.notMatch(log, 'hidden-value')
})

verifies('bridge:setting:debug', 'no log is written without DEBUG', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { TMPDIR: dir } })
  await bridge.call(1, 'ping')
  bridge.end()
  await bridge.exited
  t.throws(() => readFileSync(join(dir, 'mcp_wrapper.log')), { code: 'ENOENT' })
})

verifies('bridge:setting:debug', 'the bridge warns and runs if the log cannot be opened', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir({ 'mcp_wrapper.log': {} })
  const bridge = startBridge(t, { url: backend.url, env: { DEBUG: 'true', TMPDIR: dir } })
  t.match(await bridge.call(1, 'ping'), { result: {} })
  t.match(bridge.stderr, /no debug log/)
})

const checkout = fileURLToPath(new URL('../..', import.meta.url))

function copyLauncher(dir: string): string {
  const launcher = join(dir, 'bridge', 'run.mjs')
  cpSync(join(checkout, 'bridge/run.mjs'), launcher)
  return launcher
}

verifies(
  'bridge:launcher',
  'every request gets an error that recommends npm start if there is no bundle',
  async (t) => {
    const dir = t.testdir({ bridge: {} })
    const bridge = startBridge(t, { run: [copyLauncher(dir)] })
    bridge.raw('not JSON\n\n')
    for (const [id, method, params] of [
      ['a', 'initialize', initializeParams],
      [0, 'server/discover', modern],
      [1, 'tools/list', {}],
    ] as const) {
      const answer = await bridge.call(id, method, params)
      t.match(answer, { id, error: { code: -32603, data: { code: 'SERVER_UNREACHABLE' } } })
      t.match(answer.error.message, 'npm start')
      t.match(answer.error.message, dir)
    }
    bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' })
    t.match(await bridge.answer(null), { error: { code: -32700 } })
    bridge.end()
    t.same(await bridge.exited, { code: 0, signal: null })
    t.equal(bridge.lines.length, 4, 'a notification gets no response')
  },
)

verifies('bridge:launcher', 'with --autostart, a missing bundle is built first', async (t) => {
  const backend = await startBackend(t)
  const bundle = `import ${JSON.stringify(join(checkout, 'bridge/src/main.ts'))}`
  const build = `import { writeFileSync } from 'node:fs'
    const [command] = process.argv.slice(2)
    if (command === 'bridge')
      writeFileSync(new URL('../bridge/dist/bridge.js', import.meta.url), ${JSON.stringify(bundle)})`
  const dir = t.testdir({ bridge: { dist: {} }, scripts: { 'run.mjs': build } })
  const bridge = startBridge(t, {
    url: backend.url,
    run: ['--conditions=@causeway/source', copyLauncher(dir), '--autostart'],
  })
  t.match(await bridge.call(1, 'ping'), { result: {} }, 'a request that arrived meanwhile is answered')
})

verifies(
  'bridge:launcher',
  '.mcp.json and .vscode/mcp.json run the launcher, which runs the bundle',
  async (t) => {
    const backend = await startBackend(t)
    const read = (path: string) => JSON.parse(readFileSync(join(checkout, path), 'utf8'))
    const servers = [read('.mcp.json').mcpServers.causeway, read('.vscode/mcp.json').servers.causeway]
    const dir = t.testdir({
      bridge: { dist: { 'bridge.js': `import ${JSON.stringify(join(checkout, 'bridge/src/main.ts'))}` } },
    })
    copyLauncher(dir)
    for (const { type, command, args } of servers) {
      t.equal(type, 'stdio')
      t.equal(command, 'node')
      const run = args.map((arg: string) => arg.replace(/\$\{workspaceFolder\}/, dir))
      const [path, ...flags] = run
      t.same(flags, ['--autostart'], 'the server is started if it does not run')
      const launcher = path.startsWith(dir) ? path : join(dir, path)
      t.ok(existsSync(launcher), 'the path is the launcher')
      const bridge = startBridge(t, {
        url: backend.url,
        run: ['--conditions=@causeway/source', launcher, ...flags],
      })
      t.match(await bridge.call(1, 'ping'), { result: { echo: 'ping' } })
    }
  },
)

verifies('bridge:help', '--help lists every heading, flag and variable', async (t) => {
  for (const group of Object.keys(groups)) t.match(usage, `\n${group}:\n`)
  for (const [name, { env }] of Object.entries(options)) {
    t.match(usage, new RegExp(`^  (-\\w, )?--${name}\\b`, 'm'))
    if (env !== undefined) t.match(usage, `[${env}]`)
  }
  t.same(
    usage.split('\n').filter((line) => line.length > 104),
    [],
    'every line fits in a terminal',
  )
})

verifies('bridge:setting:flag', async (t) => {
  const remedy = (arg: string): unknown => {
    try {
      readSettings([arg], {})
    } catch (error) {
      return (error as { remedy: unknown }).remedy
    }
    return undefined
  }
  t.match(remedy('--tokenfile=x'), /did you mean --token-file\?/)
  t.match(remedy('--docter'), /did you mean --doctor\?/)
  t.match(remedy('--colour'), /^see --help$/)
  t.match(remedy('-x'), /see --help/)
})

t.test('readFlags prefers the flag to the variable, and splits only the variable at commas', async (t) => {
  const env = {
    CAUSEWAY_ONLY: 'a , b',
    CAUSEWAY_STATS: 'TRUE',
    CAUSEWAY_OFFLINE_LIST: 'no',
    CAUSEWAY_APP: ' x ',
  }
  const flags = readFlags(['--header', 'A: 1, 2', '--header', 'B: 3', '--url', ''], env)
  t.same(flags.all('header'), ['A: 1, 2', 'B: 3'])
  t.same(flags.all('only'), ['a', 'b'])
  t.equal(flags.isOn('stats'), true)
  t.equal(flags.isOn('offline-list'), false)
  t.equal(flags.text('app'), 'x')
  t.equal(flags.text('url'), undefined, 'an empty value is a missing value')
  t.same(readFlags(['--only', 'c'], env).all('only'), ['c'])
})

t.test('readSettings splits globs at commas in flags and variables', async (t) => {
  const { tools } = readSettings(['--only', 'a,b', '--only', 'c'], {}) as Settings
  t.same(tools, { only: ['a', 'b', 'c'], ignore: [] })
})

verifies(
  'bridge:setting:url',
  'readSettings prefers the flag to the environment, and the environment to the default',
  async (t) => {
    const url = (args: string[], env = {}) => String((readSettings(args, env) as { url: URL }).url)
    t.equal(url([]), 'http://localhost:3100/mcp')
    t.equal(url([], { MCP_SERVER_URL: '' }), 'http://localhost:3100/mcp')
    t.equal(url([], { MCP_SERVER_URL: ' http://a:1/mcp\n' }), 'http://a:1/mcp')
    t.equal(
      url(['--url', 'https://b/mcp/replay?x=1'], { MCP_SERVER_URL: 'http://a' }),
      'https://b/mcp/replay?x=1',
    )
  },
)

verifies('bridge:setting:url', 'readSettings rejects invalid values', async (t) => {
  const rejects = (args: string[], env = {}) =>
    t.throws(() => readSettings(args, env), { code: 'INVALID_SETTING' })
  for (const url of ['nonsense', 'ftp://a/mcp', 'file:///mcp', 'http://user:secret@a/mcp', 'localhost:3100'])
    rejects(['--url', url])
  for (const args of [['--foo'], ['positional'], ['--url'], ['--max-line', '-1'], ['--drain=1s']])
    rejects(args)
  rejects([], { CAUSEWAY_SESSION: 'with blank' })
  rejects([], { CAUSEWAY_SESSION: 'x'.repeat(129) })
  rejects([], { CAUSEWAY_MAX_LINE_BYTES: '10mb' })
})

t.test('readSettings reports an invalid URL without its password', async (t) => {
  for (const url of ['http://user:secret@a/mcp', 'ftp://user:secret@a/mcp', 'http://user:secret@/mcp'])
    try {
      readSettings(['--url', url], {})
      t.fail('not rejected')
    } catch (error) {
      t.notMatch(String(error), 'secret')
    }
})

t.test('readSettings reads limits and the session from flags, environment and defaults', async (t) => {
  t.match(readSettings([], {}), { debug: false, session: undefined, maxLine: 10_420_224, drainMs: 5000 })
  const env = { DEBUG: 'TRUE', CAUSEWAY_SESSION: 'me', CAUSEWAY_MAX_LINE_BYTES: '1', CAUSEWAY_DRAIN_MS: '2' }
  t.match(readSettings([], env), { debug: true, session: 'me', maxLine: 1, drainMs: 2 })
  t.match(readSettings(['--max-line', '3', '--drain', '4'], env), { maxLine: 3, drainMs: 4 })
  t.match(readSettings([], { DEBUG: 'app:*' }), { debug: false }, 'the DEBUG of another program')
})

t.test('readSettings returns help or version for --help and -v', async (t) => {
  t.equal(readSettings(['--help', '--url', 'x'], {}), 'help')
  t.equal(readSettings(['-v'], {}), 'version')
})

const bridge = fileURLToPath(new URL('..', import.meta.url))

verifies(
  'bridge:package',
  inCI(async (t) => {
    execFileSync(process.execPath, ['--conditions=@causeway/source', join(bridge, '../scripts/bundle.ts')])
    // Outside the checkout, so that no node_modules of a parent folder is used.
    const dir = mkdtempSync(join(tmpdir(), 'causeway-package-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    const node = findOldestNode(t)
    const env = {
      ...process.env,
      PATH: [dirname(node), process.env.PATH].join(delimiter),
      npm_config_cache: join(dir, 'cache'),
      npm_config_offline: 'true',
      npm_config_update_notifier: 'false',
    }
    const run = (command: string, args: string[], cwd = dir) =>
      execFileSync(command, args, { cwd, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] })

    const [packed] = JSON.parse(
      run('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', dir], bridge),
    )
    t.same(packed.files.map(({ path }: { path: string }) => path).sort(), [
      'README.md',
      'dist/THIRD-PARTY-NOTICES.txt',
      'dist/bridge.js',
      'dist/login.js',
      'package.json',
    ])
    const manifest = JSON.parse(readFileSync(join(bridge, 'package.json'), 'utf8'))
    t.equal(manifest.dependencies, undefined, 'the package has no dependencies')
    const tarball = join(dir, packed.filename)
    t.equal(run('npx', ['--yes', '-p', tarball, 'causeway-bridge', '--version']).trim(), version)
  }),
)

verifies(
  'bridge:bundle',
  inCI(async (t) => {
    execFileSync(process.execPath, ['--conditions=@causeway/source', join(checkout, 'scripts/bundle.ts')])
    // Outside the checkout, so that no node_modules of a parent folder is used.
    const dir = mkdtempSync(join(tmpdir(), 'causeway-bundle-'))
    t.teardown(() => rmSync(dir, { recursive: true }))
    for (const file of ['package.json', 'run.mjs', 'dist/bridge.js', 'dist/login.js'])
      cpSync(join(checkout, 'bridge', file), join(dir, file))

    const backend = await startBackend(t)
    const node = findOldestNode(t)
    const { mcpUrl } = await openProtectedServer(t)
    const protectedBridge = startBridge(t, { url: mcpUrl, node, run: [join(dir, 'dist/bridge.js')] })
    t.match(await protectedBridge.call(1, 'ping'), { error: { data: { code: 'NEEDS_LOGIN' } } }, 'login.js')
    for (const file of ['dist/bridge.js', 'run.mjs']) {
      const bridge = startBridge(t, { url: backend.url, node, run: [join(dir, file)] })
      t.match(await bridge.open(), { result: { protocolVersion: '2025-11-25' } }, file)
      t.match(await bridge.call(1, 'tools/list'), { result: {} })
      bridge.end()
      t.same(await bridge.exited, { code: 0, signal: null })
      t.equal(bridge.stderr, '')
    }
  }),
)

t.test('findOldestNode falls back to a newer Node outside continuous integration', async (t) => {
  const dir = t.testdir({
    newer: { node: '#!/bin/sh\necho v24.0.0\n' },
    older: { node: '#!/bin/sh\necho v20.18.0\n' },
    empty: {},
  })
  for (const name of ['newer', 'older']) chmodSync(join(dir, name, 'node'), 0o755)
  const comments: string[] = []
  const find = (env: NodeJS.ProcessEnv) =>
    findOldestNode(
      { comment: (text) => comments.push(text) },
      { CAUSEWAY_CLIENT_CACHE: join(dir, 'empty'), ...env },
    )
  const [newer, older] = [join(dir, 'newer'), join(dir, 'older')]
  t.equal(find({ PATH: `${newer}:${join(dir, 'empty')}:${older}`, CI: 'true' }), join(older, 'node'))
  t.equal(find({ CAUSEWAY_NODE20: join(older, 'node'), PATH: '', CI: 'true' }), join(older, 'node'))
  t.same(comments, [])
  t.throws(() => find({ PATH: newer, CI: 'true' }), /CAUSEWAY_NODE20.*clients\.mjs install/)
  t.throws(() => find({ CAUSEWAY_NODE20: join(newer, 'node'), PATH: older }), /is not Node 20/)
  t.equal(find({ PATH: newer }), process.execPath)
  t.match(comments, [/Node 20 not found/])
})

const head = { pid: 42, now: () => new Date('2026-01-02T03:04:05.678Z') }

verifies('bridge:setting:debug', 'openDebugLog writes each text as one line with time and pid', async (t) => {
  const path = join(t.testdir(), 'mcp_wrapper.log')
  const log = openDebugLog(path, head)
  log('one')
  log('two\nlines')
  openDebugLog(path, { ...head, pid: 43 })('appended')
  t.same(readFileSync(path, 'utf8').trimEnd().split('\n'), [
    '2026-01-02T03:04:05.678Z [42] one',
    '2026-01-02T03:04:05.678Z [42] two lines',
    '2026-01-02T03:04:05.678Z [43] appended',
  ])
  t.equal(statSync(path).mode & 0o777, 0o600)
})

verifies('bridge:setting:debug', 'openDebugLog rejects a link, pipe or folder', async (t) => {
  const dir = t.testdir({ target: 'keep', folder: {} })
  symlinkSync(join(dir, 'target'), join(dir, 'link'))
  linkSync(join(dir, 'target'), join(dir, 'hard'))
  execFileSync('mkfifo', [join(dir, 'pipe')])
  for (const name of ['link', 'hard', 'pipe', 'folder'])
    t.throws(() => openDebugLog(join(dir, name), head), name)
  t.equal(readFileSync(join(dir, 'target'), 'utf8'), 'keep')
})

t.test('openDebugLog removes the permissions of other users', async (t) => {
  const path = join(t.testdir(), 'mcp_wrapper.log')
  writeFileSync(path, '')
  chmodSync(path, 0o644)
  openDebugLog(path, head)
  t.equal(statSync(path).mode & 0o777, 0o600)
})

t.test('redact removes secrets and keeps other text', async (t) => {
  const text =
    '{"api_key":"abc\\"d","n":1,"password":12,"Authorization":"Bearer xyz","plain":"token","accessToken":"cut off'
  const shown = redact(text)
  for (const secret of ['abc', '12', 'xyz', 'cut off']) t.notMatch(shown, secret)
  t.match(shown, '"n":1')
  t.match(shown, '"plain":"token"')
  t.notMatch(redact('authorization: Bearer a.b-c'), 'a.b-c')
  t.notMatch(redact('key sk-abcdefgh12345'), 'abcdefgh')
})
