import { type App, type AppTool, defineApp } from '@causeway/app-kit'
import { meta, modernVersion } from '@causeway/protocol'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { StatelessRequests } from '../../src/http/mcp/stateless-requests.ts'
import { both, initializeMessage, modern, openWire, rpc, toolCall, until } from './open-wire.ts'

const serverInfo = { name: 'causeway' }

t.test('modern: a call is answered as JSON with result type and server info', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(toolCall('Demo__echo', { text: 'hi' }))
  const { status, json } = await send(body, { headers })
  t.equal(status, 200)
  t.match(json, {
    id: 1,
    result: {
      structuredContent: { text: 'hi', client: 'raw-modern' },
      resultType: 'complete',
      _meta: { [meta.serverInfo]: serverInfo },
    },
  })
})

t.test('modern: server/discover returns the versions and capabilities of the mount', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(rpc('server/discover'))
  t.match((await send(body, { headers })).json, {
    result: { supportedVersions: [modernVersion], capabilities: { tools: { listChanged: true } } },
  })
})

verifies('wire:era:per-message', async (t) => {
  const { send, stream } = await openWire(t)
  const { body, headers } = modern(toolCall('Demo__count'))
  t.match((await send(body, { headers })).json.result, { resultType: 'complete' })
  const opened = await stream(initializeMessage())
  t.match((await opened.messages.next()).value, { result: { protocolVersion: '2025-11-25' } })
  t.match((await send(body, { headers })).json.result, { resultType: 'complete' })
  t.equal((await send(toolCall('Demo__count'))).json.result.resultType, undefined)
})

verifies('wire:era:modern-errors', async (t) => {
  const { send } = await openWire(t)
  const { body, headers } = modern(toolCall('Demo__count'))
  const { 'mcp-method': _, ...withoutMethod } = headers
  const { 'mcp-protocol-version': __, ...withoutVersion } = headers
  const later = structuredClone(body)
  ;(later.params._meta as Record<string, unknown>)[meta.protocolVersion] = '2099-01-01'
  const unknown = modern(rpc('no/such'))
  const ping = modern(rpc('ping'))
  const cases = [
    [body, withoutMethod, 400, -32020],
    [body, withoutVersion, 400, -32020],
    [body, { ...headers, 'mcp-name': 'Demo__echo' }, 400, -32020],
    [later, { ...headers, 'mcp-protocol-version': '2099-01-01' }, 400, -32022],
    [toolCall('Demo__count'), headers, 400, -32602],
    [unknown.body, unknown.headers, 404, -32601],
    [ping.body, ping.headers, 404, -32601],
  ] as const
  for (const [message, given, status, code] of cases)
    t.match(await send(message, { headers: given }), { status, json: { error: { code } } })
  t.match(await send([body], { headers: both }), { status: 400, json: { error: { code: -32600 } } })
})

t.test('modern: errors of a call have an error code', async (t) => {
  const { send } = await openWire(t)
  const request = async (message: ReturnType<typeof rpc>) => {
    const { body, headers } = modern(message)
    return send(body, { headers })
  }
  t.match(await request(toolCall('Demo__nothing')), {
    status: 200,
    json: { error: { code: -32602, data: { code: 'UNKNOWN_TOOL', retryable: false } } },
  })
  t.match(await request(rpc('resources/read', { uri: 'demo://nothing/here' })), {
    json: { error: { code: -32602, data: { code: 'RESOURCE_NOT_FOUND' } } },
  })
  t.match(await request(toolCall('Demo__fail', { code: 'accident' })), {
    json: { result: { isError: true, _meta: { 'causeway/error': { code: 'INTERNAL' } } } },
  })
  t.notMatch((await request(toolCall('Demo__fail', { code: 'accident' }))).text, /secret|ada/)
})

t.test('modern: a call with a progress token is answered as a stream', async (t) => {
  const wire = await openWire(t)
  const { body, headers } = modern(toolCall('Wire__work', { steps: 1 }, 'token'))
  const { messages } = await wire.stream(body, { headers })
  t.match((await messages.next()).value, {
    method: 'notifications/progress',
    params: { progressToken: 'token', progress: 1, total: 1, message: 'step 1' },
  })
  wire.wire.release()
  t.match((await messages.next()).value, { id: 1, result: { structuredContent: { steps: 1 } } })
})

t.test('modern: closing the connection of a call aborts its handler', async (t) => {
  const wire = await openWire(t)
  for (const token of ['streams', undefined]) {
    const { body, headers } = modern(toolCall('Wire__work', { steps: 1 }, token))
    const count = wire.wire.begun.length
    const hangUp = new AbortController()
    const call = wire.send(body, { headers, signal: hangUp.signal })
    await until(() => wire.wire.begun.length > count)
    hangUp.abort()
    await t.rejects(call)
    await until(() => wire.wire.begun.at(-1)?.aborted === true)
  }
})

