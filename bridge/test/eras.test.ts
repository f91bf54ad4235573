import t, { type Test } from 'tap'
import { verifies } from '../../test/verifies.ts'
import { mayRejectLegacy, mayRejectModern } from '../src/stages/eras/rejection.ts'
import { chain, type Stage } from '../src/stages/stage.ts'
import {
  type Backend,
  handshake,
  makeStateless,
  rejectRequest,
  type Stream,
  startBackend,
  type Wire,
} from './backend.ts'
import { type Client, initializeParams, modern, startBridge } from './client.ts'

const startFor = (t: Test, backend: Backend): Client => startBridge(t, { url: backend.url })

verifies(
  'bridge:translate:legacy-client',
  'messages sent right after initialize are held until they can be translated',
  async (t) => {
    const backend = await startBackend(t)
    makeStateless(backend)
    const bridge = startFor(t, backend)
    bridge.send(
      { jsonrpc: '2.0', id: 1, method: 'initialize', params: initializeParams },
      { jsonrpc: '2.0', method: 'notifications/initialized' },
      { jsonrpc: '2.0', id: 2, method: 'logging/setLevel', params: { level: 'error' } },
      { jsonrpc: '2.0', id: 3, method: 'tools/call', params: { name: 'x', _meta: { progressToken: 7 } } },
    )
    t.match((await bridge.answer(1)).result, { protocolVersion: '2025-11-25', serverInfo: { name: 'm' } })
    t.same((await bridge.answer(2)).result, {})
    t.same((await bridge.answer(3)).result, { echo: 'tools/call' })
    const { headers, message } = await backend.saw('tools/call')
    t.same(message.params._meta, {
      progressToken: 7,
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': initializeParams.clientInfo,
      'io.modelcontextprotocol/clientCapabilities': {},
      'io.modelcontextprotocol/logLevel': 'error',
    })
    t.match(headers, { 'mcp-method': 'tools/call', 'mcp-name': 'x', 'mcp-protocol-version': '2026-07-28' })
    t.same(backend.methods(), ['initialize', 'server/discover', 'tools/call'])
  },
)

verifies(
  'bridge:translate:legacy-client',
  'a failed input request fails the call, and a cancelled call cancels its input requests',
  async (t) => {
    const backend = await startBackend(t)
    makeStateless(backend)
    const inputRequests = {
      a: { method: 'roots/list' },
      b: { method: 'sampling/createMessage', params: { n: 1 } },
    }
    backend.on('tools/call', (got) => got.result({ resultType: 'input_required', inputRequests }))
    const bridge = startFor(t, backend)
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })
    const sampling = await bridge.saw('sampling/createMessage')
    t.same(sampling.params, { n: 1 })
    bridge.send({ jsonrpc: '2.0', id: sampling.id, error: { code: -1, message: 'declined by the user' } })
    t.match((await bridge.answer(1)).error, { code: -1 })

    bridge.messages.all.length = 0
    bridge.send({ jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'x' } })
    await bridge.saw('sampling/createMessage')
    bridge.send({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 2 } })
    await bridge.saw('notifications/cancelled')
    t.same((await bridge.call(3, 'ping')).result, {})
    t.notOk(bridge.messages.all.some(({ id, method }) => id === 2 && method === undefined))
  },
)

verifies(
  'bridge:translate:legacy-client',
  'a call is retried when all replies have arrived, or immediately if the server requests no input',
  async (t) => {
    const backend = await startBackend(t)
    makeStateless(backend)
    const rounds: Wire[] = []
    const answers = [
      { resultType: 'input_required', inputRequests: { a: { method: 'roots/list' } }, requestState: 'one' },
      { resultType: 'input_required', requestState: 'two' },
      { resultType: 'complete', content: [] },
    ]
    backend.on('tools/call', (got) => {
      const { inputResponses, requestState } = got.message.params
      got.result(answers[rounds.push({ inputResponses, requestState }) - 1] ?? {})
    })
    const bridge = startFor(t, backend)
    await bridge.open()
    bridge.send({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'x' } })
    const { id } = await bridge.saw('roots/list')
    bridge.send({ jsonrpc: '2.0', id, result: { roots: [] } })
    t.match((await bridge.answer(1)).result, { content: [] })
    t.same(rounds, [
      { inputResponses: undefined, requestState: undefined },
      { inputResponses: { a: { roots: [] } }, requestState: 'one' },
      { inputResponses: {}, requestState: 'two' },
    ])
  },
)

