import { createHash } from 'node:crypto'
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import type { Channel } from '../requirement.ts'
import { inCI } from '../tier.ts'
import { verifies } from '../verifies.ts'
import { openBridge } from './bridge-process.ts'
import { until } from './condition.ts'
import { getJson, postMcp } from './http.ts'
import { copyPlots, openPlotClient, overHttp, type PlotClient, startPlots } from './plot-client.ts'
import { restartServer } from './server-process.ts'

t.setTimeout(300_000)

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const sample = 'sample.plot.json'
const server = await startPlots(t, t.testdir(), [])

/** Opens a client and copies of the plots. The plots are closed at the end of the test. */
async function openPlots(t: Test, channel: Channel, names = ['sample']): Promise<PlotClient> {
  copyPlots(server.folder, names)
  const client = await openPlotClient(t, channel, server.url)
  for (const name of names) await client.call('debrief_open_plot', { filename: `${name}.plot.json` })
  t.teardown(async () => {
    const other = overHttp(server.url, 'closing')
    for (const { filename } of (await other.call('debrief_list_plots')).plots)
      await other.call('debrief_close_plot', { filename })
  })
  return client
}

const countFailures = async (): Promise<number> =>
  (await getJson(server.url, '/api/apps/causeway/audit?app=Debrief&code=failed&limit=200')).json.entries
    .length

const idsIn = (text: string): readonly string[] =>
  JSON.parse(text).features.map(({ id }: { id: string }) => id)

/** Runs the sequence of the original: gets the selection, gets a command from ToolVault, applies it. */
async function deleteSelection(client: PlotClient, filename?: string) {
  const named = filename === undefined ? {} : { filename }
  const { selectedIds } = await client.call('debrief_get_selection', named)
  const command = await client.call('toolvault_delete_features', { ids: selectedIds })
  return client.call('debrief_apply_command', { command, ...named })
}

verifies('debrief:scenario:delete', async (t, channel) => {
  const client = await openPlots(t, channel)
  const before = server.file('sample')
  const failed = await countFailures()
  await client.call('debrief_set_selection', { selectedIds: ['feature1'] })
  t.match(await client.call('debrief_get_selection'), {
    selectedIds: ['feature1'],
    count: 1,
    summary: /HMS Illustrious/,
  })
  const { rev } = await client.call('debrief_get_selection')
  t.match(await deleteSelection(client), { success: true, featuresAffected: 1, rev: rev + 1 })
  await until(
    async () => server.file('sample'),
    (text) => text !== before,
  )
  t.same(idsIn(server.file('sample')), ['feature2', 'feature3', 'feature4', 'feature5', 'feature6'])
  t.match(await client.call('debrief_get_selection'), { selectedIds: [], count: 0 })
  await client.call('debrief_undo')
  await client.call('debrief_save_plot')
  t.equal(server.file('sample'), before, 'undo restores every byte')
  t.equal(await countFailures(), failed)
  const { json } = await getJson(
    server.url,
    '/api/apps/causeway/audit?app=Debrief&tool=apply_command&limit=1',
  )
  t.match(json.entries, [
    {
      level: 'INFO',
      service: 'debrief-state',
      operation: 'tool_call',
      success: true,
      metadata: { filename: sample },
    },
  ])
})

verifies(
  'debrief:scenario:none',
  inCI(async (t, channel) => {
    const client = await openPlots(t, channel)
    const { rev, undo } = await client.call('debrief_set_selection', { selectedIds: [] })
    const { mtimeMs } = statSync(join(server.folder, sample))
    const before = server.file('sample')
    t.match(await client.call('debrief_get_selection'), {
      selectedIds: [],
      count: 0,
      summary: 'Nothing is selected.',
    })
    t.match(await client.call('debrief_delete_features', { ids: [] }), { featuresAffected: 0, rev, undo })
    t.match(await client.callError('debrief_run_tool', { tool: 'delete_features' }), {
      code: 'TOOL_NOT_APPLICABLE',
      data: { missing: { features: /selected/ } },
    })
    await client.call('debrief_save_plot')
    t.equal(server.file('sample'), before)
    t.equal(statSync(join(server.folder, sample)).mtimeMs, mtimeMs)
  }),
)

