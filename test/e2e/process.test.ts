import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join, sep } from 'node:path'
import { fileURLToPath } from 'node:url'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { findOldestNode } from '../../bridge/test/oldest-node.ts'
import { runHere } from '../../server/test/cli/run-here.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { getJson, type HttpAnswer, postJson, postMcp } from './http.ts'
import { openPeer } from './peer.ts'
import { overBridge, overHttp } from './replay-client.ts'
import {
  buildProduct,
  cleanEnv,
  fromBuild,
  fromSource,
  type RunningServer,
  spawnServer,
  startServer,
} from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(900_000)

const folders = t.testdir({ commands: { data: {}, other: {} }, build: {} })
const dir = `${folders}/commands`
const data = join(dir, 'data')
const { server, url } = await startServer(t, { dir: data, env: writeProbeApp(dir).env })
buildProduct()
const buildDir = `${folders}/build`
const { url: buildUrl } = await startServer(t, {
  dir: buildDir,
  program: fromBuild,
  env: writeProbeApp(buildDir).env,
})

/** Starts a server with a call in flight that ends when `finish` is called. */
async function startBusyServer(
  t: Test,
  settings: Readonly<Record<string, string>> = {},
): Promise<RunningServer & { response: Promise<HttpAnswer>; finish(): void }> {
  const dir = t.testdir()
  const env = { ...writeProbeApp(dir).env, ...settings }
  const running = await startServer(t, { dir, env })
  const file = join(dir, 'go')
  const response = postJson(running.url, '/api/apps/probe/tools/linger', { file })
  response.catch(() => {}) // a test may close the connection
  await until(
    () => postJson(running.url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  return { ...running, response, finish: () => writeFileSync(file, '') }
}

const oldVersion = `Object.defineProperty(process, "versions", { value: { ...process.versions, node: "20.20.2" } })`
/** Arguments of Node that run the compiled server as if Node were old. */
const asNode20 = ['--import', `data:text/javascript,${encodeURIComponent(oldVersion)}`, ...fromBuild]

verifies('server:start:disabled', async (t) => {
  const server = spawnServer(t, { dir: t.testdir(), env: { MCP_SERVER_ENABLED: 'false' } })
  t.same(await server.exited, { code: 0, signal: null })
  t.equal(server.stdout.split('\n').length, 2, 'stdout is one line')
  t.match(server.stdout, /MCP_SERVER_ENABLED=false/)
  t.equal(server.stderr, '')
})

verifies('server:start:old-node', async (t) => {
  const server = spawnServer(t, { dir: t.testdir(), program: asNode20 })
  t.same(await server.exited, { code: 1, signal: null })
  const [problem, remedy] = server.stderr.split('\n')
  t.equal(problem, 'causeway: serve needs Node 22.19 or newer, this is 20.20.2')
  t.match(remedy, /^install a newer Node, name one in CAUSEWAY_NODE, or add one: npm install node-/)
})

verifies('server:start:old-node', 'an old Node runs --help, --version and init', async (t) => {
  const dir = t.testdir()
  const node = findOldestNode(t)
  const run = (...args: string[]) =>
    execFileSync(node, [...fromBuild, ...args], { cwd: dir, env: cleanEnv(), encoding: 'utf8' })
  t.match(run('--version'), /^\d+\.\d+\.\d+\n$/)
  t.match(run('--help'), /^ {2}init /m)
  t.match(run('init', 'claude', '--print'), /bridge/)
})

verifies('server:start:old-node', 'an old Node serves with the Node of CAUSEWAY_NODE', async (t) => {
  const env = { CAUSEWAY_NODE: process.execPath }
  const { url, server } = await startServer(t, { dir: t.testdir(), program: asNode20, env })
  t.match(await (await fetch(`${url}/health`)).json(), { status: 'ok' })
  server.process.kill('SIGTERM')
  t.same(await server.exited, { code: 0, signal: null })
})

verifies('server:start:old-node', 'an old Node in CAUSEWAY_NODE is reported', async (t) => {
  const dir = t.testdir({
    node: `#!/bin/sh\nexec '${process.execPath}' --import '${asNode20[1]}' "$@"\n`,
  })
  chmodSync(join(dir, 'node'), 0o755)
  const server = spawnServer(t, { dir, program: asNode20, env: { CAUSEWAY_NODE: join(dir, 'node') } })
  t.same(await server.exited, { code: 1, signal: null })
  t.match(server.stderr, 'causeway: serve needs Node 22.19 or newer, this is 20.20.2')
})

verifies('server:start:port-in-use', 'the error contains the pid of another Causeway', async (t) => {
  const dir = t.testdir({ one: {}, two: {} })
  const { url, server } = await startServer(t, { dir: join(dir, 'one') })
  const { port } = new URL(url)
  const second = spawnServer(t, { dir: join(dir, 'two'), env: { MCP_SERVER_PORT: port } })
  t.same(await second.exited, { code: 1, signal: null })
  t.match(second.stderr, `causeway: port ${port} is used by another Causeway server`)
  t.match(second.stderr, `pid ${server.process.pid}`)
  t.match(second.stderr, `-> run causeway stop --data-dir ${join(dir, 'one')}, or use another port: --port`)
})

verifies('server:start:twice', async (t) => {
  const dir = t.testdir()
  const { url, server } = await startServer(t, { dir })
  const second = spawnServer(t, { dir })
  t.same(await second.exited, { code: 1, signal: null })
  t.equal(second.stderr.split('\n')[0], `causeway: Causeway is already running at ${url} [DATA_IN_USE]`)
  t.match(second.stderr, `-> use it, or run causeway stop --data-dir ${dir}; to run`)
  t.match(await runHere(t, ['stop', '--data-dir', dir]), { code: 0 }, 'the suggested command works')
  t.same(await server.exited, { code: 0, signal: null })
})

verifies('server:start:port-in-use', 'a port in use by another program is reported', async (t) => {
  const holder = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  t.teardown(() => void holder.close())
  await new Promise((resolve) => holder.once('listening', resolve))
  const { port } = holder.address() as { port: number }
  const server = spawnServer(t, { dir: t.testdir(), env: { MCP_SERVER_PORT: String(port) } })
  t.same(await server.exited, { code: 1, signal: null })
  t.match(server.stderr, `port ${port} is used by `)
  if (process.platform === 'linux') t.match(server.stderr, `pid ${process.pid}`)
})

verifies('server:shutdown:drain', async (t) => {
  const { server, url, response, finish } = await startBusyServer(t)
  const listener = await openPeer(t, 'http', url)
  server.process.kill('SIGTERM')
  await server.saw('stopping')
  const late = await postMcp(url, 'tools/list', {}).catch((error: unknown) => error)
  if (!(late instanceof Error))
    t.match(late, { status: 503, json: { error: { data: { code: 'SHUTTING_DOWN' } } } })
  finish()
  t.match(await response, { status: 200, json: { file: String } }, 'the call in flight completed')
  t.same(await server.exited, { code: 0, signal: null }, 'an open stream does not delay the exit')
  t.ok(listener)
})

verifies('server:shutdown:drain', 'a call that does not end is aborted after the grace period', async (t) => {
  const { server } = await startBusyServer(t, { CAUSEWAY_SHUTDOWN_MS: '100' })
  t.same(await server.stop(), { code: 0, signal: null })
})

verifies('server:shutdown:twice', async (t) => {
  const { server } = await startBusyServer(t)
  const started = performance.now()
  const signals = setInterval(() => server.process.kill('SIGTERM'), 40)
  t.teardown(() => clearInterval(signals))
  t.same(
    await server.exited,
    { code: 143, signal: null },
    'a later signal ends the process while the call is in flight',
  )
  t.ok(performance.now() - started > 250, 'earlier signals do not')
})

verifies('server:shutdown:parent', async (t) => {
  const { server, response, finish } = await startBusyServer(t)
  server.process.disconnect()
  t.match(await server.saw('stopping'), { why: 'disconnect' })
  finish()
  t.equal((await response).status, 200)
  t.same(await server.exited, { code: 0, signal: null })
})

verifies('server:shutdown:npx', async (t) => {
  if (process.platform !== 'linux') return
  // Like npx: a process with this title starts a shell, which starts the program and waits for it.
  const npx = `process.title = 'npm exec causeway'
    require('node:child_process').spawn('sh', ['-c', '"$@"; true', 'sh', ...process.argv.slice(1)], { stdio: 'inherit' })`
  const program = ['-e', npx, '--', process.execPath, ...fromSource]
  const { server } = await startServer(t, { dir: t.testdir(), program, env: { npm_command: 'exec' } })
  server.process.kill('SIGTERM')
  t.match(await server.saw('stopping'), { why: 'SIGTERM' })
  await server.saw('stopped')
  t.match(await server.exited, { signal: 'SIGTERM' }, 'every process of the chain has exited')
})

verifies('server:data:newer-schema', 'the server does not start', async (t) => {
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
  t.match(again.stderr, /^causeway: .*server\.db \[NEWER_DATA\]\n {2}-> .*CAUSEWAY_DATA_DIR/)
  t.ok(readFileSync(file).equals(before))
})

t.test('an unknown command exits with 2', async (t) => {
  const dir = t.testdir()
  const unknown = spawnServer(t, { dir, args: ['tool'] })
  t.same(await unknown.exited, { code: 2, signal: null })
  t.match(unknown.stderr, 'unknown command: tool (did you mean tools?)\n  -> see causeway --help\n')
})

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

/** Returns the paths of the files in the data folder, without the files that SQLite adds for an open database. */
const listFiles = () =>
  globSync('**/*', { cwd: data })
    .filter((path) => !/-(wal|shm)$/.test(path))
    .sort()

verifies('command:backup', async (t) => {
  const made = await here('backup', join(dir, 'backup'))
  t.match(made, { code: 0, stdout: /^backed up: \d+ files, .* [kM]B: / })
  const again = await here('backup', join(dir, 'backup'))
  t.match(again, { code: 1, stderr: /DATA_EXISTS/ })
  t.match(await here('backup'), { code: 2, stderr: /missing <folder>\n.*causeway backup --help/ })
  const restored = await here('restore', join(dir, 'backup'), '--replace')
  t.match(restored, { code: 1, stderr: /DATA_IN_USE/ }, 'restore fails while a server runs')
})

verifies('command:data:asked', 'rejected while a server runs', async (t) => {
  t.match(await here('data', 'erase', 'minds', '--yes'), { code: 1, stderr: /DATA_IN_USE/ })
  t.ok(listFiles().includes('minds.db'))
})

verifies('command:stop', async (t) => {
  const file = join(dir, 'go')
  const response = postJson(url, '/api/apps/probe/tools/linger', { file })
  await until(
    () => postJson(url, '/api/apps/probe/tools/seen', {}),
    ({ json }) => json.begun === 1,
  )
  const stopping = here('stop')
  await server.saw('stopping')
  writeFileSync(file, '')
  t.equal((await response).status, 200, 'the call in flight completed')
  t.match(await stopping, { code: 0, stdout: `stopped: pid ${server.process.pid}, ${url}\n` })
  t.same(await server.exited, { code: 0, signal: null })
  t.match(await here('stop'), { code: 0, stdout: /^no server is running/ })
})

verifies('command:data:asked', async (t) => {
  const before = listFiles()
  t.match(await here('data', 'erase', 'minds'), { code: 1, stderr: /NOT_CONFIRMED.*--yes/s })
  const erase = (answer: string) =>
    runHere(t, ['data', 'erase', 'minds', '--data-dir', data], { answer, cwd: dir })
  t.match(await erase('yes'), { code: 1, stderr: /nothing erased \[NOT_CONFIRMED\]/ })
  const dry = await here('data', 'erase', 'minds', '--dry-run')
  t.match(dry, { code: 0, stderr: `${join(data, 'minds.db')}  ` })
  t.match(await here('data', 'erase', 'mind'), {
    code: 2,
    stderr: /unknown app: mind \(did you mean minds\?\)/,
  })
  t.same(listFiles(), before)
  t.match(await erase('Minds'), { code: 0, stdout: /^erased: .* of Minds\n/ })
  t.same(
    listFiles(),
    before.filter((path) => path !== 'minds.db' && path !== 'minds.db.initialized'),
  )
})

verifies('command:data:erase', async (t) => {
  mkdirSync(join(data, 'recordings'), { recursive: true })
  for (const file of ['recordings/run.db', 'recordings/run.db-wal', 'recordings/notes.txt', 'mine.txt'])
    writeFileSync(join(data, file), file)
  const before = listFiles()
  const { code, stdout, stderr } = await here('data', 'erase', 'REPLAY', '--yes')
  t.match({ code, stdout }, { code: 0, stdout: /^erased: .* of Replay\n/ })
  const gone = before.filter((path) => !listFiles().includes(path))
  for (const path of gone.filter((path) => !path.startsWith('snapshots'))) t.match(stderr, join(data, path))
  for (const path of ['recordings.db', 'replay.db', 'recordings/run.db']) t.ok(gone.includes(path), path)
  t.notOk(existsSync(join(data, 'recordings/run.db-wal')))
  for (const path of ['recordings/notes.txt', 'mine.txt', 'trm.db', 'server.db'])
    t.ok(listFiles().includes(path), path)
  t.match(await here('data', 'erase', 'replay', '--yes'), { code: 0, stdout: /^Replay has no data in / })
})

verifies('command:backup', 'and restore', async (t) => {
  t.match(await here('restore', join(dir, 'backup')), { code: 1, stderr: /DATA_EXISTS/ })
  const { code, stdout, stderr } = await here('restore', join(dir, 'backup'), '--replace')
  t.match({ code, stdout }, { code: 0, stdout: `: ${data}\n` })
  const aside = /the previous data is in (.*)/.exec(stderr)?.[1] ?? ''
  t.ok(existsSync(join(aside, 'mine.txt')))
  t.ok(listFiles().includes('minds.db'), 'erased data is restored')
  t.match(await here('restore', join(dir, 'none')), { code: 1, stderr: /BACKUP_NOT_FOUND/ })
})

// Tests of the compiled server and the bundled bridge.

const launcher = fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))

