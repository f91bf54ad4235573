/** Invalid WebSocket frames and invalid bytes on a TCP connection. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { WebSocket } from 'ws'
import { errorDefinitions } from '../../scripts/docs/makers.ts'
import type { Random } from '../random.ts'
import { findFaults, findLeaks } from './judge.ts'
import { nasty, nastyText, type Traps, toJson } from './nasty.ts'
import { fields, type Product } from './product.ts'
import { command } from './routes.ts'
import type { FuzzCase } from './run.ts'
import { deadlineMs } from './ways.ts'

/** Makes a connection to the command socket of Debrief with some frames. Each frame gets a response unless the server closes. */
export function makeSocketCase(random: Random, product: Product): FuzzCase {
  const url = random
    .pick([`${product.url}/api/apps/debrief`, `${product.own.get('debrief')}/`])
    .replace('http', 'ws')
  const frames = Array.from({ length: 1 + random.below(4) }, () => frame(random, product.traps))
  return {
    what: `WS ${url} ${frames.map((one) => (typeof one === 'string' ? one : one.toString('hex'))).join(' | ')}`,
    send: () => sendFrames(url, frames, product),
  }
}

const frame = (random: Random, traps: Traps): string | Buffer =>
  random.pick<() => string | Buffer>([
    () => toJson(command(random, traps)),
    () => toJson(command(random, traps)),
    () => toJson(nasty(random, traps)),
    () => nastyText(random, traps),
    () => Buffer.from([0xff, random.below(256), 0]),
  ])()

const last = JSON.stringify({ command: 'list_open_plots' })

async function sendFrames(
  url: string,
  frames: readonly (string | Buffer)[],
  product: Product,
): Promise<string[]> {
  const socket = new WebSocket(url, { headers: fields })
  const faults: string[] = []
  let responses = -1 // the greeting
  const late = setTimeout(() => {
    faults.push(`${frames.length + 1} frames got ${responses} responses`)
    socket.terminate()
  }, deadlineMs)
  socket.on('message', (data) => {
    const text = data.toString()
    faults.push(
      ...findFaults({ status: 200, type: 'application/json', text }, 'open', product),
      ...findCommandFaults(text),
    )
    responses += 1
    if (responses === frames.length + 1) socket.close()
  })
  socket.on('error', () => {}) // `close` follows
  await once(socket, 'open')
  for (const one of [...frames, last]) socket.send(one, { binary: typeof one !== 'string' })
  const [code] = await once(socket, 'close')
  clearTimeout(late)
  // 1003: binary frames are rejected.
  if (![1000, 1003, 1005].includes(code)) faults.push(`closed with ${code}`)
  return faults
}

/** Checks a response in the original format: a result, or an error that contains a Causeway error. */
function findCommandFaults(text: string): string[] {
  const { result, error } = JSON.parse(text) as {
    result?: unknown
    error?: { details?: { code?: unknown }; code?: unknown }
  }
  if (error === undefined)
    return result === undefined ? [`neither result nor error: ${text.slice(0, 200)}`] : []
  const code = error.details?.code ?? error.code
  return code === 'INTERNAL' || typeof code !== 'string'
    ? [`the code is ${String(code)}: ${text.slice(0, 200)}`]
    : []
}

const lines = (...all: readonly string[]): Buffer => Buffer.from(all.join('\r\n'), 'latin1')

/** Makes bytes that are not HTTP, or ambiguous HTTP. */
export function makeRawCase(random: Random, product: Product): FuzzCase {
  const { host } = new URL(random.pick([product.url, ...product.own.values()]))
  const bytes = rawBytes(random, host)
  return { what: `raw ${bytes.toString('latin1')}`, send: () => exchange(host, bytes, product) }
}

