import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readFlags } from '../src/flags.ts'
import { type Option, options } from '../src/options.ts'
import { readSettings, type Settings } from '../src/settings.ts'
import { usage } from '../src/usage.ts'
import { version } from '../src/version.ts'
import { startBackend } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'
import { oldestNode } from './oldest-node.ts'

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
  'main: an unknown flag or a bad URL is one sentence on stderr, exit 2',
  async (t) => {
    for (const start of [{ args: ['--port', '1'] }, { url: 'nonsense' }]) {
      const bridge = startBridge(t, start)
      t.same(await bridge.exited, { code: 2, signal: null })
      t.match(bridge.stderr, /^causeway-bridge: INVALID_SETTING: [^\n]+\n$/)
      t.same(bridge.lines, [], 'nothing on standard output')
    }
  },
)

verifies('bridge:setting:debug', 'main: the log tells what passed, without secrets', async (t) => {
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

verifies('bridge:setting:debug', 'without DEBUG no log is written', async (t) => {
  const backend = await startBackend(t)
  const dir = t.testdir()
  const bridge = startBridge(t, { url: backend.url, env: { TMPDIR: dir } })
  await bridge.call(1, 'ping')
  bridge.end()
  await bridge.exited
  t.throws(() => readFileSync(join(dir, 'mcp_wrapper.log')), { code: 'ENOENT' })
})

verifies(
  'bridge:setting:debug',
  'a log that cannot be opened is told and does not stop the bridge',
  async (t) => {
    const backend = await startBackend(t)
    const dir = t.testdir({ 'mcp_wrapper.log': {} })
    const bridge = startBridge(t, { url: backend.url, env: { DEBUG: 'true', TMPDIR: dir } })
    t.match(await bridge.call(1, 'ping'), { result: {} })
    t.match(bridge.stderr, /no debug log/)
  },
)

const checkout = fileURLToPath(new URL('../..', import.meta.url))

/** A copy of the launcher in a folder of its own: beside it there is no bundle unless the test makes one. */
function launcherIn(dir: string): string {
  const launcher = join(dir, 'bridge', 'run.mjs')
  cpSync(join(checkout, 'bridge/run.mjs'), launcher)
  return launcher
}

verifies('bridge:launcher', 'without a bundle every request is told to run npm start', async (t) => {
  const dir = t.testdir({ bridge: {} })
  const bridge = startBridge(t, { run: [launcherIn(dir)] })
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
  t.equal(bridge.lines.length, 4, 'a notification is not answered')
})

verifies(
  'bridge:launcher',
  'both committed configurations run the launcher, which runs the bundle',
  async (t) => {
    const backend = await startBackend(t)
    const read = (path: string) => JSON.parse(readFileSync(join(checkout, path), 'utf8'))
    const servers = [read('.mcp.json').mcpServers.causeway, read('.vscode/mcp.json').servers.causeway]
    const dir = t.testdir({
      bridge: { dist: { 'bridge.js': `import ${JSON.stringify(join(checkout, 'bridge/src/main.ts'))}` } },
    })
    launcherIn(dir)
    for (const { type, command, args } of servers) {
      t.equal(type, 'stdio')
      t.equal(command, 'node')
      const run = args.map((arg: string) => arg.replace(/\$\{workspaceFolder\}/, dir))
      const [path] = run
      t.equal(args.length, 1)
      const launcher = path.startsWith(dir) ? path : join(dir, path)
      t.ok(existsSync(launcher), 'the path is that of the launcher')
      const bridge = startBridge(t, { url: backend.url, run: ['--conditions=@causeway/source', launcher] })
      t.match(await bridge.call(1, 'ping'), { result: { echo: 'ping' } })
    }
  },
)

verifies('bridge:help', 'usage: every flag and its variable stands under a heading', async (t) => {
  for (const [name, { env, group }] of Object.entries<Option>(options)) {
    t.match(usage, new RegExp(`^  (-\\w, )?--${name}\\b`, 'm'))
    t.match(usage, `\n${group}:\n`)
    if (env !== undefined) t.match(usage, `[${env}]`)
  }
  t.same(
    usage.split('\n').filter((line) => line.length > 104),
    [],
    'it fits a terminal',
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

t.test(
  'readFlags: the flag wins over the variable, and lists divide at commas only in the variable',
  async (t) => {
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
    t.equal(flags.text('url'), undefined, 'set to nothing is not set')
    t.same(readFlags(['--only', 'c'], env).all('only'), ['c'])
  },
)

t.test('readSettings: globs divide at commas wherever they come from', async (t) => {
  const { tools } = readSettings(['--only', 'a,b', '--only', 'c'], {}) as Settings
  t.same(tools, { only: ['a', 'b', 'c'], ignore: [] })
})

verifies('bridge:setting:url', 'readSettings: flag before environment before default', async (t) => {
  const url = (args: string[], env = {}) => String((readSettings(args, env) as { url: URL }).url)
  t.equal(url([]), 'http://localhost:3100/mcp')
  t.equal(url([], { MCP_SERVER_URL: '' }), 'http://localhost:3100/mcp')
  t.equal(url([], { MCP_SERVER_URL: ' http://a:1/mcp\n' }), 'http://a:1/mcp')
  t.equal(
    url(['--url', 'https://b/mcp/replay?x=1'], { MCP_SERVER_URL: 'http://a' }),
    'https://b/mcp/replay?x=1',
  )
})

verifies('bridge:setting:url', 'readSettings: what is wrong is refused with its name', async (t) => {
  const refused = (args: string[], env = {}) =>
    t.throws(() => readSettings(args, env), { code: 'INVALID_SETTING' })
  for (const url of ['nonsense', 'ftp://a/mcp', 'file:///mcp', 'http://user:secret@a/mcp', 'localhost:3100'])
    refused(['--url', url])
  for (const args of [['--foo'], ['positional'], ['--url'], ['--max-line', '-1'], ['--drain=1s']])
    refused(args)
  refused([], { CAUSEWAY_SESSION: 'with blank' })
  refused([], { CAUSEWAY_SESSION: 'x'.repeat(129) })
  refused([], { CAUSEWAY_MAX_LINE_BYTES: '10mb' })
})

t.test('readSettings: a refused URL never repeats its password', async (t) => {
  try {
    readSettings(['--url', 'http://user:secret@a/mcp'], {})
    t.fail('not refused')
  } catch (error) {
    t.notMatch(String(error), 'secret')
  }
})

t.test('readSettings: the other settings have defaults, environment and flags', async (t) => {
  t.match(readSettings([], {}), { debug: false, session: undefined, maxLine: 10_420_224, drainMs: 5000 })
  const env = { DEBUG: 'TRUE', CAUSEWAY_SESSION: 'me', CAUSEWAY_MAX_LINE_BYTES: '1', CAUSEWAY_DRAIN_MS: '2' }
  t.match(readSettings([], env), { debug: true, session: 'me', maxLine: 1, drainMs: 2 })
  t.match(readSettings(['--max-line', '3', '--drain', '4'], env), { maxLine: 3, drainMs: 4 })
  t.match(readSettings([], { DEBUG: 'app:*' }), { debug: false }, 'a DEBUG of another tool')
})

t.test('readSettings: help and version win over everything', async (t) => {
  t.equal(readSettings(['--help', '--url', 'x'], {}), 'help')
  t.equal(readSettings(['-v'], {}), 'version')
})

const bridge = fileURLToPath(new URL('..', import.meta.url))

verifies('bridge:package', async (t) => {
  execFileSync(process.execPath, ['--conditions=@causeway/source', join(bridge, '../scripts/bundle.ts')])
  // Outside the checkout, where no node_modules is found by going up.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-package-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  const node = oldestNode(t)
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
    'dist/bridge.js',
    'package.json',
  ])
  const manifest = JSON.parse(readFileSync(join(bridge, 'package.json'), 'utf8'))
  t.equal(manifest.dependencies, undefined, 'nothing to install beside it')
  const tarball = join(dir, packed.filename)
  t.equal(run('npx', ['--yes', '-p', tarball, 'causeway-bridge', '--version']).trim(), version)
})

verifies('bridge:bundle', async (t) => {
  execFileSync(process.execPath, ['--conditions=@causeway/source', join(checkout, 'scripts/bundle.ts')])
  // Outside the checkout, where no node_modules is found by going up.
  const dir = mkdtempSync(join(tmpdir(), 'causeway-bundle-'))
  t.teardown(() => rmSync(dir, { recursive: true }))
  for (const file of ['package.json', 'run.mjs', 'dist/bridge.js'])
    cpSync(join(checkout, 'bridge', file), join(dir, file))

  const backend = await startBackend(t)
  const node = oldestNode(t)
  for (const file of ['dist/bridge.js', 'run.mjs']) {
    const bridge = startBridge(t, { url: backend.url, node, run: [join(dir, file)] })
    t.match(await bridge.open(), { result: { protocolVersion: '2025-11-25' } }, file)
    t.match(await bridge.call(1, 'tools/list'), { result: {} })
    bridge.end()
    t.same(await bridge.exited, { code: 0, signal: null })
    t.equal(bridge.stderr, '')
  }
})

t.test('oldestNode: a newer Node stands in for the oldest, but not in continuous integration', async (t) => {
  const dir = t.testdir({
    newer: { node: '#!/bin/sh\necho v24.0.0\n' },
    older: { node: '#!/bin/sh\necho v20.18.0\n' },
    empty: {},
  })
  for (const name of ['newer', 'older']) chmodSync(join(dir, name, 'node'), 0o755)
  const told: string[] = []
  const find = (env: NodeJS.ProcessEnv) =>
    oldestNode({ comment: (text) => told.push(text) }, { CAUSEWAY_CLIENT_CACHE: join(dir, 'empty'), ...env })
  const [newer, older] = [join(dir, 'newer'), join(dir, 'older')]
  t.equal(find({ PATH: `${newer}:${join(dir, 'empty')}:${older}`, CI: 'true' }), join(older, 'node'))
  t.equal(find({ CAUSEWAY_NODE20: join(older, 'node'), PATH: '', CI: 'true' }), join(older, 'node'))
  t.same(told, [])
  t.throws(() => find({ PATH: newer, CI: 'true' }), /CAUSEWAY_NODE20.*clients\.mjs install/)
  t.throws(() => find({ CAUSEWAY_NODE20: join(newer, 'node'), PATH: older }), /names no Node 20/)
  t.equal(find({ PATH: newer }), process.execPath)
  t.match(told, [/no Node 20 is found/])
})
