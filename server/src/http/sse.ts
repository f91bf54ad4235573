/**
 * `/sse`, `/sse/<app>` and `/messages`: the HTTP+SSE transport of MCP 2024-11-05, for clients that know no other
 * (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse).
 */
import { CausewayError, kindOf } from '@causeway/protocol'
import { isJSONRPCNotification, isJSONRPCRequest, isJSONRPCResponse } from '@modelcontextprotocol/server'
import type { FastifyInstance } from 'fastify'
import type { ListKind, Mount } from '../core.ts'
import { getOwner } from '../domain/access.ts'
import { protocolDetail } from '../log.ts'
import { exchangeOf } from './exchange.ts'
import { tellAsMessages } from './failure.ts'
import { checkMessages } from './message-limits.ts'
import { mountOf } from './mount-of.ts'
import { type Handler, serve } from './serve.ts'
import { SsePeer } from './sse-peer.ts'
import type { Wiring } from './wiring.ts'

/** The clients that are connected by this transport. */
export interface SsePeers {
  readonly peers: Map<string, SsePeer>
  listChanged(mount: Mount, kind: ListKind): void
  resourceChanged(uri: string): void
  /** Ends every stream. */
  close(): Promise<void>
}

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
}

/** Makes the set, empty. */
export function ssePeers(): SsePeers {
  const peers = new Map<string, SsePeer>()
  return {
    peers,
    listChanged(mount, kind) {
      for (const peer of peers.values()) if (peer.mount.path === mount.path) peer.listChanged(kind)
    },
    resourceChanged(uri) {
      for (const peer of peers.values()) peer.resourceChanged(uri)
    },
    async close() {
      await Promise.all([...peers.values()].map((peer) => peer.close()))
    },
  }
}

/** Declares the routes. A client has its session with its stream, unless it names one by `Causeway-Session`. */
export function sseRoutes(fastify: FastifyInstance, wiring: Wiring, { peers }: SsePeers): void {
  const { core, inflight, log, maxSessions, newId } = wiring
  tellAsMessages(fastify, log)

  const connect: Handler = async (request, reply) => {
    inflight.admit()
    if (peers.size >= maxSessions)
      throw new CausewayError('OVERLOADED', `${peers.size} event streams are open`, {
        data: { retry_after_ms: 1000 },
      })
    const mount = mountOf(core, request)
    const id = newId()
    reply.hijack()
    const { raw } = reply
    const given = [...Object.entries(reply.getHeaders()), ...Object.entries(streamHeaders)]
    raw.writeHead(200, given.flat() as string[])
    const endpoint = `/messages?sessionId=${id}`
    const peer = new SsePeer({
      wiring,
      id,
      owner: getOwner(request.access),
      mount,
      raw,
      endpoint,
      onClose: () => peers.delete(id),
    })
    peers.set(id, peer)
    await peer.open()
    return reply
  }

  const take: Handler = async (request, reply) => {
    const { sessionId } = request.query as { sessionId?: unknown } // a query is whatever was sent
    const peer = typeof sessionId === 'string' ? peers.get(sessionId) : undefined
    // The same error for a stream of another owner: it must not be possible to look for ids.
    if (peer === undefined || peer.owner !== getOwner(request.access))
      throw new CausewayError('SESSION_NOT_FOUND', 'no event stream has this sessionId', {
        remedy: 'open /sse and post to the endpoint that it names',
      })
    const turn = { request, reply, exchange: exchangeOf(request, reply, peer.mount) }
    checkMessages(request.body, turn.exchange.requestBytes)
    for (const message of messagesIn(request.body)) {
      const isRequest = kindOf(message) === 'request'
      if (isRequest) inflight.admit()
      const answered = isRequest ? inflight.run(() => peer.take(turn, message)) : peer.take(turn, message)
      answered.catch((err: unknown) => protocolDetail(log, { err }, 'a message was not taken'))
    }
    return reply.code(202).type('text/plain').send('Accepted')
  }

  for (const url of ['/sse', '/sse/:app']) serve(fastify, url, { GET: connect })
  serve(fastify, '/messages', { POST: take })
}

/** The message in a body, or the messages of an array; throws `INVALID_REQUEST`. */
function messagesIn(body: unknown): readonly unknown[] {
  const messages = [body].flat()
  const areWhole = messages.every(
    (one) => isJSONRPCRequest(one) || isJSONRPCNotification(one) || isJSONRPCResponse(one),
  )
  if (areWhole && messages.length > 0) return messages
  throw new CausewayError('INVALID_REQUEST', 'the body is not a JSON-RPC 2.0 message')
}
