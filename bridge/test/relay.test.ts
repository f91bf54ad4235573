import t from 'tap'
import { verifies } from '../../test/verifies.ts'
import { readEnvelope } from '../src/stdio/envelope.ts'
import { type Got, startBackend } from './backend.ts'
import { initializeParams, modern, startBridge } from './client.ts'

t.setTimeout(300_000)

verifies('bridge:relay:eras', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.call('probe', 'server/discover', modern)
  await bridge.open()
  await bridge.call(1, 'tools/list', { ...modern, cursor: 'c' })
  await bridge.call(2, 'tools/list', { cursor: 'c' })
  await bridge.call(3, 'made/up', { any: [1, { thing: null }] })

  const [discover, first, second, unknown] = await Promise.all([
    backend.saw('server/discover'),
    backend.saw('tools/list', ({ message }) => message.id === 1),
    backend.saw('tools/list', ({ message }) => message.id === 2),
    backend.saw('made/up'),
  ])
  t.match(discover.headers, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'server/discover' })
  t.match(first.headers, { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/list' })
  t.equal(first.headers['mcp-session-id'], undefined)
  t.match(second.headers, { 'mcp-protocol-version': '2025-11-25', 'mcp-session-id': 's1' })
  t.equal(second.headers['mcp-method'], undefined)
  t.equal(unknown.text, '{"jsonrpc":"2.0","id":3,"method":"made/up","params":{"any":[1,{"thing":null}]}}')
})

verifies('bridge:relay:eras', 'forwards a request without a handshake', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call(1, 'tools/list'), { id: 1, result: { echo: 'tools/list' } })
  t.same(backend.methods(), ['tools/list'], 'and the bridge made no session of its own')
})

verifies('bridge:relay:ids', async (t) => {
  const backend = await startBackend(t)
  // The id is compared as text, so that no number is rounded.
  const echo = (got: Got) => {
    const id = /"id":("[^"]*"|[^,]+),/.exec(got.text)?.[1]
    const body = `{"jsonrpc":"2.0","id":${id},"result":{}}`
    got.response.writeHead(200, { 'content-type': 'application/json' }).end(body)
  }
  backend.on('echo', echo)
  const bridge = startBridge(t, { url: backend.url })
  const ids = ['0', '-1', '1', '"1"', '""', '"é\\n"', '1.5', '9007199254740993', '1e3', '"a b"']
  for (const id of ids) bridge.raw(`{"jsonrpc":"2.0","id":${id},"method":"echo"}\n`)
  await bridge.messages.first('the last answer', () => bridge.lines.length === ids.length)
  t.same(bridge.lines.sort(), ids.map((id) => `{"jsonrpc":"2.0","id":${id},"result":{}}`).sort())
})

verifies(
  'bridge:relay:ids',
  'responds to each of two concurrent requests that have the same id',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'one' }, { jsonrpc: '2.0', id: 1, method: 'two' })
    for (const echo of ['one', 'two'])
      await bridge.messages.first(echo, ({ id, result }) => id === 1 && result.echo === echo)
    t.equal(bridge.lines.length, 2)
  },
)

verifies('bridge:invalid-request', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  bridge.raw('42\n')
  bridge.raw('"text"\n[]\nnull\n{"id":5,"method":"no/version"}\n')
  bridge.raw('{"jsonrpc":"2.0","id":null,"method":"ping"}\n{"jsonrpc":"2.0","id":{},"method":"ping"}\n')
  t.match(await bridge.call('after', 'ping'), { result: { echo: 'ping' } })
  const refused = bridge.messages.all.filter(({ error }) => error)
  t.same(
    refused.map(({ id, error }) => [id, error.code]),
    [
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [null, -32600],
      [5, -32600],
      [null, -32600],
      [null, -32600],
    ],
  )
  t.same(backend.methods(), ['ping'])
})

verifies('bridge:parse-error', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  bridge.raw('{"jsonrpc":"2.0","id":1,\n')
  bridge.raw(Buffer.from([0xff, 0x00, 0xfe, 0x0a]))
  t.match(await bridge.call(2, 'ping'), { result: {} })
  t.match(bridge.messages.all.slice(0, 2), [
    { id: null, error: { code: -32700, data: { code: 'PARSE_ERROR' } } },
    { id: null, error: { code: -32700 } },
  ])
})

