import { writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { gzipSync } from 'node:zlib'
import Database from 'better-sqlite3'
import t, { type Test } from 'tap'
import { frameLine, frameLines, runLine } from '../../packages/recording/test/run-lines.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { getJson, type HttpAnswer, postJson } from './http.ts'
import { type RunningServer, restartServer, startServer } from './server-process.ts'

t.setTimeout(300_000)

const routes = '/api/apps/replay/recordings'

/** Posts lines to the frames route of a recording. */
async function send(
  url: string,
  name: string,
  lines: readonly string[],
  headers: Readonly<Record<string, string>> = {},
): Promise<HttpAnswer> {
  const text = lines.map((line) => `${line}\n`).join('')
  const body = headers['content-encoding'] === 'gzip' ? gzipSync(text) : text
  const response = await fetch(`${url}${routes}/${name}/frames`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson', ...headers },
    body,
  })
  return { status: response.status, headers: response.headers, json: await response.json() }
}

const tool = async (url: string, name: string, args: object) =>
  (await postJson(url, `/api/apps/replay/tools/${name}`, args)).json

const state = async (url: string, name: string) => (await getJson(url, `${routes}/${name}`)).json

/** Starts a request whose body the test sends in parts. */
function openStream(url: string, name: string) {
  let open: ReadableStreamDefaultController<Uint8Array> | undefined
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      open = controller
    },
  })
  const init: RequestInit & { duplex: 'half' } = { method: 'POST', body, duplex: 'half' }
  const response = fetch(`${url}${routes}/${name}/frames`, init)
  response.catch(() => {})
  return {
    response,
    push: (text: string) => open?.enqueue(Buffer.from(text)),
    end: () => open?.close(),
    fail: () => open?.error(new Error('the engine died')),
  }
}

/** Checks a run's database with SQLite after its server has exited. */
function check(
  dir: string,
  name: string,
): { readonly integrity: unknown; readonly frames: readonly number[] } {
  const db = new Database(join(dir, 'recordings', `${name}.db`))
  const integrity = db.pragma('integrity_check', { simple: true })
  const frames = db.prepare<[], number>('SELECT id FROM frame ORDER BY id').pluck().all()
  db.close()
  return { integrity, frames }
}

const start = (t: Test): Promise<RunningServer> => startServer(t, { dir: t.testdir() })

verifies('recording:recorder:at-once', async (t) => {
  const { url, server } = await start(t)
  const stream = openStream(url, 'at-once')
  stream.push(`${runLine}\n`)
  const read = new Set<number>()
  for (let id = 1; id <= 300; id++) {
    stream.push(`${frameLine(id)}\n`)
    if (id % 20 !== 0) continue
    const { last_frame_id } = await until(
      () => state(url, 'at-once'),
      (now) => now.last_frame_id >= id - 19,
    )
    const frame = await tool(url, 'get_frame', { recording: 'at-once', frame_id: last_frame_id })
    t.equal(frame.frame_id, last_frame_id)
    read.add(last_frame_id)
  }
  stream.end()
  const result = await (await stream.response).json()
  t.same(result, { recording: 'at-once', accepted: 300, ignored: 0, last_frame_id: 300 })
  t.ok(read.size >= 10, `${read.size} states of the run were read while it grew`)
  t.match((await postJson(url, `${routes}/at-once/finish`, {})).json, {
    status: 'finished',
    total_frames: 300,
  })
  await server.stop()
  t.same(check(server.start.dir, 'at-once'), {
    integrity: 'ok',
    frames: Array.from({ length: 300 }, (_, i) => i + 1),
  })
})

verifies('recording:recorder:killed', async (t) => {
  const { url, server } = await start(t)
  const stream = openStream(url, 'killed')
  stream.push(`${runLine}\n`)
  let sent = 0
  const { last_frame_id: acknowledged } = await until(
    async () => {
      for (let i = 0; i < 50; i++) stream.push(`${frameLine(++sent)}\n`)
      return state(url, 'killed')
    },
    (now) => now.last_frame_id > 200,
  )
  server.process.kill('SIGKILL')
  await server.exited
  stream.fail()
  const env = { MCP_SERVER_PORT: new URL(url).port }
  const again = await startServer(t, { ...server.start, env })
  const left = await state(again.url, 'killed')
  t.match(left, { status: 'interrupted', total_frames: left.last_frame_id })
  t.ok(left.last_frame_id >= acknowledged, 'every acknowledged frame is stored')
  const frame = await tool(again.url, 'get_frame', { recording: 'killed', frame_id: left.last_frame_id })
  t.equal(frame.states.length, 2, 'the last stored frame is readable')
  // An engine that does not store its position sends every frame again.
  const { json } = await send(again.url, 'killed', [runLine, ...frameLines(1, sent + 10)])
  t.same(json, {
    recording: 'killed',
    accepted: sent + 10 - left.last_frame_id,
    ignored: left.last_frame_id,
    last_frame_id: sent + 10,
  })
  t.match(await state(again.url, 'killed'), { status: 'live' })
  await again.server.stop()
  t.match(check(server.start.dir, 'killed'), { integrity: 'ok', frames: { length: sent + 10 } })
})

