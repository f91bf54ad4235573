import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { type Backend, type Got, startBackend, type Wire } from './backend.ts'
import { type Client, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

/** More than `JSON.stringify` can write; `JSON.parse` reads it. */
const deepText = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
const hole = '"deep"'
const deepLine = (message: Wire): string => `${JSON.stringify(message).replaceAll(hole, deepText)}\n`
const call = (id: Wire, params: Wire) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })
const refused = { error: { code: -32600, data: { code: 'INVALID_REQUEST' } } }

/** A server of the stateless era alone. */
function makeModern(backend: Backend): void {
  const error = { code: -32022, message: 'no', data: { supported: ['2026-07-28'] } }
  backend.on('initialize', (got) => got.json({ jsonrpc: '2.0', id: got.message.id, error }, { status: 400 }))
  backend.on('server/discover', (got) =>
    got.result({ resultType: 'complete', supportedVersions: ['2026-07-28'], capabilities: { tools: {} } }),
  )
}

const refuse = (got: Got) =>
  got.json({ jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'no' } })

/** A server that wants `initialize` first. */
function makeLegacy(backend: Backend): void {
  backend.on('server/discover', refuse)
  backend.on('tools/call', (got) =>
    got.headers['mcp-session-id'] === undefined ? refuse(got) : got.result({ called: true }),
  )
}

/** Sends a deep request alone, in a batch and as a notification; each request is answered, and what follows too. */
async function survives(t: Test, bridge: Client, params: Wire = {}): Promise<void> {
  const arguments_ = { ...params, name: 'x', arguments: 'deep' }
  bridge.raw(deepLine(call('alone', arguments_)))
  t.match(await bridge.answer('alone'), refused)
  bridge.raw(deepLine([call('first', { ...params, name: 'x' }), call('second', arguments_)]))
  t.match(await bridge.answer('second'), refused)
  t.match(await bridge.answer('first'), { result: {} }, 'the good element of the batch is sent')
  bridge.raw(deepLine({ jsonrpc: '2.0', method: 'notifications/x', params: arguments_ }))
  t.match(await bridge.call('after', 'tools/call', { ...params, name: 'x' }), { result: {} })
  t.equal(bridge.process.exitCode, null, 'the bridge lives')
}

verifies('bridge:deep', async (t) => {
  const backend = await startBackend(t)
  makeModern(backend)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await survives(t, bridge)
})

verifies('bridge:deep', 'nor for a server that wants initialize', async (t) => {
  const backend = await startBackend(t)
  makeLegacy(backend)
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call('discover', 'server/discover', modern), { result: {} })
  await survives(t, bridge, modern)
})

for (const [claim, isLate] of [
  ['as the first line to a server that wants initialize it costs the next one nothing', false],
  ['it is refused also where the server tells what it wants after a session was opened', true],
] as const)
  verifies('bridge:deep', claim, async (t) => {
    const backend = await startBackend(t)
    makeLegacy(backend)
    backend.on('tools/call', async (got) => {
      if (got.headers['mcp-session-id'] !== undefined) return got.result({ called: true })
      // The first refusal makes the bridge ask for the era.
      const isSecond = (got.message.id === 'heavy') === isLate
      if (isSecond) await backend.saw(isLate ? 'notifications/initialized' : 'server/discover')
      refuse(got)
    })
    const bridge = startBridge(t, { url: backend.url })
    bridge.raw(deepLine(call('heavy', { ...modern, name: 'x', arguments: 'deep' })))
    bridge.send(call('plain', { ...modern, name: 'x' }))
    t.match(await bridge.answer('heavy'), refused)
    t.match(await bridge.answer('plain'), { result: { called: true } })
    t.equal(bridge.lines.length, 2, 'the client gets nothing else')
  })

