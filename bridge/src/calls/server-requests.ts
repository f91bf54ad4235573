import { asObject, type Id, type Params } from '@causeway/protocol'
import { type Envelope, replaceId } from '../stdio/envelope.ts'
import { parseJson } from '../stdio/json.ts'
import { type ClientMessage, createNotificationLine } from '../stdio/message.ts'

interface ServerRequest {
  readonly id: Id
  readonly clientId: Id
  isActive: boolean
}

/** The response to an evicted request is forwarded unchanged. */
const maxRequests = 1000

/**
 * The server's requests to the client, such as `roots/list`. If a new session reuses the id of an unanswered
 * request, the client receives the new request with another id.
 */
export class ServerRequests {
  readonly #requests = new Map<Id, ServerRequest>()
  #renamedCount = 0

  toClient(bytes: Buffer, { kind, id }: Envelope): Buffer {
    if (kind === 'notification' && this.#renamedCount > 0) return this.#renameCancelled(bytes)
    return kind === 'request' && id !== null ? this.#add(bytes, id) : bytes
  }

  /** Returns a response with the server's id; `undefined` if the session of the request no longer exists. */
  toServer({ bytes, id }: ClientMessage): Buffer | undefined {
    const request = id === null ? undefined : this.#requests.get(id)
    if (request === undefined) return bytes
    this.#requests.delete(request.clientId)
    if (!request.isActive) return undefined
    return request.clientId === request.id ? bytes : replaceId(bytes, request.id)
  }

  /** Marks all requests as cancelled. Returns notifications that cancel them. */
  cancelAll(): Buffer[] {
    const activeRequests = [...this.#requests.values()].filter(({ isActive }) => isActive)
    for (const request of activeRequests) request.isActive = false
    return activeRequests.map(({ clientId }) =>
      createCancelledLine({ requestId: clientId, reason: 'the session of the request no longer exists' }),
    )
  }

  #add(bytes: Buffer, id: Id): Buffer {
    // A resumed stream may repeat a request.
    const duplicate = this.#findActive(id)
    const isTaken = this.#requests.has(id)
    const clientId = duplicate?.clientId ?? (isTaken ? `causeway-question-${++this.#renamedCount}` : id)
    this.#requests.set(clientId, { id, clientId, isActive: true })
    const [oldestId] = this.#requests.keys()
    if (this.#requests.size > maxRequests && oldestId !== undefined) this.#requests.delete(oldestId)
    return clientId === id ? bytes : replaceId(bytes, clientId)
  }

  #renameCancelled(bytes: Buffer): Buffer {
    const { method, params } = asObject(parseJson(bytes))
    const { requestId, reason } = asObject(params)
    const request = method === 'notifications/cancelled' ? this.#findActive(requestId) : undefined
    if (request === undefined || request.clientId === request.id) return bytes
    return createCancelledLine({ requestId: request.clientId, ...(typeof reason === 'string' && { reason }) })
  }

  #findActive(id: unknown): ServerRequest | undefined {
    return [...this.#requests.values()].find((request) => request.id === id && request.isActive)
  }
}

const createCancelledLine = (params: Params): Buffer =>
  createNotificationLine('notifications/cancelled', params)
