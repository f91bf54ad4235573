import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { parseJson, stringify } from '../src/stdio/json.ts'
import { type Backend, type Got, makeStateless, startBackend, type Wire } from './backend.ts'
import { modern, startBridge } from './client.ts'

t.setTimeout(300_000)

/** Has more levels than `JSON.stringify` supports; `JSON.parse` accepts it. */
const deepText = `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`
const deepLine = (message: Wire): string => `${JSON.stringify(message).replaceAll('"deep"', deepText)}\n`
const call = (id: Wire, params: Wire) => ({ jsonrpc: '2.0', id, method: 'tools/call', params })

const reject = (got: Got) =>
  got.json({ jsonrpc: '2.0', id: got.message.id, error: { code: -32601, message: 'no' } })

const answerDeep = (got: Got, result: Wire) =>
  got.status(200, deepLine({ jsonrpc: '2.0', id: got.message.id, result }).trim(), {
    'content-type': 'application/json',
  })

/** Makes the backend a server that requires `initialize`. */
function makeLegacy(backend: Backend): void {
  backend.on('server/discover', reject)
  backend.on('tools/call', (got) =>
    got.headers['mcp-session-id'] === undefined ? reject(got) : got.result({ called: true }),
  )
}

t.test('stringify writes values of any depth like JSON.stringify', async (t) => {
  const value = { a: [1, 'é"\n', null, true, [], {}], '"b"': { c: [[2], { d: false }] } }
  t.equal(stringify(value), JSON.stringify(value))
  const text = `[${JSON.stringify(value)},${deepText},${JSON.stringify([value, 7])}]`
  t.throws(() => JSON.stringify(JSON.parse(text)), RangeError)
  t.equal(stringify(parseJson(Buffer.from(text))), text)
})

verifies('bridge:deep', async (t) => {
  const backend = await startBackend(t)
  makeStateless(backend)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  const params = { name: 'x', arguments: 'deep' }
  bridge.raw(deepLine(call('alone', params)))
  t.match(await bridge.answer('alone'), { result: {} })
  bridge.raw(deepLine([call('first', { name: 'x' }), call('second', params)]))
  t.match(await bridge.answer('first'), { result: {} })
  t.match(await bridge.answer('second'), { result: {} })
  const received = backend.got.all.filter(({ text }) => text.includes(deepText))
  t.same(
    received.map(({ message }) => [message.id, message.params.name]),
    [
      ['alone', 'x'],
      ['second', 'x'],
    ],
    'the server receives the complete arguments',
  )
})

verifies('bridge:deep', 'a deep message is translated for a server that requires initialize', async (t) => {
  const backend = await startBackend(t)
  makeLegacy(backend)
  const bridge = startBridge(t, { url: backend.url })
  bridge.raw(deepLine(call('heavy', { ...modern, name: 'x', arguments: 'deep' })))
  t.match(await bridge.answer('heavy'), { result: { called: true } })
  const [, translated] = backend.got.all.filter(({ message }) => message?.id === 'heavy')
  t.ok(translated?.text.includes(deepText))
  t.notOk(translated?.text.includes('protocolVersion'), 'without the envelope')
})

verifies('bridge:deep', 'a deep element of a filtered batch is sent', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url, args: ['--only', 'shown'] })
  await bridge.open()
  const shown = call(1, { name: 'shown', arguments: 'deep' })
  bridge.raw(deepLine([call(0, { name: 'hidden' }), shown, call(2, { name: 'shown' })]))
  t.match(await bridge.answer(0), { result: { isError: true } })
  t.match(await bridge.answer(1), { result: { echo: 'tools/call' } })
  t.match(await bridge.answer(2), { result: { echo: 'tools/call' } })
})

verifies('bridge:deep', 'a deep handshake is translated', async (t) => {
  const backend = await startBackend(t)
  makeStateless(backend)
  const bridge = startBridge(t, { url: backend.url })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: 'deep' }
  bridge.raw(deepLine({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  t.match(await bridge.answer(1), { result: { protocolVersion: '2025-11-25' } })
  t.match(await bridge.call(2, 'tools/list'), { result: {} })
})

verifies('bridge:deep', 'deep results, input requests and replies are translated', async (t) => {
  const backend = await startBackend(t)
  makeStateless(backend)
  backend.on('tools/call', (got) => answerDeep(got, { resultType: 'complete', structuredContent: 'deep' }))
  backend.on('prompts/get', (got) => {
    if (got.message.params.inputResponses !== undefined) got.result({ resultType: 'complete' })
    else
      answerDeep(got, {
        resultType: 'input_required',
        inputRequests: { a: { method: 'elicitation/create', params: { x: 'deep' } } },
      })
  })
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call(1, 'tools/call', { name: 'x' })
  t.ok(bridge.lines.at(-1)?.includes(deepText))
  const answer = bridge.call(2, 'prompts/get', { name: 'x' })
  const { id } = await bridge.saw('elicitation/create')
  t.ok(bridge.lines.at(-1)?.includes(deepText))
  bridge.raw(deepLine({ jsonrpc: '2.0', id, result: { content: 'deep' } }))
  t.match(await answer, { result: {} })
  const reply = backend.got.all.find(({ message }) => message?.params?.inputResponses !== undefined)
  t.ok(reply?.text.includes(deepText))
})
