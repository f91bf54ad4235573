import { mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import { openBridge } from '../e2e/bridge-process.ts'
import { until } from '../e2e/condition.ts'
import { getJson, postJson } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { verifies } from '../verifies.ts'
import {
  checkAll,
  checkFiles,
  createWorks,
  findLeftovers,
  mergeSettings,
  readPromised,
  runWorks,
} from './all-works.ts'
import { CallError, tool } from './work.ts'

const restarts = process.env.CAUSEWAY_LONG === undefined ? 1 : 10

verifies('restart:no-loss', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = createWorks(root)
  const env = mergeSettings(works)
  for (const work of works) work.before?.()
  let running = await startServer(t, { dir, env })
  const { url } = running
  for (const work of works) await work.begin({ url, dir })
  const bridge = await openBridge(t, { url: `${url}/mcp` })
  const over = new AbortController()
  // Calls through the bridge continue while no server runs.
  const responses: unknown[] = []
  const calling = (async () => {
    for (let id = 1; !over.signal.aborted; id++) {
      const args = { recording: 'drop', frame_id: 1, note: `through the bridge ${id}` }
      responses.push(await bridge.call(id, 'tools/call', { name: 'Replay__bookmark', arguments: args }))
    }
  })()
  for (let i = 0; i < restarts; i++) {
    let isStopping = false
    const { failures } = await runWorks(
      works,
      { url, dir },
      {
        atWork: () => {
          isStopping = true
          running.server.process.kill('SIGTERM')
        },
      },
    )
    const promised = readPromised(works)
    t.ok(isStopping, 'every store was in use')
    const codes = failures.map((error) =>
      error instanceof CallError ? (error.response.json.code ?? error.message) : String(error),
    )
    t.same(
      codes.filter((code) => code !== 'SHUTTING_DOWN'),
      [],
      'accepted calls complete, and all others fail with SHUTTING_DOWN',
    )
    t.same(await running.server.exited, { code: 0, signal: null })
    checkFiles(t, dir)
    running = await startServer(t, { dir, env: { ...env, MCP_SERVER_PORT: new URL(url).port } })
    await checkAll(t, works, { url, dir }, promised)
  }
  over.abort()
  await calling
  t.ok(responses.length > 0)
  t.same(
    responses.filter(
      (response) =>
        JSON.stringify(response).includes('"isError":true') || !(response as { result?: unknown }).result,
    ),
    [],
    'every call through the bridge succeeds, even during a restart',
  )
  const { bookmarks } = (await (
    await fetch(`${url}/api/apps/replay/tools/bookmark`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ recording: 'drop' }),
    })
  ).json()) as { readonly bookmarks: readonly { readonly note: string }[] }
  const notes = bookmarks.map(({ note }) => note).filter((note) => note.startsWith('through'))
  t.equal(notes.length, responses.length, 'no bookmark is missing')
  t.equal(new Set(notes).size, notes.length, 'no bookmark is duplicated')
  await running.server.stop()
  t.same(findLeftovers(dir), [])
})

