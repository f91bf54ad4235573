import { readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { type HttpAnswer, postJson, postMcp } from './http.ts'
import { openPeer } from './peer.ts'
import { fromBuild, fromSource, type RunningServer, spawnServer, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(300_000)

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
