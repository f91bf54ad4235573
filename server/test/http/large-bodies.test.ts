import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { verifies } from '../../../test/verifies.ts'
import { drainBody } from '../../src/http/request-body.ts'
import { StalledBodies } from '../../src/http/security/stalled-bodies.ts'
import { openWire, rpc, type Wire } from './open-wire.ts'
import { portApp } from './port-app.ts'

const mebibyte = 2 ** 20
/** Larger than the socket buffers of the system. */
const size = 24 * mebibyte

interface Received {
  readonly status: number
  readonly text: string
}

/** Rejected requests: a route of each kind, on the server's port and on the ports of apps. */
const oversized: readonly (readonly [port: 'server' | 'demo' | 'port', path: string, status?: number])[] = [
  ['server', '/mcp'],
  ['server', '/mcp/demo'],
  ['server', '/messages?sessionId=x'],
  ['server', '/api/apps/demo/tools/echo'],
  ['server', '/api/apps/demo/notes/1'],
  ['server', '/api/registry/refresh'],
  ['server', '/nowhere'],
  ['server', '/api/apps/demo/nowhere', 404],
  ['server', '/api/apps/wire/refuse/return', 409],
  ['server', '/api/apps/wire/refuse/throw', 400],
  ['demo', '/mcp'],
  ['demo', '/tools/echo'],
  ['demo', '/notes/1'],
  ['port', '/api/command'],
]

const openLimited = async (t: Test) => {
  const aliases = ['demo', 'port'].map((app) => ({ app, port: 0 }))
  const wire = await openWire(t, { bodyLimitBytes: mebibyte, apps: [portApp().app], aliases })
  const [demo = 0, port = 0] = wire.http.aliases.map(({ port }) => port)
  const ports = { server: wire.http.port, demo, port }
  return { wire, requests: oversized.map(([on, ...rest]) => [ports[on], ...rest] as const) }
}

const check = async (
  t: Test,
  send: (port: number, path: string) => Promise<Received>,
  { wire, requests }: { wire: Wire; requests: readonly (readonly [number, string, number?])[] },
) => {
  for (const [port, path, expected = 413] of requests) {
    const { status, text } = await send(port, path)
    t.equal(status, expected, path)
    if (expected === 413) t.match(text, /"code":"BODY_TOO_LARGE".*"limit_bytes":1048576/, path)
  }
  t.equal((await wire.send(rpc('ping'))).status, 200, 'the server serves other requests')
}

const isMissing = (command: string): string | false =>
  spawnSync(command, ['--version']).status === 0 ? false : `${command} is not installed`

/** Runs a program with standard input, and resolves with its output. */
async function run(command: string, args: readonly string[], input: string): Promise<string> {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  child.stdin.end(input)
  const [output] = await Promise.all([Readable.from(child.stdout).toArray(), once(child, 'close')])
  return Buffer.concat(output).toString()
}

const urllib = `
import json, sys, urllib.error, urllib.request
body = b'x' * ${size}
results = []
for url in json.load(sys.stdin):
    request = urllib.request.Request(url, body, {'Content-Type': 'application/json'})
    try:
        response = urllib.request.urlopen(request, timeout=60)
    except urllib.error.HTTPError as error:
        response = error
    except OSError as error:
        results.append([0, str(error)])
        continue
    results.append([response.status, response.read().decode()])
print(json.dumps(results))
`

t.test(
  'urllib receives the response to a body over the limit',
  { skip: isMissing('python3') },
  inCI(async (t) => {
    const limited = await openLimited(t)
    const urls = limited.requests.map(([port, path]) => `http://127.0.0.1:${port}${path}`)
    const results = JSON.parse(await run('python3', ['-c', urllib], JSON.stringify(urls))) as [
      number,
      string,
    ][]
    const send = async () => {
      const [status, text] = results.shift() ?? [0, '']
      return { status, text }
    }
    await check(t, send, limited)
  }),
)