verifies(
  'debrief:scenario:two',
  inCI(async (t, channel) => {
    const client = await openPlots(t, channel)
    const before = server.file('sample')
    await client.call('debrief_set_selection', { selectedIds: ['feature1', 'feature2'] })
    t.match(await client.call('debrief_run_tool', { tool: 'delete_features' }), {
      featuresAffected: 2,
      feature_count: 4,
      from_plot: ['features'],
    })
    await client.call('debrief_save_plot')
    t.same(idsIn(server.file('sample')), ['feature3', 'feature4', 'feature5', 'feature6'])
    t.match(await client.call('debrief_undo'), { steps: 1 })
    await client.call('debrief_save_plot')
    t.equal(server.file('sample'), before)
  }),
)

verifies(
  'debrief:scenario:plots',
  inCI(async (t, channel) => {
    const client = await openPlots(t, channel, ['mission1', 'mission2'])
    const filename = 'mission1.plot.json'
    const other = sha256(server.file('mission2'))
    await client.call('debrief_set_selection', { filename, selectedIds: ['feature1'] })
    const error = await client.callError('debrief_get_selection')
    t.match(error, {
      code: 'MULTIPLE_PLOTS',
      legacy_code: -32001,
      data: {
        available_plots: [
          { filename, title: 'mission1' },
          { filename: 'mission2.plot.json', title: 'mission2' },
        ],
      },
    })
    t.match(await deleteSelection(client, filename), { filename, featuresAffected: 1 })
    await client.call('debrief_save_plot', { filename })
    t.same(idsIn(server.file('mission1')), ['feature2'])
    t.equal(sha256(server.file('mission2')), other)
    await client.call('debrief_close_plot', { filename: 'mission2.plot.json' })
    t.match(await client.call('debrief_get_selection'), { filename })
  }),
)

verifies(
  'debrief:plots:many',
  'regardless of the plot that another client used',
  inCI(async (t, channel) => {
    const client = await openPlots(t, channel, ['mission1', 'mission2'])
    await client.call('debrief_get_selection', { filename: 'mission2.plot.json' })
    const other = overHttp(server.url, 'another')
    t.match(await other.callError('debrief_get_selection'), { code: 'MULTIPLE_PLOTS' })
    t.match(await client.callError('debrief_get_selection'), { code: 'MULTIPLE_PLOTS' })
  }),
)

verifies(
  'debrief:tools',
  inCI(async (t) => {
    await openPlots(t, 'http')
    const list = async () =>
      (await postMcp(server.url, 'tools/list', {}, { path: '/mcp/debrief' })).json.result.tools
    const tools = await list()
    const names = tools.map(({ name }: { name: string }) => name)
    for (const name of [
      'debrief_get_features',
      'debrief_get_selection',
      'debrief_apply_command',
      'debrief_set_time',
    ])
      t.ok(names.includes(name), name)
    t.equal(names.length, 23)
    t.same(await list(), tools)
    const unknown = await postMcp(
      server.url,
      'tools/call',
      { name: 'debrief_explode' },
      { path: '/mcp/debrief' },
    )
    t.equal(unknown.json.error.code, -32602)
    const shared = await postMcp(server.url, 'tools/call', { name: 'debrief_get_selection', arguments: {} })
    t.match(
      shared.json.result.structuredContent,
      { selectedIds: [] },
      'the shared mount accepts the original names',
    )
  }),
)

// The last test, because it stops the server.
verifies(
  'debrief:scenario:down',
  inCI(async (t) => {
    copyPlots(server.folder, ['sample'])
    const bridge = await openBridge(t, { url: `${server.url}/mcp/debrief`, args: ['--wait', '3000'] })
    const call = (id: number) =>
      bridge.call(id, 'tools/call', { name: 'debrief_get_selection', arguments: {} })
    await bridge.call(1, 'tools/call', { name: 'debrief_open_plot', arguments: { filename: sample } })
    server.server.process.kill('SIGKILL')
    await server.server.exited
    const failed = await call(2)
    t.match(failed.error, {
      message: /cannot reach the server/,
      data: { code: 'SERVER_UNREACHABLE', retryable: true },
    })
    await restartServer(t, server)
    const response = await call(3)
    t.match(
      response.result.structuredContent,
      { filename: sample, selectedIds: [] },
      'the plot is still open',
    )
  }),
)
