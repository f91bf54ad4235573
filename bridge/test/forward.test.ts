import t from 'tap'
import { inCI } from '../../test/tier.ts'
import { verifies } from '../../test/verifies.ts'
import { parseJson, stringify } from '../src/stdio/json.ts'
import { Backend, type Got, makeStateless, startBackend, type Wire } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

verifies('bridge:relay:bytes', 'forwards a JSON response unchanged', async (t) => {
  const backend = await startBackend(t)
  const body = '{"result" : {"n":1.0,"big":12345678901234567890,"s":"\\u00e9"},"id":1, "jsonrpc":"2.0"}'
  backend.on('ping', (got) => got.status(200, body, { 'content-type': 'application/json; charset=utf-8' }))
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call(1, 'ping')
  t.equal(bridge.lines[0], body)
})

verifies('bridge:lines:stdout', 'forwards a pretty-printed response as one line', async (t) => {
  const backend = await startBackend(t)
  const answer = { jsonrpc: '2.0', id: 1, result: { text: 'two\nlines' } }
  backend.on('ping', (got) =>
    got.status(200, JSON.stringify(answer, null, 2), { 'content-type': 'application/json' }),
  )
  backend.on('list', (got) =>
    got.stream().raw(`data: {"jsonrpc":"2.0",\r\ndata: "id":2,\ndata: "result":{}}\n\n`),
  )
  const bridge = startBridge(t, { url: backend.url })
  t.same(await bridge.call(1, 'ping'), answer)
  await bridge.call(2, 'list')
  t.equal(bridge.lines.length, 2)
})

verifies('bridge:relay:stream', async (t) => {
  const backend = await startBackend(t)
  backend.on('tools/call', () => {})
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })
  const stream = (await backend.saw('tools/call')).stream()
  stream.raw(': ping\n\nid: 0\ndata:\n\n')
  for (const progress of [0, 50, 100])
    stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: { progress } })
  stream.send({ jsonrpc: '2.0', id: 'e1', method: 'elicitation/create', params: {} })
  await bridge.saw('elicitation/create')
  bridge.send({ jsonrpc: '2.0', id: 'e1', result: { action: 'accept' } })
  const response = await backend.saw('response')
  t.same(response.message, { jsonrpc: '2.0', id: 'e1', result: { action: 'accept' } })
  t.equal(response.headers['mcp-session-id'], 's1')
  stream.send({ jsonrpc: '2.0', id: 1, result: { ok: true } })
  stream.end()
  t.match(await bridge.answer(1), { result: { ok: true } })
  t.same(
    bridge.messages.all.slice(1).map(({ method, params }) => params?.progress ?? method),
    [0, 50, 100, 'elicitation/create', undefined],
  )
})

verifies('bridge:unreachable', async (t) => {
  const backend = new Backend()
  await backend.start()
  const { url } = backend
  await backend.stop()
  t.teardown(() => backend.stop())
  const bridge = startBridge(t, { url, args: ['--wait', '0'] })
  const refused = await bridge.call('a', 'initialize', initializeParams)
  t.match(refused, {
    jsonrpc: '2.0',
    id: 'a',
    error: {
      code: -32603,
      data: { code: 'SERVER_UNREACHABLE', retryable: true, data: { url, cause: 'ECONNREFUSED' } },
    },
  })
  t.match(refused.error.message, /npm start/)
  t.match(await bridge.call(2, 'tools/list'), { error: { code: -32603 } })
  bridge.send({ jsonrpc: '2.0', method: 'notifications/initialized' })

  await backend.start()
  t.match(await bridge.open(), { result: { protocolVersion: '2025-11-25' } }, 'the same process works later')
  t.match(await bridge.call(3, 'tools/list'), { result: {} })
})

