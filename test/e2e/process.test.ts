import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { runHere } from '../../server/test/cli/run-here.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { overBridge, overHttp } from './conversation.ts'
import { getJson, type HttpAnswer, postJson, postMcp } from './http.ts'
import { openPeer } from './peer.ts'
import {
  buildProduct,
  fromBuild,
  fromSource,
  type RunningServer,
  spawnServer,
  startServer,
} from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(900_000)

const folders = t.testdir({ commands: { data: {}, other: {} }, build: {} })

/** A server with a call under way that ends when `finish` is called. */
async function serverAtWork(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer & { answered: Promise<HttpAnswer>; finish(): void }> {
  const dir = t.testdir()
  const env = { ...writeProbeApp(dir).env, ...settings }
  const running = await startServer(t, { dir, env })
  const file = join(dir, 'go')
  const answered = postJson(running.url, '/api/apps/probe/tools/linger', { file })
  answered.catch(() => {}) // where the test lets the connection be cut
  await until(
    () => postJson(running.url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  return { ...running, answered, finish: () => writeFileSync(file, '') }
}

verifies('server:start:disabled', async (t) => {
  const server = spawnServer(t, { dir: t.testdir(), env: { MCP_SERVER_ENABLED: 'false' } })
  t.same(await server.exited, { code: 0, signal: null })
  t.equal(server.stdout.split('\n').length, 2, 'one line and its end')
  t.match(server.stdout, /MCP_SERVER_ENABLED=false/)
  t.equal(server.stderr, '')
})

verifies('server:start:old-node', async (t) => {
  const old = `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.20.2' } })`
  const program = ['--import', `data:text/javascript,${encodeURIComponent(old)}`, ...fromBuild]
  const server = spawnServer(t, { dir: t.testdir(), program })
  t.same(await server.exited, { code: 1, signal: null })
  t.equal(server.stderr, 'causeway: needs Node 22.19 or newer, this is 20.20.2\n')
})

verifies('server:start:port-in-use', 'another Causeway is named with its pid', async (t) => {
  const dir = t.testdir({ one: {}, two: {} })
  const { url, server } = await startServer(t, { dir: join(dir, 'one') })
  const { port } = new URL(url)
  const second = spawnServer(t, { dir: join(dir, 'two'), env: { MCP_SERVER_PORT: port } })
  t.same(await second.exited, { code: 1, signal: null })
  t.match(second.stderr, `causeway: PORT_IN_USE: port ${port} is held by a Causeway server`)
  t.match(second.stderr, `pid ${server.process.pid}`)
  t.match(second.stderr, /MCP_SERVER_PORT/)
})

verifies('server:start:port-in-use', 'any other holder is a coded error too', async (t) => {
  const holder = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => void holder.close())
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as { port: number }
  const server = spawnServer(t, { dir: t.testdir(), env: { MCP_SERVER_PORT: String(port) } })
  t.same(await server.exited, { code: 1, signal: null })
  t.match(server.stderr, `PORT_IN_USE: port ${port} is held by `)
  if (process.platform === 'linux') t.match(server.stderr, `pid ${process.pid}`)
})

verifies('server:shutdown:drain', async (t) => {
  const { server, url, answered, finish } = await serverAtWork(t)
  const listener = await openPeer(t, 'http', url)
  server.process.kill('SIGTERM')
  await server.saw('stopping')
  const late = await postMcp(url, 'tools/list', {}).catch((error: unknown) => error)
  if (!(late instanceof Error))
    t.match(late, { status: 503, json: { error: { data: { code: 'SHUTTING_DOWN' } } } })
  finish()
  t.match(await answered, { status: 200, json: { file: String } }, 'the running call ended')
  t.same(await server.exited, { code: 0, signal: null }, 'though a stream was open')
  t.ok(listener)
})

verifies('server:shutdown:drain', 'a call that does not end holds nothing up for long', async (t) => {
  const { server } = await serverAtWork(t, { CAUSEWAY_SHUTDOWN_MS: '100' })
  t.same(await server.stop(), { code: 0, signal: null })
})

verifies('server:shutdown:twice', async (t) => {
  const { server } = await serverAtWork(t)
  const started = performance.now()
  const signals = setInterval(() => server.process.kill('SIGTERM'), 40)
  t.teardown(() => clearInterval(signals))
  t.same(await server.exited, { code: 143, signal: null }, 'a later one ended it, the call left alone')
  t.ok(performance.now() - started > 250, 'the ones before did not')
})

verifies('server:shutdown:parent', async (t) => {
  const { server, answered, finish } = await serverAtWork(t)
  server.process.disconnect()
  t.match(await server.saw('stopping'), { why: 'disconnect' })
  finish()
  t.equal((await answered).status, 200)
  t.same(await server.exited, { code: 0, signal: null })
})

verifies('server:shutdown:npx', async (t) => {
  if (process.platform !== 'linux') return
  // What npx does: a process of this title starts a shell, which starts the program and waits for it.
  const npx = `process.title = 'npm exec causeway'
    require('node:child_process').spawn('sh', ['-c', '"$@"; true', 'sh', ...process.argv.slice(1)], { stdio: 'inherit' })`
  const program = ['-e', npx, '--', process.execPath, ...fromSource]
  const { server } = await startServer(t, { dir: t.testdir(), program, env: { npm_command: 'exec' } })
  server.process.kill('SIGTERM')
  t.match(await server.saw('stopping'), { why: 'SIGTERM' })
  await server.saw('stopped')
  t.match(await server.exited, { signal: 'SIGTERM' }, 'the whole chain has ended')
})

verifies('server:data:newer-schema', 'the server does not start on it', async (t) => {
  const dir = t.testdir()
  const { server } = await startServer(t, { dir })
  await server.stop()
  const file = join(dir, 'server.db')
  const db = new Database(file)
  db.exec(`INSERT INTO causeway_migration VALUES (1000, 'of next year', '', 0)`)
  db.pragma('wal_checkpoint(TRUNCATE)')
  db.close()
  const before = readFileSync(file)
  const again = spawnServer(t, { dir })
  t.same(await again.exited, { code: 1, signal: null })
  t.match(again.stderr, /^causeway: NEWER_DATA: .*server\.db; .*CAUSEWAY_DATA_DIR/)
  t.ok(readFileSync(file).equals(before))
})

t.test('commands: tools prints a line for each, an unknown command says so', async (t) => {
  const dir = t.testdir()
  const tools = spawnServer(t, { dir, args: ['tools'] })
  const unknown = spawnServer(t, { dir, args: ['tool'] })
  t.same(await tools.exited, { code: 0, signal: null })
  t.match(tools.stdout, /^Replay__get_frame +Everything recorded of a frame/m)
  t.match(tools.stdout, /^Causeway__get_health /m)
  t.same(await unknown.exited, { code: 2, signal: null })
  t.match(unknown.stderr, 'unknown command: tool (did you mean tools?); see causeway --help')
})

const dir = `${folders}/commands`
const data = join(dir, 'data')
const { server, url } = await startServer(t, { dir: data, env: writeProbeApp(dir).env })
const here = (...argv: string[]) => runHere(t, [...argv, '--data-dir', data])

verifies('command:status', 'of a running server', async (t) => {
  const { code, stdout, stderr } = await here('status')
  t.match({ code, stderr }, { code: 0, stderr: '' })
  t.match(stdout, `url      ${url}/mcp\n`)
  t.match(stdout, `pid      ${server.process.pid}\n`)
  t.match(stdout, /^ {2}Replay +ok$/m)
})

verifies('command:status:other-folder', async (t) => {
  const port = new URL(url).port
  const { code, stderr } = await runHere(t, ['status', '--data-dir', join(dir, 'other'), '--port', port])
  t.equal(code, 3)
  t.match(stderr, `causeway status --data-dir ${data}`)
})

/** Every file of the data folder by its path, without what SQLite keeps beside a database that is open. */
const kept = () =>
  globSync('**/*', { cwd: data })
    .filter((path) => !/-(wal|shm)$/.test(path))
    .sort()

verifies('command:backup', async (t) => {
  const made = await here('backup', join(dir, 'backup'))
  t.match(made, { code: 0, stdout: /^backed up: \d+ files, .* [kM]B: / })
  const again = await here('backup', join(dir, 'backup'))
  t.match(again, { code: 1, stderr: /DATA_EXISTS/ })
  t.match(await here('backup'), { code: 2, stderr: /one folder is to be named/ })
  const refused = await here('restore', join(dir, 'backup'), '--replace')
  t.match(refused, { code: 1, stderr: /DATA_IN_USE/ }, 'not under a server that runs')
})

verifies('command:data:asked', 'refused while a server runs', async (t) => {
  t.match(await here('data', 'erase', 'minds', '--yes'), { code: 1, stderr: /DATA_IN_USE/ })
  t.ok(kept().includes('minds.db'))
})

verifies('command:stop', async (t) => {
  const file = join(dir, 'go')
  const answered = postJson(url, '/api/apps/probe/tools/linger', { file })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  const stopping = here('stop')
  await server.saw('stopping')
  writeFileSync(file, '')
  t.equal((await answered).status, 200, 'the call under way ended')
  t.match(await stopping, { code: 0, stdout: `stopped: pid ${server.process.pid}, ${url}\n` })
  t.same(await server.exited, { code: 0, signal: null })
  t.match(await here('stop'), { code: 0, stdout: /^not running/ })
})

verifies('command:data:asked', async (t) => {
  const before = kept()
  t.match(await here('data', 'erase', 'minds'), { code: 1, stderr: /NOT_CONFIRMED.*--yes/s })
  const asked = (answer: string) =>
    runHere(t, ['data', 'erase', 'minds', '--data-dir', data], { answer, cwd: dir })
  t.match(await asked('yes'), { code: 1, stderr: /NOT_CONFIRMED: nothing erased/ })
  const dry = await here('data', 'erase', 'minds', '--dry-run')
  t.match(dry, { code: 0, stderr: `${join(data, 'minds.db')}  ` })
  t.match(await here('data', 'erase', 'mind'), {
    code: 2,
    stderr: /no app is called mind; did you mean minds/,
  })
  t.same(kept(), before)
  t.match(await asked('Minds'), { code: 0, stdout: /^erased: .* of Minds\n/ })
  t.same(
    kept(),
    before.filter((path) => path !== 'minds.db' && path !== 'minds.db.initialized'),
  )
})

verifies('command:data:erase', async (t) => {
  mkdirSync(join(data, 'recordings'), { recursive: true })
  for (const file of ['recordings/run.db', 'recordings/run.db-wal', 'recordings/notes.txt', 'mine.txt'])
    writeFileSync(join(data, file), file)
  const before = kept()
  const { code, stdout, stderr } = await here('data', 'erase', 'REPLAY', '--yes')
  t.match({ code, stdout }, { code: 0, stdout: /^erased: .* of Replay\n/ })
  const gone = before.filter((path) => !kept().includes(path))
  for (const path of gone.filter((path) => !path.startsWith('snapshots'))) t.match(stderr, join(data, path))
  for (const path of ['recordings.db', 'replay.db', 'recordings/run.db']) t.ok(gone.includes(path), path)
  t.notOk(existsSync(join(data, 'recordings/run.db-wal')))
  for (const path of ['recordings/notes.txt', 'mine.txt', 'trm.db', 'server.db'])
    t.ok(kept().includes(path), path)
  t.match(await here('data', 'erase', 'replay', '--yes'), { code: 0, stdout: /^Replay keeps nothing/ })
})

verifies('command:backup', 'and restore', async (t) => {
  t.match(await here('restore', join(dir, 'backup')), { code: 1, stderr: /DATA_EXISTS/ })
  const { code, stdout, stderr } = await here('restore', join(dir, 'backup'), '--replace')
  t.match({ code, stdout }, { code: 0, stdout: `: ${data}\n` })
  const aside = /what was there before is in (.*)/.exec(stderr)?.[1] ?? ''
  t.ok(existsSync(join(aside, 'mine.txt')))
  t.ok(kept().includes('minds.db'), 'what was erased is there again')
  t.match(await here('restore', join(dir, 'none')), { code: 1, stderr: /BACKUP_NOT_FOUND/ })
})

/** The product as its users start it: the compiled server and the bundled bridge. */

const launcher = fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))
buildProduct()
const buildDir = `${folders}/build`
const { url: buildUrl } = await startServer(t, {
  dir: buildDir,
  program: fromBuild,
  env: writeProbeApp(buildDir).env,
})

