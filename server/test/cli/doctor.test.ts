import { once } from 'node:events'
import { chmodSync, existsSync, readdirSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { byteText } from '../../src/cli/byte-text.ts'
import { dataCheck, diskCheck, nativeCheck, nodeCheck } from '../../src/cli/machine-checks.ts'
import { bridgeCheck } from '../../src/cli/server-checks.ts'
import { addRoot } from '../../src/roots.ts'
import { noteRunning } from '../../src/running.ts'
import { version } from '../../src/version.ts'
import { runHere } from './run-here.ts'

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
  const holder = createServer().listen(0, '127.0.0.1')
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