verifies(
  'bridge:translate:legacy-client',
  'a subscription that ends is renewed, and the client is notified of changes',
  async (t) => {
    const backend = await startBackend(t)
    makeStateless(backend)
    backend.on('server/discover', (got) =>
      got.result({
        supportedVersions: ['2026-07-28'],
        capabilities: { tools: { listChanged: true }, prompts: {} },
      }),
    )
    let opened = 0
    backend.on('subscriptions/listen', (got) => {
      t.same(got.message.params.notifications, { toolsListChanged: true })
      const stream = got.stream()
      const { id } = got.message
      const _meta = { 'io.modelcontextprotocol/subscriptionId': id }
      stream.send({ jsonrpc: '2.0', method: 'notifications/subscriptions/acknowledged', params: { _meta } })
      opened += 1
      if (opened > 1) return
      stream.send({ jsonrpc: '2.0', id, result: { resultType: 'complete', _meta } })
      stream.end()
    })
    const bridge = startFor(t, backend)
    await bridge.open()
    t.same(await bridge.saw('notifications/tools/list_changed'), {
      jsonrpc: '2.0',
      method: 'notifications/tools/list_changed',
    })
    t.equal(opened, 2)
    t.equal(bridge.messages.all.length, 2, 'nothing else except the result of initialize')
  },
)

verifies(
  'bridge:translate:modern-client',
  'a lost session is replaced without the client noticing',
  async (t) => {
    const backend = await startBackend(t)
    let session = 's1'
    const handshake = {
      protocolVersion: '2025-11-25',
      capabilities: { logging: {} },
      serverInfo: { name: 'l', version: '1' },
    }
    backend.on('initialize', (got) => got.result(handshake, { 'mcp-session-id': session }))
    backend.on('server/discover', (got) => got.status(404))
    backend.on('tools/list', (got) => {
      if (got.headers['mcp-session-id'] === session) got.result({ tools: [], session })
      else if (got.headers['mcp-session-id'] === undefined) rejectRequest(got, -32000)
      else got.status(404)
    })
    const bridge = startFor(t, backend)
    const first = await bridge.call(1, 'tools/list', {
      _meta: { ...modern._meta, 'io.modelcontextprotocol/logLevel': 'debug', own: 1 },
    })
    t.same(first.result, {
      tools: [],
      session: 's1',
      resultType: 'complete',
      ttlMs: 0,
      cacheScope: 'private',
      _meta: { 'io.modelcontextprotocol/serverInfo': handshake.serverInfo },
    })
    const levels = await backend.saw('logging/setLevel')
    t.match(levels.message.params, { level: 'debug' })
    const listed = await backend.saw('tools/list', ({ headers }) => headers['mcp-session-id'] !== undefined)
    t.same(listed.message.params, { _meta: { own: 1 } })
    session = 's2'
    t.match((await bridge.call(2, 'tools/list', modern)).result, { session: 's2' })
    t.match((await bridge.call(3, 'server/discover', modern)).result, { supportedVersions: ['2026-07-28'] })
  },
)

verifies(
  'bridge:translate:untouched',
  'an error of a server that supports the era of the client is forwarded',
  async (t) => {
    const backend = await startBackend(t)
    makeStateless(backend)
    backend.on('initialize', (got) => got.result({ protocolVersion: '2025-11-25', capabilities: {} }))
    backend.on('unknown/method', (got) => rejectRequest(got, -32601))
    const bridge = startFor(t, backend)
    t.match((await bridge.call(1, 'unknown/method', modern)).error, { code: -32601, message: 'no' })
    t.notOk(backend.methods().includes('initialize'), 'no session was opened')
    t.match((await bridge.call(2, 'unknown/method', modern)).error, { code: -32601 })
    t.equal(backend.methods().filter((method) => method === 'server/discover').length, 1, 'one request')
  },
)

verifies(
  'bridge:translate:untouched',
  'the errors of a server that supports neither era are forwarded',
  async (t) => {
    const backend = await startBackend(t)
    for (const method of ['initialize', 'server/discover', 'tools/list'])
      backend.on(method, (got) => rejectRequest(got, -32601))
    const bridge = startFor(t, backend)
    t.match((await bridge.call(1, 'initialize', initializeParams)).error, { code: -32601 })
    t.match((await bridge.call(2, 'tools/list', modern)).error, { code: -32601 })
    t.match((await bridge.call(3, 'ping')).result, { echo: 'ping' })
  },
)

