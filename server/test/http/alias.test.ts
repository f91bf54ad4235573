import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { type AddressInfo, connect, Server } from 'node:net'
import { Client as ClientV1 } from '@modelcontextprotocol/sdk/client/index.js'
import { SSEClientTransport as SseV1 } from '@modelcontextprotocol/sdk/client/sse.js'
import type { FastifyReply } from 'fastify'
import t, { type Test } from 'tap'
import { fetch } from 'undici'
import { spawnServer, startServer } from '../../../test/e2e/server-process.ts'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { HttpServer } from '../../src/http/server.ts'
import { maxUnreadBytes, sendMessages, sendResponse } from '../../src/http/web-messages.ts'
import { both, initializeMessage, openWire, rpc, toolCall, until } from './open-wire.ts'

const demoAliases = [{ app: 'demo', port: 0 }]

const sender =
  (port: number | undefined) =>
  async (path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(`http://127.0.0.1:${port}${path}`, {
      ...(body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) }),
      headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    })
    const text = await response.text()
    return {
      status: response.status,
      headers: response.headers,
      json: text.startsWith('{') ? JSON.parse(text) : text,
    }
  }

verifies('wire:alias', async (t) => {
  const { http } = await openWire(t, { aliases: [...demoAliases, { app: 'Wire', port: 0 }] })
  t.same(
    http.aliases.map(({ app }) => app),
    ['demo', 'wire'],
  )
  const send = sender(http.aliases[0]?.port)
  t.match(await send('/mcp', toolCall('echo', { text: 'x' })), {
    json: { result: { structuredContent: { text: 'x' } } },
  })
  t.match(await send('/mcp', toolCall('identify')), { json: { error: { data: { code: 'UNKNOWN_TOOL' } } } })
  t.match(await sender(http.aliases[1]?.port)('/mcp', toolCall('identify')), { json: { result: {} } })
  t.match(await send('/health'), { status: 200, json: { status: 'ok' } })
  t.match(await send('/notes/n1?x=1', 'hello'), { status: 200 }, 'a route of the app')
  t.match(await send('/tools/echo', { text: 'x' }), { status: 200, json: { text: 'x' } })
  t.match(await send('/'), { status: 200, json: { name: 'Demo' } })
  t.match(await send('/nowhere'), { status: 404, json: { code: 'ROUTE_NOT_FOUND' } })
  t.equal((await send('/health', undefined, { origin: 'https://evil.com' })).status, 403, 'checks the origin')

  const opened = await send('/mcp', initializeMessage(), both)
  const session = { ...both, 'mcp-session-id': opened.headers.get('mcp-session-id') ?? '' }
  t.match(await send('/mcp', toolCall('count'), session), {
    json: { result: { structuredContent: { count: 1 } } },
  })
})

t.test("the server's own pages are accepted while additional ports open", async (t) => {
  const { listen } = Server.prototype
  const opened: Server[] = []
  const statuses: number[] = []
  /** Sends a request with the origin of each open port. Runs before the next port opens. */
  async function sendFromPages(): Promise<void> {
    const ports = opened.map((server) => (server.address() as AddressInfo).port)
    for (const port of ports) {
      const { status } = await sender(ports[0])('/health', undefined, { origin: `http://localhost:${port}` })
      statuses.push(status)
    }
  }
  t.capture(Server.prototype, 'listen', function (this: Server, ...args: Parameters<typeof listen>) {
    const listenNow = () => {
      opened.push(this)
      listen.apply(this, args)
    }
    if (opened.length === 0) listenNow()
    else sendFromPages().then(listenNow)
    return this
  } as typeof listen)
  await openWire(t, { aliases: [...demoAliases, { app: 'wire', port: 0 }] })
  t.same(statuses, [200, 200, 200])
})

t.test('an MCP 2024-11-05 client can use /sse on the port of an app', async (t) => {
  const { http } = await openWire(t, { aliases: demoAliases })
  const client = new ClientV1({ name: 'old', version: '1' })
  const transport = new SseV1(new URL(`http://127.0.0.1:${http.aliases[0]?.port}/sse`))
  await client.connect(transport as Parameters<typeof client.connect>[0])
  t.teardown(() => client.close())
  t.match(await client.callTool({ name: 'echo', arguments: { text: 'x' } }), {
    structuredContent: { text: 'x' },
  })
})

