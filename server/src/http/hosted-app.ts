/** The app that a path below `/api/apps` names, and who calls it there. */
import { CausewayError } from '@causeway/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Caller, Core, HostedApp } from '../core.ts'
import { callerOf, exchangeOf } from './exchange.ts'

/** The app of the route's `:app`; throws `ROUTE_NOT_FOUND`. */
export function appOf(core: Core, request: FastifyRequest): HostedApp {
  const { app: path } = request.params as { app: string } // every route below /api/apps/ has it
  const apps = core.apps()
  const app = apps.find((one) => one.path === path)
  if (app !== undefined) return app
  throw new CausewayError('ROUTE_NOT_FOUND', `no app is served at /api/apps/${path}`, {
    data: { apps: apps.map((one) => one.path) },
    remedy: 'use one of data.apps',
  })
}

/** Who calls by plain HTTP: like a stateless client, and without progress. */
export const restCaller = (
  request: FastifyRequest,
  reply: FastifyReply,
  { path }: HostedApp,
  channel: 'rest' | 'route' = 'rest',
): Caller =>
  callerOf(exchangeOf(request, reply, { path: `/mcp/${path}`, app: path }), { era: 'modern', channel })
