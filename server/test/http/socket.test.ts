import { connect } from 'node:net'
import t, { type Test } from 'tap'
import { request } from 'undici'
import { type ClientOptions, WebSocket } from 'ws'
import { verifies } from '../../../test/verifies.ts'
import { soon } from '../test-core.ts'
import { openWire, rpc, until, type Wire } from './open-wire.ts'
import { portApp } from './port-app.ts'

interface Client {
  readonly frames: readonly string[]
  readonly socket: WebSocket
  /** Returns a frame by index, waiting for it if necessary. */
  frame(index: number): Promise<string>
  /** Close code and reason. */
  readonly closed: Promise<readonly [number, string]>
}

function connectClient(t: Test, url: string, options: ClientOptions = {}): Client {
  const socket = new WebSocket(url, options)
  const frames: string[] = []
  socket.on('message', (data) => frames.push(data.toString()))
  socket.on('error', () => {})
  const closed = new Promise<readonly [number, string]>((resolve) =>
    socket.once('close', (code, reason) => resolve([code, reason.toString()])),
  )
  t.teardown(() => socket.terminate())
  return {
    frames,
    socket,
    closed,
    async frame(index) {
      await until(() => frames.length > index)
      return frames[index] as string
    },
  }
}

/** Resolves to the status and error code of a rejected upgrade. */
function rejection(t: Test, url: string, options: ClientOptions = {}): Promise<readonly [number, string]> {
  const socket = new WebSocket(url, options)
  t.teardown(() => socket.terminate())
  return soon(
    new Promise((resolve, reject) => {
      socket.once('open', () => reject(new Error('the upgrade was accepted')))
      socket.on('error', () => {})
      socket.once('unexpected-response', (_request, response) => {
        let text = ''
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve([response.statusCode ?? 0, JSON.parse(text).code]))
      })
    }),
  )
}

async function openPort(t: Test, options: Parameters<typeof openWire>[1] = {}) {
  const { app, control } = portApp()
  const wire = await openWire(t, { apps: [app], aliases: [{ app: 'port', port: 0 }], ...options })
  const port = (wire.http.aliases[0] as { port: number }).port
  return { wire, control, root: `127.0.0.1:${port}`, main: wsUrl(wire) }
}

const wsUrl = ({ http }: Wire): string => `${http.url.replace('http', 'ws')}/api/apps/port`

verifies('wire:socket', async (t) => {
  const { root, main, wire } = await openPort(t)
  for (const url of [`ws://${root}/`, `ws://${root}`, main, `${main}/`]) {
    const { socket, frame } = connectClient(t, url)
    t.equal(await frame(0), 'welcome', url)
    for (const text of ['a', 'b', 'count', 'c']) socket.send(text)
    await frame(4)
    t.same([await frame(1), await frame(2), await frame(4)], ['echo a', 'echo b', 'echo c'])
    t.match(
      JSON.parse(await frame(3)),
      { frames: 3 },
      'each connection has its own state, which its calls share',
    )
  }
  const { frame, socket } = connectClient(t, `ws://${root}/rooms/blue%20one`)
  await until(() => socket.readyState === WebSocket.OPEN)
  socket.send('?')
  t.equal(await frame(0), 'blue one')
  t.match((await wire.send(undefined, { path: '/api/apps/port', method: 'GET' })).json, {
    sockets: [{ href: '/api/apps/port/' }, { href: '/api/apps/port/rooms/{room}' }],
  })
})

t.test('sockets of one session share state, and each call has its own request id', async (t) => {
  const { main } = await openPort(t)
  const headers = { 'causeway-session': 'shared' }
  const [one, other] = [connectClient(t, main, { headers }), connectClient(t, main, { headers })]
  await Promise.all([one.frame(0), other.frame(0)])
  one.socket.send('count')
  const first = JSON.parse(await one.frame(1))
  other.socket.send('count')
  const second = JSON.parse(await other.frame(1))
  t.match([first, second], [{ frames: 1 }, { frames: 2 }])
  t.not(first.request, second.request)
})

