import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { FolderLock, identifyProcess } from '@causeway/store'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { parseCommandLine } from '../src/config/command-line.ts'
import { listSettings } from '../src/config/config.ts'
import { readConfig } from '../src/config/read-config.ts'
import { findServer, recordServer, type ServerRecord } from '../src/process/server-file.ts'
import { runHere } from './cli/run-here.ts'

const read = (
  t: Test,
  sources: { argv?: string[]; env?: NodeJS.ProcessEnv; files?: Record<string, string> } = {},
) => {
  const { argv = [], env = {}, files = {} } = sources
  return readConfig({ ...parseCommandLine(argv), env, cwd: t.testdir(files) })
}

verifies('server:settings:order', async (t) => {
  const files = { 'causeway.config.json': '{"port": 1, "pageSize": 11}', env: 'MCP_SERVER_PORT=2' }
  t.equal(read(t).config.port, 3100)
  t.equal(read(t, { files }).config.port, 1)
  t.equal(read(t, { files, argv: ['--env-file', 'env'] }).config.port, 2)
  t.equal(read(t, { files, argv: ['--env-file', 'env'], env: { MCP_SERVER_PORT: '3' } }).config.port, 3)
  const all = read(t, { files, argv: ['--env-file', 'env', '--port', '4'], env: { MCP_SERVER_PORT: '3' } })
  t.equal(all.config.port, 4)
  t.equal(all.config.pageSize, 11, 'settings of sources with a lower precedence stay')
})

verifies('server:settings:unknown', async (t) => {
  t.throws(() => read(t, { argv: ['--prot', '1'] }), {
    code: 'INVALID_ARGUMENTS',
    message: /did you mean --port/,
  })
  t.throws(() => read(t, { env: { CAUSEWAY_DATADIR: '/x' } }), { message: /did you mean CAUSEWAY_DATA_DIR/ })
  t.throws(() => read(t, { files: { 'causeway.config.json': '{"ports": 1}' } }), {
    message: /did you mean port/,
  })
  t.throws(() => read(t, { files: { env: 'MCP_SERVER_PROT=1' }, argv: ['--env-file=env'] }), {
    message: /did you mean MCP_SERVER_PORT/,
  })
  t.doesNotThrow(
    () => read(t, { env: { CAUSEWAY_NODE: '/bin/node', PATH: '/bin' } }),
    'ignores other variables',
  )
})

verifies('server:settings:origins', async (t) => {
  const origins = (text: string) => read(t, { env: { CAUSEWAY_ALLOWED_ORIGINS: text } }).config.allowedOrigins
  t.same(read(t).config.allowedOrigins, [])
  const valid = [
    'http://localhost:6274',
    'https://tools.example',
    'http://[::1]:8080',
    'vscode-webview://a1b2',
  ]
  t.same(origins(valid.join(', ')), valid)
  t.same(
    read(t, { argv: ['--allowed-origins', 'http://localhost:6274'] }).config.allowedOrigins,
    valid.slice(0, 1),
  )
  for (const wrong of [
    '*',
    'null',
    'localhost:6274',
    'http://localhost:6274/',
    'http://*.example',
    'http://Localhost:6274',
    'https://tools.example:443',
    'http://localhost:99999',
  ])
    t.throws(
      () => origins(wrong),
      { code: 'INVALID_SETTING', message: /not an origin as browsers send it/ },
      wrong,
    )
})

verifies('server:settings:env-file', async (t) => {
  const files = {
    env: '# local settings\nMCP_SERVER_ENABLED=true\nMCP_SERVER_PORT=3200 # free\nEXTRA_LOGGING=true\n',
  }
  t.match(read(t, { files, argv: ['--env-file', 'env'] }).config, {
    enabled: true,
    port: 3200,
    extraLogging: true,
  })
})

verifies('server:settings:bad-value', async (t) => {
  t.throws(() => read(t, { env: { MCP_SERVER_PORT: 'many' } }), {
    code: 'INVALID_SETTING',
    message: 'MCP_SERVER_PORT must be a number, got "many"',
  })
  const fails = (sources: Parameters<typeof read>[1], message: string | RegExp) =>
    t.throws(() => read(t, sources), { code: 'INVALID_SETTING', message })
  fails({ env: { MCP_SERVER_PORT: '70000' } }, 'MCP_SERVER_PORT must be at most 65535, got "70000"')
  fails({ argv: ['--port', 'abc'] }, '--port must be a number, got "abc"')
  fails({ argv: ['--page-size', '0'] }, '--page-size must be at least 1, got "0"')
  fails({ argv: ['--page-size', '1.5'] }, '--page-size must be a whole number, got "1.5"')
  fails({ env: { EXTRA_LOGGING: 'perhaps' } }, 'EXTRA_LOGGING must be true or false, got "perhaps"')
  fails({ argv: ['--host', ''] }, '--host must not be empty, got ""')
  const files = { 'causeway.config.json': '{"port": "x"}', 'own.env': 'MCP_SERVER_PORT=y' }
  fails({ files }, /^port in .*causeway\.config\.json must be a number, got "x"$/)
  fails({ files, argv: ['--env-file=own.env'] }, /^MCP_SERVER_PORT in .*own\.env must be a number, got "y"$/)
  fails({ argv: ['--minds-llm-options', '{"headers": secret}'] }, /^--minds-llm-options (?!.*secret)/)
  t.throws(() => read(t, { env: { CAUSEWAY_RECEIVE_TIMEOUT_MS: '999' } }), {
    message: /CAUSEWAY_RECEIVE_TIMEOUT_MS.*at least 1000/,
  })
  for (const ms of [0, 1000])
    t.equal(read(t, { env: { CAUSEWAY_RECEIVE_TIMEOUT_MS: `${ms}` } }).config.receiveTimeoutMs, ms)
  t.throws(() => read(t, { argv: ['--port'] }), { message: /--port needs a value/ })
  t.throws(() => read(t, { argv: ['--env-file', 'gone'] }), { message: /cannot read/ })
  t.throws(() => read(t, { files: { 'causeway.config.json': '{' } }), { message: /not JSON/ })
  t.throws(() => read(t, { files: { 'causeway.config.json': '[]' } }), { message: /not a JSON object/ })
})

