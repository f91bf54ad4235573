/** `/mcp` and `/mcp/<app>`: decides for each message which leg answers it. */
import type { AddressInfo } from 'node:net'
import {
  CausewayError,
  headers,
  kindOf,
  legacyVersions,
  type Request as RpcRequest,
  supportedVersions,
} from '@causeway/protocol'
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/server'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { getOwner } from '../domain/access.ts'
import { protocolDetail } from '../log.ts'
import { exchangeOf, type Turn } from './exchange.ts'
import { tellAsMessages } from './failure.ts'
import type { LegacySession } from './legacy-session.ts'
import { answerLeniently } from './lenient.ts'
import type { McpLegs } from './mcp-legs.ts'
import { checkMessages } from './message-limits.ts'
import { claimsRevision, isModern } from './modern.ts'
import { mountOf } from './mount-of.ts'
import { isPlainCall } from './plain-call.ts'
import { type Handler, serve } from './serve.ts'
import { asksFirstPage, sendToolList } from './tool-list.ts'
import type { Wiring } from './wiring.ts'

/** Declares the routes of every mount; which mounts there are is asked anew for each request. */
export function mcpRoutes(fastify: FastifyInstance, wiring: Wiring, legs: McpLegs): void {
  tellAsMessages(fastify, wiring.log)
  const turnOf = (request: FastifyRequest, reply: FastifyReply): Turn => ({
    request,
    reply,
    exchange: exchangeOf(request, reply, mountOf(wiring.core, request)),
  })
  const inSession: Handler = async (request, reply) => {
    wiring.inflight.admit()
    const turn = turnOf(request, reply)
    const session = await sessionOf(turn, legs)
    if (session === undefined)
      throw new CausewayError('METHOD_NOT_ALLOWED', `${request.method} needs a session`, {
        data: { allow: ['POST'] },
        remedy: 'send Mcp-Session-Id, which the answer to initialize carries',
      })
    await session.answer(turn)
    return reply
  }
  for (const url of ['/mcp', '/mcp/:app'])
    serve(fastify, url, {
      async POST(request, reply) {
        await post(turnOf(request, reply), wiring, legs)
        return reply
      },
      GET: inSession,
      DELETE: inSession,
    })
}

/** Era and session are decided anew for each message: clients mix them on one connection. */
async function post(turn: Turn, wiring: Wiring, legs: McpLegs): Promise<void> {
  const { request, exchange } = turn
  const { body } = request
  const { inflight, log } = wiring
  const method = methodOf(body)
  protocolDetail(log, { request_id: request.id, mount: exchange.mount.path, method }, 'message')
  if (body === undefined) throw new CausewayError('PARSE_ERROR', 'the request has no body')
  checkMessages(body, exchange.requestBytes)
  if (isModern(body, request.headers[headers.protocolVersion])) {
    if (method !== 'subscriptions/listen') return inflight.run(() => legs.modern.answer(turn))
    inflight.admit()
    return legs.modern.answer(turn)
  }
  if (Array.isArray(body) && body.some(claimsRevision))
    throw new CausewayError('INVALID_REQUEST', 'a message without handshake must not come in an array', {
      remedy: 'send it alone',
    })
  checkVersion(request)
  const isPlain = acceptsStream(request) && acceptsJson(request) && isPlainCall(body)
  if (isPlain) {
    const session = await sessionOf(turn, legs)
    if (session !== undefined) return inflight.run(() => session.call(turn, body))
  }
  if (isPlainToolList(body)) {
    await sessionOf(turn, legs)
    const { mount } = exchange
    return inflight.run(async () =>
      sendToolList(turn.reply, wiring.toolLists.answer({ mount, era: 'legacy', id: body.id })),
    )
  }
  const canStream = isPlain || (acceptsStream(request) && sdkReads(body))
  if (method === 'initialize' && canStream && hasRequest(body))
    return inflight.run(() => legs.sessions.initialize(turn))

  const session = await sessionOf(turn, legs)
  // Cancellations and answers to our own requests must get through while the server waits for calls to end.
  if (session !== undefined && !hasRequest(body) && sdkReads(body)) return session.answer(turn, body)
  if (session !== undefined && canStream) return inflight.run(() => session.answer(turn, body))
  await inflight.run(() => lenient(turn, wiring, session))
}

/** Answers by the lenient leg, which streams nothing. */
async function lenient(turn: Turn, wiring: Wiring, session: LegacySession | undefined): Promise<void> {
  const { request, reply, exchange } = turn
  const origin = {
    wiring,
    exchange,
    tellsNumbers: wiring.legacyErrors && cameByOwnPort(request),
    session: openSession(session),
  }
  const { status, json } = await answerLeniently(request.body, origin)
  await reply.code(status).type('application/json').send(json)
}

/** JSON-RPC allows ids that the SDK does not carry, such as fractions. */
const sdkReads = (body: unknown): boolean =>
  body !== null &&
  [body].flat().length > 0 &&
  [body].flat().every((one) => isJSONRPCRequest(one) || isJSONRPCNotification(one) || isJSONRPCResponse(one))

/** One that is answered from bytes, which the lenient leg does for every client. */
const isPlainToolList = (body: unknown): body is RpcRequest =>
  kindOf(body) === 'request' && asksFirstPage(body as RpcRequest)

const openSession = (session: LegacySession | undefined) =>
  session && { id: session.id, client: session.initialize.clientInfo }

async function sessionOf({ request, exchange }: Turn, legs: McpLegs): Promise<LegacySession | undefined> {
  const id = request.headers[headers.sessionId]
  if (typeof id !== 'string') return undefined
  return legs.sessions.find(id, { mount: exchange.mount, owner: getOwner(exchange.access) })
}

/** A revision that is not spoken here is refused, as the transport's specification wants. */
function checkVersion({ headers: given }: FastifyRequest): void {
  const version = given[headers.protocolVersion]
  if (version === undefined || legacyVersions.some((one) => one === version)) return
  throw new CausewayError('UNSUPPORTED_PROTOCOL', `the protocol version is not spoken here: ${version}`, {
    data: { supported: supportedVersions, requested: version },
  })
}

const acceptsStream = ({ headers: { accept } }: FastifyRequest): boolean =>
  accept?.includes('text/event-stream') === true

const acceptsJson = ({ headers: { accept } }: FastifyRequest): boolean =>
  accept !== undefined && /application\/json|\*\/\*/.test(accept)

/** True for a request to the port of one app. */
const cameByOwnPort = ({ socket, server }: FastifyRequest): boolean =>
  socket.localPort !== (server.server.address() as AddressInfo).port // it listens

const methodOf = (body: unknown): unknown => (body as { method?: unknown } | null)?.method

const hasRequest = (body: unknown): boolean => [body].flat().some((message) => kindOf(message) === 'request')
