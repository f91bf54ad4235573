import replay from '@causeway/app-replay'
import t, { type Test } from 'tap'
import { call, openTestCore } from '../../server/test/test-core.ts'
import type { Channel } from '../requirement.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { postMcp } from './http.ts'
import { openPeer, type Peer, untilListening } from './peer.ts'
import { overBridge, overHttp, type ReplayClient } from './replay-client.ts'
import { recordings, restartServer, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(600_000)

const folders = t.testdir({ wire: {}, session: {} })

const dir = `${folders}/wire`
const { url } = await startServer(t, { dir, env: writeProbeApp(dir).env })
const running = await startServer(t, { dir: `${folders}/session` })
const { url: sessionUrl } = running

const callTool = (peer: Peer, id: string, name: string, args: object = {}, more: object = {}) =>
  peer.call(id, 'tools/call', { name, arguments: args, ...more })

/** Returns the complete result of a call. The direct channel is the server without HTTP. */
async function callOver(t: Test, channel: Channel, name: string, args: object) {
  if (channel === 'direct')
    return call(
      await openTestCore(t, [replay], { env: { CAUSEWAY_RECORDING_ROOTS: recordings } }),
      name,
      args,
    )
  return (await callTool(await openPeer(t, channel, url), 'one', name, args)).result
}

verifies('app:answer:structured', async (t, channel) => {
  const result = await callOver(t, channel, 'Replay__get_frame', { recording: 'drop', frame_id: 7 })
  t.match(result.structuredContent, { recording: 'drop', frame_id: 7 })
  t.equal(result.content[0].type, 'text')
  t.same(JSON.parse(result.content[0].text), result.structuredContent)
})

verifies('app:answer:error-object', async (t, channel) => {
  const result = await callOver(t, channel, 'Replay__get_frame', { frame_id: 7 })
  t.equal(result.isError, true)
  t.notOk('structuredContent' in result)
  const error = result._meta['causeway/error']
  t.match(error, { code: 'NO_RECORDING', legacy_code: -32000, retryable: false, data: {} })
  t.equal(result.content[0].text, `${error.code}: ${error.message}; ${error.remedy}`)
})

verifies('app:answer:error-text', async (t, channel) => {
  const result = await callOver(t, channel, 'Replay__get_frame', { recording: 'drop', frame_id: 999_999 })
  const { code, message, remedy, data } = result._meta['causeway/error']
  t.match(remedy, /data\.first_frame/)
  t.type(data.first_frame, 'number')
  t.equal(
    result.content[0].text,
    `${code}: ${message}; ${remedy}\ndata.first_frame: ${data.first_frame}\ndata.last_frame: ${data.last_frame}`,
  )
})

verifies('wire:error:unknown-tool', async (t, channel) => {
  const peer = await openPeer(t, channel, url)
  const { error } = await callTool(peer, 'a', 'Replay__get_fram')
  t.match(error, {
    code: -32602,
    data: { code: 'UNKNOWN_TOOL', data: { did_you_mean: 'Replay__get_frame' } },
  })
})

verifies('wire:error:unknown-method', async (t, channel) => {
  const peer = await openPeer(t, channel, url)
  const { error } = await peer.call('a', 'tools/destroy')
  t.match(error, { code: -32601 })
})

verifies('wire:resource:read', async (t, channel) => {
  const peer = await openPeer(t, channel, url)
  const { result: listed } = await peer.call('list', 'resources/list')
  t.ok(listed.resources.some(({ uri }: { uri: string }) => uri === 'probe://notes/a'))
  const { result: templates } = await peer.call('templates', 'resources/templates/list')
  const templated = templates.resourceTemplates.map(({ uriTemplate }: { uriTemplate: string }) => uriTemplate)
  t.ok(templated.includes('replay://recordings/{recording}/frames/{frame_id}'))

  const uri = 'replay://recordings/slide_at_45/frames/45'
  const { result } = await peer.call('read', 'resources/read', { uri })
  t.match(result.contents, [{ uri, mimeType: 'application/json' }])
  t.match(JSON.parse(result.contents[0].text), { recording: 'slide_at_45', frame_id: 45 })
  for (const absent of [
    'replay://recordings/absent/metadata',
    'replay://recordings/slide_at_45/frames/first',
  ])
    t.type((await peer.call(absent, 'resources/read', { uri: absent })).error?.code, 'number', absent)
  const unknown = await peer.call('unknown', 'resources/read', { uri: 'gopher://nothing' })
  t.equal(unknown.error.code, -32002)
})

verifies('wire:resource:subscribe', 'over a real connection', async (t) => {
  const peer = await openPeer(t, 'bridge', url)
  await untilListening(peer)
  t.match(await peer.saw('notifications/resources/updated'), { params: { uri: 'probe://notes/a' } })
})

verifies('wire:stream:progress', async (t, channel) => {
  const peer = await openPeer(t, channel, url)
  const response = callTool(peer, 'wait', 'Probe__wait', { steps: 3 }, { _meta: { progressToken: 'p' } })
  await peer.messages.first('the last step', ({ params }) => params?.progress === 3)
  const steps = peer.messages.all.filter(({ method }) => method === 'notifications/progress')
  t.same(
    steps.map(({ params }) => params),
    [1, 2, 3].map((progress) => ({
      progressToken: 'p',
      progress,
      total: 3,
      message: `step ${progress}`,
    })),
  )
  t.notOk(
    peer.messages.all.some(({ id }) => id === 'wait'),
    'the call is still in flight',
  )
  await callTool(peer, 'go', 'Probe__release')
  t.match(await response, { result: { structuredContent: { steps: 3 } } })
})

verifies('wire:stream:cancel', async (t, channel) => {
  const peer = await openPeer(t, channel, url)
  const seen = async () =>
    (await callTool(peer, `seen-${performance.now()}`, 'Probe__seen')).result.structuredContent
  const before = await seen()
  peer.send({
    jsonrpc: '2.0',
    id: 'long',
    method: 'tools/call',
    params: { name: 'Probe__wait', arguments: { steps: 0 } },
  })
  await until(seen, ({ begun }) => begun === before.begun + 1)
  peer.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'long' } })
  await until(seen, ({ aborted }) => aborted === before.aborted + 1)
  await peer.call('ping', 'ping')
  const responses = peer.messages.all.filter(({ id }) => id === 'long')
  for (const { error } of responses)
    t.equal(error?.data.code, 'CANCELLED', 'a response only reports the cancellation')
  if (channel === 'bridge') t.same(responses, [], 'the bridge sends no response for a cancelled call')
})

