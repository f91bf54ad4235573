import {
  classifyMessage,
  createFailure,
  type Id,
  isObject,
  type JsonObject,
  meta,
  type Notification,
  type Request,
} from '@causeway/protocol'
import {
  createIds,
  createNotificationLine,
  createRequestLine,
  createResultLine,
  isOwnId,
  toLine,
} from '../../stdio/message.ts'
import type { MessageHandlers } from '../stage.ts'
import {
  getMembers,
  omitEnvelope,
  readCaller,
  type Translator,
  toDiscoverResult,
  toModernResult,
} from './message-shape.ts'

/** The client resends the call with a new id for each input; the server always receives the id of `request`. */
interface PendingCall {
  readonly request: Request
  /** Id of the client's unanswered request; `undefined` while the client collects input. */
  waitingId: Id | undefined
  /** `requestState` of the pending input request. */
  state: string | undefined
  /** Unanswered requests of the server. The client has received the first one if `state` is set. */
  readonly serverRequests: Request[]
  response: JsonObject | undefined
}

interface Subscription {
  readonly id: Id
  readonly filter: JsonObject
}

const interruptibleMethods = new Set(['tools/call', 'prompts/get', 'resources/read'])

const inputMethods = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list'])

const maxInterrupted = 64

/**
 * Connects a stateless client to a server that requires `initialize`. A server request interrupts the oldest
 * waiting call: legacy servers do not report which call it belongs to.
 */
export class ModernClientTranslator implements Translator {
  readonly #next: MessageHandlers
  readonly #initialized: JsonObject
  readonly #calls = new Map<unknown, PendingCall>()
  readonly #subscriptions = new Map<unknown, Subscription>()
  readonly #newId = createIds('modern')
  readonly #newState = createIds('state')
  #logLevel: unknown

  constructor(next: MessageHandlers, initialized: JsonObject) {
    this.#next = next
    this.#initialized = initialized
  }

  fromClient(message: unknown): void {
    const kind = classifyMessage(message)
    if (kind === 'request') this.#handleRequest(message as Request)
    else if (kind === 'notification') {
      const notification = omitEnvelope(message as Notification)
      if (notification.method === 'notifications/cancelled') this.#cancel(notification)
      else this.#next.toServer(toLine(notification))
    }
  }

  fromServer(message: unknown): boolean {
    const kind = classifyMessage(message)
    if (kind === 'response') return this.#handleResponse(message as JsonObject)
    if (kind === 'request') this.#handleServerRequest(message as Request)
    else if (kind === 'notification') this.#handleServerNotification(message as Notification)
    return kind !== 'invalid'
  }

