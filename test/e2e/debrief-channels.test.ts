import { execFile } from 'node:child_process'
import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { WebSocket } from 'ws'
import { widePlot } from '../../packages/app-debrief/test/wide-plot.ts'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { getJson, postJson } from './http.ts'
import { copyPlots, type Data, openPlotClient, overHttp, startPlots } from './plot-client.ts'

t.setTimeout(600_000)

const folders = t.testdir({ debriefChannels: { one: {} }, runTool: {} })

const home = `${folders}/debriefChannels`
const server = await startPlots(t, join(home, 'one'), ['sample', 'mission1'], {
  CAUSEWAY_LISTEN: 'debrief:0',
  CAUSEWAY_RATE_LIMITS: 'off',
})
const own: string = (await server.server.saw('an app has a port of its own')).url
const client = overHttp(server.url, 'test')
const sample = 'sample.plot.json'
await client.call('debrief_open_plot', { filename: sample })
const runToolServer = await startPlots(t, `${folders}/runTool`, [])

const point = (id: string) => ({
  type: 'Feature',
  id,
  geometry: { type: 'Point', coordinates: [-1.2, 50.4] },
  properties: { dataType: 'reference-point', name: id },
})

/** Opens a WebSocket. Its methods send a frame and return the next frame. */
async function openSocket(t: Test) {
  const socket = new WebSocket(own.replace('http', 'ws'))
  const frames: string[] = []
  socket.on('message', (data) => frames.push(data.toString()))
  t.teardown(() => socket.terminate())
  const frame = async (index: number): Promise<string> => {
    await until(
      async () => frames.length,
      (length) => length > index,
    )
    return frames[index] ?? ''
  }
  const welcome = await frame(0)
  return {
    welcome,
    async exchange(text: string): Promise<string> {
      const { length } = frames
      socket.send(text)
      return frame(length)
    },
    // biome-ignore lint/suspicious/noExplicitAny: each test expects its own shape
    async command(command: string, params: object = {}): Promise<any> {
      const { length } = frames
      socket.send(JSON.stringify({ command, params }))
      return JSON.parse(await frame(length))
    },
  }
}

verifies('limits:json', 'a WebSocket frame over the depth limit is rejected', async (t) => {
  const { exchange } = await openSocket(t)
  const frame = `{"command":"notify","params":${'['.repeat(1_000_000)}${']'.repeat(1_000_000)}}`
  t.match(JSON.parse(await exchange(frame)), {
    error: { code: 'INVALID_REQUEST', data: { limit_depth: 500 } },
  })
})

verifies('debrief:legacy:socket', async (t) => {
  const { welcome, exchange, command } = await openSocket(t)
  t.same(JSON.parse(welcome), { result: 'Connected to Debrief WebSocket Bridge' })
  t.same(JSON.parse(await exchange('hello there')), { result: 'Echo: hello there' })
  t.match(await command('explode'), { error: { code: 400, message: /unknown command/ } })
  t.same(await command('list_open_plots'), { result: [{ filename: sample, title: 'sample' }] })

  t.equal((await command('get_feature_collection')).result.features.length, 6)
  t.same(await command('add_features', { features: [point('new')] }), { result: null })
  t.same(
    await command('update_features', {
      features: [{ ...point('new'), properties: { name: 'N' } }, point('absent')],
    }),
    {
      result: null,
    },
  )
  t.same(await command('set_selected_features', { ids: ['new', 'absent'] }), { result: null })
  t.match(
    await client.call('debrief_get_selection'),
    { selectedIds: ['new'] },
    'MCP clients see the same plot',
  )
  t.match(await command('get_selected_features'), { result: [{ id: 'new', properties: { name: 'N' } }] })
  t.same(await command('zoom_to_selection'), { result: null })
  t.match(await command('get_viewport'), { result: { bounds: [Number, Number, Number, Number] } })
  t.match(await command('set_viewport', { viewportState: { bounds: [-2, 50, -1, 51] } }), {
    result: 'Viewport state updated successfully',
  })
  const timeState = {
    current: '2024-01-01T00:10:00Z',
    range: ['2024-01-01T00:00:00Z', '2024-01-01T00:19:00Z'],
  }
  t.match(await command('set_time', { timeState }), { result: 'Time state updated successfully' })
  t.match(await command('get_time'), {
    result: { current: '2024-01-01T00:10:00Z', end: '2024-01-01T00:19:00Z' },
  })
  t.same(await command('notify', { message: 'Look' }), { result: null })
  await client.call('debrief_delete_features', { ids: ['feature6'] })
  t.same(await command('delete_features', { ids: ['new', 'gone'] }), { result: null })
  const { result } = await command('get_feature_collection', { filename: sample })
  t.equal(result.features.length, 5, 'the socket client sees their changes')
  t.same(await command('set_feature_collection', { featureCollection: result }), { result: null })
  t.match(await command('set_feature_collection', {}), { error: { code: 400 } })
  t.match(await command('get_time', { filename: 'other.plot.json' }), { error: { code: 404 } })

  await client.call('debrief_open_plot', { filename: 'mission1.plot.json' })
  t.match(await command('get_feature_collection'), {
    error: {
      code: 'MULTIPLE_PLOTS',
      available_plots: [{ filename: 'mission1.plot.json' }, { filename: sample }],
    },
  })
  await client.call('debrief_close_plot', { filename: 'mission1.plot.json' })
})

