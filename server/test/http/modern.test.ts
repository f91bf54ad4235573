/** Stateless clients of 2026-07-28: headers, errors, progress, cancellation, subscriptions. */
import { meta, modernVersion } from '@causeway/protocol'
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
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
