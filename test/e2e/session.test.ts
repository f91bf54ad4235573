import t, { type Test } from 'tap'
import { verifies } from '../verifies.ts'
import { type Conversation, overBridge, overHttp } from './conversation.ts'
import { postMcp } from './http.ts'
import { restartServer, startServer } from './server-process.ts'

t.setTimeout(300_000)

const running = await startServer(t, { dir: t.testdir() })
const { url } = running

const acceptsBoth = { accept: 'application/json, text/event-stream' }

/** The headers of a session that `initialize` opened, without a stream. */
async function initialize(): Promise<Readonly<Record<string, string>>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'script', version: '1' },
  }
  const answer = await fetch(`${url}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...acceptsBoth },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await answer.text()
  return { 'mcp-session-id': answer.headers.get('mcp-session-id') ?? '' }
}

/** One client of each kind that has a session of its own, with the recording that it loads. */
async function clients(t: Test): Promise<readonly (readonly [string, Conversation])[]> {
  return [
    ['drop', await overBridge(t, url)],
    ['stack', await overBridge(t, url)],
    ['slide_at_45', overHttp(url, await initialize())],
    ['penetration', overHttp(url, await initialize())],
    ['nan', overHttp(url, { 'causeway-session': 'one' })],
    ['frozen_time', overHttp(url, { 'causeway-session': 'two' })],
  ]
}

const activeOf = async (list: readonly (readonly [string, Conversation])[]): Promise<string[]> =>
  Promise.all(list.map(async ([, client]) => (await client.ask('get_metadata')).recording))

verifies('wire:session:isolated', async (t) => {
  const all = await clients(t)
  await Promise.all(all.map(([path, client]) => client.ask('load_recording', { path })))
  t.same(
    await activeOf(all),
    all.map(([path]) => path),
  )
  const anonymous = overHttp(url, {})
  t.match(await anonymous.refusal('get_metadata'), { code: 'NO_RECORDING' })
  await anonymous.ask('load_recording', { path: 'tunnelling' })
  t.same(
    await activeOf(all),
    all.map(([path]) => path),
    'the shared session touches none of them',
  )
})

verifies('replay:session:named', 'over HTTP, in every tool that reads one', async (t) => {
  const client = overHttp(url, {})
  const calls = {
    get_metadata: {},
    get_frame: { frame_id: 45 },
    get_body_state: { body_id: 1, frame_id: 45 },
    get_contacts_for_body: { body_id: 1, frame_id: 45 },
    get_body_energy: { body_id: 1 },
    get_system_energy: {},
    get_solver_diagnostics: {},
    find_energy_anomalies: {},
    check_friction_cone: { frame_id: 45 },
    check_penetration: { frame_id: 45 },
    check_resting_contact: { frame_id: 45 },
    compare_body_across_frames: { body_id: 1, frame_a: 1, frame_b: 45 },
    get_contact_history: { body_a_id: 1, body_b_id: 2, start_frame: 1, end_frame: 45 },
  }
  for (const [tool, args] of Object.entries(calls)) {
    const answer = await client.ask(tool, { ...args, recording: 'slide_at_45' })
    t.match(answer, { recording: 'slide_at_45', summary: String }, tool)
  }
})

verifies('replay:session:shared-hint', 'over HTTP, and not where a client has its own', async (t) => {
  const shared = await overHttp(url, {}).ask('load_recording', { path: 'drop' })
  t.match(shared.summary, /pass recording: "drop"/)
  const own = await overHttp(url, { 'causeway-session': 'mine' }).ask('load_recording', { path: 'drop' })
  t.notMatch(own.summary, /pass recording/)
})

t.test('sessions: an unknown Mcp-Session-Id is refused, not given the shared state', async (t) => {
  const params = { name: 'Replay__get_metadata', arguments: {} }
  const headers = { ...acceptsBoth, 'mcp-session-id': 'never-opened' }
  const { status, json } = await postMcp(url, 'tools/call', params, { headers })
  t.equal(status, 404)
  t.match(json, { error: { code: -32001, data: { code: 'SESSION_NOT_FOUND' } } })
})

verifies('app:session:restart', 'each kind of client keeps its active recording', async (t) => {
  const all = await clients(t)
  await Promise.all(all.map(([path, client]) => client.ask('load_recording', { path })))
  const again = await restartServer(t, running)
  t.not(again.server.process.pid, running.server.process.pid)
  t.same(
    await activeOf(all),
    all.map(([path]) => path),
  )
})
