import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { type AddressInfo, createServer as doctorCreateServer } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { byteText } from '../../src/cli/byte-text.ts'
import { duration } from '../../src/cli/duration.ts'
import { dataCheck, diskCheck, nativeCheck, nodeCheck } from '../../src/cli/machine-checks.ts'
import { bridgeCheck } from '../../src/cli/server-checks.ts'
import { addRoot } from '../../src/roots.ts'
import { noteRunning } from '../../src/running.ts'
import { version } from '../../src/version.ts'
import { runHere } from './run-here.ts'

const report = {
  status: 'ok',
  version,
  pid: 1,
  uptime_s: 5,
  data_dir: '/d',
  apps: { Replay: { status: 'ok' } },
}

/** A server of this process that says `health` to whoever shows the token. */
async function serverThatSays(t: Test, health: unknown, told = { version, token: 'secret-token-of-a-test' }) {
  const dir = t.testdir()
  const tokenFile = join(dir, 'tokens')
  writeFileSync(tokenFile, `# of the test\n${told.token} laptop\n`, { mode: 0o600 })
  const server = createServer(({ headers }, response) => {
    const isKnown = headers.authorization === 'Bearer secret-token-of-a-test'
    response.statusCode = isKnown ? 200 : 401
    response.end(typeof health === 'string' ? health : JSON.stringify(health))
  }).listen(0, '127.0.0.1')
  t.teardown(() => void server.close())
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  noteRunning(dir, {
    url,
    version: told.version,
    started_ms: Date.now() - 90_000,
    shutdown_ms: 1,
    token_file: tokenFile,
  })
  return { dir, url, server }
}

const status = (t: Test, dir: string, ...words: string[]) =>
  runHere(t, ['status', '--data-dir', dir, '--port', '0', ...words])

verifies('command:status', 'a server that is well, asked with the token of its own file', async (t) => {
  const { dir, url } = await serverThatSays(t, report)
  const { code, stdout, stderr } = await status(t, dir)
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, `url      ${url}/mcp\nversion  ${version}\npid      ${process.pid}\nup       1 min 3`)
  t.match(stdout, /^apps\n {2}Replay +ok$/m)
  t.notMatch(stdout, 'secret-token')
})

verifies('command:status', 'memory is told with its limit, and that it is short', async (t) => {
  const memory = { status: 'short', used_bytes: 1.5e9, limit_bytes: 1.2e9 }
  const { dir } = await serverThatSays(t, { ...report, memory })
  t.match((await status(t, dir)).stdout, /^memory {3}1\.5 GB of 1\.2 GB, short$/m)
})

verifies('command:status', 'an app that is not well is named with its reason', async (t) => {
  const apps = { Replay: { status: 'failed', message: 'the data file is damaged' } }
  const { dir } = await serverThatSays(t, { ...report, status: 'degraded', apps })
  const { code, stdout } = await status(t, dir)
  t.equal(code, 1)
  t.match(stdout, /^ {2}Replay +failed: the data file is damaged$/m)
})

verifies('command:status', 'one that refuses, says something else, or says nothing', async (t) => {
  const refusing = await serverThatSays(t, report, { version, token: 'a-token-of-last-week' })
  t.match(await status(t, refusing.dir), { code: 1, stderr: /wants a token/ })
  const other = await serverThatSays(t, '<html>')
  t.match(await status(t, other.dir), { code: 1, stderr: /does not answer \(HTTP 200\)/ })
  const silent = await serverThatSays(t, report)
  silent.server.close()
  await once(silent.server, 'close')
  const { code, stdout, stderr } = await status(t, silent.dir)
  t.match({ code, stderr }, { code: 1, stderr: /does not answer \(ECONNREFUSED\); see causeway logs/ })
  t.match(stdout, /^status {3}unknown$/m)
})

verifies('command:status', 'an old server is told apart from this program', async (t) => {
  const { dir } = await serverThatSays(t, report, { version: '0.0.9', token: 'secret-token-of-a-test' })
  t.match(await status(t, dir), { code: 0, stderr: `this program is version ${version}: stop the server` })
})

verifies('command:status', 'as JSON', async (t) => {
  const { dir, url } = await serverThatSays(t, report)
  t.match(JSON.parse((await status(t, dir, '--json')).stdout), { running: true, server: { url }, report })
  const none = await status(t, join(dir, 'none'), '--json')
  t.equal(none.code, 3)
  t.same(JSON.parse(none.stdout), { running: false, server: null, report: null })
})