verifies('data:moved', async (t) => {
  const root = t.testdir({ data: {}, elsewhere: {}, plots: {}, projects: {} })
  const [before, after] = [join(root, 'data'), join(root, 'elsewhere', 'moved')]
  const works = createWorks(root)
  const env = { ...mergeSettings(works), CAUSEWAY_PLOT_SAVE_MS: '3600000' }
  for (const work of works) work.before?.()
  const first = await startServer(t, { dir: before, env })
  const { url } = first
  for (const work of works) await work.begin({ url, dir: before })
  for (let i = 0; i < 2; i++) for (const work of works) await work.step({ url, dir: before })
  const runs = async (url: string) => {
    const { recordings } = await tool(url, ['replay', 'list_recordings'], {})
    return recordings.filter(({ name }: { name: string }) => name === 'living')
  }
  const [run] = await runs(url)

  // A session that changes a copy of the project in the data folder until it ends.
  const project = join(root, 'projects', 'desk')
  mkdirSync(project)
  writeFileSync(join(project, 'value.py'), 'VALUE = 0\n')
  const start = { repo: 'desk', test: 'cat value.py', preflight: false, options: { write: 'end' } }
  const { sessionId: sid } = await tool(url, ['trm', 'start'], start)
  const submit = async (url: string, from: number) => {
    const edits = [{ type: 'replace', oldText: `VALUE = ${from}\n`, newText: `VALUE = ${from + 1}\n` }]
    const candidate = { mode: 'modify', changes: [{ file: 'value.py', edits }] }
    await tool(url, ['trm', 'submit'], { sid, candidate, force: true, wait: 60 })
  }
  await submit(url, 0)

  // Another program also wrote this plot, so the server's version is stored in the data folder.
  const filename = 'sample.plot.json'
  for (const work of works) if (work.name === 'debrief') await work.step({ url, dir: before })
  const { features } = await tool(url, ['debrief', 'get_features'], { filename })
  const file = join(root, 'plots', filename)
  writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{ '))
  await first.server.stop()
  t.equal(readdirSync(join(before, 'debrief-unsaved')).length, 1)

  renameSync(before, after)
  const second = await startServer(t, { dir: after, env })
  const place = { url: second.url, dir: after }
  t.match(await runs(second.url), [
    {
      recording: run.recording,
      total_frames: run.total_frames,
      path: join(after, 'recordings', 'living.db'),
    },
  ])
  t.equal((await runs(second.url)).length, 1)
  const plot = await tool(place.url, ['debrief', 'get_features'], { filename })
  t.same(plot.features, features)
  t.match(plot, { dirty: true, file: 'conflict' })
  await tool(place.url, ['debrief', 'save_plot'], { filename, on_conflict: 'overwrite' })
  await submit(place.url, 1)
  await tool(place.url, ['trm', 'undo'], { sid })
  await submit(place.url, 1)
  t.equal(readFileSync(join(project, 'value.py'), 'utf8'), 'VALUE = 0\n')
  await tool(place.url, ['trm', 'end'], { sid, apply: 'last' })
  t.equal(readFileSync(join(project, 'value.py'), 'utf8'), 'VALUE = 2\n')
  await checkAll(t, works, place, readPromised(works))
  for (const work of works) await work.step(place)
  t.same(await second.server.stop(), { code: 0, signal: null })
})

const rounds = process.env.CAUSEWAY_LONG === undefined ? 4 : 60
t.setTimeout(540_000 + restarts * 60_000 + rounds * 15_000)

verifies('limits:memory:short', async (t) => {
  const root = t.testdir({ data: {}, plots: {}, projects: {} })
  const dir = join(root, 'data')
  const works = createWorks(root)
  for (const work of works) work.before?.()
  const env = { ...mergeSettings(works), CAUSEWAY_MEMORY_LIMIT_MB: '64' }
  const { url, server } = await startServer(t, { dir, env })
  const place = { url, dir }
  const health = async () => (await getJson(url, '/health')).json.memory

  const line = await server.saw('memory is short: requests are answered one at a time until it is not')
  t.equal(line.limit_mb, 64)
  t.ok(line.used_mb > 64)
  const short = await health()
  t.match(short, { status: 'short', limit_bytes: 64 * 2 ** 20 })
  t.ok(short.used_bytes > short.limit_bytes)

  for (const work of works) await work.begin(place)
  const frame = (recording: string) => tool(url, ['replay', 'get_frame'], { recording, frame_id: 2 })
  const first = await frame('stack.db')
  for (let round = 0; round < rounds; round++) {
    const { given_back_bytes: before } = await health()
    for (const work of works) await work.step(place)
    await until(health, ({ given_back_bytes: given }) => given > before)
  }
  t.same(await frame('stack.db'), first, 'evicted data is read again')
  const all = Array.from({ length: 12 }, () =>
    postJson(url, '/api/apps/replay/tools/check_momentum', { recording: 'stack.db' }),
  )
  const responses = await Promise.all(all)
  const rejected = responses.filter(({ status }) => status !== 200)
  t.ok(rejected.length > 0 && rejected.length < responses.length, 'some requests are answered')
  for (const { status, headers, json } of rejected) {
    t.equal(status, errorDefinitions.OVERLOADED?.status)
    t.equal(json.code, 'OVERLOADED')
    t.match(headers.get('retry-after'), /^\d+$/)
  }
  const evicted = ['replay.recordings', 'debrief.plots', 'minds.texts', 'help.search']
  const { caches } = await until(
    health,
    ({ caches }) =>
      caches['replay.recordings'].bytes === 0 && evicted.every((name) => caches[name].given_back_bytes > 0),
  )
  for (const name of evicted) t.ok(caches[name].given_back_bytes > 0, `${name} evicted entries`)
  const metrics = await (await fetch(`${url}/metrics`)).text()
  t.match(metrics, /^causeway_memory_short 1$/m)
  t.match(metrics, /^causeway_requests_turned_away_total\{want="memory"\} [1-9]/m)
  t.match(metrics, /^causeway_cache_given_back_bytes\{cache="replay\.recordings"\} [1-9]/m)
  await checkAll(t, works, place, readPromised(works))
  t.same(await server.stop(), { code: 0, signal: null })
})