verifies('server:start:fresh-clone', 'as it is built', async (t) => {
  const { json } = await getJson(buildUrl, '/health')
  t.match(json, { status: 'ok', apps: { Replay: { status: 'ok', tools: Number } } })
  const { recordings } = await overHttp(buildUrl, {}).ask('list_recordings')
  t.ok(recordings.some(({ recording }: { recording: string }) => recording === 'slide_at_45'))
})

t.test('build: the bundled bridge tells the fault of a recording from the compiled server', async (t) => {
  const client = await overBridge(t, buildUrl, [launcher])
  await client.ask('load_recording', { path: 'slide_at_45' })
  const { anomalies } = await client.ask('find_energy_anomalies')
  const { frame_id } = anomalies.find(({ kind }: { kind: string }) => kind === 'injection')
  t.equal(frame_id, 45)
  t.match(await client.ask('check_friction_cone', { frame_id }), { violation_count: 4 })
  t.match(await client.refusal('get_frame', { frame_id: 0 }), { code: 'FRAME_NOT_FOUND' })
})

verifies('app:user:by-path', 'by the compiled server, which gives it its own app kit', async (t) => {
  const { json } = await getJson(buildUrl, '/api/apps')
  t.ok(json.apps.some(({ name }: { name: string }) => name === 'Probe'))
})