verifies('recording:recorder:lossless', async (t) => {
  const { url, server } = await start(t)
  const bodies = Array.from({ length: 20 }, (_, i) => ({ id: i + 1, mass: 1 }))
  const line = (id: number): string =>
    JSON.stringify({
      frame_id: id,
      time: id / 60,
      bodies: bodies.map((body) => ({
        id: body.id,
        position: [body.id, 0, 10 - id / 60],
        velocity: [0, 0, -id],
        orientation: [1, 0, 0, 0],
      })),
    })
  const stream = openStream(url, 'live')
  stream.push(`${JSON.stringify({ run: { gravity: [0, 0, -9.81], dt: 1 / 60, bodies } })}\n`)
  const last = 240
  const recording = (async () => {
    const before = performance.now()
    for (let id = 1; id <= last; id++) {
      stream.push(`${line(id)}\n`)
      await pause(Math.max(0, before + (id * 1000) / 60 - performance.now()))
    }
    stream.end()
    return (await stream.response).json()
  })()
  await until(
    () => getJson(url, `${routes}/live`),
    ({ status, json }) => status === 200 && json.last_frame_id !== null,
  )
  const seen: number[] = []
  let anomalies = 0
  while ((seen.at(-1) ?? 0) < last) {
    const after_frame = seen.at(-1) ?? 0
    const tail = await tool(url, 'tail_recording', { recording: 'live', after_frame, limit: 200 })
    for (const { frame_id } of tail.frames) seen.push(frame_id)
    const frame = await tool(url, 'get_frame', { recording: 'live', frame_id: tail.last_frame })
    t.equal(frame.states.length, 20)
    const found = await tool(url, 'find_energy_anomalies', { recording: 'live', threshold: 1e6 })
    anomalies += found.anomalies.length
  }
  t.same(await recording, { recording: 'live', accepted: last, ignored: 0, last_frame_id: last })
  t.same(
    seen,
    Array.from({ length: last }, (_, i) => i + 1),
    'the client received every frame once and in order',
  )
  t.equal(anomalies, 0)
  await server.stop()
  t.match(check(server.start.dir, 'live'), { integrity: 'ok', frames: { length: last } })
})

t.test(
  'recorder: the error for an invalid line has its number, and all earlier lines are stored',
  async (t) => {
    const { url } = await start(t)
    const lines = [
      runLine,
      ...frameLines(1, 4),
      '{"frame_id": 5, "bodies": [{"id": 1, "position": "high"}]}',
      frameLine(6),
    ]
    const { status, json } = await send(url, 'bad', lines)
    t.equal(status, 400)
    t.match(json, {
      code: 'INVALID_FRAME',
      message: /^line 6: bodies\[0\]\.position is "high", expected 3 numbers/,
      data: { line: 6, path: 'bodies[0].position', accepted: 4, last_frame_id: 4 },
    })
    t.match((await send(url, 'bad', [frameLine(5), frameLine(6)])).json, { accepted: 2, last_frame_id: 6 })
  },
)

verifies('recording:recorder:one-writer', async (t) => {
  const { url } = await start(t)
  const stream = openStream(url, 'two')
  stream.push(`${runLine}\n${frameLine(1)}\n`)
  await until(
    () => getJson(url, `${routes}/two`),
    ({ status }) => status === 200,
  )
  const { status, json } = await send(url, 'two', [frameLine(2)])
  t.same([status, json.code, json.retryable], [409, 'RECORDING_IN_USE', true])
  stream.end()
  t.equal((await stream.response).status, 200)
  t.match((await send(url, 'two', [frameLine(2)])).json, { accepted: 1 })
  // A different frame with a stored id is a conflict.
  const other = await send(url, 'two', [frameLine(2, { time: 99 })])
  t.match([other.status, other.json], [409, { code: 'FRAME_CONFLICT', data: { line: 1, frame_id: 2 } }])
})

t.test('recorder: the complete lines of an interrupted request are stored', async (t) => {
  const { url } = await start(t)
  const { hostname, port, host } = new URL(url)
  const socket = connect(Number(port), hostname)
  const lines = [runLine, ...frameLines(1, 7), frameLine(8).slice(0, 50)].join('\n')
  const head = `POST ${routes}/torn/frames HTTP/1.1\r\nHost: ${host}\r\nContent-Length: 1000000\r\n\r\n`
  socket.write(head + lines)
  await until(
    () => getJson(url, `${routes}/torn`),
    ({ status, json }) => status === 200 && json.last_frame_id === 7,
  )
  socket.destroy()
  const { json } = await until(
    () => send(url, 'torn', frameLines(7, 9)),
    ({ status }) => status === 200,
  )
  t.match(json, { accepted: 2, ignored: 1, last_frame_id: 9 })
})