t.test('the ports of apps close with the server, even if a stream is open', async (t) => {
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

t.test('the server does not start if the app of a port is not served or the port is in use', async (t) => {
  const { core } = await openWire(t)
  const start = (app: string, port: number) =>
    HttpServer.open(core, {
      host: '127.0.0.1',
      port: 0,
      bodyLimitBytes: 1024,
      aliases: [...demoAliases, { app, port }],
    })
  await t.rejects(start('unknown', 0), {
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

t.test(
  'if the port of an app is in use, the error names the setting',
  inCI(async (t) => {
    const holder = createServer()
    await new Promise<void>((resolve) => holder.listen(0, '127.0.0.1', resolve))
    t.teardown(() => holder.close())
    const { port } = holder.address() as { port: number }
    const server = spawnServer(t, { dir: t.testdir(), env: { CAUSEWAY_LISTEN: `replay:${port}` } })
    t.same(await server.exited, { code: 1, signal: null })
    t.match(server.stderr, `causeway: port ${port} is used by `)
    t.match(server.stderr, /CAUSEWAY_LISTEN/)
  }),
)

t.test(
  'CAUSEWAY_LISTEN opens ports of apps',
  inCI(async (t) => {
    const { server } = await startServer(t, { dir: t.testdir(), env: { CAUSEWAY_LISTEN: 'replay:0' } })
    const { url } = await server.saw('an app has a port of its own')
    t.match(await sender(Number(new URL(url).port))('/mcp', rpc('tools/list')), {
      json: { result: { tools: [] } },
    })
  }),
)

const mebibyte = 2 ** 20

/** Sends a response to a client that does not read. */
async function sendToPausedClient(t: Test, respond: (reply: FastifyReply) => Promise<void>) {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').pause()
  socket.on('error', () => {})
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n')
  const [, raw] = (await once(server, 'request')) as [unknown, ServerResponse]
  const sent = respond({ raw, hijack: () => {}, getHeaders: () => ({}) } as unknown as FastifyReply)
  sent.catch(() => {})
  return { raw, sent }
}

t.test('sendMessages disconnects a client that does not read and cancels the source', async (t) => {
  let onCancel = (): void => {}
  const cancelled = new Promise<void>((resolve) => {
    onCancel = resolve
  })
  const { raw } = await sendToPausedClient(t, (reply) => {
    const events = new ReadableStream<Uint8Array>({
      start(out) {
        for (let filled = 0; filled < 64; filled++) out.enqueue(new Uint8Array(mebibyte))
      },
      cancel: onCancel,
    })
    return sendMessages(reply, new Response(events, { headers: { 'content-type': 'text/event-stream' } }))
  })
  await cancelled
  t.ok(raw.destroyed)
})

t.test('sendMessages sends one message that is larger than the limit of unread bytes', async (t) => {
  const { raw, sent } = await sendToPausedClient(t, (reply) =>
    sendMessages(reply, new Response(new Uint8Array(maxUnreadBytes + 8 * mebibyte))),
  )
  await sent
  t.notOk(raw.destroyed)
  t.ok(raw.writableLength > maxUnreadBytes, 'the message is buffered')
})

t.test('sendResponse pauses the source while the client does not read', async (t) => {
  const source = { pulled: 0 }
  let onFirstPull = (): void => {}
  const first = new Promise<void>((resolve) => {
    onFirstPull = resolve
  })
  await sendToPausedClient(t, (reply) => {
    const bytes = new ReadableStream<Uint8Array>({
      pull(out) {
        source.pulled += 1
        out.enqueue(new Uint8Array(mebibyte))
        onFirstPull()
      },
    })
    return sendResponse(reply, new Response(bytes))
  })
  await first
  // Waits until the kernel's buffers are full. They hold a few megabytes.
  for (let turn = 0; turn < 200; turn++) await new Promise(setImmediate)
  t.ok(source.pulled < 32, `read ${source.pulled} MiB from the source`)
})

for (const [name, send] of Object.entries({ sendResponse, sendMessages }))
  t.test(`${name} cancels the source if the client has already disconnected`, async (t) => {
    let onCancel = (): void => {}
    const cancelled = new Promise<void>((resolve) => {
      onCancel = resolve
    })
    const { sent } = await sendToPausedClient(t, async (reply) => {
      reply.raw.destroy()
      const bytes = new ReadableStream<Uint8Array>({
        pull: (out) => out.enqueue(new Uint8Array(mebibyte)),
        cancel: onCancel,
      })
      await send(reply, new Response(bytes))
    })
    await Promise.all([sent, cancelled])
  })