t.test('modern: a subscription reports changed lists of its mount and changed resources', async (t) => {
  const wire = await openWire(t)
  const listen = (path: string) => {
    const { body, headers } = modern(
      rpc('subscriptions/listen', {
        notifications: { resourcesListChanged: true, resourceSubscriptions: ['demo://notes/a'] },
      }),
    )
    return wire.stream(body, { headers, path })
  }
  const [shared, bare, other] = await Promise.all(['/mcp', '/mcp/demo', '/mcp/causeway'].map(listen))
  for (const one of [shared, bare, other])
    t.match((await one?.messages.next())?.value, { method: 'notifications/subscriptions/acknowledged' })
  wire.demo.announce('resources')
  wire.demo.announce({ uri: 'demo://notes/b' })
  wire.demo.announce({ uri: 'demo://notes/a' })
  for (const one of [shared, bare]) {
    t.match((await one?.messages.next())?.value, { method: 'notifications/resources/list_changed' })
    t.match((await one?.messages.next())?.value, {
      method: 'notifications/resources/updated',
      params: { uri: 'demo://notes/a' },
    })
  }
  await wire.http.close(1000)
  t.match(
    (await shared?.messages.next())?.value,
    { id: 1, result: { resultType: 'complete' } },
    'the subscription ends with a result',
  )
})

verifies('limits:message', 'a message subscribes to at most 10,000 resources', async (t) => {
  const { send, stream } = await openWire(t)
  const listen = (count: number) => {
    const uris = Array.from({ length: count }, (_, index) => `demo://notes/${index}`)
    return modern(rpc('subscriptions/listen', { notifications: { resourceSubscriptions: uris } }))
  }
  const allowed = listen(10_000)
  const { messages, hangUp } = await stream(allowed.body, { headers: allowed.headers })
  t.match((await messages.next()).value, { method: 'notifications/subscriptions/acknowledged' })
  hangUp()
  const tooMany = listen(10_001)
  t.match((await send(tooMany.body, { headers: tooMany.headers })).json, {
    error: { data: { code: 'INVALID_PARAMS', data: { limit_count: 10_000 } } },
  })
})

t.test('modern: a method that is not a string is rejected with -32600 and logs no error', async (t) => {
  const { send, logged } = await openWire(t)
  const { body, headers } = modern(toolCall('Demo__count'))
  const { status, json } = await send({ ...body, method: { toString: 'x' } }, { headers })
  t.equal(status, 400)
  t.match(json, { error: { code: -32600 } })
  t.notOk(logged.lines.some(({ level }) => level === 50))
})

const asRequest = ({ body, headers }: { body: unknown; headers: object }) =>
  ({ method: 'POST', body, headers }) as unknown as FastifyRequest

/** Returns a reader that counts its calls of the SDK's classifier. */
function countClassifications() {
  const sdk = { calls: 0 }
  const requests = new StatelessRequests((request) => {
    sdk.calls += 1
    return classifyInboundRequest(request)
  })
  return { read: (request: FastifyRequest) => requests.read(request), sdk }
}

t.test('the SDK classifies an envelope once, regardless of the method and tool', async (t) => {
  const { read, sdk } = countClassifications()
  for (let id = 0; id < 5; id++) {
    const message = { ...toolCall('Demo__echo', { text: `${id}` }), id }
    const call = modern(message)
    t.equal(read(asRequest(call)), call.body)
  }
  const list = modern(rpc('tools/list'))
  t.equal(read(asRequest(list)), list.body)
  t.equal(sdk.calls, 1)
})

t.test('rejected envelopes and envelopes over the length limit are not cached', async (t) => {
  const { read, sdk } = countClassifications()
  const bad = modern(toolCall('Demo__echo'))
  ;(bad.body.params._meta as Record<string, unknown>)[meta.clientCapabilities] = 'all'
  const long = modern(toolCall('Demo__echo'))
  ;(long.body.params._meta as Record<string, unknown>)['example.com/note'] = 'x'.repeat(3000)
  for (const [message, expected] of [
    [bad, undefined],
    [bad, undefined],
    [long, long.body],
    [long, long.body],
  ] as const)
    t.equal(read(asRequest(message)), expected)
  t.equal(sdk.calls, 4)
})

t.test('an envelope that is too deeply nested to cache is classified by the SDK', async (t) => {
  const { read, sdk } = countClassifications()
  const deep = modern(toolCall('Demo__echo'))
  const levels = 50_000
  ;(deep.body.params._meta as Record<string, unknown>)['example.com/deep'] = JSON.parse(
    '['.repeat(levels) + ']'.repeat(levels),
  )
  t.ok(Object.is(read(asRequest(deep)), deep.body))
  t.equal(sdk.calls, 1)
})