verifies('bridge:translate:untouched', 'a client that probed one era can then use the other', async (t) => {
  const backend = await startBackend(t)
  backend.on('server/discover', (got) => rejectRequest(got, -32000))
  const bridge = startFor(t, backend)
  t.match((await bridge.call('probe', 'server/discover', modern)).result, { resultType: 'complete' })
  t.match((await bridge.open()).result, { serverInfo: { name: 'backend' } })
  const answer = await bridge.call(1, 'tools/list')
  t.same(answer.result, { echo: 'tools/list' }, 'no member of the other era is added')
})

verifies(
  'bridge:translate:untouched',
  '401, 403 and 500 are forwarded, and the server is not probed',
  async (t) => {
    for (const status of [401, 403, 500]) {
      const backend = await startBackend(t)
      for (const method of ['initialize', 'tools/list']) backend.on(method, (got) => got.status(status))
      const bridge = startFor(t, backend)
      for (const [id, method, params] of [
        [1, 'initialize', initializeParams],
        [2, 'tools/list', modern],
      ] as const)
        t.match((await bridge.call(id, method, params)).error.data, { data: { http_status: status } })
      t.same(backend.methods(), ['initialize', 'tools/list'])
    }
  },
)

verifies('bridge:parse-error', 'invalid lines also get an error while messages are translated', async (t) => {
  const backend = await startBackend(t)
  makeStateless(backend)
  const bridge = startFor(t, backend)
  await bridge.open()
  bridge.raw('not JSON\n')
  t.match(await bridge.answer(null), { error: { code: -32700 } })
  bridge.messages.all.length = 0
  bridge.send([5, { jsonrpc: '2.0', id: 1, method: 'ping' }])
  t.match(await bridge.answer(null), { error: { code: -32600 } })
  t.same((await bridge.answer(1)).result, {})
  bridge.messages.all.length = 0
  bridge.raw('[]\n')
  t.match(await bridge.answer(null), { error: { code: -32600 } })
  bridge.send({ id: 2, method: 'tools/list', params: modern })
  t.match(await bridge.answer(2), { error: { code: -32600 } })
})

const error = (code: number, data?: object) => ({ error: { code, message: 'm', data } })

t.test(
  'mayRejectLegacy and mayRejectModern return true only for errors from servers of the other era',
  async (t) => {
    for (const code of [-32601, -32600, -32000, -32020, -32022])
      t.ok(mayRejectLegacy(error(code)), `legacy ${code}`)
    for (const code of [-32601, -32600, -32000, -32001]) t.ok(mayRejectModern(error(code)), `modern ${code}`)
    for (const code of [-32602, -32603, -32700, -32021, 1]) {
      t.notOk(mayRejectLegacy(error(code)), `legacy ${code}`)
      t.notOk(mayRejectModern(error(code)), `modern ${code}`)
    }
    t.notOk(mayRejectModern(error(-32020)), 'only stateless servers send this code')
    t.notOk(mayRejectLegacy(error(-32000, { code: 'OVERLOADED', retryable: true })))
    t.notOk(mayRejectModern({ result: {} }))
  },
)

t.test('mayRejectModern accepts a version error if the server offers no stateless version', async (t) => {
  t.ok(mayRejectModern(error(-32022, { supported: ['2025-11-25'] })))
  t.notOk(mayRejectModern(error(-32022, { supported: ['2025-11-25', '2026-07-28'] })))
  t.notOk(mayRejectModern(error(-32022)))
})

/** Starts a server of 2024-11-05: it rejects POST requests to its URL, and responds on the stream of a GET. */
async function startOlder(t: Test, endpoint = '/messages?sessionId=1') {
  const backend = await startBackend(t)
  const streams: Stream[] = []
  backend.on('GET', (got) => {
    const stream = got.stream()
    streams.push(stream)
    stream.raw(`event: endpoint\ndata: ${endpoint}\n\n`)
    stream.send({ jsonrpc: '2.0', method: 'notifications/message', params: { level: 'info', data: 'early' } })
  })
  const answer = (method: string, result: (message: Wire) => Wire) =>
    backend.on(method, (got) => {
      if (got.path !== '/messages?sessionId=1') return got.status(405)
      got.status(202, 'Accepted')
      if (got.message.id === undefined) return
      streams.at(-1)?.send({ jsonrpc: '2.0', id: got.message.id, result: result(got.message) })
    })
  answer('initialize', () => ({ ...handshake, protocolVersion: '2024-11-05' }))
  answer('notifications/initialized', () => ({}))
  answer('tools/list', () => ({ tools: [{ name: 'old' }] }))
  answer('tools/call', ({ params }) => ({ content: [{ type: 'text', text: params.name }] }))
  return { backend, streams }
}

