import {
  asObject,
  CausewayError,
  classifyMessage,
  type Id,
  isObject,
  type JsonObject,
  meta,
  type Notification,
  type Request,
} from '@causeway/protocol'
import { createErrorLine } from '../../calls/answer.ts'
import {
  createIds,
  createListChangedLine,
  createNotificationLine,
  createRequestLine,
  createResultLine,
  findChangeableLists,
  isOwnId,
  toLine,
} from '../../stdio/message.ts'
import type { MessageHandlers } from '../stage.ts'
import { ListenRequests, maxWatchedUris } from './listen-requests.ts'
import {
  addMeta,
  type Caller,
  getMembers,
  omitMembers,
  readInitializeCaller,
  type Translator,
  toInitializeResult,
  toLegacyResult,
  toModernRequest,
} from './message-shape.ts'
import { isPermanent } from './rejection.ts'

interface PendingCall {
  readonly request: Request
  inputIds: ReadonlyMap<string, Id>
  responses: JsonObject
  requestState: unknown
}

interface Options {
  readonly initialize: Request
  readonly discovered: JsonObject
  readonly retryMs: number
  readonly warn: (text: string) => void
}

/** Connects a client that sent `initialize` to a stateless server. */
export class LegacyClientTranslator implements Translator {
  readonly #next: MessageHandlers
  readonly #options: Options
  readonly #caller: Caller
  readonly #lists: readonly string[]
  readonly #listenRequests: ListenRequests
  readonly #calls = new Map<unknown, PendingCall>()
  readonly #inputs = new Map<unknown, { readonly call: PendingCall; readonly key: string }>()
  readonly #newInputId = createIds('ask')
  #logLevel: string | undefined
  #hasWarned = false