t.test(
  'curl receives the response with and without Expect, and with a chunked body',
  { skip: isMissing('curl') },
  inCI(async (t) => {
    const limited = await openLimited(t)
    const body = 'x'.repeat(size)
    for (const header of ['Expect: 100-continue', 'Expect:', 'Transfer-Encoding: chunked']) {
      const requests = header === 'Expect:' ? limited.requests : limited.requests.slice(3, 5)
      const send = async (port: number, path: string) => {
        const headers = ['-H', 'content-type: application/json', '-H', header]
        const format = ['-sS', '--data-binary', '@-', '-w', '\n%{http_code}']
        const output = await run('curl', [...format, ...headers, `http://127.0.0.1:${port}${path}`], body)
        const end = output.lastIndexOf('\n')
        return { status: Number(output.slice(end + 1)), text: output.slice(0, end) }
      }
      await check(t, send, { ...limited, requests })
    }
  }),
)

/** Sends everything before it reads, then reads until the connection ends. */
async function sendThenRead(port: number, path: string, headers: string): Promise<Received> {
  const socket = connect(port, '127.0.0.1').pause()
  await once(socket, 'connect')
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${headers}Content-Length: ${size}\r\n\r\n`,
  )
  await new Promise<unknown>((resolve) => socket.write(Buffer.alloc(size, 'x'), resolve))
  const text = Buffer.concat(await socket.toArray()).toString()
  return { status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1]), text }
}

t.test('a client that reads only after it has sent the whole body receives the response', async (t) => {
  const limited = await openLimited(t)
  const send = (port: number, path: string) => sendThenRead(port, path, 'Connection: close\r\n')
  await check(t, send, limited)
  const origin = 'Origin: http://evil.example\r\nConnection: close\r\n'
  t.equal((await sendThenRead(limited.wire.http.port, '/mcp', origin)).status, 403, 'a rejected origin')
})

t.test('a connection serves the next request after a rejected body', async (t) => {
  const { wire } = await openLimited(t)
  const { port } = wire.http
  const socket = connect(port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  socket.write(
    `POST /api/apps/demo/notes/1 HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${size}\r\n\r\n`,
  )
  socket.write(Buffer.alloc(size, 'x'))
  socket.write('GET /health HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n')
  const text = Buffer.concat(await socket.toArray()).toString()
  t.match(text, /^HTTP\/1\.1 413 .*HTTP\/1\.1 200 /s)
})

/** Serves 413 to each request, then drops its body. */
async function openDrain(t: Test, limits: Parameters<typeof drainBody>[1]) {
  const server = createServer(async (request: IncomingMessage, response) => {
    response.writeHead(413, { 'content-length': 9 })
    response.write('too large')
    await drainBody(request, limits)
    response.end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => {})
  t.teardown(() => socket.destroy())
  return socket
}

t.test('drainBody reads up to a limit of bytes, then closes the connection', async (t) => {
  const socket = await openDrain(t, { bytes: mebibyte, timeoutMs: 60_000 })
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n')
  const part = `${(2 ** 16).toString(16)}\r\n${'x'.repeat(2 ** 16)}\r\n`
  const closed = new Promise((resolve) => socket.on('close', resolve))
  const [response] = await once(socket, 'data')
  t.match(String(response), /^HTTP\/1\.1 413 .*too large/s, 'the response does not wait for the body')
  let sent = 0
  while (!socket.destroyed && sent < 64 * mebibyte) {
    sent += part.length
    await new Promise((resolve) => socket.write(part, resolve))
  }
  await closed
  t.ok(sent < 64 * mebibyte, `closed after ${sent} bytes`)
})

t.test('drainBody closes the connection after a timeout if the body stops arriving', async (t) => {
  const socket = await openDrain(t, { bytes: mebibyte, timeoutMs: 50 })
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome')
  const text = Buffer.concat(await socket.toArray()).toString()
  t.match(text, /^HTTP\/1\.1 413 .*too large$/s)
})

/**
 * Opens a connection and completes a request on it. On a new connection, the timeout for headers includes the wait
 * for the first byte, so it may expire if the process is paused. Between two requests, the timeout does not run.
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

verifies('wire:error:stalled', 'a body that progresses may take any amount of time', async (t) => {
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

verifies('wire:error:stalled', 'a blocked event loop does not cause a body to time out', async (t) => {
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

verifies('wire:error:stalled', 'a body that the server has not read yet does not time out', async (t) => {
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

verifies('wire:error:stalled', 'a timeout of 0 disables the check of stalled bodies', async (t) => {
  const { failures, pass } = await openUpload(t, 0)
  for (let check = 0; check < 100; check += 1) pass(10)
  t.same(failures, [])
})