verifies(
  'bridge:parse-error',
  'lines of random bytes neither end the bridge nor affect the next request',
  async (t) => {
    const backend = await startBackend(t)
    const bridge = startBridge(t, { url: backend.url })
    // Fixed bytes from a linear congruential generator. No line contains a newline or is blank.
    let state = 1
    const nextByte = () => {
      state = (state * 1103515245 + 12345) % 2 ** 31
      return (state >> 16) % 256
    }
    const lines = Array.from({ length: 300 }, (_, length) =>
      Buffer.from(['{'.charCodeAt(0), ...Array.from({ length }, nextByte).filter((byte) => byte !== 10)]),
    )
    for (const line of lines) bridge.raw(Buffer.concat([line, Buffer.from('\n')]))
    t.match(await bridge.call('next', 'ping'), { result: {} })
    bridge.raw('{"jsonrpc":"2.0","id":1,"met')
    bridge.end()
    t.same(await bridge.exited, { code: 0, signal: null })
    const refused = bridge.messages.all.filter(({ error }) => error?.code === -32700)
    t.equal(refused.length, lines.length + 1, 'each is answered, half a line at the end too')
    t.equal(bridge.lines.length, lines.length + 2)
  },
)

verifies('bridge:lines:framing', 'accepts messages in chunks of any size', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  const text = Buffer.from('{"jsonrpc":"2.0","id":"é😀","method":"ping"}\r\n\n \r\n')
  for (const byte of text) bridge.raw(Buffer.from([byte]))
  t.match(await bridge.answer('é😀'), { result: { echo: 'ping' } })
  bridge.send(...[1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'ping' })))
  for (const id of [1, 2, 3]) t.match(await bridge.answer(id), { result: {} })
})

verifies('bridge:lines:framing', 'responds to a last line without a newline', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  bridge.raw('{"jsonrpc":"2.0","id":1,"method":"ping"}')
  bridge.end()
  t.match(await bridge.answer(1), { result: {} })
  t.same(await bridge.exited, { code: 0, signal: null })
})

verifies('bridge:relay:concurrent', async (t) => {
  const backend = await startBackend(t)
  const slow: Got[] = []
  backend.on('slow', (got) => void slow.push(got))
  const bridge = startBridge(t, { url: backend.url })
  bridge.send({ jsonrpc: '2.0', id: 'slow', method: 'slow' })
  await backend.saw('slow')
  const ids = Array.from({ length: 100 }, (_, at) => at)
  const answers = await Promise.all(ids.map((id) => bridge.call(id, 'ping')))
  t.same(
    answers.map(({ id }) => id),
    ids,
  )
  slow[0]?.result({ late: true })
  t.match(await bridge.answer('slow'), { result: { late: true } })
})

verifies('bridge:relay:notification', async (t) => {
  const backend = await startBackend(t)
  backend.on('notifications/refused', (got) =>
    got.json({ jsonrpc: '2.0', id: null, error: { code: 1 } }, { status: 400 }),
  )
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(
    { jsonrpc: '2.0', method: 'notifications/roots/list_changed' },
    { jsonrpc: '2.0', method: 'notifications/refused' },
    { jsonrpc: '2.0', id: 'srv-1', result: { roots: [] } },
  )
  const [got, response] = await Promise.all([
    backend.saw('notifications/roots/list_changed'),
    backend.saw('response'),
    backend.saw('notifications/refused'),
  ])
  t.equal(got.text, '{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}')
  t.same(response.message, { jsonrpc: '2.0', id: 'srv-1', result: { roots: [] } })
  await bridge.call(1, 'ping')
  t.equal(bridge.lines.length, 1, 'only the request was answered')
})

verifies('bridge:relay:batch', 'forwards a batch unchanged to a session of 2025-03-26', async (t) => {
  const backend = await startBackend(t)
  backend.on('initialize', (got) =>
    got.result({ protocolVersion: '2025-03-26', capabilities: {} }, { 'mcp-session-id': 'b' }),
  )
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  backend.on('batch', (got) =>
    got.json(
      got.message.flatMap(({ id }: { id?: number }) => (id ? [{ jsonrpc: '2.0', id, result: {} }] : [])),
    ),
  )
  const batch =
    '[{"jsonrpc":"2.0","id":1,"method":"ping"}, {"jsonrpc":"2.0","method":"n"}, {"jsonrpc":"2.0","id":2,"method":"ping"}]'
  bridge.raw(`${batch}\n`)
  const answer = await bridge.messages.first('the batch', Array.isArray)
  t.same(
    answer.map(({ id }: { id: number }) => id),
    [1, 2],
  )
  const got = await backend.saw('batch')
  t.equal(got.text, batch)
  t.equal(got.headers['mcp-session-id'], 'b')
})

