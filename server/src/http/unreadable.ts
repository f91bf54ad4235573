/** Bytes that are no HTTP request: Node reads them for no route, so they are answered on the bare socket. */
import { type Server, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { CausewayError, errorObject, rowOf } from '@causeway/protocol'

/** Answers what the parser of Node refuses, or what does not come to its end in time, and hangs up. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Socket): void {
  // A caller that has gone, or is being answered already, must not get a second answer.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const refusal = refusalOf(error.code)
  const body = JSON.stringify(errorObject(refusal))
  const status = rowOf(refusal.code).http
  const lines = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
}

/** The same for a server of our own beside that of Fastify. */
export const watchUnreadable = (server: Server): void =>
  void server.on('clientError', (error, socket) => answerUnreadable(error, socket as Socket)) // plain HTTP

function refusalOf(code = ''): CausewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new CausewayError('REQUEST_TIMEOUT', 'the headers did not arrive completely in time')
  const [message, remedy] = causes[code] ?? ['the bytes are no HTTP/1.1 request', 'send HTTP/1.1']
  return new CausewayError('INVALID_REQUEST', message, { remedy })
}

const causes: Readonly<Record<string, readonly [string, string]>> = {
  HPE_HEADER_OVERFLOW: ['the headers are larger than 16 kB', 'send less in headers, and more in the body'],
}
