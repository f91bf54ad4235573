import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { lockFolder, processIdentity } from '@causeway/store'
import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { settingTable } from '../src/config.ts'
import { readConfig } from '../src/read-config.ts'
import { findRunning, noteRunning, type ServerNote } from '../src/running.ts'
import { runHere } from './cli/run-here.ts'

const read = (
  t: Test,
  sources: { argv?: string[]; env?: NodeJS.ProcessEnv; files?: Record<string, string> } = {},
) => readConfig({ argv: sources.argv ?? [], env: sources.env ?? {}, cwd: t.testdir(sources.files ?? {}) })

verifies('server:settings:order', async (t) => {
  const files = { 'causeway.config.json': '{"port": 1, "pageSize": 11}', env: 'MCP_SERVER_PORT=2' }
  t.equal(read(t).config.port, 3100)
  t.equal(read(t, { files }).config.port, 1)
  t.equal(read(t, { files, argv: ['--env-file', 'env'] }).config.port, 2)
  t.equal(read(t, { files, argv: ['--env-file', 'env'], env: { MCP_SERVER_PORT: '3' } }).config.port, 3)
  const all = read(t, { files, argv: ['--env-file', 'env', '--port', '4'], env: { MCP_SERVER_PORT: '3' } })
  t.equal(all.config.port, 4)
  t.equal(all.config.pageSize, 11, 'what no stronger source says stays')
})

verifies('server:settings:unknown', async (t) => {
  t.throws(() => read(t, { argv: ['--prot', '1'] }), {
    code: 'INVALID_SETTING',
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
    'what is not ours is left alone',
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
    message: /MCP_SERVER_PORT.*many/,
  })
  t.throws(() => read(t, { env: { MCP_SERVER_PORT: '70000' } }), { code: 'INVALID_SETTING' })
  t.throws(() => read(t, { env: { CAUSEWAY_RECEIVE_TIMEOUT_MS: '999' } }), {
    message: /CAUSEWAY_RECEIVE_TIMEOUT_MS.*at least 1000/,
  })
  for (const ms of [0, 1000])
    t.equal(read(t, { env: { CAUSEWAY_RECEIVE_TIMEOUT_MS: `${ms}` } }).config.receiveTimeoutMs, ms)
  t.throws(() => read(t, { env: { EXTRA_LOGGING: 'perhaps' } }), { message: /EXTRA_LOGGING/ })
  t.throws(() => read(t, { argv: ['--port'] }), { message: /--port needs a value/ })
  t.throws(() => read(t, { argv: ['--env-file', 'gone'] }), { message: /cannot read/ })
  t.throws(() => read(t, { files: { 'causeway.config.json': '{' } }), { message: /not JSON/ })
  t.throws(() => read(t, { files: { 'causeway.config.json': '[]' } }), { message: /not a JSON object/ })
})

t.test('settings: folders are absolute, and the folder of the start is the default root', async (t) => {
  const { config } = read(t, {
    env: { CAUSEWAY_RECORDING_ROOTS: `a${process.platform === 'win32' ? ';' : ':'}/b` },
  })
  t.same(config.roots, [t.testdirName])
  t.same(config.recordingRoots, [`${t.testdirName}/a`, '/b'])
  t.equal(read(t, { env: { XDG_DATA_HOME: '/x' } }).config.dataDir, '/x/causeway')
})

t.test('settings: words that are no flags are the command', async (t) => {
  t.match(read(t, { argv: ['roots', 'add', '/data', '--help'] }), {
    words: ['roots', 'add', '/data'],
    help: true,
  })
})

t.test('settings: every row of the table has a variable, a default and a meaning', async (t) => {
  const rows = settingTable()
  for (const row of rows) t.ok(row.env && row.default && row.meaning, row.key)
  t.equal(new Set(rows.map(({ env }) => env)).size, rows.length)
})

t.test('settings: ports of apps and host names are divided by commas', async (t) => {
  const read = (env: NodeJS.ProcessEnv) => readConfig({ argv: [], env, cwd: t.testdir() }).config
  t.same(read({ CAUSEWAY_LISTEN: 'minds:3000, debrief:60123' }).listen, [
    { app: 'minds', port: 3000 },
    { app: 'debrief', port: 60123 },
  ])
  t.same(read({ CAUSEWAY_ALLOWED_HOSTS: 'box.local,box' }).allowedHosts, ['box.local', 'box'])
  t.same(read({}).listen, [])
  for (const wrong of ['minds', 'minds:70000', '3000:minds', 'minds:3000:1'])
    t.throws(() => read({ CAUSEWAY_LISTEN: wrong }), { code: 'INVALID_SETTING' }, wrong)
})

const told = { url: 'http://127.0.0.1:1', version: '0.1.0', started_ms: 0, shutdown_ms: 100 }

/** Changes what a server wrote down. */
const rewrite = (dir: string, change: Partial<ServerNote>): void => {
  const file = join(dir, 'server.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...change }))
}

t.test('server.json: written for its user alone, found again, and taken back with the lock', async (t) => {
  const dir = join(t.testdir(), 'data')
  t.same(findRunning(dir), { state: 'none' })
  const lock = lockFolder(dir)
  t.same(findRunning(dir), { state: 'none' }, 'it does not serve yet')
  noteRunning(dir, told)
  t.match(findRunning(dir), { state: 'running', server: { ...told, pid: process.pid } })
  if (process.platform !== 'win32') t.equal(statSync(join(dir, 'server.json')).mode & 0o777, 0o600)
  lock.release()
  t.same(findRunning(dir), { state: 'none' })
})

t.test('server.json: another machine, and a text that no server wrote', async (t) => {
  const dir = t.testdir()
  noteRunning(dir, told)
  rewrite(dir, { host: 'another' })
  t.match(findRunning(dir), { state: 'elsewhere' })
  t.match((await runHere(t, ['stop', '--data-dir', dir])).stderr, /STOP_FAILED.*it runs on another/)
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  writeFileSync(join(dir, 'server.json'), '{"pid": "1"}')
  t.same(findRunning(dir), { state: 'none' })
})

verifies('command:stop:foreign', async (t) => {
  const dir = t.testdir()
  const foreign = spawn(process.execPath, [
    '-e',
    'process.on("SIGTERM", () => {}); setInterval(() => {}, 9e9)',
  ])
  const pid = foreign.pid as number
  t.teardown(() => void foreign.kill('SIGKILL'))
  noteRunning(dir, told)
  rewrite(dir, { pid })
  t.match(findRunning(dir), { state: 'gone' })
  t.match(await runHere(t, ['stop', '--data-dir', dir]), { code: 0, stdout: /^not running/ })
  t.equal((await runHere(t, ['status', '--port', '0', '--data-dir', dir])).code, 3)
  t.ok(processIdentity(pid), 'it lives')

  rewrite(dir, { process: processIdentity(pid) as string })
  t.match(findRunning(dir), { state: 'running' }, 'were it the server, it would be found')
  foreign.kill('SIGKILL')
  await once(foreign, 'exit')
  t.match(findRunning(dir), { state: 'gone' })
})