verifies('bridge:relay:batch', 'splits a batch for other sessions', async (t) => {
  const backend = await startBackend(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  bridge.send([
    { jsonrpc: '2.0', id: 1, method: 'ping' },
    7,
    { jsonrpc: '2.0', method: 'notifications/x' },
    { jsonrpc: '2.0', id: 'two', method: 'tools/list' },
  ])
  t.match(await bridge.answer(1), { result: { echo: 'ping' } })
  t.match(await bridge.answer('two'), { result: { echo: 'tools/list' } })
  t.match(await bridge.answer(null), { error: { code: -32600 } })
  await backend.saw('notifications/x')
  t.notOk(backend.methods().includes('batch'))
})

verifies('bridge:relay:pipelined', async (t) => {
  const backend = await startBackend(t)
  const held: Got[] = []
  backend.on('initialize', (got) => void held.push(got))
  backend.on('notifications/initialized', (got) => void held.push(got))
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(
    { jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams },
    { jsonrpc: '2.0', method: 'notifications/initialized' },
    { jsonrpc: '2.0', id: 1, method: 'tools/list' },
    { jsonrpc: '2.0', id: 2, method: 'tools/list', params: modern },
  )
  // The stateless request is not delayed. Without a delay, the others would have arrived before it.
  await bridge.answer(2)
  t.same(backend.methods().sort(), ['initialize', 'tools/list'])
  held[0]?.result({ protocolVersion: '2025-06-18', capabilities: {} }, { 'mcp-session-id': 'p' })
  await backend.saw('notifications/initialized')
  await bridge.call(3, 'tools/list', modern)
  t.notOk(
    backend.got.all.some(({ message }) => message?.id === 1),
    'requests wait for initialized',
  )
  held[1]?.status(202)
  const list = await backend.saw('tools/list', ({ message }) => message.id === 1)
  t.match(list.headers, { 'mcp-session-id': 'p', 'mcp-protocol-version': '2025-06-18' })
  t.match(await bridge.answer(1), { result: {} })
})

verifies('bridge:relay:pipelined', 'a rejected initialize does not block later messages', async (t) => {
  const backend = await startBackend(t)
  backend.on('initialize', (got) =>
    got.json({ jsonrpc: '2.0', id: got.message.id, error: { code: -32602, message: 'no' } }),
  )
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(
    { jsonrpc: '2.0', id: 0, method: 'initialize', params: initializeParams },
    { jsonrpc: '2.0', id: 1, method: 'ping' },
  )
  t.match(await bridge.answer(0), { error: { code: -32602 } })
  t.match(await bridge.answer(1), { result: {} })
})

verifies(
  'bridge:relay:limit',
  'forwards at most 256 calls at the same time and queues the others',
  async (t) => {
    const backend = await startBackend(t)
    const held: Got[] = []
    const full = new Promise<void>((resolve) => {
      backend.on('hold', (got) => {
        if (held.push(got) === 256) resolve()
      })
    })
    const bridge = startBridge(t, { url: backend.url })
    const ids = Array.from({ length: 1000 }, (_, at) => at)
    bridge.send(...ids.map((id) => ({ jsonrpc: '2.0', id, method: 'hold' })))
    await full
    bridge.send({ jsonrpc: '2.0', method: 'notifications/late' })
    held[0]?.result({})
    await bridge.answer(held[0]?.message.id)
    await backend.got.first('the 257th', () => backend.got.all.length === 257)
    t.notOk(backend.methods().includes('notifications/late'), 'the client is not read meanwhile')
    backend.on('hold', (got) => got.result({}))
    for (const got of held.slice(1)) got.result({})
    for (const id of ids) await bridge.answer(id)
    t.equal(bridge.lines.length, 1000)
    await backend.saw('notifications/late')
  },
)

verifies('bridge:relay:cancel', 'does not send a queued call that was cancelled', async (t) => {
  const backend = await startBackend(t)
  const held: Got[] = []
  const full = new Promise<void>((resolve) => {
    backend.on('hold', (got) => {
      if (held.push(got) === 256) resolve()
    })
  })
  const bridge = startBridge(t, { url: backend.url })
  bridge.send(...Array.from({ length: 256 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'hold' })))
  await full
  bridge.send(
    { jsonrpc: '2.0', id: 'waits', method: 'never' },
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'waits' } },
    { jsonrpc: '2.0', id: 'after', method: 'ping' },
  )
  // The response to this line shows that the lines before it were read.
  bridge.raw('not JSON\n')
  await bridge.answer(null)
  for (const got of held) got.result({})
  await bridge.answer('after')
  t.notOk(backend.methods().includes('never'))
  t.notOk(backend.methods().includes('notifications/cancelled'))
})

