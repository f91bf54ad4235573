import { type App, type AppTool, defineApp } from '@causeway/app-kit'
import { meta, modernVersion } from '@causeway/protocol'
import { classifyInboundRequest } from '@modelcontextprotocol/server'
import fc from 'fast-check'
import type { FastifyRequest } from 'fastify'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { modernRequests } from '../../src/http/modern-request.ts'
import { both, initializeMessage, modern, openWire, rpc, toolCall, until } from './open-wire.ts'

/** Stateless clients of 2026-07-28: headers, errors, progress, cancellation, subscriptions. */

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

t.test('modern: server/discover tells what the mount offers', async (t) => {
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

t.test('modern: errors of the call are in band and coded', async (t) => {
  const { send } = await openWire(t)
  const ask = async (message: ReturnType<typeof rpc>) => {
    const { body, headers } = modern(message)
    return send(body, { headers })
  }
  t.match(await ask(toolCall('Demo__nothing')), {
    status: 200,
    json: { error: { code: -32602, data: { code: 'UNKNOWN_TOOL', retryable: false } } },
  })
  t.match(await ask(rpc('resources/read', { uri: 'demo://nothing/here' })), {
    json: { error: { code: -32602, data: { code: 'RESOURCE_NOT_FOUND' } } },
  })
  t.match(await ask(toolCall('Demo__fail', { code: 'accident' })), {
    json: { result: { isError: true, _meta: { 'causeway/error': { code: 'INTERNAL' } } } },
  })
  t.notMatch((await ask(toolCall('Demo__fail', { code: 'accident' }))).text, /somebody/)
})

t.test('modern: progress turns the answer into a stream', async (t) => {
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

t.test('modern: closing the stream of a call aborts its handler', async (t) => {
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

t.test('modern: a subscription hears of the lists of its mount and of its resources', async (t) => {
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
    'ends in order',
  )
})

verifies('limits:message', 'a message subscribes to at most 10,000 resources', async (t) => {
  const { send, stream } = await openWire(t)
  const listen = (count: number) => {
    const uris = Array.from({ length: count }, (_, index) => `demo://notes/${index}`)
    return modern(rpc('subscriptions/listen', { notifications: { resourceSubscriptions: uris } }))
  }
  const most = listen(10_000)
  const { messages, hangUp } = await stream(most.body, { headers: most.headers })
  t.match((await messages.next()).value, { method: 'notifications/subscriptions/acknowledged' })
  hangUp()
  const tooMany = listen(10_001)
  t.match((await send(tooMany.body, { headers: tooMany.headers })).json, {
    error: { data: { code: 'INVALID_PARAMS', data: { limit_count: 10_000 } } },
  })
})

t.test('modern: a method that is no text is refused as any other message that is none', async (t) => {
  const { send, logged } = await openWire(t)
  const { body, headers } = modern(toolCall('Demo__count'))
  const { status, json } = await send({ ...body, method: { toString: 'x' } }, { headers })
  t.equal(status, 400)
  t.match(json, { error: { code: -32600 } })
  t.notOk(
    logged.lines.some(({ level }) => level === 50),
    'and is no defect',
  )
})

/** Reading requests of 2026-07-28: with or without the SDK, the verdict is the same. */

const asRequest = ({ body, headers }: { body: unknown; headers: object }) =>
  ({ method: 'POST', body, headers }) as unknown as FastifyRequest

/** A reader, and how often it asked the SDK. */
function counted() {
  const asked = { count: 0 }
  const read = modernRequests((request) => {
    asked.count += 1
    return classifyInboundRequest(request)
  })
  return { read, asked }
}

t.test('the SDK is asked once about an envelope, whatever is called', async (t) => {
  const { read, asked } = counted()
  for (let id = 0; id < 5; id++) {
    const message = { ...toolCall('Demo__echo', { text: `${id}` }), id }
    const call = modern(message)
    t.equal(read(asRequest(call)), call.body)
  }
  const list = modern(rpc('tools/list'))
  t.equal(read(asRequest(list)), list.body)
  t.equal(asked.count, 1)
})

t.test(
  'an envelope that is refused is refused each time, and one that grows without end is not kept',
  async (t) => {
    const { read, asked } = counted()
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
    t.equal(asked.count, 4)
  },
)

t.test('an envelope that is nested too deeply to be kept is judged by the SDK', async (t) => {
  const { read, asked } = counted()
  const deep = modern(toolCall('Demo__echo'))
  const levels = 50_000
  ;(deep.body.params._meta as Record<string, unknown>)['example.com/deep'] = JSON.parse(
    '['.repeat(levels) + ']'.repeat(levels),
  )
  t.ok(Object.is(read(asRequest(deep)), deep.body))
  t.equal(asked.count, 1)
})

t.test('many envelopes: each is judged rightly, and the first ones are let go', async (t) => {
  const { read, asked } = counted()
  const numbered = (n: number) => {
    const message = modern(toolCall('Demo__echo'))
    ;(message.body.params._meta as Record<string, unknown>)['example.com/n'] = n
    return message
  }
  for (let n = 0; n < 300; n++) t.ok(read(asRequest(numbered(n))))
  t.equal(asked.count, 300)
  t.ok(read(asRequest(numbered(0))))
  t.equal(asked.count, 301)
})

t.test(
  'after an accepted message of the same envelope, every other message gets the verdict of the SDK',
  async (t) => {
    const { body: good, headers } = modern(toolCall('Demo__echo', { text: 'hi' }))
    const read = modernRequests()
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
  },
)

/** Arguments that travel as headers too: both must agree, however the call is answered. */

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

t.test('param headers: a header must be there and say what the argument says', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  const post = async (args: object, given: Record<string, string>, progressToken?: string) => {
    const { body, headers } = modern(toolCall('Routing__route', args, progressToken))
    const { status, text } = await send(body, { headers: { ...headers, ...given } })
    return { status, text }
  }
  const accepted: [object, Record<string, string>][] = [
    [{ region: 'north' }, { 'mcp-param-region': 'north' }],
    [{ region: 'Größe' }, { 'Mcp-Param-Region': base64('Größe') }],
    [{ region: '=?base64?eA==' }, { 'mcp-param-region': '=?base64?eA==' }],
    [{ count: 42 }, { 'mcp-param-count': '42.0' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'true' }],
    [{ note: 'x' }, { 'mcp-param-region': 'nobody looks' }],
    [{ region: null }, {}],
  ]
  for (const [args, given] of accepted) t.equal((await post(args, given)).status, 200, JSON.stringify(args))

  const refused: [object, Record<string, string>][] = [
    [{ region: 'north' }, {}],
    [{ region: 'north' }, { 'mcp-param-region': 'south' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVsbG8?=' }],
    [{ region: 'Hello' }, { 'mcp-param-region': '=?base64?SGVs!!!bG8=?=' }],
    [{ region: 'x' }, { 'mcp-param-region': '=?base64?/w==?=' }],
    [{ count: 42 }, { 'mcp-param-count': '43' }],
    [{ options: { fast: true } }, { 'mcp-param-fast': 'false' }],
  ]
  for (const [args, given] of refused)
    for (const token of [undefined, 'token']) {
      const { status, text } = await post(args, given, token)
      t.match(
        { status, ...JSON.parse(text) },
        { status: 400, id: 1, error: { code: -32020, data: { code: 'HEADER_MISMATCH' } } },
      )
    }
})

t.test('param headers: a session knows none of them', async (t) => {
  const { send } = await openWire(t, { apps: [routing()] })
  t.match((await send(toolCall('Routing__route', { region: 'north' }))).json, { result: { content: [{}] } })
})