verifies('wire:prompt', 'over a real connection', async (t) => {
  const peer = await openPeer(t, 'bridge', url)
  const { result } = await peer.call('list', 'prompts/list')
  const greet = result.prompts.find(({ name }: { name: string }) => name === 'Probe__greet')
  t.match(greet, { arguments: [{ name: 'who', required: true }] })
  const got = await peer.call('get', 'prompts/get', { name: 'Probe__greet', arguments: { who: 'Ada' } })
  t.match(got.result.messages, [{ role: 'user', content: { type: 'text', text: 'Greet Ada.' } }])
  const missing = await peer.call('missing', 'prompts/get', { name: 'Probe__greet' })
  t.equal(missing.error.code, -32602)
})

verifies('wire:completion', 'over a real connection', async (t) => {
  const peer = await openPeer(t, 'bridge', url)
  const ofPrompt = await peer.call('prompt', 'completion/complete', {
    ref: { type: 'ref/prompt', name: 'Probe__greet' },
    argument: { name: 'who', value: 'A' },
  })
  t.same(ofPrompt.result.completion.values, ['Ada', 'Alan'])
  const ofTemplate = await peer.call('template', 'completion/complete', {
    ref: { type: 'ref/resource', uri: 'replay://recordings/{recording}/metadata' },
    argument: { name: 'recording', value: 'slide_' },
  })
  t.same(ofTemplate.result.completion.values, ['slide_at_45'])
})

