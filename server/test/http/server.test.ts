/** Listening and stopping. */
import t from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { openHttp } from '../../src/http/server.ts'
import { both, modern, openWire, rpc, toolCall, until } from './open-wire.ts'
import { portApp } from './port-app.ts'

t.test('answers of many megabytes arrive whole, by every leg', async (t) => {
  const { send, initialize } = await openWire(t)
  const text = 'long '.repeat(2 ** 20)
  const call = toolCall('Demo__echo', { text })
  const stateless = modern(call)
  const answers = await Promise.all([
    send(call),
    send(call, { headers: { ...both, 'mcp-session-id': await initialize() } }),
    send(stateless.body, { headers: stateless.headers }),
    send({ text }, { path: '/api/apps/demo/tools/echo' }),
  ])
  for (const answer of answers) {
    const data = answer.text.replace(/^(?:.*\n)*?data: (?=\{)/, '')
    const json = JSON.parse(data)
    t.ok((json.result?.structuredContent ?? json).text === text)
  }
})

t.test('close: calls under way are answered, new ones get 503, streams end', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const work = toolCall('Wire__work', { steps: 0 })
  const listen = modern(rpc('subscriptions/listen', { notifications: { toolsListChanged: true } }))
  const listening = [
    await wire.stream(undefined, { method: 'GET', headers: { 'mcp-session-id': id } }),
    await wire.stream(listen.body, { headers: listen.headers }),
  ]
  const modernWork = modern(work)
  const calls = [
    wire.send(work),
    wire.send(work, { headers: { ...both, 'mcp-session-id': id } }),
    wire.send(modernWork.body, { headers: modernWork.headers }),
    wire.send({ steps: 0 }, { path: '/api/apps/wire/tools/work' }),
  ]
  await until(() => wire.wire.begun.length === 4)
  const closed = wire.http.close(5000)

  const late = modern(toolCall('Demo__count'))
  t.match(await wire.send(toolCall('Demo__count')), {
    status: 503,
    json: { id: 1, error: { code: -32000, data: { code: 'SHUTTING_DOWN', retryable: true } } },
  })
  t.equal((await wire.send(late.body, { headers: late.headers })).status, 503)
  t.equal((await wire.send({}, { path: '/api/apps/demo/tools/count' })).status, 503)
  t.equal((await wire.send(undefined, { method: 'GET', headers: { 'mcp-session-id': id } })).status, 503)
  t.match(await wire.send(undefined, { path: '/health', method: 'GET' }), {
    status: 503,
    json: { status: 'stopping' },
  })

  wire.wire.release()
  for (const call of calls) t.match((await call).text, /"steps":0/)
  await closed
  t.same(await listening[0]?.messages.next(), { done: true, value: undefined })
  await t.rejects(wire.send(rpc('ping')), { code: 'ECONNREFUSED' })
})

t.test('close: a call under way can still be cancelled', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const headers = { ...both, 'mcp-session-id': id }
  const { messages } = await wire.stream(toolCall('Wire__work', { steps: 0 }), { headers })
  await until(() => wire.wire.begun.length === 1)
  const closed = wire.http.close(60_000)
  await wire.send(
    { jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 1 } },
    { headers },
  )
  t.match((await messages.next()).value, { id: 1, error: { data: { code: 'CANCELLED' } } })
  await closed
})

t.test('close: after the deadline calls are aborted and connections cut', async (t) => {
  const wire = await openWire(t)
  const id = await wire.initialize()
  const work = toolCall('Wire__work', { steps: 0 })
  const modernWork = modern(work)
  const calls = [
    wire.send(work),
    wire.send(work, { headers: { ...both, 'mcp-session-id': id } }),
    wire.send(modernWork.body, { headers: modernWork.headers }),
    wire.send(undefined, { path: '/api/apps/wire/drip', method: 'GET' }),
  ].map((call) => call.catch(() => undefined))
  await until(() => wire.wire.begun.length === 4)
  await wire.http.close(1)
  await Promise.all(calls)
  await until(() => wire.wire.begun.every(({ aborted }) => aborted))
})

verifies('wire:route:stream', async (t) => {
  const { app, control } = portApp()
  const { http, events } = await openWire(t, { apps: [app] })
  const stream = await events(undefined, { path: '/api/apps/port/live', method: 'GET' })
  t.same((await stream.events.next()).value, { event: undefined, data: 'first' })
  const started = performance.now()
  await http.close(20_000)
  t.ok(performance.now() - started < 10_000, 'not waited for')
  t.equal((await stream.events.next()).done, true)
  t.equal(control.streams[0]?.aborted, true)
})

verifies('wire:guard:loopback', async (t) => {
  const { http } = await openWire(t)
  t.equal(new URL(http.url).hostname, '127.0.0.1')
})

t.test('open: a port in use rejects with the error of listen', async (t) => {
  const { core, http, logged } = await openWire(t)
  const options = { host: '127.0.0.1', port: http.port, log: logged.log, bodyLimitBytes: 1024 }
  await t.rejects(openHttp(core, options), { code: 'EADDRINUSE' })
})
