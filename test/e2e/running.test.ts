import { fork } from 'node:child_process'
import { once } from 'node:events'
import { copyFileSync, readdirSync, readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { networkInterfaces } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { writeRecording } from '../../packages/recording/test/write-recording.ts'
import { modern, rpc } from '../../server/test/http/open-wire.ts'
import { fields, type Product, planted, secrets, startProduct } from '../fuzz/product.ts'
import { verifies } from '../verifies.ts'
import { openBridge } from './bridge-process.ts'
import { overHttp } from './conversation.ts'
import { getJson, postJson, postMcp } from './http.ts'
import { openPeer, untilListening } from './peer.ts'
import { recordings, spawnServer, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(900_000)

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

/**
 * Secrets of every kind, planted in a whole product: tokens, keys of models and of vectors, fields for providers, the
 * environment. Its endpoint repeats in its errors what it was sent. They must show nowhere.
 */

const observation = (mind: string, step: number) => ({
  entity_id: mind,
  current_simulation_time: 100 + step,
  status: { position: [step, 0], current_interaction: {} },
  needs: { needs: { hunger: 20 }, max_value: 100 },
})

/** Calls that take keys and fields outside, and one that shows the environment of a command. */
const calls: readonly (readonly [app: string, tool: string, args: object])[] = [
  ['minds', 'create_mind', { mind_id: 'm', config: { entity_id: 'm', traits: ['calm'], selector: 'llm' } }],
  ...[1, 2, 3, 4].map(
    (step) => ['minds', 'decide_action', { mind_id: 'm', observation: observation('m', step) }] as const,
  ),
  ['minds', 'recall_memories', { mind_id: 'm', query: 'hunger' }],
  ['minds', 'explain_decision', { mind_id: 'm' }],
  ['minds', 'consolidate_memories', { mind_id: 'm' }],
  ...[1, 2, 3].map(() => ['help', 'find_help_topics', { text: 'start the server' }] as const),
  ['trm', 'start', { repo: 'sums', test: 'env', wait: 20 }],
  ['trm', 'state', { wait: 5 }],
  ['trm', 'list', {}],
  ['causeway', 'query_audit', {}],
  ['causeway', 'make_backup', { name: 'planted' }],
  ['causeway', 'get_health', {}],
]

async function ask({ url }: Product, path: string, body?: object): Promise<string> {
  const answer = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...fields, 'content-type': 'application/json', 'causeway-session': planted('session') },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return answer.text()
}

const pages = [
  '/health',
  '/health/minds',
  '/health/help',
  '/metrics',
  '/openapi.json',
  '/api/apps',
  '/api/apps/causeway/audit',
  '/api/apps/causeway/audit.jsonl',
]

function clean(t: Test, place: string, text: string): void {
  const shown = secrets.filter((secret) => text.includes(secret))
  t.same(shown, [], place)
}

/** Every file below a folder. */
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

verifies('proof:secrets', async (t) => {
  const product = await startProduct(t, { apps: [] })
  for (const [app, tool, args] of calls)
    clean(t, `the answer of ${tool}`, await ask(product, `/api/apps/${app}/tools/${tool}`, args))
  for (const page of pages) clean(t, page, await ask(product, page))
  for (const uri of ['mind://m/state', 'mind://m/memories?limit=50', 'minds://list', 'help://llms.txt'])
    clean(
      t,
      uri,
      await ask(product, '/mcp', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }),
    )

  const record = join(product.base, 'bridge.jsonl')
  const bridge = await openBridge(t, {
    url: `${product.url}/mcp`,
    args: [
      ...[
        '--token-file',
        join(product.base, 'bare-token'),
        '--header',
        `X-Api-Key: ${planted('api-header')}`,
      ],
      ...['--stats', '--record', record],
    ],
    env: { DEBUG: 'true', TMPDIR: product.base },
  })
  await bridge.call(1, 'tools/call', { name: 'Causeway__get_health', arguments: {} })
  await bridge.call(2, 'tools/call', {
    name: 'Minds__decide_action',
    arguments: { mind_id: 'm', observation: observation('m', 9) },
  })
  bridge.end()
  await bridge.exited
  clean(t, 'the answers through the bridge', bridge.lines.join())
  t.match(bridge.stderr, /./, 'figures were printed')
  clean(t, 'the figures of the bridge', bridge.stderr)
  clean(t, 'the recording of the bridge', readFileSync(record, 'utf8'))

  t.same(await product.server.stop(), { code: 0, signal: null })
  clean(t, 'stdout', product.server.stdout)
  clean(t, 'stderr', product.server.stderr)
  // Stopped: no connection of that process has a database open.
  const kept = filesIn(product.dataDir)
  for (const kind of [/logs/, /backups.*\.json$/, /\.db$/])
    t.ok(
      kept.some((file) => kind.test(file)),
      `there is ${kind}`,
    )
  // State is found by the key of its session, in files that are the user's alone.
  for (const file of kept)
    clean(
      t,
      file.slice(product.base.length),
      readFileSync(file, 'latin1').replaceAll(file.endsWith('.db') ? planted('session') : '\u0000\u0000', ''),
    )
  for (const file of readdirSync(product.base).filter((name) => name.endsWith('.log')))
    clean(t, file, readFileSync(join(product.base, file), 'utf8'))
})

const recorder = new URL('../../packages/recording/test/writer-process.ts', import.meta.url)

verifies('recording:file:live-writer', 'asked for over HTTP again and again', async (t) => {
  const folders = t.testdir({ data: {}, root: {} })
  const root = join(folders, 'root')
  const file = join(root, 'live.db')
  const env = { CAUSEWAY_RECORDING_ROOTS: root }
  const { url } = await startServer(t, { dir: join(folders, 'data'), env })
  const child = fork(recorder, ['live', file], { execArgv: ['--conditions=@causeway/source'] })
  t.teardown(() => void child.kill('SIGKILL'))
  const exited = once(child, 'exit')
  await once(child, 'message')

  const client = overHttp(url, { 'causeway-session': 'live' })
  const ask = async (name: string, args: object) => {
    const { json } = await postMcp(url, 'tools/call', { name: `Replay__${name}`, arguments: args })
    return json.result
  }
  const frames = new Set<number>()
  let busy = 0
  // Long enough for dozens of commits of the recorder, whatever the machine is doing.
  const deadline = performance.now() + 30_000
  while (frames.size < 6 && child.exitCode === null && performance.now() < deadline) {
    const loaded = await ask('load_recording', { path: file })
    if (loaded.isError === true) {
      t.match(loaded._meta['causeway/error'], { code: 'RECORDING_BUSY', retryable: true })
      busy++
      continue
    }
    const { total_frames } = loaded.structuredContent
    const frame = await ask('get_frame', { recording: file, frame_id: total_frames })
    if (frame.isError === true) busy++
    else frames.add(total_frames)
  }
  const told = once(child, 'message')
  child.send('stop')
  const [{ commits, frames: written }] = await told
  t.same(await exited, [0, null], 'the recorder was never told that the database is locked')
  t.ok(frames.size >= 6, `${frames.size} states of the file were answered from, busy ${busy} times`)
  t.ok(commits > 10, `${commits} commits`)
  t.same(readdirSync(root), ['live.db'], 'nothing lies beside it')
  const after = await client.ask('load_recording', { path: file })
  t.equal(after.total_frames, written)
})
