import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import type { Test } from 'tap'
import { verifies } from '../../../test/verifies.ts'
import { StalledBodies } from '../../src/http/security/stalled-bodies.ts'
import { openWire } from './open-wire.ts'

/**
 * Opens a connection and completes a request on it. On a new connection, the timeout for headers includes the wait for the first
 * byte, so it may expire if the process is paused. Between two requests, it does not run.
 */
async function openIdleConnection(port: number): Promise<Socket> {
  for (;;) {
    const socket = connect({ host: '127.0.0.1', port })
    socket.on('error', () => {})
    socket.write('OPTIONS /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    const [response] = (await once(socket, 'data')) as [Buffer]
    if (!response.toString().startsWith('HTTP/1.1 408 ')) return socket
    socket.destroy()
  }
}

/** Sends the start of a request; resolves with the response when the server has closed the connection. */
async function stall(port: number, start: string, socket = connect({ host: '127.0.0.1', port })) {
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  socket.on('error', () => {})
  socket.write(start.replaceAll('\n', '\r\n'))
  await once(socket, 'close')
  return Buffer.concat(parts).toString()
}

const head = (method: string, path: string, rest = '') =>
  `${method} ${path} HTTP/1.1\nHost: localhost\n${rest}`

verifies('wire:error:stalled', async (t) => {
  const { http, wire } = await openWire(t, {
    receiveTimeoutMs: 100,
    aliases: [{ app: 'wire', port: 0 }],
  })
  const alias = http.aliases[0]?.port as number
  const json = 'Content-Type: application/json\nContent-Length: 100\n\n{"a":'
  const chunked = 'Content-Type: application/json\nTransfer-Encoding: chunked\n\n5\n{"a":'
  const stalls: readonly (readonly [string, number, string])[] = [
    ['headers', http.port, head('GET', '/health')],
    ['headers on the port of an app', alias, head('GET', '/health')],
    ['a message', http.port, head('POST', '/mcp', json)],
    ['a chunked message', http.port, head('POST', '/mcp', chunked)],
    ['a body that never begins', http.port, head('POST', '/mcp', json.replace('{"a":', ''))],
    ['a tool call', http.port, head('POST', '/api/apps/demo/tools/echo', json)],
    ['an app route', http.port, head('POST', '/api/apps/demo/notes/1', json)],
    ['a message on the port of an app', alias, head('POST', '/mcp', json)],
  ]
  for (const [name, port, start] of stalls) {
    const response = await stall(port, start)
    t.match(response, /^HTTP\/1\.1 408 Request Timeout\r\n/, name)
    t.match(response, /^connection: close\r$/im)
    t.match(response, '"code":"REQUEST_TIMEOUT"')
  }
  const foreign = json.replace('Content-Type', 'Origin: http://localhost:5173\nContent-Type')
  const rejected = await stall(http.port, head('POST', '/mcp', foreign), await openIdleConnection(http.port))
  t.match(rejected, /^HTTP\/1\.1 403 /, 'a rejected request')
  const streamed = await stall(alias, head('PUT', '/lines/a', json), await openIdleConnection(alias))
  t.match(streamed, /^HTTP\/1\.1 200 .*a:\{"a":/s, 'closes a route that has started to respond')
  t.notMatch(streamed, /\r\n0\r\n\r\n$/, 'the response is incomplete')
  t.equal(wire.begun.length, 0)
  const close = 'Connection: close\n\n'
  const healthy = await stall(http.port, head('GET', '/health', close), await openIdleConnection(http.port))
  t.match(healthy, /^HTTP\/1\.1 200 /, 'the server serves other requests')
})

/** Starts an upload to a server. The test controls the clock and when the server reads the body. */
async function openUpload(t: Test, timeoutMs = 1000) {
  let now = 0
  const bodies = new StalledBodies({ timeoutMs, now: () => now })
  const failures: string[] = []
  const server = createServer({ highWaterMark: 1024 }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => {
    bodies.close()
    socket.destroy()
    server.close()
  })
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n')
  const [request] = (await once(server, 'request')) as [IncomingMessage]
  bodies.watch(request, ({ code }) => failures.push(code))
  /** Moves the clock without a check. */
  const block = (ms: number): void => {
    now += ms
  }
  /** Moves the clock, with a check at every interval. */
  const pass = (ms: number): void => {
    for (let left = ms; left > 0; left -= 250) {
      now += Math.min(250, left)
      bodies.check()
    }
  }
  return { request, socket, failures, pass, block }
}

verifies('wire:error:stalled', 'a body may take any time while it progresses', async (t) => {
  const { request, socket, failures, pass } = await openUpload(t)
  for (let part = 0; part < 20; part += 1) {
    socket.write('x')
    await once(request, 'data')
    pass(999)
  }
  t.same(failures, [])
  pass(250)
  t.same(failures, [], 'the timeout begins with the last progress')
  pass(2)
  t.same(failures, ['REQUEST_TIMEOUT'])
  pass(10_000)
  t.same(failures, ['REQUEST_TIMEOUT'], 'reports the failure once')
})

verifies('wire:error:stalled', 'time in which the event loop is blocked does not fail a body', async (t) => {
  const { failures, pass, block } = await openUpload(t)
  pass(750)
  block(5000)
  pass(1)
  t.same(failures, [], 'received bytes may be unread')
  pass(999)
  t.same(failures, [])
  pass(1)
  t.same(failures, ['REQUEST_TIMEOUT'], 'the timeout starts again after the late check')
})

verifies('wire:error:stalled', 'a body that the server has not read yet does not fail', async (t) => {
  const { request, socket, failures, pass } = await openUpload(t)
  socket.write('x'.repeat(500_000))
  await once(request, 'readable')
  for (let check = 0; check < 5; check += 1) pass(5000)
  t.same(failures, [])
  for (let size = 0; size < 500_000; ) {
    const part = request.read() as Buffer | null
    if (part === null) await once(request, 'readable')
    else size += part.length
  }
  pass(1)
  pass(1000)
  t.same(failures, ['REQUEST_TIMEOUT'], 'fails after the server has read everything')
})

verifies('wire:error:stalled', 'a timeout of 0 never fails a stalled body', async (t) => {
  const { failures, pass } = await openUpload(t, 0)
  for (let check = 0; check < 100; check += 1) pass(10)
  t.same(failures, [])
})
