import { once } from 'node:events'
import { connect } from 'node:net'
import { verifies } from '../../../test/verifies.ts'
import { both, modern, openWire, rpc } from './open-wire.ts'
import { portApp } from './port-app.ts'

/** What comes back for these bytes, to the end of the connection. */
async function exchange(port: number, text: string): Promise<string> {
  const socket = connect({ host: '127.0.0.1', port })
  const parts: Buffer[] = []
  socket.on('data', (part) => parts.push(part))
  socket.end(text.replaceAll('\n', '\r\n'), 'latin1')
  await once(socket, 'close')
  return Buffer.concat(parts).toString('latin1')
}

verifies('wire:error:no-http', async (t) => {
  const { http } = await openWire(t, { aliases: [{ app: 'demo', port: 0 }] })
  const head = `GET /health HTTP/1.1\nHost: 127.0.0.1\n`
  const refused: readonly (readonly [string, string])[] = [
    ['\u0000\u0001\u0002\n\n', 'INVALID_REQUEST'],
    ['GET / HTTP/9.9\n\n', 'INVALID_REQUEST'],
    [`${head}Content-Length: 1\nTransfer-Encoding: chunked\n\n0\n\n`, 'INVALID_REQUEST'],
    [`${head}X: ${'x'.repeat(20_000)}\n\n`, 'INVALID_REQUEST'],
    ['GET /health HTTP/1.1\n\n', 'FORBIDDEN_HOST'],
  ]
  for (const port of [http.port, http.aliases[0]?.port ?? 0])
    for (const [text, code] of refused) {
      const [lines = '', body = ''] = (await exchange(port, text)).split('\r\n\r\n')
      t.match(lines, /^HTTP\/1\.1 40[03] .*content-type: application\/json/is, text.slice(0, 40))
      t.match(JSON.parse(body), { code, remedy: String })
    }
})

verifies('wire:error:no-http', 'a handshake that is no WebSocket is refused in our own words', async (t) => {
  const { http } = await openWire(t, { apps: [portApp().app] })
  const text = await exchange(
    http.port,
    'GET /api/apps/port HTTP/1.1\nHost: 127.0.0.1\nUpgrade: websocket\nConnection: Upgrade\nSec-WebSocket-Version: 13\n\n',
  )
  t.match(text, /^HTTP\/1\.1 400 .*"code":"INVALID_REQUEST"/s)
})

verifies('wire:error:no-http', 'a caller that hangs up in its request is nothing for the log', async (t) => {
  const { http, logged, send } = await openWire(t)
  const socket = connect({ host: '127.0.0.1', port: http.port })
  socket.on('error', () => {})
  await once(socket, 'connect')
  const head = 'POST /mcp HTTP/1.1\nHost: 127.0.0.1\nContent-Type: application/json\nContent-Length: 99\n'
  socket.write(`${head}Expect: 100-continue\n\n{`.replaceAll('\n', '\r\n'))
  // The server has read the head and waits for the rest.
  await once(socket, 'data')
  socket.resetAndDestroy()
  await once(socket, 'close')
  t.equal((await send(rpc('ping'))).status, 200)
  t.notOk(logged.lines.some(({ msg }) => msg === 'a request failed unexpectedly'))
})

verifies('wire:error:sdk', async (t) => {
  const { send, initialize, stream } = await openWire(t)
  const wrong = rpc('tools/call', { name: 'Demo__echo', arguments: ['x'] })
  const told = { code: -32602, data: { code: 'INVALID_PARAMS', remedy: String, retryable: false } }
  const stateless = modern(wrong)
  t.match((await send(stateless.body, { headers: stateless.headers })).json.error, told)
  const session = await initialize()
  const { messages } = await stream(wrong, { headers: { ...both, 'mcp-session-id': session } })
  const { value } = await messages.next()
  t.match(value.error, told)
  t.notMatch(value.error.message, /\n/)
  const { 'mcp-method': _, ...headers } = stateless.headers
  t.match((await send(stateless.body, { headers })).json.error.data, {
    code: 'HEADER_MISMATCH',
    remedy: String,
  })
})
