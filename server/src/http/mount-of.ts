/** The mount that a path names: `/mcp` and `/sse` every app, `/mcp/<app>` and `/sse/<app>` one. */
import { CausewayError } from '@causeway/protocol'
import type { FastifyRequest } from 'fastify'
import type { Core, Mount } from '../core.ts'

/** The mount of the route's `:app`, or the shared one; throws `ROUTE_NOT_FOUND`. */
export function mountOf(core: Core, request: FastifyRequest): Mount {
  const { app } = request.params as { app?: string } // of a pattern with `:app`, or of one without
  const path = app === undefined ? '/mcp' : `/mcp/${app}`
  const mounts = core.mounts()
  const mount = mounts.find((one) => one.path === path)
  if (mount !== undefined) return mount
  throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at ${path}`, {
    data: { mounts: mounts.map((one) => one.path) },
    remedy: 'use one of data.mounts',
  })
}
