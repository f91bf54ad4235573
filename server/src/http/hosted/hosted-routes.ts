import { ConfigFile } from '@causeway/gateway/config'
import { CausewayError, isObject } from '@causeway/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { checkAccess } from '../../dispatch/call-runner.ts'
import type { HostedServers } from '../../host/hosted-servers.ts'
import { addErrorHandler } from '../error-responses.ts'
import type { HttpServices } from '../http-services.ts'
import { addRoutes } from '../routes.ts'
import { addLoginRoutes } from './login-routes.ts'
import { requireOperator } from './operator.ts'

export function addHostedRoutes(fastify: FastifyInstance, services: HttpServices): void {
  const { core, log, inFlight } = services
  addErrorHandler(fastify, log)
  addLoginRoutes(fastify, services)
  const { hosted } = core
  const findName = ({ params }: FastifyRequest): string => {
    hosted.check()
    return (params as { name: string }).name
  }
  addRoutes(fastify, '/api/hosted', {
    GET: async (request) => {
      checkAccess(request.access, 'causeway', { scope: 'read', name: 'hosted' })
      hosted.check()
      return { servers: hosted.gateway.describe(), problems: describeProblems(hosted) }
    },
  })
  addRoutes(fastify, '/api/hosted/:name/logs', {
    GET: async (request) => {
      requireOperator(request, 'logs')
      return hosted.gateway.readOutput(findName(request), readPosition(request.query))
    },
  })
  addRoutes(fastify, '/api/hosted/:name/changes', {
    GET: async (request) => {
      requireOperator(request, 'changes')
      return { changes: hosted.gateway.listPendingChanges(findName(request)) }
    },
  })
  addRoutes(fastify, '/api/hosted/:name/restart', {
    POST: (request) =>
      inFlight.run(async () => {
        requireOperator(request, 'restart')
        await hosted.gateway.restart(findName(request))
        return {}
      }),
  })
  addRoutes(fastify, '/api/hosted/:name/approve', {
    POST: (request) =>
      inFlight.run(async () => {
        requireOperator(request, 'approve')
        const name = findName(request)
        hosted.gateway.listPendingChanges(name)
        if (hosted.config.servers.some((server) => server.name === name && server.needsApproval))
          new ConfigFile(core.config.dataDir).setOption(name, 'needsApproval', undefined)
        await hosted.gateway.approve(name, readItems(request.body))
        hosted.check()
        await core.registry.refresh()
        return { changes: hosted.gateway.listPendingChanges(name) }
      }),
  })
}

/** Returns why entries of mcp.json, or all of it, are not used. */
const describeProblems = ({ config, failure }: HostedServers) =>
  [...config.problems, ...(failure === undefined ? [] : [{ name: undefined, error: failure }])].map(
    ({ name, error: { code, message, data } }) => ({
      ...(name === undefined ? {} : { name }),
      code,
      message: message.replace(`: ${data.path}`, ''),
    }),
  )

function readPosition(query: unknown): number {
  const { after: position = '0' } = isObject(query) ? query : {}
  if (typeof position === 'string' && /^\d{1,15}$/.test(position)) return Number(position)
  throw new CausewayError('INVALID_ARGUMENTS', 'after is not the position of an earlier response')
}

/** Returns `undefined` without `items`, which means all. Throws `INVALID_ARGUMENTS`. */
function readItems(body: unknown): readonly string[] | undefined {
  const { items } = isObject(body) ? body : {}
  if (items === undefined) return undefined
  if (Array.isArray(items) && items.every((item) => typeof item === 'string')) return items
  throw new CausewayError('INVALID_ARGUMENTS', 'items is not a list of names')
}