t.test('recorder: accepts gzip, and rejects other encodings and invalid names', async (t) => {
  const { url } = await start(t)
  const gzip = { 'content-encoding': 'gzip' }
  t.match((await send(url, 'packed', [runLine, ...frameLines(1, 50)], gzip)).json, { accepted: 50 })
  const brotli = await send(url, 'packed', [frameLine(51)], { 'content-encoding': 'br' })
  t.match([brotli.status, brotli.json.code], [415, 'UNSUPPORTED_MEDIA_TYPE'])
  t.equal(brotli.headers.get('accept-encoding'), 'gzip, identity')
  const named = await send(url, 'no%20name', [frameLine(51)])
  t.match([named.status, named.json.code], [400, 'INVALID_ARGUMENTS'])
})

verifies(
  'wire:error:route-types',
  'the recorder accepts the content types of scripts, and rejects web pages',
  async (t) => {
    const { url } = await start(t)
    const curl = { 'content-type': 'application/x-www-form-urlencoded' }
    t.equal(
      (await send(url, 'typed', [runLine, frameLine(1)], curl)).status,
      200,
      'the default type of curl and urllib',
    )
    for (const type of ['text/plain;charset=UTF-8', 'multipart/form-data; boundary=x'])
      t.equal((await send(url, 'typed', [frameLine(2)], { 'content-type': type })).status, 415, type)
    const page = { ...curl, origin: 'http://localhost:5173' }
    t.match((await send(url, 'typed', [frameLine(2)], page)).json, { code: 'FORBIDDEN_ORIGIN' })
    t.match((await send(url, 'typed', [frameLine(2)], { ...curl, origin: url })).json, {
      code: 'UNSUPPORTED_MEDIA_TYPE',
    })
    t.equal((await state(url, 'typed')).total_frames, 1, 'nothing else was stored')
  },
)

verifies('recording:recorder:gzip-bomb', async (t) => {
  const { url } = await start(t)
  const packed = { 'content-encoding': 'gzip', 'content-type': 'application/x-ndjson' }
  for (const [text, line] of [
    ['x', 1],
    ['\n', 1_000_001],
  ] as const) {
    const body = gzipSync(Buffer.alloc(64 * 2 ** 20, text))
    const response = await fetch(`${url}${routes}/bomb/frames`, { method: 'POST', headers: packed, body })
    t.equal(response.status, 400)
    t.match(await response.json(), { code: 'INVALID_FRAME', data: { line } })
  }
})

t.test('recorder: exports, imports, lists and deletes a run', async (t) => {
  const root = t.testdir({ data: {}, root: {} })
  const files = join(root, 'root')
  const env = { CAUSEWAY_RECORDING_ROOTS: files }
  const running = await startServer(t, { dir: join(root, 'data'), env })
  const { url } = running
  await send(url, 'made', [runLine, ...frameLines(1, 20)])
  const taken = await fetch(`${url}${routes}/made/export`)
  const bytes = Buffer.from(await taken.arrayBuffer())
  t.equal(taken.headers.get('content-length'), String(bytes.length))
  writeFileSync(join(files, 'taken.db'), bytes)
  t.match((await postJson(url, `${routes}/back/import`, { from: 'taken.db' })).json, {
    status: 'finished',
    total_frames: 20,
  })
  const readFrame = async (recording: string) => {
    const {
      recording: _,
      viewer_url,
      summary,
      unit,
      ...frame
    } = await tool(url, 'get_frame', { recording, frame_id: 9 })
    return frame
  }
  t.same(await readFrame('taken.db'), await readFrame('made'), 'the export has the same frame as the run')
  t.same(await readFrame('back'), await readFrame('made'), 'the import has the same frame as the run')
  const again = await postJson(url, `${routes}/back/import`, { from: 'taken.db' })
  t.match([again.status, again.json.code], [409, 'RECORDING_EXISTS'])
  writeFileSync(join(files, 'lines.jsonl'), [runLine, ...frameLines(1, 5)].join('\n'))
  t.match((await postJson(url, `${routes}/lines/import`, { from: 'lines.jsonl' })).json, { total_frames: 5 })
  const restarted = await restartServer(t, running)
  const { recordings } = await tool(restarted.url, 'list_recordings', {})
  const status = recordings.map((one: { name: string; status?: string }) => [one.name, one.status])
  t.same(status, [
    ['back', 'finished'],
    ['lines', 'finished'],
    ['made', 'interrupted'],
    ['lines.jsonl', undefined],
    ['taken.db', undefined],
  ])
  const removed = await fetch(`${restarted.url}${routes}/made`, { method: 'DELETE' })
  t.equal(removed.status, 204)
  const gone = await tool(restarted.url, 'get_frame', { recording: 'made', frame_id: 1 })
  t.equal(gone.code, 'RECORDING_NOT_FOUND')
})