verifies('wire:socket:guard', async (t) => {
  const { root, main } = await openPort(t)
  for (const url of [`ws://${root}/`, main]) {
    t.same(await rejection(t, url, { origin: 'https://evil.example' }), [403, 'FORBIDDEN_ORIGIN'])
    t.same(await rejection(t, url, { headers: { host: 'evil.example' } }), [403, 'FORBIDDEN_HOST'])
    t.same(await rejection(t, url, { headers: { 'causeway-session': 'no/such' } }), [400, 'INVALID_PARAMS'])
  }
  t.same(await rejection(t, `ws://${root}/elsewhere`), [404, 'ROUTE_NOT_FOUND'])
  t.same(await rejection(t, main.replace('port', 'unknown')), [404, 'ROUTE_NOT_FOUND'])
  t.same(await rejection(t, main.replace('/api/apps/port', '/mcp')), [404, 'ROUTE_NOT_FOUND'])
  t.same(await rejection(t, main, { origin: 'http://localhost:5173' }), [403, 'FORBIDDEN_ORIGIN'])
  for (const port of [new URL(main).port, new URL(`ws://${root}`).port])
    t.equal(
      await connectClient(t, main, { origin: `http://localhost:${port}` }).frame(0),
      'welcome',
      'a page of this server',
    )
})

verifies('wire:socket:failure', async (t) => {
  const { main, wire } = await openPort(t, { bodyLimitBytes: 4096 })
  const { socket, frame, closed } = connectClient(t, main)
  await frame(0)
  for (const text of ['fail', 'break', 'still connected']) socket.send(text)
  await frame(3)
  t.match(JSON.parse(await frame(1)), { error: { code: 'NO_RECORDING', message: 'nothing to send' } })
  t.match(JSON.parse(await frame(2)), { error: { code: 'INTERNAL' } })
  t.notMatch(await frame(2), 'secret')
  t.equal(await frame(3), 'echo still connected')
  socket.send(Buffer.from([1, 2]))
  t.match(await soon(closed), [1003])
  const large = connectClient(t, main)
  await large.frame(0)
  large.socket.send('x'.repeat(5000))
  t.match(await soon(large.closed), [1009])
  const leaving = connectClient(t, main)
  await leaving.frame(0)
  leaving.socket.send('bye')
  t.same(await soon(leaving.closed), [1000, 'bye'])
  t.match((await wire.send(rpc('ping'))).status, 200)
})

t.test('the number of open sockets is limited', async (t) => {
  const { main, control } = await openPort(t, { maxSessions: 1 })
  const { frame, socket } = connectClient(t, main)
  await frame(0)
  t.same(await rejection(t, main), [503, 'OVERLOADED'])
  socket.close()
  await until(() => control.sockets[0]?.signal.aborted === true)
  t.equal(await connectClient(t, main).frame(0), 'welcome')
})

t.test('a client that does not respond to a ping is disconnected', async (t) => {
  const { main, control } = await openPort(t, { keepAliveMs: 250 })
  const alive = connectClient(t, main)
  const silent = connectClient(t, main, { autoPong: false })
  await Promise.all([alive.frame(0), silent.frame(0)])
  t.match(await soon(silent.closed), [1006])
  await until(() => control.sockets.filter(({ signal }) => signal.aborted).length === 1)
  alive.socket.send('there')
  t.equal(await alive.frame(1), 'echo there')
})

verifies('wire:socket:backpressure', async (t) => {
  const { main, control } = await openPort(t)
  const { socket, frame, frames } = connectClient(t, main)
  await frame(0)
  socket.pause()
  const requested = 64
  for (let sent = 0; sent < requested; sent++) socket.send('flood')
  // The buffers of a connection hold a few of the 64 MiB.
  await until(() => control.startedFrames > 0)
  let before = -1
  while (before !== control.startedFrames) {
    before = control.startedFrames
    await new Promise((resolve) => setTimeout(resolve, 100))
  }
  t.ok(
    control.startedFrames < requested,
    `processed ${control.startedFrames} of ${requested} frames before it waited`,
  )
  socket.resume()
  await until(() => frames.length === requested + 1)
})

verifies('wire:socket:shutdown', async (t) => {
  const { main, wire, control } = await openPort(t)
  const silent = connect({ port: wire.http.port, host: '127.0.0.1' })
  t.teardown(() => silent.destroy())
  silent.write(
    'GET /api/apps/port HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n' +
      'Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: MDEyMzQ1Njc4OWFiY2RlZg==\r\n\r\n',
  )
  const { socket, frame, closed } = connectClient(t, main)
  await frame(0)
  socket.send('hold')
  await until(() => control.startedFrames === 1 && control.sockets.length === 2)
  const closing = wire.http.close(5000)
  control.release()
  t.equal(await frame(1), 'echo hold')
  t.same(await soon(closed), [1001, 'the server is stopping'])
  await soon(closing)
  t.ok(control.sockets.every(({ signal }) => signal.aborted))
})

