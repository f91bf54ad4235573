/** Clients that send a whole body before they read must receive the response that rejects it. */
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { Readable } from 'node:stream'
import t, { type Test } from 'tap'
import { inCI } from '../../../test/tier.ts'
import { drainBody } from '../../src/http/request-body.ts'
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
  'curl receives it with and without Expect, and chunked',
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

/** Sends everything before it reads, then reads to the end of the connection. */
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

t.test('a client that reads only after its whole body receives it', async (t) => {
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

t.test('a body is dropped up to a number of bytes, then the connection closes', async (t) => {
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

t.test('a body that stops arriving is dropped for a time, then the connection closes', async (t) => {
  const socket = await openDrain(t, { bytes: mebibyte, timeoutMs: 50 })
  socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\nsome')
  const text = Buffer.concat(await socket.toArray()).toString()
  t.match(text, /^HTTP\/1\.1 413 .*too large$/s)
})