verifies('debrief:legacy:http', async (t) => {
  for (const [url, path] of [
    [own, '/'],
    [own, '/api/command'],
    [server.url, '/api/apps/debrief/api/command'],
  ] as const) {
    const good = await postJson(url, path, { command: 'list_open_plots' })
    t.match([good.status, good.json], [200, { result: [{ filename: sample }] }], path)
    const bad = await postJson(url, path, { command: 'get_time', params: { filename: 'other.plot.json' } })
    t.match(
      [bad.status, bad.json],
      [404, { error: { code: 404, details: { code: 'PLOT_NOT_FOUND' } } }],
      path,
    )
  }
})

verifies('debrief:health', async (t) => {
  const { status, json } = await getJson(own, '/health')
  t.equal(status, 200)
  t.match(json, {
    status: 'ok',
    server: 'debrief-state',
    mcp_endpoint: '/mcp',
    port: Number(new URL(own).port),
  })
})

verifies('debrief:events', 'over HTTP: a snapshot, then events', async (t) => {
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const response = await fetch(`${server.url}/api/apps/debrief/plots/${sample}/events`, {
    signal: ending.signal,
  })
  t.equal(response.headers.get('content-type'), 'text/event-stream')
  let text = ''
  const reading = (async () => {
    for await (const part of response.body ?? []) text += Buffer.from(part).toString()
  })()
  reading.catch(() => {})
  await until(
    async () => text,
    (seen) => seen.includes('event: snapshot'),
  )
  await client.call('debrief_set_selection', { selectedIds: ['feature1'] })
  await until(
    async () => text,
    (seen) => /event: selection\ndata: .*"selectedIds":\["feature1"\]/.test(seen),
  )
  const { json } = await getJson(server.url, '/api/apps/debrief/plots/other.plot.json/events')
  t.equal(json.code, 'PLOT_NOT_FOUND')
})

verifies('debrief:python', async (t) => {
  copyPlots(server.folder, ['sample'])
  await client.call('debrief_save_plot', { on_conflict: 'reload' })
  const script = join(repository, 'examples', 'debrief-python', 'highlight.py')
  const { stdout } = await promisify(execFile)('python3', [script, own, sample])
  t.match(stdout, /6 features/)
  t.match(stdout, /highlighted RFA Argus/)
  t.match(await client.call('debrief_get_selection'), { selectedIds: ['feature4'] })
  t.match((await client.call('debrief_get_features', { ids: ['feature4'] })).features, [
    { name: 'RFA Argus (checked)' },
  ])
})

verifies('debrief:large:open', async (t) => {
  const text = widePlot({ tracks: 1000, vertices: 1000 })
  t.ok(text.length > 44e6)
  writeFileSync(join(server.folder, 'wide.plot.json'), text)
  let isOpen = false
  const opening = client.call('debrief_open_plot', { filename: 'wide.plot.json' }).then((result) => {
    isOpen = true
    return result
  })
  const statuses: number[] = []
  while (!isOpen) statuses.push((await getJson(server.url, '/health')).status)
  t.match(await opening, { features: 1000 })
  t.ok(statuses.length >= 10, `${statuses.length} responses while the plot was opened`)
  t.ok(statuses.every((status) => status === 200))
  t.match(await client.call('debrief_get_features', { filename: 'wide.plot.json', limit: 1 }), {
    total: 1000,
  })
  await client.call('debrief_close_plot', { filename: 'wide.plot.json' })
})

const filename = 'oracle_pair.plot.json'

/** Returns the audit entries of a tool, latest first. */
const getAudit = async (app: string, tool: string): Promise<readonly Data[]> =>
  (await getJson(runToolServer.url, `/api/apps/causeway/audit?app=${app}&tool=${tool}&limit=20`)).json.entries

