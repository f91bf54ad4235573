import t, { type Test } from 'tap'
import { until } from '../e2e/condition.ts'
import { startServer } from '../e2e/server-process.ts'
import { writeProbeApp } from '../e2e/user-app.ts'
import { verifies } from '../verifies.ts'
import { type AnyClient, connectV1, connectV2, type Mode } from './sdk-client.ts'

t.setTimeout(300_000)

const dir = t.testdir()
const app = writeProbeApp(dir)
const { server, url } = await startServer(t, { dir, env: app.env })
const endpoint = `${url}/mcp`

/** Everything that a client does in a day. */
async function day(t: Test, client: AnyClient): Promise<void> {
  t.ok((await client.names()).includes('Replay__check_friction_cone'))
  await answers(t, client)
  await fails(t, client)
  await takesTime(t, client)
  await isTold(t, client)
}

async function answers(t: Test, client: AnyClient): Promise<void> {
  const frame = await client.call('Replay__get_frame', { recording: 'slide_at_45', frame_id: 45 })
  t.match(frame.structuredContent, { recording: 'slide_at_45', frame_id: 45 })
  const uri = 'replay://recordings/slide_at_45/metadata'
  const { contents } = await client.read(uri)
  t.match(JSON.parse(contents[0].text), { recording: 'slide_at_45', total_frames: 120 })
  const prompt = await client.prompt('Probe__greet', { who: 'Ada' })
  t.match(prompt, { messages: [{ role: 'user', content: { text: 'Greet Ada.' } }] })
}

/** The client has listed tools by now, and checks answers against their output schemas. */
async function fails(t: Test, client: AnyClient): Promise<void> {
  t.match(await client.call('Probe__fail'), {
    isError: true,
    content: [{ type: 'text', text: /^NO_RECORDING: nothing is loaded; / }],
    _meta: { 'causeway/error': { code: 'NO_RECORDING', data: { hint: 'probe' } } },
  })
  const wrong = await client.call('Replay__get_frame', { recording: 'drop', frame_id: 'first' })
  t.match(wrong, { isError: true, _meta: { 'causeway/error': { code: 'INVALID_ARGUMENTS' } } })
  await t.rejects(client.call('Replay__get_fram'), { code: -32602 })
}

async function takesTime(t: Test, client: AnyClient): Promise<void> {
  const seen = async () => (await client.call('Probe__seen')).structuredContent
  const before = await seen()
  const heard: number[] = []
  const waited = client.call(
    'Probe__wait',
    { steps: 3 },
    { onprogress: ({ progress }) => heard.push(progress) },
  )
  await until(seen, ({ begun }) => begun === before.begun + 1 && heard.length === 3)
  await client.call('Probe__release')
  t.match(await waited, { structuredContent: { steps: 3 } })
  t.same(heard, [1, 2, 3])

  const cancel = new AbortController()
  const cancelled = client.call('Probe__wait', { steps: 0 }, { signal: cancel.signal })
  const rejected = t.rejects(cancelled)
  await until(seen, ({ begun }) => begun === before.begun + 2)
  cancel.abort()
  await rejected
  await until(seen, ({ aborted }) => aborted === before.aborted + 1)
}

/** A client opens its stream behind its caller's back, so a change may come before it: the list changes until it hears. */
async function isTold(t: Test, client: AnyClient): Promise<void> {
  let told = 0
  let edits = 0
  client.onToolsChanged(() => told++)
  await until(
    async () => {
      app.edit('Changes the note.', `Changes the note, in edition ${performance.now()}.`)
      edits++
      await client.call('Causeway__refresh_registry')
      return told
    },
    (count) => count > 0,
  )
  t.ok(edits > 0)
  t.ok((await client.names()).includes('Probe__write'))
}

verifies('client:sdk-v1', async (t, channel) => {
  await day(t, await connectV1(t, channel, endpoint))
})

const modes: Readonly<Record<string, Mode>> = {
  'in its default mode': undefined,
  'in its auto mode': 'auto',
  'pinned to 2026-07-28': { pin: '2026-07-28' },
}

for (const [name, mode] of Object.entries(modes)) {
  verifies('client:sdk-v2', `the v2 SDK client ${name}`, async (t, channel) => {
    await day(t, await connectV2(t, channel, endpoint, mode))
  })
}

t.test('SDK clients: none of them made the server complain', async (t) => {
  t.same(
    server.log.all.filter(({ level }) => level >= 40).map(({ msg, app }) => ({ msg, app })),
    [],
  )
})
