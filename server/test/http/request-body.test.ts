/** Reading the bodies of app routes. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import t from 'tap'
import { readBody } from '../../src/http/request-body.ts'

const mebibyte = 2 ** 20

t.test('readBody: a client that sends everything before it reads receives 413', async (t) => {
  const server = createServer((request, response) => {
    readBody(request, { bytes: mebibyte }).then(
      () => response.end('taken'),
      ({ code }) => response.writeHead(413).end(code),
    )
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => {
    socket.destroy()
    server.close()
  })
  // More than the buffers of the system take by themselves.
  const size = 64 * mebibyte
  socket.write(`POST / HTTP/1.1\r\nHost: x\r\nContent-Length: ${size}\r\n\r\n`)
  await new Promise<unknown>((resolve) => socket.write(Buffer.alloc(size), resolve))
  const [answer] = await once(socket, 'data')
  t.match(String(answer), /^HTTP\/1\.1 413 .*BODY_TOO_LARGE/s)
})