verifies('wire:upgrade:other', async (t) => {
  const { wire, root } = await openPort(t)
  const { http } = wire
  for (const url of [`${http.url}/mcp`, `http://${root}/mcp`]) {
    const { port, hostname, pathname } = new URL(url)
    const body = JSON.stringify(rpc('ping'))
    const peer = connect({ port: Number(port), host: hostname })
    t.teardown(() => peer.destroy())
    peer.write(
      `POST ${pathname} HTTP/1.1\r\nHost: localhost\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n` +
        `HTTP2-Settings: AAMAAABkAAQBAAAAAAIAAAAA\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const response = await soon(
      new Promise<string>((resolve) => peer.once('data', (data) => resolve(String(data)))),
    )
    t.match(response, /^HTTP\/1.1 200 OK/)
  }
})

verifies('wire:alias:root', async (t) => {
  const { root, wire } = await openPort(t)
  const headers = { 'content-type': 'application/json' }
  for (const base of [`http://${root}`, `${wire.http.url}/api/apps/port`]) {
    const send = async (path: string, body?: object) => {
      const response = await request(`${base}${path}`, {
        method: body === undefined ? 'GET' : 'POST',
        headers,
        ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      })
      return [response.statusCode, await response.body.json()]
    }
    t.match(await send('', { command: 'x' }), [200, { result: { command: 'x' }, own: { frames: 0 } }], base)
    t.match(await send('/api/command', { command: 'y' }), [200, { command: { command: 'y' } }])
    t.match(await send('/tools/list'), [200, { tools: ['own'] }])
    t.match(await send('/tools/call', { name: 'z' }), [200, { called: { name: 'z' } }])
    t.match(
      await send('/tools/counted', { fail: false }),
      [200, { frames: 0 }],
      'routes of the server that the app does not override',
    )
    t.match(await send('/tools/counted'), [405, { code: 'METHOD_NOT_ALLOWED' }])
    t.match(await send(''), [200, { name: 'Port' }])
  }
})

verifies('wire:alias:health', async (t) => {
  const { root, wire } = await openPort(t)
  const { port } = new URL(`http://${root}`)
  t.match(await (await request(`http://${root}/health`)).body.json(), {
    status: 'ok',
    server: 'port-server',
    mcp_endpoint: '/mcp',
    port: Number(port),
    tools_loaded: 2,
  })
  t.match((await wire.send(undefined, { path: '/health/port', method: 'GET' })).json, {
    server: 'port-server',
    mcp_endpoint: '/mcp/port',
    port: wire.http.port,
  })
  t.match(await wire.send(undefined, { path: '/health/unknown', method: 'GET' }), { status: 404 })
})

verifies('app:answer:error-body', async (t) => {
  const { wire } = await openPort(t)
  const call = async (name: string, args: object) =>
    (await wire.send(rpc('tools/call', { name, arguments: args }), { path: '/mcp/port' })).json.result
  const body = { status: 'error', error_message: 'no such mind: x' }
  t.match(await call('strict', { mind: 'x' }), {
    isError: true,
    content: [{ type: 'text', text: JSON.stringify(body) }],
    structuredContent: body,
    _meta: { 'causeway/error': { code: 'NO_RECORDING' } },
  })
  t.match(
    await wire.send({ mind: 'x' }, { path: '/api/apps/port/tools/strict' }),
    { status: 409, json: { ...body, code: 'NO_RECORDING', message: 'no such mind: x', remedy: String } },
    'plain HTTP returns both formats',
  )
  const other = await call('counted', { fail: true })
  t.match(other, { isError: true, _meta: { 'causeway/error': { code: 'NO_RECORDING' } } })
  t.same(JSON.parse(other.content[0].text), { status: 'error', error_message: 'nothing to count' })
  t.notOk('structuredContent' in other, 'the error does not match the output schema')
  t.match(
    await call('strict', {}),
    { structuredContent: { status: 'error' } },
    'invalid arguments use the same format',
  )
})