/** Longer than the texts that `readEnvelope` parses completely. */
const pad = 'x\\"\\\\'.repeat(20_000)

const messages: Record<string, unknown> = {
  'an answer': { kind: 'response', id: 1, hasResult: true },
  'an answer behind its id': { kind: 'response', id: 'a"b', hasResult: true },
  'an error': { kind: 'response', id: null, hasResult: false },
  'a notification': { kind: 'notification', id: null, hasResult: false },
  'a request': { kind: 'request', id: 0, hasResult: false },
  neither: { kind: 'invalid', id: 5, hasResult: false },
}
const texts: Record<string, (text: string) => string> = {
  'an answer': (text) => `{"jsonrpc":"2.0","result":{"a":[{"b":"${text}"}],"id":9},"id":1}`,
  'an answer behind its id': (text) => ` {"id" : "a\\"b",\n"jsonrpc":"2.0" , "result":"${text}"} `,
  'an error': (text) => `{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"${text}"}}`,
  'a notification': (text) => `{"jsonrpc":"2.0","method":"n","params":{"result":1,"text":"${text}"}}`,
  'a request': (text) => `{"jsonrpc":"2.0","id":0,"method":"m","params":{"text":"${text}"}}`,
  neither: (text) => `{"jsonrpc":"2.0","id":5,"other":["${text}"]}`,
}

t.test('readEnvelope returns the same result for long and short messages', async (t) => {
  for (const [name, text] of Object.entries(texts))
    for (const inner of ['short', pad]) t.match(readEnvelope(Buffer.from(text(inner))), messages[name], name)
})

t.test('readEnvelope rejects truncated or extended JSON', async (t) => {
  const whole = Buffer.from((texts['an answer'] as (text: string) => string)(pad))
  for (const end of [whole.length - 1, whole.length - 9, whole.length - 40, 70_000])
    t.equal(readEnvelope(whole.subarray(0, end)), undefined, `${end}`)
  for (const more of ['}', 'x', ',"a":1'])
    t.equal(readEnvelope(Buffer.concat([whole, Buffer.from(more)])), undefined)
})

t.test('readEnvelope rejects input that is not a JSON object', async (t) => {
  for (const text of [
    '',
    ' ',
    '[]',
    '7',
    'null',
    '{',
    '{"a"',
    '{"a":',
    '{"a":1,',
    '{"a":1,}',
    '{a:1}',
    '"',
    'é',
  ])
    for (const padded of [text, text + ' '.repeat(70_000)])
      t.equal(readEnvelope(Buffer.from(padded)), undefined, text)
})

t.test('readEnvelope accepts any member name', async (t) => {
  const text = `{"__proto__":{"jsonrpc":"2.0"},"jsonrpc":"2.0","id":1,"result":"${pad}"}`
  t.match(readEnvelope(Buffer.from(text)), { kind: 'response', id: 1 })
})

t.test('readEnvelope reads 500,000 levels and 500,000 escaped quotes', async (t) => {
  const deep = '['.repeat(500_000) + ']'.repeat(500_000)
  t.match(readEnvelope(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":${deep}}`)), { kind: 'response' })
  const quotes = '\\"'.repeat(500_000)
  t.match(readEnvelope(Buffer.from(`{"jsonrpc":"2.0","id":1,"result":"${quotes}"}`)), { kind: 'response' })
})
