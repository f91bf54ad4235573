import { randomUUID } from 'node:crypto'
import { CausewayError, classifyMessage } from '@causeway/protocol'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { getOwner } from '../../access/access.ts'
import { logProtocolDetail } from '../../log/log.ts'
import type { Change, Mount } from '../../registry/mount.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpServices } from '../http-services.ts'
import { createInvalidMessageError } from './json-transport.ts'
import { isSdkMessage } from './route-message.ts'
import { SseConnection } from './sse-connection.ts'
import type { Transport } from './transport.ts'

const streamHeaders = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  connection: 'keep-alive',
  'x-accel-buffering': 'no',
}

/**
 * HTTP with SSE of MCP 2024-11-05
 * (https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse). Without
 * `Causeway-Session`, the state belongs to the stream.
 */
export class SseTransport implements Transport {
  readonly #services: HttpServices
  readonly #connections = new Map<string, SseConnection>()

  constructor(services: HttpServices) {
    this.#services = services
  }

  async connect({ access }: FastifyRequest, reply: FastifyReply, mount: Mount): Promise<void> {
    const { maxSessions } = this.#services
    const { size } = this.#connections
    if (size >= maxSessions)
      throw new CausewayError('OVERLOADED', `${size} event streams are open`, {
        data: { retry_after_ms: 1000 },
      })
    const id = randomUUID()
    reply.hijack()
    const { raw } = reply
    const headers = [...Object.entries(reply.getHeaders()), ...Object.entries(streamHeaders)]
    raw.writeHead(200, headers.flat() as string[])
    const connection = new SseConnection({
      services: this.#services,
      id,
      owner: getOwner(access),
      mount,
      raw,
      endpoint: `/messages?sessionId=${id}`,
      onClose: () => this.#connections.delete(id),
    })
    this.#connections.set(id, connection)
    await connection.open()
  }

  findMount(request: FastifyRequest): Mount {
    return this.#find(request).mount
  }

  async handle(exchange: Exchange): Promise<void> {
    const { request, reply } = exchange
    const { inFlight, log } = this.#services
    const connection = this.#find(request)
    if (!isSdkMessage(request.body)) throw createInvalidMessageError()
    for (const message of [request.body].flat()) {
      const isRequest = classifyMessage(message) === 'request'
      if (isRequest) inFlight.admit()
      const handling = isRequest
        ? inFlight.run(() => connection.handle(exchange, message))
        : connection.handle(exchange, message)
      handling.catch((err: unknown) => logProtocolDetail(log, { err }, 'a message could not be handled'))
    }
    await reply.code(202).type('text/plain').send('Accepted')
  }

  notify(change: Change): void {
    for (const connection of this.#connections.values()) connection.notify(change)
  }

  async close(): Promise<void> {
    await Promise.all([...this.#connections.values()].map((connection) => connection.close()))
  }

  #find({ query, access }: FastifyRequest): SseConnection {
    const { sessionId } = query as { sessionId?: unknown }
    const connection = typeof sessionId === 'string' ? this.#connections.get(sessionId) : undefined
    // The same error for another owner's stream, so that ids cannot be guessed.
    if (connection !== undefined && connection.owner === getOwner(access)) return connection
    throw new CausewayError('SESSION_NOT_FOUND', 'no event stream has this sessionId', {
      remedy: 'open /sse and post to the endpoint that it names',
    })
  }
}
