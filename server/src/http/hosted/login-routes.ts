import { answerCallback, callbackHeaders, callbackPath, type Logins } from '@causeway/oauth'
import { CausewayError, isObject } from '@causeway/protocol'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { HttpServices } from '../http-services.ts'
import { addRoutes } from '../routes.ts'
import { requireOperator } from './operator.ts'

const waitMs = 20_000

export function addLoginRoutes(fastify: FastifyInstance, { core, inFlight, stopping }: HttpServices): void {
  const { hosted } = core
  const findRemote = ({ params }: FastifyRequest) => {
    hosted.check()
    return hosted.findRemote((params as { name: string }).name)
  }
  addRoutes(fastify, '/api/hosted/:name/login', {
    POST: (request) =>
      inFlight.run(async () => {
        requireOperator(request, 'login')
        const server = findRemote(request)
        const { response } = isObject(request.body) ? request.body : {}
        if (typeof response === 'string') {
          await hosted.logins.finishManually(server, response)
          await hosted.restartAfterLogin()
          return {}
        }
        // The port that received this request is reachable from this machine.
        const { localAddress: address, localPort: port } = request.socket
        const login = await hosted.logins.begin(server, toCallbackUrl(fastify, { address, port }))
        const { authorizationUrl, state, expiresAtMs } = login
        return { authorization_url: authorizationUrl.href, state, expires_at_ms: expiresAtMs }
      }),
    GET: async (request) => {
      requireOperator(request, 'login')
      const { state = '' } = request.query as { state?: string }
      return { complete: await waitFor(hosted.logins, state, stopping) }
    },
  })
  addRoutes(fastify, '/api/hosted/:name/logout', {
    POST: (request) =>
      inFlight.run(async () => {
        requireOperator(request, 'logout')
        const server = findRemote(request)
        const result = await hosted.logins.logout(server)
        await hosted.gateway.restart(server.name)
        return result
      }),
  })
  // The browser has no token; the URL's state authenticates the response.
  fastify.route({
    method: 'GET',
    url: callbackPath,
    config: { isPublic: true },
    handler: async (request, reply) => {
      const query = request.url.split('?').slice(1).join('?')
      const { status, page } = await answerCallback(hosted.logins, new URLSearchParams(query))
      if (status === 200) await hosted.restartAfterLogin()
      return reply.code(status).headers(callbackHeaders).send(page)
    },
  })
}

async function waitFor(logins: Logins, state: string, stopping: AbortSignal): Promise<boolean> {
  const timeout = AbortSignal.timeout(waitMs)
  try {
    await logins.wait(state, AbortSignal.any([timeout, stopping]))
    return true
  } catch (error) {
    if (timeout.aborted) return false
    if (stopping.aborted) throw new CausewayError('SHUTTING_DOWN', 'the server is stopping')
    throw error
  }
}

export function toCallbackUrl(
  { publicUrl }: FastifyInstance,
  { address, port }: { readonly address: string | undefined; readonly port: number | undefined },
): string {
  const host = address === '::1' ? '[::1]' : '127.0.0.1'
  return `${publicUrl ?? `http://${host}:${port}`}${callbackPath}`
}