verifies('bridge:localhost', async (t) => {
  for (const host of ['127.0.0.1', '::1']) {
    const backend = new Backend()
    try {
      await backend.start(host)
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException
      if (host !== '::1' || !['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(code)) throw error
      t.comment(`this machine has no address ::1: ${code}`)
      continue
    }
    t.teardown(() => backend.stop())
    const bridge = startBridge(t, { url: backend.url.replace('127.0.0.1', 'localhost') })
    t.match(await bridge.call(1, 'ping'), { result: {} }, host)
  }
})

verifies('bridge:http-status', 'forwards a JSON-RPC error in a failed response', async (t) => {
  const backend = await startBackend(t)
  const error = { code: -32022, message: 'version', data: { supported: ['x'] } }
  backend.on('with-id', (got) => got.json({ jsonrpc: '2.0', id: got.message.id, error }, { status: 400 }))
  backend.on('without-id', (got) => got.json({ jsonrpc: '2.0', id: null, error }, { status: 500 }))
  const bridge = startBridge(t, { url: backend.url })
  t.same(await bridge.call(1, 'with-id'), { jsonrpc: '2.0', id: 1, error })
  t.same(await bridge.call(2, 'without-id'), { jsonrpc: '2.0', id: 2, error }, 'under the id of its request')
})

verifies('bridge:http-status', 'maps any other failure to a short error with its status', async (t) => {
  const backend = await startBackend(t)
  const page = `<html>${'x'.repeat(5000)}</html>`
  const expected = [
    [401, 'SERVER_ANSWER_INVALID'],
    [403, 'SERVER_ANSWER_INVALID'],
    [404, 'SERVER_ANSWER_INVALID'],
    [405, 'SERVER_ANSWER_INVALID'],
    [413, 'BODY_TOO_LARGE'],
    [429, 'RATE_LIMITED'],
    [500, 'SERVER_ANSWER_INVALID'],
    [502, 'SERVER_UNREACHABLE'],
    [503, 'OVERLOADED'],
    [302, 'SERVER_ANSWER_INVALID'],
    [200, 'SERVER_ANSWER_INVALID'],
  ] as const
  backend.on('ping', (got) =>
    got.status(got.message.id, page, { 'content-type': 'text/html', 'retry-after': '3', location: '/x' }),
  )
  const bridge = startBridge(t, { url: backend.url, args: ['--wait', '0'] })
  for (const [status, code] of expected) {
    const answer = await bridge.call(status, 'ping')
    t.match(answer, {
      id: status,
      error: { data: { code, data: { http_status: status, retry_after_ms: 3000 } } },
    })
    t.ok(JSON.stringify(answer).length < 1000)
    t.notMatch(JSON.stringify(answer), '<html>')
  }
})

verifies('bridge:http-status', 'reports a response without a JSON-RPC message as an error', async (t) => {
  const backend = await startBackend(t)
  const json = { 'content-type': 'application/json' }
  backend.on('empty', (got) => got.status(200, '', json))
  backend.on('accepted', (got) => got.status(202))
  backend.on('broken', (got) => got.status(200, '{"jsonrpc":"2.0","id":3,', json))
  backend.on('foreign', (got) => got.json({ jsonrpc: '2.0', id: 'other', result: {} }))
  backend.on('number', (got) => got.json(5))
  const bridge = startBridge(t, { url: backend.url })
  for (const [id, method] of ['empty', 'accepted', 'broken', 'foreign', 'number'].entries())
    t.match(await bridge.call(id, method), { id, error: { data: { code: 'SERVER_ANSWER_INVALID' } } }, method)
  t.equal(bridge.lines.length, 5)
})

verifies('bridge:broken-stream', async (t) => {
  const backend = await startBackend(t)
  backend.on('cut', () => {})
  backend.on('ended', (got) => got.stream().end())
  backend.on('half', (got) => {
    got.response
      .writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' })
      .write('{"jsonrpc"')
    setImmediate(() => got.response.destroy())
  })
  backend.on('silent', (got) => got.response.destroy())
  const bridge = startBridge(t, { url: backend.url })
  bridge.send({ jsonrpc: '2.0', id: 1, method: 'cut' })
  const stream = (await backend.saw('cut')).stream()
  stream.send({ jsonrpc: '2.0', method: 'notifications/progress', params: {} })
  await bridge.saw('notifications/progress')
  stream.break()
  const broken = { error: { code: -32603, data: { code: 'SERVER_UNREACHABLE' } } }
  t.match(await bridge.answer(1), broken)
  t.match(await bridge.call(2, 'ended'), broken)
  t.match(await bridge.call(3, 'half'), broken)
  t.match(await bridge.call(4, 'silent'), broken)
})

verifies('bridge:relay:repeat', async (t) => {
  const backend = await startBackend(t)
  let broken = 0
  const failOnce = (method: string) =>
    backend.on(method, (got) => {
      broken += 1
      got.response.destroy()
      backend.on(method, (again) => again.result({ again: true }))
    })
  failOnce('tools/list')
  failOnce('tools/call')
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call(1, 'tools/list'), { result: { again: true } })
  t.match(await bridge.call(2, 'tools/call'), { error: { data: { code: 'SERVER_UNREACHABLE' } } })
  t.equal(broken, 2)
  const [first, second] = backend.got.all
  t.equal(first?.headers['causeway-request'], second?.headers['causeway-request'], 'one call, one name')
})

verifies('bridge:line-limit', async (t) => {
  const backend = await startBackend(t)
  const result = { text: 'x'.repeat(2000) }
  backend.on('tools/call', (got) => got.result(result))
  backend.on('tools/list', (got) => got.result(result))
  backend.on('streamed', (got) => {
    const stream = got.stream()
    stream.send({ jsonrpc: '2.0', id: got.message.id, result })
    stream.end()
  })
  const bridge = startBridge(t, { url: backend.url, args: ['--max-line', '1500'] })
  const tool = await bridge.call(1, 'tools/call')
  t.match(tool.result, { isError: true, _meta: { 'causeway/error': { code: 'ANSWER_TOO_LARGE' } } })
  t.match(tool.result.content[0].text, /^ANSWER_TOO_LARGE: /)
  const expected = { error: { data: { code: 'ANSWER_TOO_LARGE', data: { limit_bytes: 1500 } } } }
  t.match(await bridge.call(2, 'tools/list'), expected)
  t.match(await bridge.call(3, 'streamed'), expected)
  t.match(await bridge.call(4, 'ping'), { result: {} })
  t.equal(bridge.lines.length, 4)
})

verifies(
  'bridge:relay:bytes',
  'forwards a request of 12 MB and responses of 9 MB as JSON and as an event',
  inCI(async (t) => {
    const backend = await startBackend(t)
    const text = 'é'.repeat(4_500_000)
    backend.on('json', (got) => got.result({ text }))
    backend.on('event', (got) => {
      const stream = got.stream()
      stream.send({ jsonrpc: '2.0', id: got.message.id, result: { text } })
      stream.end()
    })
    const bridge = startBridge(t, { url: backend.url })
    await bridge.call(0, 'ping', { pad: 'x'.repeat(12_000_000) })
    const ping = await backend.saw('ping')
    t.equal(ping.message.params.pad.length, 12_000_000)
    t.equal((await bridge.call(1, 'json')).result.text, text)
    t.equal((await bridge.call(2, 'event')).result.text, text)
  }),
)

verifies('bridge:session-header', async (t) => {
  const backend = await startBackend(t)
  const bridges = [{}, {}, { CAUSEWAY_SESSION: 'mine' }].map((env) =>
    startBridge(t, { url: backend.url, env }),
  )
  for (const bridge of bridges) {
    await bridge.open()
    await bridge.call(1, 'ping')
    bridge.end()
    await bridge.exited
  }
  const ids = backend.got.all.map(({ headers }) => headers['causeway-session'])
  t.equal(ids.length, 15, 'initialize, initialized, GET, ping and DELETE of three bridges')
  t.equal(new Set(ids).size, 3)
  t.ok(ids.includes('mine'))
  const calls = backend.got.all.flatMap(({ headers }) => headers['causeway-request'] ?? [])
  t.equal(new Set(calls).size, 6, 'each request has a name of its own')
  for (const got of backend.got.all)
    if (got.message?.method === 'ping')
      t.ok(String(got.headers['causeway-request']).startsWith(`${got.headers['causeway-session']}.`))
})

/** Has more levels than `JSON.stringify` supports. `JSON.parse` accepts it. */
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

verifies(
  'bridge:deep',
  'a deeply nested message is translated for a server that requires initialize',
  async (t) => {
    const backend = await startBackend(t)
    makeLegacy(backend)
    const bridge = startBridge(t, { url: backend.url })
    bridge.raw(deepLine(call('heavy', { ...modern, name: 'x', arguments: 'deep' })))
    t.match(await bridge.answer('heavy'), { result: { called: true } })
    const [, translated] = backend.got.all.filter(({ message }) => message?.id === 'heavy')
    t.ok(translated?.text.includes(deepText))
    t.notOk(translated?.text.includes('protocolVersion'), 'without the envelope')
  },
)

verifies(
  'bridge:deep',
  'a deeply nested call in a batch is sent if another call is filtered out',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url, args: ['--only', 'shown'] })
    await bridge.open()
    const shown = call(1, { name: 'shown', arguments: 'deep' })
    bridge.raw(deepLine([call(0, { name: 'hidden' }), shown, call(2, { name: 'shown' })]))
    t.match(await bridge.answer(0), { result: { isError: true } })
    t.match(await bridge.answer(1), { result: { echo: 'tools/call' } })
    t.match(await bridge.answer(2), { result: { echo: 'tools/call' } })
  },
)

verifies('bridge:deep', 'a deeply nested handshake is translated', async (t) => {
  const backend = await startBackend(t)
  makeStateless(backend)
  const bridge = startBridge(t, { url: backend.url })
  const params = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: 'deep' }
  bridge.raw(deepLine({ jsonrpc: '2.0', id: 1, method: 'initialize', params }))
  t.match(await bridge.answer(1), { result: { protocolVersion: '2025-11-25' } })
  t.match(await bridge.call(2, 'tools/list'), { result: {} })
})

verifies('bridge:deep', 'deeply nested results, input requests and replies are translated', async (t) => {
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
