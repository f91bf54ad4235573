import { randomUUID } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage, Server, ServerOptions } from 'node:http'
import type { Duplex } from 'node:stream'
import type { AppSocket, Variables } from '@causeway/app-kit'
import { CausewayError } from '@causeway/protocol'
import { WebSocketServer } from 'ws'
import type { Access } from '../../access/access.ts'
import { parseTrace } from '../../audit/trace.ts'
import type { Caller } from '../../dispatch/caller.ts'
import { createChannelOperation } from '../../dispatch/operation.ts'
import { endWithError } from '../client-error.ts'
import { toClientError } from '../error-responses.ts'
import { parseRequestId, parseSessionKey, parseUserAgent, toStateKey } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import type { Admission } from '../security/admission.ts'
import { getAppPath, matchPath } from './match-route.ts'
import { SocketConnection } from './socket-connection.ts'

/** Supported since Node 22.21 and 24.9. Older versions emit `upgrade` for every protocol. */
interface UpgradeOptions {
  shouldUpgradeCallback(request: IncomingMessage): boolean
}

export const socketServerOptions: ServerOptions & UpgradeOptions = {
  shouldUpgradeCallback: ({ headers }) => headers.upgrade?.toLowerCase() === 'websocket',
  // `Admission` rejects requests without Host.
  requireHostHeader: false,
}

const closeTimeoutMs = 500

interface SocketMatch {
  readonly app: string
  readonly declaration: AppSocket
  readonly variables: Variables
}

/** Sockets below `/api/apps/<app>` and on apps' ports (RFC 6455). */
export class AppSockets {
  readonly #services: HttpServices
  readonly #admission: Admission
  readonly #protocol: WebSocketServer
  readonly #connections = new Set<SocketConnection>()

  /** `maxPayload`: maximum bytes of a frame. */
  constructor(
    services: HttpServices,
    options: { readonly admission: Admission; readonly maxPayload: number },
  ) {
    this.#services = services
    this.#admission = options.admission
    this.#protocol = new WebSocketServer({
      noServer: true,
      maxPayload: options.maxPayload,
      perMessageDeflate: false,
    })
    // Otherwise ws sends its own response.
    this.#protocol.on('wsClientError', ({ message }, socket) =>
      reject(
        socket,
        new CausewayError('INVALID_REQUEST', message.charAt(0).toLowerCase() + message.slice(1), {
          remedy: 'follow RFC 6455, section 4.1',
        }),
      ),
    )
  }

  attach(server: Server, toMainUrl = (url: string) => url): void {
    server.on('upgrade', (request, socket, head) => {
      request.url = toMainUrl(request.url ?? '/')
      this.#upgrade(request, socket, head)
    })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections].map((connection) => connection.close(closeTimeoutMs)))
  }

  #upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const { url = '/', headers } = request
    const { core } = this.#services
    const requestId = parseRequestId(headers) ?? randomUUID()
    // ws does not listen for errors yet.
    const onError = (): void => void socket.destroy()
    socket.on('error', onError)
    try {
      const access = this.#admission.admit(request)
      this.#services.inFlight.admit()
      const match = this.#find(url)
      if (this.#connections.size >= this.#services.maxSessions)
        throw new CausewayError('OVERLOADED', `${this.#connections.size} sockets are open`, {
          data: { retry_after_ms: 1000 },
        })
      const sessionKey = toStateKey(access, parseSessionKey(headers) ?? `socket-${requestId}`)
      this.#protocol.handleUpgrade(request, socket, head, (webSocket) => {
        socket.off('error', onError)
        const connection = new SocketConnection({
          services: this.#services,
          id: requestId,
          variables: match.variables,
          webSocket,
          findDeclaration: () =>
            core.registry.findApp(match.app)?.sockets.find(({ path }) => path === match.declaration.path),
          run: (signal, work) =>
            core.withContext(
              match.app,
              this.#createCaller(headers, { app: match.app, access, sessionKey, signal }),
              createChannelOperation('socket', match.declaration.scope ?? 'write'),
              work,
            ),
        })
        this.#connections.add(connection)
        webSocket.once('close', () => this.#connections.delete(connection))
        if (access !== undefined)
          webSocket.once(
            'close',
            this.#admission.watch(request, () => connection.revoke()),
          )
        connection.open()
      })
    } catch (error) {
      reject(socket, toClientError(error, this.#services.log, requestId))
    }
  }

  #find(url: string): SocketMatch {
    const app = this.#services.core.registry.findApp(/^\/api\/apps\/([^/?]+)/.exec(url)?.[1])
    const sockets = app?.sockets ?? []
    for (const declaration of sockets) {
      const variables = matchPath(declaration.path, getAppPath(url))
      if (app !== undefined && variables !== undefined) return { app: app.path, declaration, variables }
    }
    throw new CausewayError('ROUTE_NOT_FOUND', `no WebSocket is served at ${url.split('?')[0]}`, {
      data: { sockets: sockets.map(({ path }) => `/api/apps/${app?.path}${path}`) },
      remedy: 'use one of data.sockets',
    })
  }

  #createCaller(
    headers: IncomingHttpHeaders,
    options: { app: string; access: Access | undefined; sessionKey: string; signal: AbortSignal },
  ): Caller {
    const { app, access, sessionKey, signal } = options
    return {
      mount: { path: `/mcp/${app}`, app },
      era: 'modern',
      channel: 'socket',
      trace: parseTrace(headers.traceparent),
      sessionKey,
      access,
      sharedSession: false,
      client: parseUserAgent(headers['user-agent']),
      requestId: randomUUID(),
      cancellation: { signal },
      progress: () => {},
      notify: () => {},
    }
  }
}

const reject = (socket: Duplex, error: CausewayError): void => endWithError(socket, error, 'application/json')