verifies('bridge:deep', 'of a batch that is filtered, the others are sent', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url, args: ['--only', 'shown'] })
  await bridge.open()
  const shown = call(1, { name: 'shown', arguments: 'deep' })
  bridge.raw(deepLine([call(0, { name: 'hidden' }), shown, call(2, { name: 'shown' })]))
  t.match(await bridge.answer(0), { result: { isError: true } })
  t.match(await bridge.answer(1), refused)
  t.match(await bridge.answer(2), { result: { echo: 'tools/call' } })
  t.equal(bridge.lines.length, 4, 'each is answered once')
})

verifies('bridge:deep', 'a deep handshake is answered as the server answers it', async (t) => {
  const backend = await startBackend(t)
  makeModern(backend)
  const bridge = startBridge(t, { url: backend.url })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: 'deep' }
  bridge.raw(deepLine({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  t.match(await bridge.answer(1), { error: { code: -32022 } })
  t.match(await bridge.call(2, 'ping'), { result: {} }, 'what comes behind is not held')
})

verifies(
  'bridge:deep',
  'where a server tells too deeply what it is, its refusal is the answer',
  async (t) => {
    const backend = await startBackend(t)
    makeModern(backend)
    const result = { supportedVersions: ['2026-07-28'], capabilities: 'deep' }
    backend.on('server/discover', (got) =>
      got.status(200, deepLine({ jsonrpc: '2.0', id: got.message.id, result }).trim(), {
        'content-type': 'application/json',
      }),
    )
    const bridge = startBridge(t, { url: backend.url })
    t.match(await bridge.open(), { error: { code: -32022 } })
    t.match(await bridge.call(1, 'ping'), { result: {} }, 'what comes behind is not held')
    t.equal(bridge.lines.length, 2)
  },
)

verifies('bridge:deep', 'a subscription that is refused hears nothing', async (t) => {
  const backend = await startBackend(t)
  makeLegacy(backend)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call('discover', 'server/discover', modern)
  const notifications = { toolsListChanged: true, more: 'deep' }
  bridge.raw(
    deepLine({
      jsonrpc: '2.0',
      id: 'sub',
      method: 'subscriptions/listen',
      params: { ...modern, notifications },
    }),
  )
  t.match(await bridge.answer('sub'), refused)
  backend.on('tools/call', (got) => {
    const stream = got.stream()
    stream.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
    stream.send({ jsonrpc: '2.0', id: got.message.id, result: {} })
    stream.end()
  })
  await bridge.call(1, 'tools/call', { ...modern, name: 'x' })
  t.notOk(bridge.messages.all.some(({ method }) => method !== undefined))
})

verifies('bridge:deep', 'a deep answer or question of the server is replaced', async (t) => {
  const backend = await startBackend(t)
  makeModern(backend)
  const replaced = { error: { data: { code: 'SERVER_ANSWER_INVALID' } } }
  const answerDeep = (got: Got, result: Wire) =>
    got.status(200, deepLine({ jsonrpc: '2.0', id: got.message.id, result }).trim(), {
      'content-type': 'application/json',
    })
  backend.on('tools/call', (got) => answerDeep(got, { resultType: 'complete', structuredContent: 'deep' }))
  backend.on('prompts/get', (got) =>
    answerDeep(got, {
      resultType: 'input_required',
      inputRequests: {
        a: { method: 'roots/list' },
        b: { method: 'elicitation/create', params: { x: 'deep' } },
      },
    }),
  )
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  t.match(await bridge.call(1, 'tools/call', { name: 'x' }), replaced)
  t.match(await bridge.call(2, 'prompts/get', { name: 'x' }), replaced)
  const { id } = await bridge.saw('roots/list')
  t.match(await bridge.saw('notifications/cancelled'), { params: { requestId: id } })
})

verifies('bridge:deep', 'a reply of the client fails the call that asked for it', async (t) => {
  const backend = await startBackend(t)
  makeModern(backend)
  const inputRequests = { a: { method: 'roots/list' } }
  backend.on('tools/call', (got) => got.result({ resultType: 'input_required', inputRequests }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.send(call(1, { name: 'x' }))
  const { id } = await bridge.saw('roots/list')
  bridge.raw(deepLine({ jsonrpc: '2.0', id, result: { roots: 'deep' } }))
  t.match(await bridge.answer(1), refused)
})
