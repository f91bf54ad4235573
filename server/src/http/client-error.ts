import type { Socket } from 'node:net'
import { CausewayError, errorObject, nodeHttp } from '@causeway/protocol'

/** Handles malformed HTTP and slow headers. */
export function sendClientError(error: NodeJS.ErrnoException, socket: Socket): void {
  // The response may have started.
  if (error.code === 'ECONNRESET' || !socket.writable || socket.bytesWritten > 0) {
    socket.destroy()
    return
  }
  const clientError = toCausewayError(error.code)
  const { status } = clientError.definition
  const body = JSON.stringify(errorObject(clientError))
  const lines = [
    `HTTP/1.1 ${status} ${nodeHttp().STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ]
  socket.end(`${lines.join('\r\n')}\r\n\r\n${body}`)
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
