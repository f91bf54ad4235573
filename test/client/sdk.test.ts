import { meta, modernVersion, type Tool } from '@causeway/protocol'
import { Ajv2020 } from 'ajv/dist/2020.js'
import t, { type Test } from 'tap'
import { until } from '../e2e/condition.ts'
import { getJson, postMcp } from '../e2e/http.ts'
import { startServer } from '../e2e/server-process.ts'
import { writeProbeApp } from '../e2e/user-app.ts'
import { verifies } from '../verifies.ts'
import { bridgeCommand, clientRun, target } from './program.ts'
import { type AnyClient, connectV1, connectV2, type Mode } from './sdk-client.ts'

t.setTimeout(900_000)

const folders = t.testdir({ sdk: {}, listing: {}, inspector: {} })

const dir = `${folders}/sdk`
const app = writeProbeApp(dir)
const { server, url } = await startServer(t, { dir, env: app.env })
const endpoint = `${url}/mcp`
const { url: listingUrl } = await startServer(t, { dir: `${folders}/listing` })
const { json: hosted } = await getJson(listingUrl, '/api/apps')
const { url: inspectorUrl } = await startServer(t, { dir: `${folders}/inspector` })

/** Checks every feature that a client uses. */
async function checkClient(t: Test, client: AnyClient): Promise<void> {
  t.ok((await client.names()).includes('Replay__check_friction_cone'))
  await checkResults(t, client)
  await checkErrors(t, client)
  await checkProgressAndCancellation(t, client)
  await checkListChanged(t, client)
}

async function checkResults(t: Test, client: AnyClient): Promise<void> {
  const frame = await client.call('Replay__get_frame', { recording: 'slide_at_45', frame_id: 45 })
  t.match(frame.structuredContent, { recording: 'slide_at_45', frame_id: 45 })
  const uri = 'replay://recordings/slide_at_45/metadata'
  const { contents } = await client.read(uri)
  t.match(JSON.parse(contents[0].text), { recording: 'slide_at_45', total_frames: 120 })
  const prompt = await client.prompt('Probe__greet', { who: 'Ada' })
  t.match(prompt, { messages: [{ role: 'user', content: { text: 'Greet Ada.' } }] })
}

/** Requires that the client has listed the tools, so that it validates results against their output schemas. */
async function checkErrors(t: Test, client: AnyClient): Promise<void> {
  t.match(await client.call('Probe__fail'), {
    isError: true,
    content: [{ type: 'text', text: 'NOTHING_LOADED: nothing is loaded; load something' }],
    _meta: { 'causeway/error': { code: 'NOTHING_LOADED', data: { hint: 'probe' } } },
  })
  const wrong = await client.call('Replay__get_frame', { recording: 'drop', frame_id: 'first' })
  t.match(wrong, { isError: true, _meta: { 'causeway/error': { code: 'INVALID_ARGUMENTS' } } })
  await t.rejects(client.call('Replay__get_fram'), { code: -32602 })
}

async function checkProgressAndCancellation(t: Test, client: AnyClient): Promise<void> {
  const seen = async () => (await client.call('Probe__seen')).structuredContent
  const before = await seen()
  const received: number[] = []
  const waited = client.call(
    'Probe__wait',
    { steps: 3 },
    { onprogress: ({ progress }) => received.push(progress) },
  )
  await until(seen, ({ begun }) => begun === before.begun + 1 && received.length === 3)
  await client.call('Probe__release')
  t.match(await waited, { structuredContent: { steps: 3 } })
  t.same(received, [1, 2, 3])

  const cancel = new AbortController()
  const cancelled = client.call('Probe__wait', { steps: 0 }, { signal: cancel.signal })
  const rejected = t.rejects(cancelled)
  await until(seen, ({ begun }) => begun === before.begun + 2)
  cancel.abort()
  await rejected
  await until(seen, ({ aborted }) => aborted === before.aborted + 1)
}

/** Changes the list until the client is notified, because a client opens its stream in the background. */
async function checkListChanged(t: Test, client: AnyClient): Promise<void> {
  let notifications = 0
  let edits = 0
  client.onToolsChanged(() => notifications++)
  await until(
    async () => {
      app.edit('Changes the note.', `Changes the note, in edition ${performance.now()}.`)
      edits++
      await client.call('Causeway__refresh_registry')
      return notifications
    },
    (count) => count > 0,
  )
  t.ok(edits > 0)
  t.ok((await client.names()).includes('Probe__write'))
}

verifies('client:sdk-v1', async (t, channel) => {
  await checkClient(t, await connectV1(t, channel, endpoint))
})

const modes: Readonly<Record<string, Mode>> = {
  'in its default mode': undefined,
  'in its auto mode': 'auto',
  'pinned to 2026-07-28': { pin: '2026-07-28' },
}

for (const [name, mode] of Object.entries(modes)) {
  verifies('client:sdk-v2', `the v2 SDK client ${name}`, async (t, channel) => {
    await checkClient(t, await connectV2(t, channel, endpoint, mode))
  })
}

t.test('SDK clients: no client caused a warning of the server', async (t) => {
  t.same(
    server.log.all.filter(({ level }) => level >= 40).map(({ msg, app }) => ({ msg, app })),
    [],
  )
})

