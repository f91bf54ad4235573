/** WebSockets of the apps, below `/api/apps/<app>` and at the root of an app's own port (RFC 6455). */
import { type IncomingMessage, type Server, type ServerOptions, STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppSocket, Variables } from '@causeway/app-kit'
import { CausewayError, errorObject, rowOf } from '@causeway/protocol'
import { WebSocketServer } from 'ws'
import type { HostedApp } from '../core.ts'
import { traceOf } from '../domain/trace.ts'
import { channelTask } from '../limit/task.ts'
import type { Admission } from './admission.ts'
import { chosenRequestId, clientOf, sessionOf, stateKey } from './exchange.ts'
import { headersOf, tellable } from './failure.ts'
import { pathInApp } from './own-route.ts'
import { matchPath } from './path-pattern.ts'
import type { Recheck } from './recheck.ts'
import { SocketPeer } from './socket-peer.ts'
import type { Wiring } from './wiring.ts'

/** The connections of all sockets. */
export interface Sockets {
  /** Takes the upgrade requests of a server; `urlOf` gives the URL on the server's own port. */
  attach(server: Server, urlOf?: (url: string) => string): void
  /** The number of open connections. */
  readonly size: number
  /** Ends every connection. */
  close(): Promise<void>
}

/** What may be upgraded; any other `Upgrade`, such as `h2c`, is left alone and the request served as it is. */
export const socketServerOptions: ServerOptions & Pick<NewerOptions, 'shouldUpgradeCallback'> = {
  shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  // A request without Host is refused by our own rule, in our own words.
  requireHostHeader: false,
}

/** Of Node 22.21 and 24.9; an older one hands over every upgrade, and those of no WebSocket are refused. */
interface NewerOptions {
  shouldUpgradeCallback(request: IncomingMessage): boolean
}

/** A client gets this long to answer that the server goes away, ms. */
const closeMs = 500

/** What sockets are made with. */
export interface SocketsOptions {
  readonly admission: Admission
  readonly recheck: Recheck
  /** Bytes of one frame at most. */
  readonly maxPayload: number
}

/** Makes the set, empty. */
export function openSockets(wiring: Wiring, { admission, recheck, maxPayload }: SocketsOptions): Sockets {
  const peers = new Set<SocketPeer>()
  const protocol = new WebSocketServer({ noServer: true, maxPayload, perMessageDeflate: false })
  // With a listener the library leaves the answer to it.
  protocol.on('wsClientError', ({ message }, socket) =>
    refuse(
      socket,
      new CausewayError('INVALID_REQUEST', lowered(message), { remedy: 'follow RFC 6455, section 4.1' }),
    ),
  )

  const upgrade = (request: IncomingMessage, socket: Duplex, head: Buffer): void => {
    const { url = '/', headers } = request
    const requestId = chosenRequestId(headers) ?? wiring.newId()
    // Until the WebSocket takes over, nobody else listens to the connection.
    const ignore = (): void => void socket.destroy()
    socket.on('error', ignore)
    try {
      const access = admission.admit(request)
      wiring.inflight.admit()
      const { app, socket: declared, variables } = socketAt(wiring, url)
      if (peers.size >= wiring.maxSessions)
        throw new CausewayError('OVERLOADED', `${peers.size} sockets are open`, {
          data: { retry_after_ms: 1000 },
        })
      const session = sessionOf(headers)
      protocol.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off('error', ignore)
        const peer: SocketPeer = new SocketPeer({
          wiring,
          id: requestId,
          variables,
          webSocket,
          declared: () => declaredAt(wiring, app, declared.path),
          run: (signal, work) =>
            wiring.core.withContext(
              app,
              {
                mount: { path: `/mcp/${app}`, app },
                era: 'modern',
                channel: 'socket',
                trace: traceOf(headers.traceparent),
                sessionKey: stateKey(access, session ?? `socket-${requestId}`),
                access,
                sharedSession: false,
                client: clientOf(headers['user-agent']),
                requestId: wiring.newId(),
                signal,
                progress: () => {},
                notify: () => {},
              },
              channelTask('socket', declared.scope ?? 'write'),
              work,
            ),
        })
        peers.add(peer)
        webSocket.once('close', () => peers.delete(peer))
        if (access !== undefined)
          webSocket.once(
            'close',
            recheck.watch(headers, () => peer.refuse()),
          )
        peer.open()
      })
    } catch (error) {
      refuse(socket, tellable(error, wiring.log, requestId))
    }
  }

  return {
    attach(server, urlOf = (url) => url) {
      server.on('upgrade', (request, socket, head) => {
        request.url = urlOf(request.url ?? '/')
        upgrade(request, socket, head)
      })
    },
    get size() {
      return peers.size
    },
    async close() {
      await Promise.all([...peers].map((peer) => peer.close(closeMs)))
    },
  }
}

/** The socket that a URL names; throws `ROUTE_NOT_FOUND`. */
function socketAt({ core }: Wiring, url: string): { app: string; socket: AppSocket; variables: Variables } {
  const path = /^\/api\/apps\/([^/?]+)/.exec(url)?.[1]
  const app = core.apps().find((one) => one.path === path)
  const inApp = pathInApp(url)
  for (const socket of app?.sockets ?? []) {
    const variables = matchPath(socket.path, inApp)
    if (variables !== undefined) return { app: (app as HostedApp).path, socket, variables }
  }
  throw new CausewayError('ROUTE_NOT_FOUND', `no WebSocket is served at ${url.split('?')[0]}`, {
    data: { sockets: app?.sockets.map((one) => `/api/apps/${app.path}${one.path}`) ?? [] },
    remedy: 'use one of data.sockets',
  })
}

const declaredAt = ({ core }: Wiring, app: string, path: string): AppSocket | undefined =>
  core
    .apps()
    .find((one) => one.path === app)
    ?.sockets.find((one) => one.path === path)

const lowered = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** The answer to an upgrade that is refused, before there is a WebSocket to say it by. */
function refuse(socket: Duplex, error: CausewayError): void {
  const { http } = rowOf(error.code)
  const body = JSON.stringify(errorObject(error))
  const fields = {
    connection: 'close',
    'content-type': 'application/json',
    'content-length': String(Buffer.byteLength(body)),
    ...headersOf(error),
  }
  const head = Object.entries(fields).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${http} ${STATUS_CODES[http] ?? 'Refused'}\r\n${head.join('')}\r\n${body}`)
}