const posts = (backend: Backend, path: string) => backend.got.all.filter((got) => got.path === path)

verifies('bridge:older-server', async (t) => {
  const { backend, streams } = await startOlder(t)
  const bridge = startBridge(t, { url: backend.url })
  const opened = await bridge.open()
  t.equal(opened.result.protocolVersion, '2024-11-05')
  await bridge.saw('notifications/message')
  t.same((await bridge.call(1, 'tools/list')).result, { tools: [{ name: 'old' }] })
  const calls = [2, 3, 4].map((id) => bridge.call(id, 'tools/call', { name: `tool ${id}` }))
  t.same(
    (await Promise.all(calls)).map(({ result }) => result.content[0].text),
    ['tool 2', 'tool 3', 'tool 4'],
  )
  streams[0]?.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' })
  await bridge.saw('notifications/tools/list_changed')
  t.equal(posts(backend, '/mcp').filter(({ method }) => method === 'POST').length, 1, 'one request')
})

verifies('bridge:older-server', 'if the stream ends, a new stream and session are opened', async (t) => {
  const { backend, streams } = await startOlder(t)
  const bridge = startBridge(t, { url: backend.url })
  await bridge.open()
  await bridge.call(1, 'tools/list')
  const first = await backend.saw('GET')
  streams[0]?.break()
  await backend.saw('GET', (got) => got !== first)
  t.match(await bridge.call(2, 'tools/call', { name: 'again' }), { result: { content: [{ text: 'again' }] } })
})

verifies('bridge:older-server', 'messages are not sent to an endpoint of another origin', async (t) => {
  const elsewhere = await startBackend(t)
  const { backend } = await startOlder(t, elsewhere.url)
  const bridge = startBridge(t, { url: backend.url })
  t.match(await bridge.call(0, 'initialize', {}), { error: { data: { data: { http_status: 405 } } } })
  t.same(elsewhere.methods(), [])
})

verifies(
  'bridge:older-server',
  'the error of a server that rejects both transports is forwarded',
  async (t) => {
    const backend = await startBackend(t)
    backend.on('initialize', (got) => got.status(404, 'not here'))
    const bridge = startBridge(t, { url: backend.url })
    t.match(await bridge.call(0, 'initialize', {}), { error: { data: { data: { http_status: 404 } } } })
  },
)

const mark =
  (name: string): Stage =>
  ({ toServer, toClient }) => ({
    toServer: (line) => toServer(Buffer.from(`${line}>${name}`)),
    toClient: (json) => toClient(Buffer.from(`${json}<${name}`)),
  })

t.test('chain connects the first stage to the client in both directions', async (t) => {
  const seen: string[] = []
  const ends = chain([mark('a'), mark('b')], {
    toServer: (line) => seen.push(`server ${line}`),
    toClient: (json) => seen.push(`client ${json}`),
  })
  ends.toServer(Buffer.from('x'))
  ends.toClient(Buffer.from('y'))
  t.same(seen, ['server x>a>b', 'client y<b<a'])
})

t.test('chain sends the response of a stage only through the stages before it', async (t) => {
  const seen: string[] = []
  const answering: Stage = ({ toServer, toClient }) => ({
    toServer: (line) => toClient(Buffer.from(`no ${line}`)),
    toClient: (json) => toServer(Buffer.from(`more ${json}`)),
  })
  const ends = chain([mark('a'), answering, mark('b')], {
    toServer: (line) => seen.push(`server ${line}`),
    toClient: (json) => seen.push(`client ${json}`),
  })
  ends.toServer(Buffer.from('x'))
  ends.toClient(Buffer.from('y'))
  t.same(seen, ['client no x>a<a', 'server more y<b>b'])
})

t.test('chain connects client and server if there are no stages', async (t) => {
  const seen: string[] = []
  const { toServer, toClient } = chain([], {
    toServer: (line) => seen.push(`server ${line}`),
    toClient: (json) => seen.push(`client ${json}`),
  })
  toServer(Buffer.from('a'))
  toClient(Buffer.from('b'))
  t.same(seen, ['server a', 'client b'])
})
