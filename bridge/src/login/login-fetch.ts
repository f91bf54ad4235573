import { once } from 'node:events'
import type { IncomingMessage } from 'node:http'
import { type Duplex, Readable } from 'node:stream'
import { nodeHttp } from '@causeway/protocol'
import { openConnector } from '../http/connections.ts'
import type { Connection } from '../settings/settings.ts'

/**
 * Returns a `fetch` that uses the configured proxy and certificates and follows no redirects; `undefined` if neither is
 * configured.
 */
export function createLoginFetch(connection: Connection, env: NodeJS.ProcessEnv): typeof fetch | undefined {
  const { proxy, ca, insecure } = connection
  if (proxy === undefined && ca === undefined && !insecure) return undefined
  return async (input, init) => {
    const request = new Request(input, init)
    const body = Buffer.from(await request.arrayBuffer())
    const response = await send(request, body, { connection, env }).catch((cause: unknown) => {
      // The global `fetch` rejects with the same errors.
      throw request.signal.aborted ? request.signal.reason : new TypeError('fetch failed', { cause })
    })
    const { statusCode = 502, statusMessage = '', headers } = response
    const fields = Object.entries(headers).flatMap(([name, value]) =>
      [value ?? []].flat().map((item): [string, string] => [name, item]),
    )
    const hasBody = ![204, 205, 304].includes(statusCode)
    return new Response(hasBody ? (Readable.toWeb(response) as ReadableStream) : null, {
      status: statusCode,
      statusText: statusMessage,
      headers: fields,
    })
  }
}

async function send(
  { url, method, headers, signal }: Request,
  body: Buffer,
  { connection, env }: { connection: Connection; env: NodeJS.ProcessEnv },
): Promise<IncomingMessage> {
  const { origin, host, hostname, protocol, port, pathname, search } = new URL(url)
  const connect = await openConnector({ origin, path: pathname, socketPath: undefined }, connection, env)
  const address = { host, hostname: hostname.replace(/^\[(.*)\]$/, '$1'), protocol, port }
  // The connector performs the TLS handshake.
  const outgoingRequest = nodeHttp().request({
    method,
    path: `${pathname}${search}`,
    headers: { ...Object.fromEntries(headers), host, 'content-length': body.length },
    signal,
    createConnection: (_options, onConnected) => {
      connect(address, (error, socket) => onConnected(error, socket as Duplex))
      return undefined
    },
  })
  outgoingRequest.end(body)
  const [response] = (await once(outgoingRequest, 'response')) as [IncomingMessage]
  return response
}