  constructor(next: MessageHandlers, options: Options) {
    const { initialize, discovered } = options
    this.#next = next
    this.#options = options
    this.#caller = readInitializeCaller(initialize)
    this.#lists = findChangeableLists(discovered)
    this.#listenRequests = new ListenRequests(this.#lists, {
      listen: (id, notifications) =>
        this.#send({ jsonrpc: '2.0', id, method: 'subscriptions/listen', params: { notifications } }),
      cancel: (id) => this.#cancel(id),
    })
    this.#handleRequest(initialize)
  }

  fromClient(message: unknown): void {
    const kind = classifyMessage(message)
    if (kind === 'request') this.#handleRequest(message as Request)
    else if (kind === 'notification') this.#handleNotification(message as Notification)
    else if (kind === 'response') this.#handleInput(message as JsonObject)
  }

  fromServer(message: unknown): boolean {
    const kind = classifyMessage(message)
    if (kind === 'response') return this.#handleResponse(message as JsonObject)
    if (kind === 'notification') this.#forwardNotification(message as Notification)
    return kind === 'notification'
  }

  #handleRequest(request: Request): void {
    const { id, method, params } = request
    if (method === 'initialize')
      this.#respond(id, toInitializeResult(this.#options.discovered, params?.protocolVersion))
    else if (method === 'ping') this.#respond(id, {})
    else if (method === 'logging/setLevel') {
      this.#logLevel = String(params?.level)
      this.#respond(id, {})
    } else if (method === 'resources/subscribe') {
      if (this.#listenRequests.watch(String(params?.uri))) this.#respond(id, {})
      else this.#next.toClient(createErrorLine(id, createTooManyUrisError()))
    } else if (method === 'resources/unsubscribe') {
      this.#listenRequests.unwatch(String(params?.uri))
      this.#respond(id, {})
    } else {
      this.#calls.set(id, { request, inputIds: new Map(), responses: {}, requestState: undefined })
      this.#send(request)
    }
  }

  /** Drops all notifications that stateless servers do not accept. */
  #handleNotification({ method, params }: Notification): void {
    if (method === 'notifications/initialized') this.#listenRequests.open()
    else if (method === 'notifications/cancelled') {
      const call = this.#calls.get(params?.requestId)
      if (call === undefined) return
      this.#abandon(call)
      this.#cancel(params?.requestId)
    }
  }

  #respond(id: Id, result: object): void {
    this.#next.toClient(createResultLine(id, result))
  }

  #send(request: Request): void {
    this.#next.toServer(toLine(toModernRequest(request, this.#caller, this.#logLevel)))
  }

  #cancel(requestId: unknown): void {
    this.#next.toServer(createNotificationLine('notifications/cancelled', { requestId }))
  }

  #abandon({ request, inputIds }: PendingCall): void {
    this.#calls.delete(request.id)
    for (const id of inputIds.values())
      if (this.#inputs.delete(id))
        this.#next.toClient(createNotificationLine('notifications/cancelled', { requestId: id }))
  }

  #warnRejected({ error }: JsonObject): void {
    if (this.#hasWarned) return
    this.#hasWarned = true
    this.#options.warn(
      `the server rejects subscriptions, so changes are not reported: ${asObject(error).message}`,
    )
  }

  #handleResponse(response: JsonObject): boolean {
    const isRejected = isPermanent(response)
    const renew = this.#listenRequests.end(response.id, { isRejected })
    if (renew !== undefined) {
      if (isRejected) this.#warnRejected(response)
      else setTimeout(renew, this.#options.retryMs).unref()
      return true
    }
    const call = this.#calls.get(response.id)
    if (call === undefined) return isOwnId(response.id)
    const { result } = response
    if (isObject(result) && result.resultType === 'input_required') this.#requestInput(call, result)
    else {
      this.#calls.delete(response.id)
      const { method } = call.request
      const legacy = isObject(result) ? { ...response, result: toLegacyResult(method, result) } : response
      this.#next.toClient(toLine(legacy))
    }
    return true
  }

  #requestInput(call: PendingCall, result: JsonObject): void {
    const inputRequests = getMembers(result, 'inputRequests')
    const inputIds = new Map(Object.keys(inputRequests).map((key) => [key, this.#newInputId()]))
    call.requestState = result.requestState
    call.inputIds = inputIds
    for (const [key, id] of inputIds) {
      const { method, params } = getMembers(inputRequests, key)
      const line = createRequestLine(id, String(method), asObject(params))
      this.#inputs.set(id, { call, key })
      this.#next.toClient(line)
    }
    if (inputIds.size === 0) this.#continue(call)
  }

  #handleInput(response: JsonObject): void {
    const input = this.#inputs.get(response.id)
    if (input === undefined) return
    this.#inputs.delete(response.id)
    const { call, key } = input
    const ids = [...call.inputIds.values()]
    if ('error' in response) {
      // The stateless protocol cannot report a failed input request to the server.
      for (const id of ids) this.#inputs.delete(id)
      this.#calls.delete(call.request.id)
      this.#next.toClient(toLine({ jsonrpc: '2.0', id: call.request.id, error: response.error }))
    } else {
      call.responses = { ...call.responses, [key]: response.result }
      if (!ids.some((id) => this.#inputs.has(id))) this.#continue(call)
    }
  }

  #continue(call: PendingCall): void {
    const { request, responses: inputResponses, requestState } = call
    call.responses = {}
    const params = {
      ...request.params,
      inputResponses,
      ...(requestState !== undefined && { requestState }),
    }
    this.#send({ ...request, params })
  }

  #forwardNotification({ method, params }: Notification): void {
    if (method === 'notifications/subscriptions/acknowledged') {
      const changedLists = this.#listenRequests.acknowledge(params) ? this.#lists : []
      for (const list of changedLists) this.#next.toClient(createListChangedLine(list))
    } else {
      const _meta = omitMembers(getMembers(params, '_meta'), [meta.subscriptionId])
      this.#next.toClient(
        createNotificationLine(method, addMeta(omitMembers(params ?? {}, ['_meta']), _meta)),
      )
    }
  }
}

const createTooManyUrisError = (): CausewayError =>
  new CausewayError('INVALID_PARAMS', `a client can subscribe to at most ${maxWatchedUris} resources`, {
    remedy: 'unsubscribe from resources that are no longer needed',
    data: { limit_count: maxWatchedUris },
  })