function rawBytes(random: Random, host: string): Buffer {
  const token = `Authorization: ${fields.authorization}`
  const post = ['POST /mcp HTTP/1.1', `Host: ${host}`, token, 'Content-Type: application/json']
  return random.pick<() => Buffer>([
    () => Buffer.from(Array.from({ length: random.below(300) }, () => random.below(256))),
    () => lines('GET / HTTP/9.9', '', ''),
    () => lines('GET', '', ''),
    () => lines(`GET /${'a'.repeat(20_000)} HTTP/1.1`, `Host: ${host}`, token, '', ''),
    () =>
      lines(`GET http://evil.example/health HTTP/1.1`, `Host: ${host}`, token, 'Connection: close', '', ''),
    () => lines('GET /health HTTP/1.1', `Host: ${host}`, 'Host: evil.example', token, '', ''),
    () => lines('GET /health HTTP/1.1', token, '', ''),
    () =>
      lines(
        'GET /health HTTP/1.1',
        `Host: ${host}`,
        `X: ${'y'.repeat(random.pick([100, 17_000]))}`,
        token,
        '',
        '',
      ),
    () => lines(...post, 'Content-Length: 5', 'Transfer-Encoding: chunked', '', '0', '', ''),
    () => lines(...post, 'Content-Length: 5', 'Content-Length: 6', '', 'hello'),
    () => lines(...post, 'Content-Length: -1', '', ''),
    () => lines(...post, 'Content-Length: 99999999999', 'Connection: close', '', '{'),
    () => lines(...post, 'Transfer-Encoding: chunked', '', 'zz', 'x', ''),
    () => lines(...post, 'Transfer-Encoding: chunked', '', `ffffffffffffffff`, 'x', ''),
    () => lines(...post, 'Transfer-Encoding: gzip', '', 'x'),
    () => lines(...post, 'Content-Length : 2', '', '{}'),
    () => lines(...post, ' folded: x', 'Content-Length: 2', '', '{}'),
    () => lines(...post, 'X-Y: a\u0000b', 'Content-Length: 2', '', '{}'),
    () => lines(...post, 'Upgrade: h2c', 'Connection: Upgrade', 'Content-Length: 2', '', '{}'),
    () => lines(...post, 'Expect: 100-continue', 'Content-Length: 2', 'Connection: close', '', '{}'),
    () => lines(...post, 'Expect: something', 'Content-Length: 2', 'Connection: close', '', '{}'),
    () => lines('CONNECT evil.example:443 HTTP/1.1', `Host: ${host}`, '', ''),
    () => lines('TRACE / HTTP/1.1', `Host: ${host}`, token, 'Connection: close', '', ''),
    () => lines('PRI * HTTP/2.0', '', 'SM', '', ''),
    () =>
      lines(
        'GET /health HTTP/1.1',
        `Host: ${host}`,
        token,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Version: 99',
        '',
        '',
      ),
    () =>
      lines(
        'GET /api/apps/debrief HTTP/1.1',
        `Host: ${host}`,
        token,
        'Upgrade: websocket',
        'Connection: Upgrade',
        'Sec-WebSocket-Key: x',
        'Sec-WebSocket-Version: 13',
        '',
        '',
      ),
    () => badFrames(random, { host, token }),
  ])()
}

/** Makes a valid upgrade followed by frames that violate RFC 6455. */
function badFrames(
  random: Random,
  { host, token }: { readonly host: string; readonly token: string },
): Buffer {
  const upgrade = lines(
    'GET /api/apps/debrief HTTP/1.1',
    `Host: ${host}`,
    token,
    'Upgrade: websocket',
    'Connection: Upgrade',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Version: 13',
    '',
    '',
  )
  const frames = [
    [0x81, 0x05, 1, 2, 3, 4, 5],
    [0xff, 0x80, 0, 0, 0, 0],
    [0x83, 0x80, 0, 0, 0, 0],
    [0x80, 0x80, 0, 0, 0, 0],
    [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
    [0x88, 0x81, 0, 0, 0, 0, 1],
    [0x89, 0xfe, 0, 200, 0, 0, 0, 0, ...Array.from({ length: 200 }, () => 1)],
    [0x81, 0x82, 0, 0, 0, 0, 0xff, 0xff],
    Array.from({ length: 40 }, () => random.below(256)),
  ]
  return Buffer.concat([upgrade, Buffer.from(random.pick(frames))])
}

/** Sends the bytes, ends the connection, and reads until the server closes it. A server that does not close is a fault. */
async function exchange(host: string, bytes: Buffer, product: Product): Promise<string[]> {
  const [name, port] = host.split(':')
  const socket = connect({ host: String(name), port: Number(port) })
  const parts: Buffer[] = []
  let isLate = false
  const late = setTimeout(() => {
    isLate = true
    socket.destroy()
  }, deadlineMs)
  socket.on('data', (part) => parts.push(part))
  socket.on('error', () => {}) // a reset is allowed
  socket.end(bytes)
  await once(socket, 'close')
  clearTimeout(late)
  const text = Buffer.concat(parts).toString('latin1')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? 0)
  const code = /"code":"([A-Z_]+)"/.exec(text)?.[1] ?? ''
  const isCoded =
    status < 400 ||
    libraryStatuses.has(status) ||
    (Object.hasOwn(errorDefinitions, code) && code !== 'INTERNAL')
  return [
    ...findLeaks(text, product),
    ...(isLate ? ['the server did not close the connection'] : []),
    ...(isCoded ? [] : [`no declared code: ${text.slice(0, 400)}`]),
  ]
}

/** Statuses that Node or the WebSocket library send themselves: expectations and handshake versions. */
const libraryStatuses: ReadonlySet<number> = new Set([417, 426])