t.test('the cache evicts the oldest envelopes', async (t) => {
  const { read, sdk } = countClassifications()
  const numbered = (n: number) => {
    const message = modern(toolCall('Demo__echo'))
    ;(message.body.params._meta as Record<string, unknown>)['example.com/n'] = n
    return message
  }
  for (let n = 0; n < 300; n++) t.ok(read(asRequest(numbered(n))))
  t.equal(sdk.calls, 300)
  t.ok(read(asRequest(numbered(0))))
  t.equal(sdk.calls, 301)
})

t.test('a cached envelope accepts exactly the messages that the SDK accepts', async (t) => {
  const { body: good, headers } = modern(toolCall('Demo__echo', { text: 'hi' }))
  const requests = new StatelessRequests()
  const read = (request: FastifyRequest) => requests.read(request)
  t.ok(read(asRequest({ body: good, headers })))
  const odd = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom('2.0', 'tools/call', 'tools/list', 'initialize', 1, 1.5, 2 ** 60, null, [], {}),
  )
  const name = fc.constantFrom('jsonrpc', 'id', 'method', 'params', 'result', 'error', 'extra')
  const param = fc.constantFrom('name', 'arguments', '_meta', 'task', 'cursor', 'requestState')
  const change = fc.record({
    member: fc.option(fc.tuple(name, odd)),
    without: fc.option(name),
    param: fc.option(fc.tuple(param, odd)),
    header: fc.constantFrom('tools/call', 'tools/list', 'initialize'),
  })
  const property = fc.property(change, ({ member, without, param, header }) => {
    const body: Record<string, unknown> = structuredClone(good)
    if (param !== null) body.params = { ...(body.params as object), [param[0]]: param[1] }
    if (member !== null) body[member[0]] = member[1]
    if (without !== null) delete body[without]
    const given = { ...headers, 'mcp-method': header }
    const verdict = classifyInboundRequest({
      httpMethod: 'POST',
      protocolVersionHeader: modernVersion,
      mcpMethodHeader: header,
      body,
    })
    const accepted = verdict.kind === 'modern' && verdict.messageKind === 'request'
    const isNamed = (body.params as { name?: unknown } | undefined)?.name === headers['mcp-name']
    return read(asRequest({ body, headers: given })) === (accepted && isNamed ? body : undefined)
  })
  t.doesNotThrow(() => fc.assert(property, { numRuns: 2000 }))
})

const tool: AppTool = {
  name: 'route',
  about: 'Has arguments that travel as headers.',
  aliases: { bare: [], full: [], args: {} },
  annotations: {},
  example: { args: {} },
  inputSchema: {
    type: 'object',
    properties: {
      region: { type: 'string', 'x-mcp-header': 'Region' },
      count: { type: 'integer', 'x-mcp-header': 'Count' },
      options: { type: 'object', properties: { fast: { type: 'boolean', 'x-mcp-header': 'Fast' } } },
      note: { type: 'string' },
    },
  },
  call: async (args) => ({ content: [{ type: 'text', text: JSON.stringify(args) }] }),
}

const routing = (): App =>
  defineApp(
    {
      name: 'Routing',
      about: 'Routes.',
      open: () => ({}),
      session: () => ({}),
      discover: async () => [tool],
    },
    () => {},
  )

const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString('base64')}?=`

t.test('param headers: a missing or different header is rejected with HEADER_MISMATCH', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  const post = async (args: object, extra: Record<string, string>, progressToken?: string) => {
    const { body, headers } = modern(toolCall('Routing__route', args, progressToken))
    const { status, text } = await send(body, { headers: { ...headers, ...extra } })
    return { status, text }
  }
  const accepted: [object, Record<string, string>][] = [
    [{ region: 'north' }, { 'mcp-param-region': 'north' }],
    [{ region: 'Größe' }, { 'Mcp-Param-Region': base64('Größe') }],
    [{ region: '=?base64?eA==' }, { 'mcp-param-region': '=?base64?eA==' }],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'true' }],
    [{ note: 'x' }, { 'mcp-param-region': 'ignored' }],
    [{ region: null }, {}],
  ]
  for (const [args, given] of accepted) t.equal((await post(args, given)).status, 200, JSON.stringify(args))

  const rejected: [object, Record<string, string>][] = [
    [{ region: 'north' }, {}],
    [{ region: 'north' }, { 'mcp-param-region': 'south' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }],
    [{ region: 'x' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ count: 42 }, { 'mcp-param-count': '43' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'false' }],
  ]
  for (const [args, given] of rejected)
    for (const token of [undefined, 'token']) {
      const { status, text } = await post(args, given, token)
      t.match(
        { status, ...JSON.parse(text) },
        { status: 400, id: 1, error: { code: -32020, data: { code: 'HEADER_MISMATCH' } } },
      )
    }
})

t.test('param headers: clients of earlier protocol versions do not need to send them', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  t.match((await send(toolCall('Routing__route', { region: 'north' }))).json, { result: { content: [{}] } })
})