t.test('relative folders become absolute, and the working directory is the default root', async (t) => {
  const { config } = read(t, {
    env: { CAUSEWAY_RECORDING_ROOTS: `a${process.platform === 'win32' ? ';' : ':'}/b` },
  })
  t.same(config.roots, [t.testdirName])
  t.same(config.recordingRoots, [`${t.testdirName}/a`, '/b'])
  t.equal(read(t, { env: { XDG_DATA_HOME: '/x' } }).config.dataDir, '/x/causeway')
})

t.test('parseCommandLine returns arguments that are not flags in args', async (t) => {
  t.match(parseCommandLine(['roots', 'add', '/data', '--help']), {
    args: ['roots', 'add', '/data'],
    help: true,
  })
})

t.test('every setting has a unique environment variable, a default and a description', async (t) => {
  const rows = listSettings()
  for (const row of rows) t.ok(row.env && row.default && row.meaning, row.key)
  t.equal(new Set(rows.map(({ env }) => env)).size, rows.length)
})

t.test('ports of apps and host names are separated by commas', async (t) => {
  const read = (env: NodeJS.ProcessEnv) => readConfig({ env, cwd: t.testdir() }).config
  t.same(read({ CAUSEWAY_LISTEN: 'minds:3000, debrief:60123' }).listen, [
    { app: 'minds', port: 3000 },
    { app: 'debrief', port: 60123 },
  ])
  t.same(read({ CAUSEWAY_ALLOWED_HOSTS: 'box.local,box' }).allowedHosts, ['box.local', 'box'])
  t.same(read({}).listen, [])
  for (const wrong of ['minds', 'minds:70000', '3000:minds', 'minds:3000:1'])
    t.throws(() => read({ CAUSEWAY_LISTEN: wrong }), { code: 'INVALID_SETTING' }, wrong)
})

const record = { url: 'http://127.0.0.1:1', version: '0.1.0', started_ms: 0, shutdown_ms: 100 }

const rewrite = (dir: string, change: Partial<ServerRecord>): void => {
  const file = join(dir, 'server.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
}

t.test('server.json is private and is removed with the lock', async (t) => {
  const dir = join(t.testdir(), 'data')
  t.same(findServer(dir), { state: 'none' })
  const lock = new FolderLock(dir)
  t.same(findServer(dir), { state: 'none' }, 'the server does not listen yet')
  recordServer(dir, record)
  t.match(findServer(dir), { state: 'running', server: { ...record, pid: process.pid } })
  if (process.platform !== 'win32') t.equal(statSync(join(dir, 'server.json')).mode & 0o777, 0o600)
  lock.release()
  t.same(findServer(dir), { state: 'none' })
})

t.test('server.json of another machine is reported, and invalid content is ignored', async (t) => {
  const dir = t.testdir()
  recordServer(dir, record)
  rewrite(dir, { host: 'another' })
  t.match(findServer(dir), { state: 'elsewhere' })
  t.match((await runHere(t, ['stop', '--data-dir', dir])).stderr, /it runs on another \[STOP_FAILED\]/)
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  writeFileSync(join(dir, 'server.json'), '{"pid": "1"}')
  t.same(findServer(dir), { state: 'none' })
})

verifies('command:stop:foreign', async (t) => {
  const dir = t.testdir()
  const foreign = spawn(process.execPath, [
    '-e',
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 9e9)',
  ])
  const pid = foreign.pid as number
  t.teardown(() => void foreign.kill('SIGKILL'))
  recordServer(dir, record)
  rewrite(dir, { pid })
  t.match(findServer(dir), { state: 'gone' })
  t.match(await runHere(t, ['stop', '--data-dir', dir]), { code: 0, stdout: /^no server is running/ })
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  t.ok(identifyProcess(pid), 'the process was not signalled')

  rewrite(dir, { process: identifyProcess(pid) as string })
  t.match(findServer(dir), { state: 'running' }, 'the process is found by its identity')
  foreign.kill('SIGKILL')
  await once(foreign, 'exit')
  t.match(findServer(dir), { state: 'gone' })
})
