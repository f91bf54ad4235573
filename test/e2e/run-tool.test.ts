import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { repository } from '../tree.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { getJson } from './http.ts'
import { type Data, startPlots, talk } from './plot-talk.ts'

t.setTimeout(300_000)

const filename = 'oracle_pair.plot.json'
const server = await startPlots(t, t.testdir(), [])

/** Entries of the audit about a tool of an app, latest first. */
const audited = async (app: string, tool: string): Promise<readonly Data[]> =>
  (await getJson(server.url, `/api/apps/causeway/audit?app=${app}&tool=${tool}&limit=20`)).json.entries

/** Listens to the events of the plot. */
async function viewer(t: Test): Promise<() => string> {
  const ending = new AbortController()
  t.teardown(() => ending.abort())
  const url = `${server.url}/api/apps/debrief/plots/${filename}/events`
  const { body } = await fetch(url, { signal: ending.signal })
  let text = ''
  const reading = (async () => {
    for await (const part of body ?? []) text += Buffer.from(part).toString()
  })()
  reading.catch(() => {}) // it is cut off at the end
  await until(
    async () => text,
    (seen) => seen.includes('event: snapshot'),
  )
  return () => text
}

verifies('debrief:run-tool:vault', async (t, channel) => {
  copyFileSync(join(repository, 'fixtures/tracks', filename), join(server.folder, filename))
  const client = await talk(t, channel, server.url)
  t.teardown(() => client.ask('debrief_close_plot', { filename }))
  await client.ask('debrief_open_plot', { filename })
  await client.ask('debrief_save_plot', { on_conflict: 'reload' })
  const before = server.file('oracle_pair')
  const seen = await viewer(t)
  const entriesBefore = (await audited('Debrief', 'run_tool')).length

  await client.ask('debrief_set_selection', { selectedIds: [] })
  const none = await client.ask('debrief_list_applicable_tools')
  const missing = Object.fromEntries(none.not_applicable.map(({ name, missing }: Data) => [name, missing]))
  t.match(missing, {
    range_bearing: { features: /at least 2 features/ },
    cpa_tcpa: { tracks: /at least 2 tracks/ },
  })
  await client.ask('debrief_set_selection', { selectedIds: ['xa', 'xb'] })
  const { tools } = await client.ask('debrief_list_applicable_tools')
  const names: readonly string[] = tools.map(({ name }: Data) => name)
  for (const name of ['range_bearing', 'cpa_tcpa', 'delete_features', 'track_stats'])
    t.ok(names.includes(name))

  const at = '2024-01-01T00:00:00Z'
  const looked = await client.ask('debrief_run_tool', { tool: 'range_bearing', args: { unit: 'm', at } })
  t.match(looked, { from_plot: ['features', 'current_time_state'], notices: [{ kind: 'data' }] })
  const { range_m, bearing_deg } = looked.notices[0].data
  t.ok(Math.abs(range_m - 14_300.85) < 0.01 && Math.abs(bearing_deg - 140.856) < 0.001)

  const { rev } = await client.ask('debrief_get_selection')
  const drawn = await client.ask('debrief_run_tool', { tool: 'cpa_tcpa', args: { draw: true } })
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

  await client.ask('debrief_save_plot')
  t.equal(JSON.parse(server.file('oracle_pair')).features.length, 3)
  t.match(await client.ask('debrief_undo'), { rev: rev + 2, steps: 1 })
  await client.ask('debrief_save_plot')
  t.equal(server.file('oracle_pair'), before, 'one undo, byte for byte')

  const entries = (await audited('Debrief', 'run_tool')).slice(0, -entriesBefore || undefined)
  t.equal(entries.length, 2, 'one entry a run')
  t.match(entries, [{ metadata: { filename, ran: 'cpa_tcpa' } }, { metadata: { ran: 'range_bearing' } }])
  const [vault] = await audited('ToolVault', 'cpa_tcpa')
  t.match(vault, { service: 'tool-vault', success: true })

  const wrong = await client.refusal('debrief_run_tool', { tool: 'zone_transits' })
  t.equal(wrong.code, 'TOOL_NOT_APPLICABLE')
  t.match(await client.ask('debrief_get_features'), { total: 2, rev: rev + 2 }, 'a failure changes nothing')
})
