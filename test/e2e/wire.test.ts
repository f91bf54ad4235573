import replay from '@causeway/app-replay'
import t, { type Test } from 'tap'
import { call, openTestCore } from '../../server/test/test-core.ts'
import type { Channel } from '../requirement.ts'
import { verifies } from '../verifies.ts'
import { until } from './condition.ts'
import { openPeer, type Peer, untilListening } from './peer.ts'
import { recordings, startServer } from './server-process.ts'
import { writeProbeApp } from './user-app.ts'

t.setTimeout(300_000)

const dir = t.testdir()
const { url } = await startServer(t, { dir, env: writeProbeApp(dir).env })

const callTool = (peer: Peer, id: string, name: string, args: object = {}, more: object = {}) =>
  peer.call(id, 'tools/call', { name, arguments: args, ...more })

/** The whole result of one call; the direct channel is the server without HTTP. */
async function resultOver(t: Test, channel: Channel, name: string, args: object) {
  if (channel === 'direct')
    return call(
      await openTestCore(t, [replay], { env: { CAUSEWAY_RECORDING_ROOTS: recordings } }),
      name,
      args,
    )
  return (await callTool(await openPeer(t, channel, url), 'one', name, args)).result
}

verifies('app:answer:structured', async (t, channel) => {
  const result = await resultOver(t, channel, 'Replay__get_frame', { recording: 'drop', frame_id: 7 })
  t.match(result.structuredContent, { recording: 'drop', frame_id: 7 })
  t.equal(result.content[0].type, 'text')
  t.same(JSON.parse(result.content[0].text), result.structuredContent)
})

verifies('app:answer:error-object', async (t, channel) => {
  const result = await resultOver(t, channel, 'Replay__get_frame', { frame_id: 7 })
  t.equal(result.isError, true)
  t.notOk('structuredContent' in result)
  const error = result._meta['causeway/error']
  t.match(error, { code: 'NO_RECORDING', legacy_code: -32000, retryable: false, data: {} })
  t.equal(result.content[0].text, `${error.code}: ${error.message}; ${error.remedy}`)
})

verifies('app:answer:error-text', async (t, channel) => {
  const result = await resultOver(t, channel, 'Replay__get_frame', { recording: 'drop', frame_id: 999_999 })
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
  const answered = callTool(peer, 'wait', 'Probe__wait', { steps: 3 }, { _meta: { progressToken: 'p' } })
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
    'the answer has not come yet',
  )
  await callTool(peer, 'go', 'Probe__release')
  t.match(await answered, { result: { structuredContent: { steps: 3 } } })
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
  const answers = peer.messages.all.filter(({ id }) => id === 'long')
  for (const { error } of answers) t.equal(error?.data.code, 'CANCELLED', 'it ends its stream, if anything')
  if (channel === 'bridge') t.same(answers, [], 'a client hears nothing of a call that it cancelled')
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
