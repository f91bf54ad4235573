import { once } from 'node:events'
import type { IncomingMessage, Server, ServerOptions } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { CausewayError, nodeHttp, pathName } from '@causeway/protocol'
import type { FastifyInstance } from 'fastify'
import { settings } from '../config/config.ts'
import type { Core } from '../host/core.ts'
import type { HostedApp } from '../registry/registry.ts'
import type { AppSockets } from './app-routes/app-sockets.ts'
import { hasRoute } from './app-routes/match-route.ts'
import { sendClientError } from './client-error.ts'

/** A port that serves one app at the root, as in its original design. */
export interface Alias {
  readonly app: string
  readonly port: number
}

export interface AliasListener {
  readonly app: string
  readonly port: number
  readonly server: Server
}

interface AliasOptions {
  readonly host: string
  readonly aliases: readonly Alias[]
  readonly sockets: AppSockets
  readonly serverOptions: ServerOptions
  readonly onListening: (port: number) => void
}

/** Paths of the server. All other paths belong to the app. */
const serverPaths: Readonly<Record<string, (app: string) => string>> = {
  '/mcp': (app) => `/mcp/${app}`,
  '/sse': (app) => `/sse/${app}`,
  '/messages': () => '/messages',
  '/health': (app) => `/health/${app}`,
  '/metrics': () => '/metrics',
  '/openapi.json': () => '/openapi.json',
}

/**
 * Opens all ports or none. Rejects with `INVALID_SETTING` for an unknown app, and with the error of `listen`.
 */
export async function openAliases(
  fastify: FastifyInstance,
  core: Core,
  { host, aliases, sockets, serverOptions, onListening }: AliasOptions,
): Promise<readonly AliasListener[]> {
  const listeners: AliasListener[] = []
  try {
    for (const { app, port } of aliases) {
      const { path } = findApp(core, app)
      const server = nodeHttp().createServer(serverOptions, (request, response) => {
        request.url = rewriteUrl(request, path, core)
        fastify.routing(request, response)
      })
      server.on('clientError', (error, socket) => sendClientError(error, socket as Socket))
      sockets.attach(server, (url) => toAppUrl(path, url))
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

function findApp(core: Core, name: string): HostedApp {
  const { registry } = core
  const app = registry.findApp(pathName(name))
  if (app !== undefined) return app
  throw new CausewayError('INVALID_SETTING', `${settings.listen.env} names no app that is served: ${name}`, {
    data: { apps: registry.apps.map(({ path }) => path) },
  })
}

async function listen(server: Server, options: { host: string; port: number }): Promise<number> {
  server.listen(options)
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

/** Returns the URL on the server's port. Routes of the app take precedence. */
function rewriteUrl({ method = 'GET', url = '/' }: IncomingMessage, app: string, core: Core): string {
  const [path = '/'] = url.split('?')
  const query = url.slice(path.length)
  const hosted = core.registry.findApp(app)
  const isAppPath = hasRoute(hosted, method, path) || !Object.hasOwn(serverPaths, path)
  const toServerPath = isAppPath ? undefined : serverPaths[path]
  return toServerPath === undefined ? toAppUrl(app, url) : `${toServerPath(app)}${query}`
}

/** `/notes?x=1` -> `/api/apps/demo/notes?x=1` */
const toAppUrl = (app: string, url: string): string => `/api/apps/${app}${url.replace(/^\/(?=\?|$)/, '')}`
