import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { writeRecording } from '../../packages/recording/test/write-recording.ts'
import { modern, rpc } from '../../server/test/http/open-wire.ts'
import { verifies } from '../verifies.ts'
import { overHttp } from './conversation.ts'
import { getJson, postJson } from './http.ts'
import { openPeer, untilListening } from './peer.ts'
import { recordings, spawnServer, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(300_000)

const dir = t.testdir({
  data: {},
  roots: { data: {}, root: {}, late: {} },
  long: { data: {} },
  user: {},
  log: {},
})
const { server, url } = await startServer(t, { dir: join(dir, 'data') })

const subscription = 'io.modelcontextprotocol/subscriptionId'

verifies(
  'app:registry:refresh',
  'SIGHUP loads a changed user app and tells clients of both eras',
  async (t) => {
    const folder = join(dir, 'user')
    const app = writeProbeApp(folder)
    const { server, url } = await startServer(t, { dir: folder, env: app.env })
    const peer = await openPeer(t, 'bridge', url)
    await untilListening(peer)
    const notifications = { toolsListChanged: true }
    peer.send(modern(rpc('subscriptions/listen', { notifications }, 'listen')).body)
    await peer.saw('notifications/subscriptions/acknowledged')

    app.edit(`app.tool('seen'`, `app.tool('observed'`)
    server.process.kill('SIGHUP')
    const told = (isModern: boolean) =>
      peer.messages.first(
        `list_changed, ${isModern ? 'modern' : 'legacy'}`,
        ({ method, params }) =>
          method === 'notifications/tools/list_changed' &&
          (params?._meta?.[subscription] !== undefined) === isModern,
      )
    await told(true)
    await told(false)
    const { result } = await peer.call('list', 'tools/list')
    const names = result.tools.map(({ name }: { name: string }) => name)
    t.ok(names.includes('Probe__observed'))
    t.notOk(names.includes('Probe__seen'))
  },
)

verifies('server:log:extra', async (t) => {
  const env = { EXTRA_LOGGING: 'true' }
  const { server, url } = await startServer(t, { dir: join(dir, 'log'), env })
  const headers = { authorization: 'Bearer planted-secret-1', cookie: 'id=planted-secret-2' }
  const call = { name: 'Causeway__get_health', arguments: { token: 'planted-secret-3' } }
  await postJson(url, '/mcp', rpc('tools/call', call), { headers })
  await postJson(url, '/api/apps/replay/tools/load_recording', { path: 'drop' }, { headers })
  const line = await server.log.first('a line of detail', ({ msg, url: path }) => {
    return /^\[MCP\]/.test(msg) && String(path).includes('load_recording')
  })
  t.match(line, { level: 20, method: 'POST', status: 200 })
  await server.stop()
  t.notMatch(server.stderr, /planted-secret/)
})

t.test('log: one line a call without EXTRA_LOGGING, and no protocol detail', async (t) => {
  await postJson(url, '/mcp', rpc('tools/call', { name: 'Causeway__list_apps', arguments: {} }), {
    headers: { 'causeway-request': 'known-1' },
  })
  t.match(await server.saw('call'), {
    app: 'Causeway',
    what: 'list_apps',
    code: 'ok',
    request_id: 'known-1',
    ms: Number,
  })
  t.notMatch(server.stderr, /\[MCP\]/)
})

verifies('server:start:fresh-clone', 'healthy on an empty folder, with the example recordings', async (t) => {
  const { status, json } = await getJson(url, '/health')
  t.equal(status, 200)
  t.match(json, { status: 'ok', apps: { Replay: { status: 'ok' }, Causeway: { status: 'ok' } } })
  const { recordings: listed } = await overHttp(url, {}).ask('list_recordings')
  const names = listed.map(({ recording }: { recording: string }) => recording)
  for (const name of ['drop', 'slide_at_45', 'era_states_only']) t.ok(names.includes(name), name)
})

verifies('server:health', 'of a running process', async (t) => {
  const { json } = await getJson(url, '/health')
  t.match(json, {
    status: 'ok',
    version: /^\d+\.\d+\.\d+/,
    pid: server.process.pid,
    uptime_s: Number,
    data_dir: join(dir, 'data'),
    limits: { body_bytes: 16 * 2 ** 20 },
    apps: { Replay: { status: 'ok', tools: Number } },
  })
})

verifies('server:metrics', 'of a running process', async (t) => {
  await overHttp(url, {}).refusal('get_metadata')
  const answer = await fetch(`${url}/metrics`)
  t.match(answer.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  const text = await answer.text()
  t.match(text, /^causeway_calls_total\{app="Replay",what="get_metadata",code="NO_RECORDING"\} 1$/m)
  t.match(text, /^causeway_call_seconds_bucket\{le="\+Inf",app="Replay",what="get_metadata"\} 1$/m)
})

verifies('wire:guard:loopback', 'no other address of this machine answers', async (t) => {
  t.equal(new URL(url).hostname, '127.0.0.1')
  const outer = Object.values(networkInterfaces())
    .flatMap((list) => list ?? [])
    .filter(({ internal, family }) => !internal && family === 'IPv4')
  for (const { address } of outer) {
    const code = await new Promise((resolve) => {
      const socket = connect({ host: address, port: Number(new URL(url).port) })
      socket.once('connect', () => resolve('connected')).once('error', (error) => resolve(error))
      t.teardown(() => void socket.destroy())
    })
    t.match(code, { code: 'ECONNREFUSED' }, address)
  }
  t.notOk(server.stderr.includes('0.0.0.0'))
})

t.test('roots add: counts at once while the server runs', async (t) => {
  const [data, root, late] = ['data', 'root', 'late'].map((name) => join(dir, 'roots', name)) as [
    string,
    string,
    string,
  ]
  copyFileSync(join(recordings, 'drop.db'), join(late, 'mine.db'))
  const env = { CAUSEWAY_RECORDING_ROOTS: root }
  const { url } = await startServer(t, { dir: data, cwd: root, env })
  const client = overHttp(url, { 'causeway-session': 'roots' })
  const path = join(late, 'mine.db')
  t.match(await client.refusal('load_recording', { path }), { code: 'OUTSIDE_ROOTS' })
  const added = spawnServer(t, { dir: data, args: ['roots', 'add', late] })
  t.same(await added.exited, { code: 0, signal: null })
  t.equal(added.stdout, `${late}\n`)
  t.match(await client.ask('load_recording', { path }), { loaded: true, path })
})

verifies('recording:worker:event-loop', 'the server answers others while it loads', async (t) => {
  const folder = join(dir, 'long')
  const path = join(folder, 'long.db')
  writeRecording(path, { frames: 3000 })
  const env = { CAUSEWAY_RECORDING_ROOTS: folder }
  const { url, server } = await startServer(t, { dir: join(folder, 'data'), env })
  const answers: string[] = []
  const threads = () =>
    readdirSync(`/proc/${server.process.pid}/task`).filter((id) =>
      readFileSync(`/proc/${server.process.pid}/task/${id}/comm`, 'utf8').startsWith('WorkerThread'),
    ).length
  // Linux tells the names of threads, and Node names its workers from 24 on.
  const areNamed = process.platform === 'linux' && Number.parseInt(process.versions.node, 10) >= 24
  const before = areNamed ? threads() : 0
  const loaded = overHttp(url, {})
    .ask('load_recording', { path })
    .then(() => answers.push('load'))
  for (let call = 0; call < 3; call++) {
    await getJson(url, '/health')
    answers.push('health')
  }
  await loaded
  t.same(answers, ['health', 'health', 'health', 'load'])
  if (areNamed) t.ok(threads() > before, 'a worker thread holds the recording')
})
