import type { Socket } from 'node:net'
import type { Duplex } from 'node:stream'
import { CausewayError, nodeHttp, toErrorObject } from '@causeway/protocol'
import { getErrorHeaders } from './error-responses.ts'

/** Handles malformed HTTP and slow headers. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The response may have started.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  endWithError(socket, toCausewayError(error.code), 'application/json; charset=utf-8')
}

export function endWithError(socket: Duplex, error: CausewayError, contentType: string): void {
  const { status } = error.definition
  const body = JSON.stringify(toErrorObject(error))
  const headers = {
    'content-type': contentType,
    'content-length': String(Buffer.byteLength(body)),
    connection: 'close',
    ...getErrorHeaders(error),
  }
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  const reason = nodeHttp().STATUS_CODES[status] ?? 'Refused'
  socket.end(`HTTP/1.1 ${status} ${reason}\r\n${lines.join('')}\r\n${body}`)
}

function toCausewayError(code: string | undefined): CausewayError {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new CausewayError('REQUEST_TIMEOUT', 'the headers did not arrive completely in time')
  if (code === 'HPE_HEADER_OVERFLOW')
    return new CausewayError('INVALID_REQUEST', 'the headers are larger than 16 kB', {
      remedy: 'send less in headers, and more in the body',
    })
  return new CausewayError('INVALID_REQUEST', 'the request is not valid HTTP/1.1', {
    remedy: 'send HTTP/1.1',
  })
}