t.test('duration: the two greatest units', async (t) => {
  const said = [0, 59.6, 61, 3600, 3725, 90_000, 86_400].map(duration)
  t.same(said, ['0 s', '1 min', '1 min 1 s', '1 h', '1 h 2 min', '1 d 1 h', '1 d'])
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
  t.match(stdout, /\nEverything needed works\.\n$/)
  t.same(readdirSync(data), [], 'it leaves nothing behind')
  const { checks } = JSON.parse((await doctor('--json')).stdout)
  t.ok(checks.every(({ state }: { state: string }) => state !== 'fail'))
})

verifies('command:doctor', 'each thing that is wrong is told with what to do', async (t) => {
  const cwd = t.testdir({ data: {}, tokens: 'a-token-that-others-can-read\n' })
  const data = join(cwd, 'data')
  chmodSync(data, 0o755)
  chmodSync(join(cwd, 'tokens'), 0o644)
  addRoot(data, join(cwd, 'gone'))
  const holder = doctorCreateServer().listen(0, '127.0.0.1')
  t.teardown(() => void holder.close())
  await once(holder, 'listening')
  const { port } = holder.address() as { port: number }
  const args = ['--data-dir', data, '--token-file', 'tokens', '--port', String(port)]
  const { code, stdout } = await runHere(t, ['doctor', ...args], { cwd })
  t.equal(code, 1)
  t.match(stdout, new RegExp(`^fail +tokens .*\\n +-> run chmod 600 ${join(cwd, 'tokens')}$`, 'm'))
  t.match(stdout, `warn  data         others on this machine may look into ${data}`)
  t.match(stdout, `-> make it, or: causeway roots remove ${join(cwd, 'gone')}`)
  t.match(stdout, new RegExp(`^fail +port +port ${port} is held by .*\\n +-> .*MCP_SERVER_PORT`, 'm'))
  t.match(stdout, /\n2 to mend, see -> above\.\n$/)
})

verifies('command:doctor', 'settings that cannot be read', async (t) => {
  t.testdir()
  const { code, stdout } = await runHere(t, ['doctor'], { env: { CAUSEWAY_DATADIR: '/x' } })
  t.equal(code, 1)
  t.match(stdout, /^fail +settings .*CAUSEWAY_DATADIR \(did you mean CAUSEWAY_DATA_DIR\?\)/m)
})

verifies('command:doctor', 'a server that is old or does not answer', async (t) => {
  const data = t.testdir()
  noteRunning(data, { url: 'http://127.0.0.1:1', version: '0.0.1', started_ms: 0, shutdown_ms: 1 })
  const { code, stdout } = await runHere(t, ['doctor', '--data-dir', data])
  t.equal(code, 1)
  t.match(stdout, /^fail +server +pid \d+ does not answer at http:\/\/127\.0\.0\.1:1$/m)
  t.match(stdout, /^warn +version +the server that runs is 0\.0\.1.*\n +-> causeway stop/m)
})

t.test('doctor: machines that this one is not', async (t) => {
  t.match(nodeCheck('20.20.2', '/n'), { state: 'fail', text: '20.20.2, /n' })
  t.match(nodeCheck('22.18.9'), { state: 'fail' })
  t.match(nodeCheck('26.0.0'), { state: 'ok' })
  const broken = await nativeCheck(() => Promise.reject(new Error('wrong ELF class\nat x')))
  t.match(broken, { state: 'fail', text: /wrong ELF class$/, fix: /npm ci/ })
  t.match(diskCheck('/', 50e6), { state: 'fail', text: '50.0 MB free' })
  t.match(diskCheck('/', 500e6), { state: 'warn' })
  t.match(diskCheck('/', 5e9), { state: 'ok' })
  t.match(bridgeCheck(undefined), { state: 'warn', fix: /npm install --global @causeway\/bridge@/ })
  t.match(bridgeCheck({ program: '/b', version: '0.0.9' }), {
    state: 'warn',
    text: `0.0.9, this server is ${version}: /b`,
  })
  t.match(bridgeCheck({ program: '/x/_npx/1/b', version }), { state: 'warn', text: /empties/ })
})

t.test('doctor: a data folder that is not there, or cannot be', async (t) => {
  const dir = t.testdir({ file: '' })
  const missing = join(dir, 'deep/data')
  t.match(dataCheck(missing), { state: 'ok', text: /made at the first start/ })
  t.notOk(existsSync(join(dir, 'deep')))
  t.match(dataCheck(join(dir, 'file/data')), { state: 'fail', text: /cannot be written.*ENOTDIR/ })
  writeFileSync(join(dir, 'kept'), '')
  chmodSync(dir, 0o700)
  t.match(dataCheck(dir), { state: 'ok' })
  t.same(readdirSync(dir), ['file', 'kept'])
})

t.test('byteText: in steps of 1000', async (t) => {
  t.same([0, 999, 1000, 1_540_000, 2e12].map(byteText), ['0 B', '999 B', '1.0 kB', '1.5 MB', '2.0 TB'])
})