const bareMounts: readonly string[] = hosted.apps.map(
  ({ name }: { name: string }) => `/mcp/${name.toLowerCase()}`,
)
const mounts = ['/mcp', ...bareMounts]

const toolBytes = 2000
const appBytes = 25_000
const bytes = (value: unknown): number => Buffer.byteLength(JSON.stringify(value))

async function legacyList(path: string): Promise<readonly Tool[]> {
  const { json } = await postMcp(listingUrl, 'tools/list', {}, { path })
  return json.result.tools
}

async function modernList(path: string): Promise<readonly Tool[]> {
  const claim = { [meta.protocolVersion]: modernVersion, [meta.clientCapabilities]: {} }
  const headers = { 'mcp-protocol-version': modernVersion, 'mcp-method': 'tools/list' }
  const { json } = await postMcp(listingUrl, 'tools/list', { _meta: claim }, { path, headers })
  return json.result.tools
}

verifies('wire:list:deterministic', async (t) => {
  t.ok(mounts.includes('/mcp/replay') && mounts.includes('/mcp/causeway'))
  for (const path of mounts) {
    const [legacy, again, modern] = [await legacyList(path), await legacyList(path), await modernList(path)]
    t.ok(legacy.length > 0, path)
    t.equal(JSON.stringify(again), JSON.stringify(legacy), `${path}: the same bytes every time`)
    t.equal(JSON.stringify(modern), JSON.stringify(legacy), `${path}: the same bytes in both eras`)
    for (const { name, inputSchema, outputSchema } of legacy)
      for (const schema of [inputSchema, outputSchema ?? {}]) {
        const ajv = new Ajv2020({ strict: true, allErrors: true, formats: {} })
        t.doesNotThrow(() => ajv.compile(schema as object), `${path} ${name}`)
        t.notMatch(JSON.stringify(schema), /"\$schema"|"\$ref":"[^#]|9007199254740991/, `${path} ${name}`)
      }
  }
})

verifies('wire:name:limits', async (t) => {
  for (const { name } of await legacyList('/mcp'))
    t.match(name, /^(?=.{1,49}$)[A-Z][A-Za-z0-9]*__[A-Za-z0-9_-]+$/)
})

verifies('wire:name:full', async (t) => {
  const names = (await legacyList('/mcp')).map(({ name }) => name)
  t.ok(names.includes('Replay__list_recordings'))
  const call = (name: string) => postMcp(listingUrl, 'tools/call', { name, arguments: {} })
  t.type((await call('Replay__list_recordings')).json.result.structuredContent.count, 'number')
  t.equal((await call('list_recordings')).json.error.code, -32602)
})

verifies('wire:name:bare', async (t) => {
  const full = (await legacyList('/mcp')).map(({ name }) => name)
  const bare = await Promise.all(bareMounts.map(legacyList))
  t.equal(bare.flat().length, full.length)
  const names = (await legacyList('/mcp/replay')).map(({ name }) => name)
  t.same(
    names,
    full.filter((name) => name.startsWith('Replay__')).map((name) => name.slice('Replay__'.length)),
  )
  const call = (name: string) =>
    postMcp(listingUrl, 'tools/call', { name, arguments: {} }, { path: '/mcp/replay' })
  t.type((await call('list_recordings')).json.result.structuredContent.count, 'number')
  t.equal((await postMcp(listingUrl, 'tools/list', {}, { path: '/mcp/absent' })).status, 404)
})

verifies('app:size:listing', 'as served', async (t) => {
  const tools = await legacyList('/mcp')
  for (const tool of tools) t.ok(bytes(tool) <= toolBytes, `${tool.name}: ${bytes(tool)} bytes`)
  for (const path of bareMounts) {
    const size = bytes(await legacyList(path))
    t.comment(`${path}: ${size} bytes`)
    t.ok(size <= appBytes, `${path}: ${size} bytes`)
  }
})

verifies('client:inspector', async (t, channel) => {
  const inspect = clientRun(t, 'inspector', t.testdir())
  if (inspect === undefined) return
  const server = target(channel, {
    http: [`${inspectorUrl}/mcp`, '--transport', 'http'],
    bridge: bridgeCommand(inspectorUrl),
  })

  const listed = await inspect('--cli', ...server, '--method', 'tools/list', '--strict')
  t.equal(listed.code, 0, 'every schema is valid')
  const names = JSON.parse(listed.stdout).tools.map(({ name }: { name: string }) => name)
  t.ok(names.includes('Replay__check_friction_cone'))

  const args = ['recording=slide_at_45', 'frame_id=45'].flatMap((arg) => ['--tool-arg', arg])
  const call = ['--method', 'tools/call', '--tool-name', 'Replay__check_friction_cone', ...args]
  const called = await inspect('--cli', ...server, ...call)
  t.equal(called.code, 0)
  t.match(JSON.parse(called.stdout).structuredContent, { recording: 'slide_at_45', violation_count: 4 })

  const read = ['--method', 'resources/read', '--uri', 'replay://recordings/slide_at_45/metadata']
  const metadata = await inspect('--cli', ...server, ...read)
  t.equal(metadata.code, 0)
  t.match(JSON.parse(JSON.parse(metadata.stdout).contents[0].text), { recording: 'slide_at_45' })
})