verifies('server:start:fresh-clone', 'compiled', async (t) => {
  const { json } = await getJson(buildUrl, '/health')
  t.match(json, { status: 'ok', apps: { Replay: { status: 'ok', tools: Number } } })
  const { recordings } = await overHttp(buildUrl, {}).call('list_recordings')
  t.ok(recordings.some(({ recording }: { recording: string }) => recording === 'slide_at_45'))
})

t.test('build: each program of a thread or process has a file of its own', async (t) => {
  const programs = globSync('{packages/*,server}/src/**/*-{worker,process,watch}.ts', { cwd: repository })
    // A module with the same ending may export a class or function.
    .filter((file) => !/^export (?!interface|type)/m.test(readFileSync(join(repository, file), 'utf8')))
    .map((file) => file.replace(`${sep}src${sep}`, `${sep}dist${sep}`).replace(/\.ts$/, '.js'))
  t.ok(programs.includes(join('packages/app-replay/dist/analysis-worker.js')))
  t.same(
    programs.filter((file) => !existsSync(join(repository, file))),
    [],
  )
})

t.test('build: the bundled bridge returns diagnoses and errors of the compiled server', async (t) => {
  const client = await overBridge(t, buildUrl, [launcher])
  await client.call('load_recording', { path: 'slide_at_45' })
  const { anomalies } = await client.call('find_energy_anomalies')
  const { frame_id } = anomalies.find(({ kind }: { kind: string }) => kind === 'injection')
  t.equal(frame_id, 45)
  t.match(await client.call('check_friction_cone', { frame_id }), { violation_count: 4 })
  t.match(await client.callError('get_frame', { frame_id: 0 }), { code: 'FRAME_NOT_FOUND' })
})

verifies('app:user:by-path', 'by the compiled server, which provides its app kit', async (t) => {
  const { json } = await getJson(buildUrl, '/api/apps')
  t.ok(json.apps.some(({ name }: { name: string }) => name === 'Probe'))
})