  #handleRequest(request: Request): void {
    const { id, method, params } = request
    const state = params?.requestState
    const interruptedCall = [...this.#calls.values()].find(
      (call) => call.state !== undefined && call.state === state,
    )
    if (method === 'server/discover')
      this.#next.toClient(createResultLine(id, this.#toResult(method, toDiscoverResult(this.#initialized))))
    else if (method === 'subscriptions/listen') this.#subscribe(request)
    else if (interruptedCall !== undefined) this.#resume(interruptedCall, request)
    else this.#startCall(request)
  }

  #toResult(method: string, result: JsonObject): JsonObject {
    return toModernResult(method, result, this.#initialized.serverInfo)
  }

  #sendRequest(method: string, params: object): void {
    this.#next.toServer(createRequestLine(this.#newId(), method, params))
  }

  #startCall(request: Request): void {
    const { logLevel } = readCaller(request)
    const hasLogging = 'logging' in getMembers(this.#initialized, 'capabilities')
    if (typeof logLevel === 'string' && logLevel !== this.#logLevel && hasLogging) {
      this.#logLevel = logLevel
      this.#sendRequest('logging/setLevel', { level: logLevel })
    }
    const waitingId = request.id
    const call = { request, waitingId, state: undefined, serverRequests: [], response: undefined }
    this.#calls.set(waitingId, call)
    this.#next.toServer(toLine(omitEnvelope(request)))
  }

  #resume(call: PendingCall, request: Request): void {
    const answeredRequest = call.serverRequests.shift()
    call.waitingId = request.id
    call.state = undefined
    const { reply } = getMembers(request.params, 'inputResponses')
    if (answeredRequest !== undefined) this.#next.toServer(createResultLine(answeredRequest.id, reply ?? {}))
    if (call.response !== undefined) this.#finish(call, call.response)
    else this.#requestInput(call)
  }

  #handleServerRequest(request: Request): void {
    const calls = [...this.#calls.values()].filter(({ request }) => interruptibleMethods.has(request.method))
    // Prefers a waiting call, because the client may never repeat an interrupted one.
    const call = calls.find(({ waitingId }) => waitingId !== undefined) ?? calls[0]
    if (request.method === 'ping') this.#next.toServer(createResultLine(request.id, {}))
    else if (call === undefined || !inputMethods.has(request.method)) this.#decline(request)
    else {
      call.serverRequests.push(request)
      if (call.serverRequests.length === 1) this.#requestInput(call)
    }
  }

  #decline({ id, method }: Request): void {
    this.#next.toServer(toLine(createFailure(id, -32601, `not possible here: ${method}`)))
  }

  #requestInput(call: PendingCall): void {
    const [request] = call.serverRequests
    const { waitingId } = call
    if (request === undefined || waitingId === undefined) return
    const { method, params } = request
    const state = this.#newState()
    const line = createResultLine(waitingId, {
      inputRequests: { reply: { method, ...(params !== undefined && { params }) } },
      requestState: state,
      resultType: 'input_required',
      _meta: { [meta.serverInfo]: this.#initialized.serverInfo },
    })
    call.waitingId = undefined
    call.state = state
    this.#limitInterrupted()
    this.#next.toClient(line)
  }

  /** Cancels the oldest interrupted call: clients may never repeat it. */
  #limitInterrupted(): void {
    const [oldestCall, ...otherCalls] = [...this.#calls.values()].filter(({ state }) => state !== undefined)
    if (oldestCall === undefined || otherCalls.length < maxInterrupted) return
    this.#calls.delete(oldestCall.request.id)
    for (const request of oldestCall.serverRequests) this.#decline(request)
    this.#next.toServer(
      createNotificationLine('notifications/cancelled', { requestId: oldestCall.request.id }),
    )
  }

  #handleResponse(response: JsonObject): boolean {
    const call = this.#calls.get(response.id)
    if (call === undefined) return isOwnId(response.id)
    if (call.waitingId === undefined) call.response = response
    else this.#finish(call, response)
    return true
  }

  #finish(call: PendingCall, response: JsonObject): void {
    const { id, method } = call.request
    this.#calls.delete(id)
    const { result } = response
    const answer = {
      ...response,
      ...(isObject(result) && { result: this.#toResult(method, result) }),
      id: call.waitingId,
    }
    this.#next.toClient(toLine(answer))
  }

  #subscribe({ id, params }: Request): void {
    const filter = getMembers(params, 'notifications')
    const _meta = { [meta.subscriptionId]: id }
    const line = createNotificationLine('notifications/subscriptions/acknowledged', {
      notifications: filter,
      _meta,
    })
    this.#subscriptions.set(id, { id, filter })
    for (const uri of getUris(filter)) this.#sendRequest('resources/subscribe', { uri })
    this.#next.toClient(line)
  }

  #cancel({ params }: Notification): void {
    const requestId = params?.requestId
    const subscription = this.#subscriptions.get(requestId)
    const call = [...this.#calls.values()].find(
      ({ waitingId }) => waitingId !== undefined && waitingId === requestId,
    )
    if (subscription !== undefined) {
      this.#subscriptions.delete(requestId)
      const remainingUris = new Set(
        [...this.#subscriptions.values()].flatMap(({ filter }) => getUris(filter)),
      )
      for (const uri of getUris(subscription.filter))
        if (!remainingUris.has(uri)) this.#sendRequest('resources/unsubscribe', { uri })
    } else if (call !== undefined) {
      this.#calls.delete(call.request.id)
      this.#next.toServer(
        createNotificationLine('notifications/cancelled', { ...params, requestId: call.request.id }),
      )
    }
  }

  #handleServerNotification(notification: Notification): void {
    const { method, params } = notification
    const matchesFilter = createFilterMatcher(notification)
    // Stateless clients expect cancellations only for subscriptions.
    if (method === 'notifications/cancelled') this.#dropServerRequest(params?.requestId)
    else if (matchesFilter === undefined) this.#next.toClient(toLine(notification))
    else
      for (const { id, filter } of this.#subscriptions.values()) {
        const _meta = { ...getMembers(params, '_meta'), [meta.subscriptionId]: id }
        if (matchesFilter(filter)) this.#next.toClient(createNotificationLine(method, { ...params, _meta }))
      }
  }

  #dropServerRequest(id: unknown): void {
    for (const { serverRequests, state } of this.#calls.values()) {
      const at = serverRequests.findIndex((request) => request.id === id)
      const isWithClient = at === 0 && state !== undefined
      if (at >= 0 && !isWithClient) serverRequests.splice(at, 1)
    }
  }
}

const getUris = (filter: JsonObject): string[] =>
  Array.isArray(filter.resourceSubscriptions) ? filter.resourceSubscriptions.map(String) : []

function createFilterMatcher({
  method,
  params,
}: Notification): ((filter: JsonObject) => boolean) | undefined {
  const list = /^notifications\/(tools|prompts|resources)\/list_changed$/.exec(method)?.[1]
  if (list !== undefined) return (filter) => filter[`${list}ListChanged`] === true
  if (method === 'notifications/resources/updated')
    return (filter) => getUris(filter).includes(String(params?.uri))
  return undefined
}