const acceptsBoth = { accept: 'application/json, text/event-stream' }

/** Opens a session without a GET stream and returns its header. */
async function initialize(): Promise<Readonly<Record<string, string>>> {
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'script', version: '1' },
  }
  const response = await fetch(`${sessionUrl}/mcp`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...acceptsBoth },
    body: JSON.stringify({ jsonrpc: '2.0', id: 0, method: 'initialize', params }),
  })
  await response.text()
  return { 'mcp-session-id': response.headers.get('mcp-session-id') ?? '' }
}

/** Opens two clients for each way to identify a session, each with the recording that it loads. */
async function clients(t: Test): Promise<readonly (readonly [string, ReplayClient])[]> {
  return [
    ['drop', await overBridge(t, sessionUrl)],
    ['stack', await overBridge(t, sessionUrl)],
    ['slide_at_45', overHttp(sessionUrl, await initialize())],
    ['penetration', overHttp(sessionUrl, await initialize())],
    ['nan', overHttp(sessionUrl, { 'causeway-session': 'one' })],
    ['frozen_time', overHttp(sessionUrl, { 'causeway-session': 'two' })],
  ]
}

const getActiveRecordings = async (list: readonly (readonly [string, ReplayClient])[]): Promise<string[]> =>
  Promise.all(list.map(async ([, client]) => (await client.call('get_metadata')).recording))

verifies('wire:session:isolated', async (t) => {
  const all = await clients(t)
  await Promise.all(all.map(([path, client]) => client.call('load_recording', { path })))
  t.same(
    await getActiveRecordings(all),
    all.map(([path]) => path),
  )
  const anonymous = overHttp(sessionUrl, {})
  t.match(await anonymous.callError('get_metadata'), { code: 'NO_RECORDING' })
  await anonymous.call('load_recording', { path: 'tunnelling' })
  t.same(
    await getActiveRecordings(all),
    all.map(([path]) => path),
    'the shared session does not affect other sessions',
  )
})

verifies('replay:session:named', 'over HTTP, in every tool that reads a recording', async (t) => {
  const client = overHttp(sessionUrl, {})
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
    const result = await client.call(tool, { ...args, recording: 'slide_at_45' })
    t.match(result, { recording: 'slide_at_45', summary: String }, tool)
  }
})

verifies('replay:session:shared-hint', 'over HTTP, and not in a session of its own', async (t) => {
  const shared = await overHttp(sessionUrl, {}).call('load_recording', { path: 'drop' })
  t.match(shared.summary, /pass recording: "drop"/)
  const own = await overHttp(sessionUrl, { 'causeway-session': 'mine' }).call('load_recording', {
    path: 'drop',
  })
  t.notMatch(own.summary, /pass recording/)
})

t.test('sessions: an unknown Mcp-Session-Id is rejected and does not get the shared state', async (t) => {
  const params = { name: 'Replay__get_metadata', arguments: {} }
  const headers = { ...acceptsBoth, 'mcp-session-id': 'never-opened' }
  const { status, json } = await postMcp(sessionUrl, 'tools/call', params, { headers })
  t.equal(status, 404)
  t.match(json, { error: { code: -32001, data: { code: 'SESSION_NOT_FOUND' } } })
})

verifies('app:session:restart', 'each kind of client keeps its active recording', async (t) => {
  const all = await clients(t)
  await Promise.all(all.map(([path, client]) => client.call('load_recording', { path })))
  const again = await restartServer(t, running)
  t.not(again.server.process.pid, running.server.process.pid)
  t.same(
    await getActiveRecordings(all),
    all.map(([path]) => path),
  )
})
