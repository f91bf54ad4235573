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
import { getJson, postJson, postMcp } from './http.ts'
import { openPeer, untilListening } from './peer.ts'
import { overHttp } from './replay-client.ts'
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
  'SIGHUP loads a changed user app and notifies clients of both eras',
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
    const waitForChange = (isModern: boolean) =>
      peer.messages.first(
        `list_changed, ${isModern ? 'modern' : 'legacy'}`,
        ({ method, params }) =>
          method === 'notifications/tools/list_changed' &&
          (params?._meta?.[subscription] !== undefined) === isModern,
      )
    await waitForChange(true)
    await waitForChange(false)
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
  const line = await server.log.first('a protocol line', ({ msg, url: path }) => {
    return /^\[MCP\]/.test(msg) && String(path).includes('load_recording')
  })
  t.match(line, { level: 20, method: 'POST', status: 200 })
  await server.stop()
  t.notMatch(server.stderr, /planted-secret/)
})

t.test('log: each call is one line without protocol details if EXTRA_LOGGING is off', async (t) => {
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

verifies('server:start:fresh-clone', 'an empty data folder is healthy and lists the examples', async (t) => {
  const { status, json } = await getJson(url, '/health')
  t.equal(status, 200)
  t.match(json, { status: 'ok', apps: { Replay: { status: 'ok' }, Causeway: { status: 'ok' } } })
  const { recordings: listed } = await overHttp(url, {}).call('list_recordings')
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
  await overHttp(url, {}).callError('get_metadata')
  const response = await fetch(`${url}/metrics`)
  t.match(response.headers.get('content-type'), /^text\/plain; version=0\.0\.4/)
  const text = await response.text()
  t.match(text, /^causeway_calls_total\{app="Replay",what="get_metadata",code="NO_RECORDING"\} 1$/m)
  t.match(text, /^causeway_call_seconds_bucket\{le="\+Inf",app="Replay",what="get_metadata"\} 1$/m)
})

verifies('wire:guard:loopback', 'other addresses of this machine refuse connections', async (t) => {
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

t.test('roots add: takes effect immediately while the server runs', async (t) => {
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
  t.match(await client.callError('load_recording', { path }), { code: 'OUTSIDE_ROOTS' })
  const added = spawnServer(t, { dir: data, args: ['roots', 'add', late] })
  t.same(await added.exited, { code: 0, signal: null })
  t.equal(added.stdout, `${late}\n`)
  t.match(await client.call('load_recording', { path }), { loaded: true, path })
})

verifies('recording:worker:event-loop', 'the server answers requests while it loads', async (t) => {
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
  // Linux reports the names of threads, and Node names its workers since version 24.
  const areNamed = process.platform === 'linux' && Number.parseInt(process.versions.node, 10) >= 24
  const before = areNamed ? threads() : 0
  const loaded = overHttp(url, {})
    .call('load_recording', { path })
    .then(() => answers.push('load'))
  for (let call = 0; call < 3; call++) {
    await getJson(url, '/health')
    answers.push('health')
  }
  await loaded
  t.same(answers, ['health', 'health', 'health', 'load'])
  if (areNamed) t.ok(threads() > before, 'a worker thread loaded the recording')
})

/**
 * Secrets of every kind are configured in a complete product: tokens, keys of model and embedding providers, provider
 * headers, environment variables. The provider repeats its requests in its errors. No output may contain a secret.
 */

const observation = (mind: string, step: number) => ({
  entity_id: mind,
  current_simulation_time: 100 + step,
  status: { position: [step, 0], current_interaction: {} },
  needs: { needs: { hunger: 20 }, max_value: 100 },
})

/** Calls that send keys and headers to providers, and a call that prints the environment of a command. */
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

async function send({ url }: Product, path: string, body?: object): Promise<string> {
  const response = await fetch(`${url}${path}`, {
    method: body === undefined ? 'GET' : 'POST',
    headers: { ...fields, 'content-type': 'application/json', 'causeway-session': planted('session') },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  return response.text()
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

function checkNoSecrets(t: Test, place: string, text: string): void {
  const shown = secrets.filter((secret) => text.includes(secret))
  t.same(shown, [], place)
}

/** Returns every file below a folder. */
const listFiles = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

verifies('proof:secrets', async (t) => {
  const product = await startProduct(t, { apps: [] })
  for (const [app, tool, args] of calls)
    checkNoSecrets(t, `the response of ${tool}`, await send(product, `/api/apps/${app}/tools/${tool}`, args))
  for (const page of pages) checkNoSecrets(t, page, await send(product, page))
  for (const uri of ['mind://m/state', 'mind://m/memories?limit=50', 'minds://list', 'help://llms.txt'])
    checkNoSecrets(
      t,
      uri,
      await send(product, '/mcp', { jsonrpc: '2.0', id: 1, method: 'resources/read', params: { uri } }),
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
  checkNoSecrets(t, 'the responses through the bridge', bridge.lines.join())
  t.match(bridge.stderr, /./, 'statistics were printed')
  checkNoSecrets(t, 'the statistics of the bridge', bridge.stderr)
  checkNoSecrets(t, 'the recording of the bridge', readFileSync(record, 'utf8'))

  t.same(await product.server.stop(), { code: 0, signal: null })
  checkNoSecrets(t, 'stdout', product.server.stdout)
  checkNoSecrets(t, 'stderr', product.server.stderr)
  // The process has exited and closed its databases.
  const stored = listFiles(product.dataDir)
  for (const kind of [/logs/, /backups.*\.json$/, /\.db$/])
    t.ok(
      stored.some((file) => kind.test(file)),
      `a file matches ${kind}`,
    )
  // Client state is stored under the session key, in files that only the user can read.
  for (const file of stored)
    checkNoSecrets(
      t,
      file.slice(product.base.length),
      readFileSync(file, 'latin1').replaceAll(file.endsWith('.db') ? planted('session') : '\u0000\u0000', ''),
    )
  for (const file of readdirSync(product.base).filter((name) => name.endsWith('.log')))
    checkNoSecrets(t, file, readFileSync(join(product.base, file), 'utf8'))
})

const recorder = new URL('../../packages/recording/test/writer-process.ts', import.meta.url)

verifies('recording:file:live-writer', 'called over HTTP repeatedly', async (t) => {
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
  const call = async (name: string, args: object) => {
    const { json } = await postMcp(url, 'tools/call', { name: `Replay__${name}`, arguments: args })
    return json.result
  }
  const frames = new Set<number>()
  let busy = 0
  // Long enough for dozens of commits of the recorder on a busy machine.
  const deadline = performance.now() + 30_000
  while (frames.size < 6 && child.exitCode === null && performance.now() < deadline) {
    const loaded = await call('load_recording', { path: file })
    if (loaded.isError === true) {
      t.match(loaded._meta['causeway/error'], { code: 'RECORDING_BUSY', retryable: true })
      busy++
      continue
    }
    const { total_frames } = loaded.structuredContent
    const frame = await call('get_frame', { recording: file, frame_id: total_frames })
    if (frame.isError === true) busy++
    else frames.add(total_frames)
  }
  const stopped = once(child, 'message')
  child.send('stop')
  const [{ commits, frames: written }] = await stopped
  t.same(await exited, [0, null], 'the recorder never found the database locked')
  t.ok(frames.size >= 6, `${frames.size} states of the file were read, busy ${busy} times`)
  t.ok(commits > 10, `${commits} commits`)
  t.same(readdirSync(root), ['live.db'], 'no other file was created')
  const after = await client.call('load_recording', { path: file })
  t.equal(after.total_frames, written)
})