/** Subscribes to the events of the plot and returns a function that returns the received text. */
async function watchPlot(t: Test): Promise<() => string> {
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const url = `${runToolServer.url}/api/apps/debrief/plots/${filename}/events`
  const { body } = await fetch(url, { signal: ending.signal })
  let text = ''
  const reading = (async () => {
    for await (const part of body ?? []) text += Buffer.from(part).toString()
  })()
  reading.catch(() => {}) // aborted at the end of the test
  await until(
    async () => text,
    (seen) => seen.includes('event: snapshot'),
  )
  return () => text
}

verifies('debrief:run-tool:vault', async (t, channel) => {
  copyFileSync(join(repository, 'fixtures/tracks', filename), join(runToolServer.folder, filename))
  const client = await openPlotClient(t, channel, runToolServer.url)
  t.teardown(() => client.call('debrief_close_plot', { filename }))
  await client.call('debrief_open_plot', { filename })
  await client.call('debrief_save_plot', { on_conflict: 'reload' })
  const before = runToolServer.file('oracle_pair')
  const seen = await watchPlot(t)
  const entriesBefore = (await getAudit('Debrief', 'run_tool')).length

  await client.call('debrief_set_selection', { selectedIds: [] })
  const none = await client.call('debrief_list_applicable_tools')
  const missing = Object.fromEntries(none.not_applicable.map(({ name, missing }: Data) => [name, missing]))
  t.match(missing, {
    range_bearing: { features: /at least 2 features/ },
    cpa_tcpa: { tracks: /at least 2 tracks/ },
  })
  await client.call('debrief_set_selection', { selectedIds: ['xa', 'xb'] })
  const { tools } = await client.call('debrief_list_applicable_tools')
  const names: readonly string[] = tools.map(({ name }: Data) => name)
  for (const name of ['range_bearing', 'cpa_tcpa', 'delete_features', 'track_stats'])
    t.ok(names.includes(name))

  const at = '2024-01-01T00:00:00Z'
  const looked = await client.call('debrief_run_tool', { tool: 'range_bearing', args: { unit: 'm', at } })
  t.match(looked, { from_plot: ['features', 'current_time_state'], notices: [{ kind: 'data' }] })
  const { range_m, bearing_deg } = looked.notices[0].data
  t.ok(Math.abs(range_m - 14_300.85) < 0.01 && Math.abs(bearing_deg - 140.856) < 0.001)

  const { rev } = await client.call('debrief_get_selection')
  const drawn = await client.call('debrief_run_tool', { tool: 'cpa_tcpa', args: { draw: true } })
  t.match(drawn, {
    success: true,
    tool: 'cpa_tcpa',
    rev: rev + 1,
    from_plot: ['tracks'],
    featuresAffected: 1,
    feature_count: 3,
    results: [{ kind: 'composite', commandsProcessed: 2 }],
  })
  t.ok(Math.abs(drawn.notices[0].data.approaches[0].cpa_m - 209.5) < 1)
  t.notMatch(JSON.stringify(drawn), /"coordinates"/, 'features stay in the plot')
  await until(
    async () => seen(),
    (text) => text.includes(`"rev":${rev + 1},`) && text.includes('event: notice'),
  )
  t.equal(seen().split('event: patch').length - 1, 1, 'one event')

  await client.call('debrief_save_plot')
  t.equal(JSON.parse(runToolServer.file('oracle_pair')).features.length, 3)
  t.match(await client.call('debrief_undo'), { rev: rev + 2, steps: 1 })
  await client.call('debrief_save_plot')
  t.equal(runToolServer.file('oracle_pair'), before, 'one undo restores every byte')

  const entries = (await getAudit('Debrief', 'run_tool')).slice(0, -entriesBefore || undefined)
  t.equal(entries.length, 2, 'each run has one entry')
  t.match(entries, [{ metadata: { filename, ran: 'cpa_tcpa' } }, { metadata: { ran: 'range_bearing' } }])
  const [vault] = await getAudit('ToolVault', 'cpa_tcpa')
  t.match(vault, { service: 'tool-vault', success: true })

  const wrong = await client.callError('debrief_run_tool', { tool: 'zone_transits' })
  t.equal(wrong.code, 'TOOL_NOT_APPLICABLE')
  t.match(
    await client.call('debrief_get_features'),
    { total: 2, rev: rev + 2 },
    'a failed call does not change the plot',
  )
})
