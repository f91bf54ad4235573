/** Ports of single apps: the same server behind other paths. */
import { createServer } from 'node:http'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import t from 'tap'
import { fetch } from 'undici'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { verifies } from '../../../test/verifies.ts'
import { openHttp } from '../../src/http/server.ts'
import { both, initializeMessage, openWire, rpc, toolCall, until } from './open-wire.ts'

const demo = [{ app: 'demo', port: 0 }]

/** Sends to the port of an app. */
const sender =
  (port: number | undefined) =>
  async (path: string, body?: unknown, more: Record<string, string> = {}) => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...more },
    })
    const text = await answer.text()
    return {
      status: answer.status,
      headers: answer.headers,
      json: text.startsWith('{') ? JSON.parse(text) : text,
    }
  }

verifies('wire:alias', async (t) => {
  const { http } = await openWire(t, { aliases: [...demo, { app: 'Wire', port: 0 }] })
  t.same(
    http.aliases.map(({ app }) => app),
    ['demo', 'wire'],
  )
  const send = sender(http.aliases[0]?.port)
  t.match(await send('/mcp', toolCall('echo', { text: 'x' })), {
    json: { result: { structuredContent: { text: 'x' } } },
  })
  t.match(await send('/mcp', toolCall('tell')), { json: { error: { data: { code: 'UNKNOWN_TOOL' } } } })
  t.match(await sender(http.aliases[1]?.port)('/mcp', toolCall('tell')), { json: { result: {} } })
  t.match(await send('/health'), { status: 200, json: { status: 'ok' } })
  t.match(await send('/notes/n1?x=1', 'hello'), { status: 200 }, 'a route of the app')
  t.match(await send('/tools/echo', { text: 'x' }), { status: 200, json: { text: 'x' } })
  t.match(await send('/'), { status: 200, json: { name: 'Demo' } })
  t.match(await send('/nowhere'), { status: 404, json: { code: 'ROUTE_NOT_FOUND' } })
  t.equal(
    (await send('/health', undefined, { origin: 'https://evil.com' })).status,
    403,
    'guarded as the server is',
  )

  const opened = await send('/mcp', initializeMessage(), both)
  const session = { ...both, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  t.match(await send('/mcp', toolCall('count'), session), {
    json: { result: { structuredContent: { count: 1 } } },
  })
})

t.test('alias: an old client finds /sse at the root', async (t) => {
  const { http } = await openWire(t, { aliases: demo })
  const client = new ClientV1({ name: 'old', version: '1' })
  const transport = new SseV1(new URL(`http://127.0.0.1:${http.aliases[0]?.port}/sse`))
  await client.connect(transport as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  t.match(await client.callTool({ name: 'echo', arguments: { text: 'x' } }), {
    structuredContent: { text: 'x' },
  })
})

t.test('alias: the ports are closed with the server, while a stream is open', async (t) => {
  const { http, wire } = await openWire(t, { aliases: [{ app: 'wire', port: 0 }] })
  const port = http.aliases[0]?.port
  const send = sender(port)
  const working = send('/mcp', toolCall('work', { steps: 0 }))
  await until(() => wire.begun.length === 1)
  const stream = await fetch(`http://127.0.0.1:${port}/sse`)
  const closed = http.close(5000)
  wire.release()
  t.match(await working, { json: { result: { structuredContent: { steps: 0 } } } })
  await closed
  await stream.text()
  await t.rejects(send('/health'))
})

t.test('alias: an app that is not served, or a port in use, keeps the server from starting', async (t) => {
  const { core, logged } = await openWire(t)
  const start = (app: string, port: number) =>
    openHttp(core, {
      host: '127.0.0.1',
      port: 0,
      log: logged.log,
      bodyLimitBytes: 1024,
      aliases: [...demo, { app, port }],
    })
  await t.rejects(start('nobody', 0), {
    code: 'INVALID_SETTING',
    data: { apps: ['causeway', 'demo', 'wire'] },
  })
  const other = createServer()
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve))
  t.teardown(() => other.close())
  const { port } = other.address() as { port: number }
  await t.rejects(start('wire', port), { code: 'EADDRINUSE', port })
  t.match(await (await openWire(t, { dir: t.testdir({ again: {} }) })).send(rpc('ping')), { status: 200 })
})

t.test('alias: the program says which setting to change where the port of an app is in use', async (t) => {
  const holder = createServer()
  await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
  t.teardown(() => holder.close())
  const { port } = holder.address() as { port: number }
  const server = spawnServer(t, { dir: t.testdir(), env: { CAUSEWAY_LISTEN: `replay:${port}` } })
  t.same(await server.exited, { code: 1, signal: null })
  t.match(server.stderr, `causeway: PORT_IN_USE: port ${port} is held by `)
  t.match(server.stderr, /CAUSEWAY_LISTEN/)
})

t.test('alias: the program serves the ports of its setting', async (t) => {
  const { server } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_LISTEN: 'replay:0' } })
  const { url } = await server.saw('an app has a port of its own')
  t.match(await sender(Number(new URL(url).port))('/mcp', rpc('tools/list')), {
    json: { result: { tools: [] } },
  })
})
