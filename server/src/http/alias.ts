/**
 * Further ports that serve one app at the root, where the original designs of the apps had them: a request is given
 * another path and goes the way of all others.
 */
import { createServer, type IncomingMessage, type Server, type ServerOptions } from 'node:http'
import type { AddressInfo } from 'node:net'
import { CausewayError, pathName } from '@causeway/protocol'
import type { FastifyInstance } from 'fastify'
import { settings } from '../config.ts'
import type { Core, HostedApp } from '../core.ts'
import { isOwnRoute } from './own-route.ts'
import type { Sockets } from './socket.ts'
import { watchUnreadable } from './unreadable.ts'

/** An app and the port that it gets. */
export interface Alias {
  /** Name or path of the app. */
  readonly app: string
  /** 0 lets the system choose. */
  readonly port: number
}

/** A port that listens. */
export interface AliasListener {
  /** Path of the app. */
  readonly app: string
  readonly port: number
  readonly server: Server
}

/** What is not an app's own at the root of its port. */
const ofServer: Readonly<Record<string, (app: string) => string>> = {
  '/mcp': (app) => `/mcp/${app}`,
  '/sse': (app) => `/sse/${app}`,
  '/messages': () => '/messages',
  '/health': (app) => `/health/${app}`,
  '/metrics': () => '/metrics',
  '/openapi.json': () => '/openapi.json',
}

/**
 * Opens the ports; all or none. Rejects with `INVALID_SETTING` for an app that is not served, and with the error of
 * `listen`, as for a port in use.
 */
export async function openAliases(
  fastify: FastifyInstance,
  core: Core,
  {
    host,
    aliases,
    sockets,
    serverOptions,
    onListening,
  }: {
    readonly host: string
    readonly aliases: readonly Alias[]
    readonly sockets: Sockets
    readonly serverOptions: ServerOptions
    /** Called with each port when it opens, before it accepts a connection. */
    readonly onListening: (port: number) => void
  },
): Promise<readonly AliasListener[]> {
  const listeners: AliasListener[] = []
  try {
    for (const { app, port } of aliases) {
      const { path } = servedApp(core, app)
      const server = createServer(serverOptions, (request, response) => {
        request.url = rewritten(request, path, core)
        fastify.routing(request, response)
      })
      watchUnreadable(server)
      sockets.attach(server, (url) => inApp(path, url))
      server.keepAliveTimeout = fastify.server.keepAliveTimeout
      server.once('listening', () => onListening((server.address() as AddressInfo).port))
      listeners.push({ app: path, server, port: await listen(server, { host, port }) })
    }
    return listeners
  } catch (error) {
    for (const { server } of listeners) server.close()
    throw error
  }
}

function servedApp(core: Core, name: string): HostedApp {
  const apps = core.apps()
  const app = apps.find(({ path }) => path === pathName(name))
  if (app !== undefined) return app
  throw new CausewayError('INVALID_SETTING', `${settings.listen.env} names no app that is served: ${name}`, {
    data: { apps: apps.map(({ path }) => path) },
  })
}

function listen(server: Server, options: { host: string; port: number }): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(options, () => {
      server.off('error', reject)
      resolve((server.address() as { port: number }).port) // bound to a port
    })
  })
}

/** The URL of the same thing on the server's own port. A route that the app declares goes before one of the server's. */
function rewritten({ method = 'GET', url = '/' }: IncomingMessage, app: string, core: Core): string {
  const [path = '/'] = url.split('?')
  const query = url.slice(path.length)
  const hosted = core.apps().find((one) => one.path === app)
  const other =
    isOwnRoute(hosted, method, path) || !Object.hasOwn(ofServer, path) ? undefined : ofServer[path]
  return other === undefined ? inApp(app, url) : `${other(app)}${query}`
}

/** `/notes?x=1` -> `/api/apps/demo/notes?x=1` */
const inApp = (app: string, url: string): string => `/api/apps/${app}${url.replace(/^\/(?=\?|$)/, '')}`
