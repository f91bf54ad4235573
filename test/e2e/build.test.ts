/** The product as its users start it: the compiled server and the bundled bridge. */
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { verifies } from '../verifies.ts'
import { overBridge, overHttp } from './conversation.ts'
import { getJson } from './http.ts'
import { buildProduct, fromBuild, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(300_000)

const launcher = fileURLToPath(new URL('../../bridge/run.mjs', import.meta.url))
buildProduct()
const dir = t.testdir()
const { url } = await startServer(t, { dir, program: fromBuild, env: writeProbeApp(dir).env })

verifies('server:start:fresh-clone', 'as it is built', async (t) => {
  const { json } = await getJson(url, '/health')
  t.match(json, { status: 'ok', apps: { Replay: { status: 'ok', tools: Number } } })
  const { recordings } = await overHttp(url, {}).ask('list_recordings')
  t.ok(recordings.some(({ recording }: { recording: string }) => recording === 'slide_at_45'))
})

t.test('build: the bundled bridge tells the fault of a recording from the compiled server', async (t) => {
  const client = await overBridge(t, url, [launcher])
  await client.ask('load_recording', { path: 'slide_at_45' })
  const { anomalies } = await client.ask('find_energy_anomalies')
  const { frame_id } = anomalies.find(({ kind }: { kind: string }) => kind === 'injection')
  t.equal(frame_id, 45)
  t.match(await client.ask('check_friction_cone', { frame_id }), { violation_count: 4 })
  t.match(await client.refusal('get_frame', { frame_id: 0 }), { code: 'FRAME_NOT_FOUND' })
})

verifies('app:user:by-path', 'by the compiled server, which gives it its own app kit', async (t) => {
  const { json } = await getJson(url, '/api/apps')
  t.ok(json.apps.some(({ name }: { name: string }) => name === 'Probe'))
})
