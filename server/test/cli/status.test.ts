import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { checkDataFolder, checkDisk, checkNode, checkSqlite } from '../../src/cli/doctor/machine-checks.ts'
import { checkBridge } from '../../src/cli/doctor/server-checks.ts'
import { formatBytes, formatDuration } from '../../src/cli/format.ts'
import { writeAddedRoots } from '../../src/config/roots.ts'
import { recordServer } from '../../src/process/server-file.ts'
import { version } from '../../src/process/version.ts'
import { runHere } from './run-here.ts'

const report = {
  status: 'ok',
  version,
  pid: 1,
  uptime_s: 5,
  data_dir: '/d',
  apps: { Replay: { status: 'ok' } },
}

/** Starts a server in this process that responds with `health` to requests with the right token. */
async function startFakeServer(
  t: Test,
  health: unknown,
  { serverVersion = version, token = 'secret-token-of-a-test' } = {},
) {
  const dir = t.testdir()
  const tokenFile = join(dir, 'tokens')
  writeFileSync(tokenFile, `# test\n${token} laptop\n`, { mode: 0o600 })
  const server = createServer(({ headers }, response) => {
    const isAuthorized = headers.authorization === 'Bearer secret-token-of-a-test'
    response.statusCode = isAuthorized ? 200 : 401
    response.end(typeof health === 'string' ? health : JSON.stringify(health))
  }).listen(0, '127.0.0.1')
  t.teardown(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  recordServer(dir, {
    url,
    version: serverVersion,
    started_ms: Date.now() - 90_000,
    shutdown_ms: 1,
    token_file: tokenFile,
  })
  return { dir, url, server }
}

const status = (t: Test, dir: string, ...words: string[]) =>
  runHere(t, ['status', '--data-dir', dir, '--port', '0', ...words])

verifies(
  'command:status',
  'reports a healthy server, using the token file that the server recorded',
  async (t) => {
    const { dir, url } = await startFakeServer(t, report)
    const { code, stdout, stderr } = await status(t, dir)
    t.match({ code, stderr }, { code: 0, stderr: '' })
    t.match(stdout, `url      ${url}/mcp\nversion  ${version}\npid      ${process.pid}\nup       1 min 3`)
    t.match(stdout, /^apps\n {2}Replay +ok$/m)
    t.notMatch(stdout, 'secret-token')
  },
)

verifies('command:status', 'status shows memory use, its limit and a shortage', async (t) => {
  const memory = { status: 'short', used_bytes: 1.5e9, limit_bytes: 1.2e9 }
  const { dir } = await startFakeServer(t, { ...report, memory })
  t.match((await status(t, dir)).stdout, /^memory {3}1\.5 GB of 1\.2 GB, short$/m)
})

verifies('command:status', 'status names a failed app with its reason', async (t) => {
  const apps = { Replay: { status: 'failed', message: 'the data file is damaged' } }
  const { dir } = await startFakeServer(t, { ...report, status: 'degraded', apps })
  const { code, stdout } = await status(t, dir)
  t.equal(code, 1)
  t.match(stdout, /^ {2}Replay +failed: the data file is damaged$/m)
})

verifies(
  'command:status',
  'status reports a server that rejects the token, is not Causeway, or does not respond',
  async (t) => {
    const rejecting = await startFakeServer(t, report, { token: 'a-revoked-token-of-a-test' })
    t.match(await status(t, rejecting.dir), { code: 1, stderr: /requires a token/ })
    const other = await startFakeServer(t, '<html>')
    t.match(await status(t, other.dir), { code: 1, stderr: /does not answer \(HTTP 200\)/ })
    const silent = await startFakeServer(t, report)
    silent.server.close()
    await once(silent.server, 'close')
    const { code, stdout, stderr } = await status(t, silent.dir)
    t.match({ code, stderr }, { code: 1, stderr: /does not answer \(ECONNREFUSED\): see causeway logs/ })
    t.match(stdout, /^status {3}unknown$/m)
  },
)

verifies('command:status', 'status reports a server of another version', async (t) => {
  const { dir } = await startFakeServer(t, report, { serverVersion: '0.0.9' })
  t.match(await status(t, dir), {
    code: 0,
    stderr: `the server is version 0.0.9, this program ${version}: run causeway stop`,
  })
})

verifies('command:status', 'status prints JSON', async (t) => {
  const { dir, url } = await startFakeServer(t, report)
  t.match(JSON.parse((await status(t, dir, '--json')).stdout), { running: true, server: { url }, report })
  const none = await status(t, join(dir, 'none'), '--json')
  t.equal(none.code, 3)
  t.same(JSON.parse(none.stdout), { running: false, server: null, report: null })
})

t.test('formatDuration returns the two largest units', async (t) => {
  const formatted = [0, 59.6, 61, 3600, 3725, 90_000, 86_400].map(formatDuration)
  t.same(formatted, ['0 s', '1 min', '1 min 1 s', '1 h', '1 h 2 min', '1 d 1 h', '1 d'])
})

verifies('command:doctor', async (t) => {
  const cwd = t.testdir({ data: {} })
  const data = join(cwd, 'data')
  chmodSync(data, 0o700)
  const doctor = (...words: string[]) =>
    runHere(t, ['doctor', '--port', '0', '--data-dir', data, ...words], { cwd })
  const { code, stdout } = await doctor()
  t.equal(code, 0, stdout)
  for (const name of ['node', 'sqlite', 'bridge', 'settings', 'data', 'disk', 'tokens', 'roots', 'port'])
    t.match(stdout, new RegExp(`^(ok|warn) +${name} `, 'm'), name)
  t.match(stdout, /\nNo problems found\.\n$/)
  t.same(readdirSync(data), [], 'leaves no files behind')
  const { checks } = JSON.parse((await doctor('--json')).stdout)
  t.ok(checks.every(({ state }: { state: string }) => state !== 'fail'))
})

verifies('command:doctor', 'doctor reports each problem with a fix', async (t) => {
  const cwd = t.testdir({ data: {}, tokens: 'a-token-that-others-can-read\n' })
  const data = join(cwd, 'data')
  chmodSync(data, 0o755)
  chmodSync(join(cwd, 'tokens'), 0o644)
  writeAddedRoots(data, [join(cwd, 'gone')])
  const holder = createTcpServer().listen(0, '127.0.0.1')
  t.teardown(() => void holder.close())
  await once(holder, 'listening')
  const { port } = holder.address() as { port: number }
  const args = ['--data-dir', data, '--token-file', 'tokens', '--port', String(port)]
  const { code, stdout } = await runHere(t, ['doctor', ...args], { cwd })
  t.equal(code, 1)
  t.match(stdout, new RegExp(`^fail +tokens .*\\n +-> run chmod 600 ${join(cwd, 'tokens')}$`, 'm'))
  t.match(stdout, `warn  data         other users of this machine can read ${data}`)
  t.match(stdout, `-> create it, or run causeway roots remove ${join(cwd, 'gone')}`)
  t.match(stdout, new RegExp(`^fail +port +port ${port} is used by .*\\n +-> .*MCP_SERVER_PORT`, 'm'))
  t.match(stdout, /\n2 problems found: do what the lines with -> say\.\n$/)
})

verifies('command:doctor', 'doctor names a failed app with its remedy', async (t) => {
  const apps = {
    Replay: { status: 'failed', message: 'the data file is damaged', remedy: 'restore a backup' },
  }
  const { dir } = await startFakeServer(t, { ...report, status: 'degraded', apps })
  const { stdout } = await runHere(t, ['doctor', '--data-dir', dir, '--port', '0'])
  t.match(stdout, /^warn {2}server {7}Replay failed: the data file is damaged\n {19}-> restore a backup$/m)
})

verifies('command:doctor', 'doctor reports invalid settings', async (t) => {
  t.testdir()
  const { code, stdout } = await runHere(t, ['doctor'], { env: { CAUSEWAY_DATADIR: '/x' } })
  t.equal(code, 1)
  t.match(stdout, /^fail +settings .*CAUSEWAY_DATADIR \(did you mean CAUSEWAY_DATA_DIR\?\)/m)
})

verifies('command:doctor', 'doctor reports a server of another version that does not respond', async (t) => {
  const data = t.testdir()
  recordServer(data, { url: 'http://127.0.0.1:1', version: '0.0.1', started_ms: 0, shutdown_ms: 1 })
  const { code, stdout } = await runHere(t, ['doctor', '--data-dir', data])
  t.equal(code, 1)
  t.match(stdout, /^fail +server +the server \(pid \d+\) does not answer at http:\/\/127\.0\.0\.1:1$/m)
  t.match(stdout, /^warn +version +the running server is 0\.0\.1.*\n +-> run causeway stop/m)
})

t.test(
  'doctor reports unsupported Node versions, broken modules, full disks and wrong bridges',
  async (t) => {
    t.match(checkNode('20.20.2', '/n'), { state: 'fail', text: '20.20.2, /n' })
    t.match(checkNode('22.18.9'), { state: 'fail' })
    t.match(checkNode('26.0.0'), { state: 'ok' })
    const broken = await checkSqlite(() => Promise.reject(new Error('wrong ELF class\nat x')))
    t.match(broken, { state: 'fail', text: /wrong ELF class$/, fix: /npm ci/ })
    t.match(checkDisk('/', 50e6), { state: 'fail', text: '50.0 MB free' })
    t.match(checkDisk('/', 500e6), { state: 'warn' })
    t.match(checkDisk('/', 5e9), { state: 'ok' })
    t.match(checkBridge(undefined), { state: 'warn', fix: /^install causeway-mcp \d+\.\d+\.\d+ again$/ })
    t.match(checkBridge({ program: '/b', version: '0.0.9' }), {
      state: 'warn',
      text: `0.0.9, this server is ${version}: /b`,
    })
    t.match(checkBridge({ program: '/x/_npx/1/b', version }), { state: 'warn', text: /in the npx cache/ })
  },
)

t.test('doctor reports a missing and an unwritable data folder', async (t) => {
  const dir = t.testdir({ file: '' })
  const missing = join(dir, 'deep/data')
  t.match(checkDataFolder(missing), { state: 'ok', text: /created at the first start/ })
  t.notOk(existsSync(join(dir, 'deep')))
  t.match(checkDataFolder(join(dir, 'file/data')), { state: 'fail', text: /not writable.*ENOTDIR/ })
  writeFileSync(join(dir, 'existing'), '')
  chmodSync(dir, 0o700)
  t.match(checkDataFolder(dir), { state: 'ok' })
  t.same(readdirSync(dir), ['existing', 'file'])
})

t.test('formatBytes uses steps of 1000', async (t) => {
  t.same([0, 999, 1000, 1_540_000, 2e12].map(formatBytes), ['0 B', '999 B', '1.0 kB', '1.5 MB', '2.0 TB'])
})
